"""The report on artefacts: tables, and findings with what they mean for a score and what would mend them."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import chi2_contingency

from mtl.base.terminal import MISSING, inert, markdown_table
from mtl.benchmark_making.audits.artefacts import (
    CANDIDATES,
    CONSTANT,
    EVERYTHING,
    LENGTHS,
    LEVEL,
    OVERLAP,
    PARTS,
    Artefacts,
    find_artefacts,
)
from mtl.benchmark_making.audits.audit import Audit
from mtl.benchmark_making.audits.findings import Finding
from mtl.jobs.job import Job
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Scale

MOST_WORDS = 5  # that are named for each task
LARGE_SHARE = 0.25  # of what everything gains over the constant answer; less is no finding
SURE_SHARE = 0.1  # of the same, which the lower end of the interval must reach
NEARLY_ALL = 0.9  # of what everything gains; more is a finding of the overlap
DIFFERENT_SHARES = 0.001  # the p of a difference between the splits' classes that is a finding

# What would mend what a part alone gives away, with the step of a recipe (`mtl make`) that does it.
REMEDIES = {
    LENGTHS: "cut or choose texts so that lengths match across classes (steps cut and keep)",
    OVERLAP: "add negatives that are as similar as the positives are (step pairs)",
}
ONE_TEXT = (
    "the other text is not needed for these points; balance the answers of each text (step sample or pairs), or write rows anew with both"
    " texts in view"
)
# The same for targets that are numbers.
NUMBER_REMEDIES = {
    LENGTHS: "cut or choose texts so that texts of every length have low and high numbers (steps cut and keep)",
    OVERLAP: "add pairs of similar texts with low numbers, and of dissimilar texts with high ones (step pairs)",
}
ONE_TEXT_OF_A_NUMBER = (
    "the other text is not needed for these points; give each text low and high numbers in several pairs (step pairs), or write rows"
    " anew with both texts in view"
)


def audit_artefacts(job: Job) -> Audit:
    """What the tasks of a job give away. Raises InputError as `find_artefacts`."""
    artefacts, scale = find_artefacts(job), job.suite.shown
    findings = [finding for of_task in artefacts for finding in artefact_findings(of_task, scale)]
    return Audit(findings, render_artefacts(job.suite, artefacts))


def artefact_findings(artefacts: Artefacts, scale: Scale) -> Iterator[Finding]:
    """What a task gives away clearly."""
    task, words = artefacts.task, artefacts.words
    scores = {score.part: score.score for score in artefacts.scores}
    constant, everything = scores[CONSTANT], scores[EVERYTHING] - scores[CONSTANT]
    is_number = target_kind(task).estimator == "regressor"
    remedies, one_text = (NUMBER_REMEDIES, ONE_TEXT_OF_A_NUMBER) if is_number else (REMEDIES, ONE_TEXT)
    for score in sorted(artefacts.scores, key=lambda score: -score.score):
        part, gain = score.part, score.score - constant
        is_sure = gain >= LARGE_SHARE * everything and score.gain[0] > max(0, SURE_SHARE * everything)
        # A pair's overlap is a part of most tasks; it is a fault where hardly anything else is needed.
        if part in (EVERYTHING, CONSTANT) or not is_sure or (part == OVERLAP and gain < NEARLY_ALL * everything):
            continue
        ends = _ends(score.gain, scale)
        shown = f"{part} scores {scale.show(score.score)}, the constant answer {scale.show(constant)}"
        beside = f" and everything {scale.show(scores[EVERYTHING])}" if everything > 0 else ""
        gained = f"; the gain over the constant answer is {scale.show(gain)} ({1 - LEVEL:.0%} interval {ends})"
        remedy = remedies.get(part, one_text)
        meaning = f"hardly more than this is needed; {remedy}" if part == OVERLAP else remedy
        yield Finding(f"artefact: {part}", task.id, task.scored_split, 1, f"{shown}{beside}{gained}", meaning)
    if words is not None and words.telling and (task.is_pair or task.candidates):
        # In a pair, no word of one text should tell the relation of the two.
        named = [
            f"“{word.word}” {word.answer} {word.share:.0%} of {word.rows} rows (all: {word.base:.0%})"
            for word in words.telling[:MOST_WORDS]
        ]
        what = f"{len(words.telling)} of {words.tested:,} words of one text tell the class: {', '.join(named)}"
        meaning = "a model can answer such rows without comparing the texts; balance the classes of rows with these words (step sample)"
        yield Finding("artefact: words", task.id, "train", len(words.telling), what, meaning)
    counts = np.array(list(artefacts.classes.values()))
    if len(counts) > 1 and (p := float(chi2_contingency(counts[:, counts.any(axis=0)]).pvalue)) < DIFFERENT_SHARES:
        shares = {split: rows / rows.sum() for split, rows in artefacts.classes.items()}
        listed = "; ".join(
            f"{answer} {', '.join(f'{split} {of_classes[number]:.0%}' for split, of_classes in shares.items())}"
            for number, answer in enumerate(task.labels or ())
        )
        what = f"the splits have other shares of the classes ({listed}; p = {p:.1g})"
        meaning = "thresholds and constants chosen on one split are wrong for another; split anew, stratified by class (step split)"
        yield Finding("artefact: class shares", task.id, "", 1, what, meaning)


def render_artefacts(suite: Suite, artefacts: Sequence[Artefacts]) -> list[str]:
    """The sections of the report before the findings, in Markdown, which also reads well in a terminal."""
    scale, scores = suite.shown, [{score.part: score for score in of_task.scores} for of_task in artefacts]
    parts = [part for part in (*PARTS, CANDIDATES) if any(part in of_task for of_task in scores)]
    table = [["task", "split", *parts]]
    for of_task, by_part in zip(artefacts, scores, strict=True):
        cells = [
            f"{scale.show(score.score)} ({_ends(score.interval, scale)})" if (score := by_part.get(part)) else MISSING
            for part in parts
        ]
        table.append([of_task.task.id, of_task.task.scored_split, *cells])
    return [
        f"## {inert(suite.title)}: annotation artefacts",
        markdown_table(table, left=2),
        f"A linear SVM reads everything, or one text of each pair. {LENGTHS}: a linear model or a network on the numbers of tokens and characters;"
        f" {OVERLAP}: the cosines of the two texts. Intervals ({1 - LEVEL:.0%}) are over the scored examples.",
        _word_table(artefacts),
    ]


def _ends(interval: tuple[float, float], scale: Scale) -> str:
    return " to ".join(scale.show(end) for end in interval)


def _word_table(artefacts: Sequence[Artefacts]) -> str:
    table = [["task", "word", "class", "rows", "share", "all rows", "z"]]
    notes = []
    for of_task in artefacts:
        if (words := of_task.words) is None or not words.tested:
            continue
        for word in words.telling[:MOST_WORDS]:
            shares = [f"{word.share:.0%}", f"{word.base:.0%}", f"{word.z:.1f}"]
            table.append([of_task.task.id, inert(word.word), inert(word.answer), str(word.rows), *shares])
        counts = f"{len(words.telling)} of {words.tested:,}"
        notes.append(f"{of_task.task.id} {counts} (z above {words.threshold:.1f})")
    if not notes:
        return ""
    about = "Words that tell a class by more than chance, corrected for their number: "
    listed = f"{about}{'; '.join(notes)}. In a task on single texts such words may be what the task is about."
    return "\n\n".join(["### Words", *([markdown_table(table, left=3)] if len(table) > 1 else []), listed])
