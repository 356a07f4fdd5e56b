"""The report on artefacts: tables, and findings with what they mean for a score and what would mend them."""

from collections.abc import Iterator, Sequence

import numpy as np

from mtl.base.terminal import MISSING, inert, markdown_table
from mtl.benchmark_making.audits.artefacts import (
    CANDIDATES,
    CHANGES,
    CONSTANT,
    EVERYTHING,
    LENGTHS,
    OVERLAP,
    READ_BY_FLOORS,
    SHUFFLED,
    Artefacts,
    PartScore,
    find_artefacts,
)
from mtl.benchmark_making.audits.audit import Audit
from mtl.benchmark_making.audits.findings import Finding
from mtl.benchmark_making.audits.report import verdict
from mtl.benchmark_making.audits.words import LEVEL
from mtl.jobs.job import Job
from mtl.tasks.suite import Suite
from mtl.tasks.task import Scale

MOST_WORDS = 5  # that are named for each task
LARGE_SHARE = 0.25  # of what everything gains over the constant answer; less is no finding
SURE_SHARE = 0.1  # of the same, which the lower end of the interval must reach
NEARLY_ALL = 0.9  # of what everything gains; more is a finding of the overlap
MANY_REPEATS = 0.01  # of a split's rows; more is a finding
DIFFERENT_SHARES = 0.001  # the p of a difference between the splits' classes that is a finding
CLEAR_SHIFT = 0.6  # the lower end of an area under the curve that is a finding

# What would mend what a part alone gives away, with the step of a recipe (`mtl make`) that does it.
REMEDIES = {
    LENGTHS: "cut or choose texts so that lengths match across classes (steps cut and keep)",
    OVERLAP: "add negatives that are as similar as the positives are (step pairs)",
}
ONE_TEXT = (
    "the other text is not needed for these points; balance the answers of each text (step sample or pairs), or write rows anew with both"
    " texts in view"
)


def audit_artefacts(job: Job, floors: Sequence[str] = ("svm",)) -> Audit:
    """What the tasks of a job give away. Arguments and errors are those of `find_artefacts`."""
    found = find_artefacts(job, floors)
    findings = [finding for each in found for finding in artefact_findings(each, job.suite.shown)]
    return Audit(findings, render_artefacts(job.suite, found))


def artefact_findings(found: Artefacts, scale: Scale) -> list[Finding]:
    """What a task gives away clearly."""
    return [*_part_findings(found, scale), *_word_findings(found), *_split_findings(found, scale)]


def _part_findings(found: Artefacts, scale: Scale) -> Iterator[Finding]:
    (constant,) = [score.score for score in found.scores if score.part == CONSTANT]
    wholes = {score.floor: score.score - constant for score in found.scores if score.part == EVERYTHING}
    seen: set[str] = set()
    for score in sorted(found.scores, key=lambda score: -score.score):  # of several floors, the best one with each part
        part, gain = score.part, score.score - constant
        whole = wholes.get(score.floor, max(wholes.values()))
        if part in (EVERYTHING, CONSTANT, SHUFFLED, *seen):
            continue
        seen.add(part)
        if gain < LARGE_SHARE * whole:
            continue
        if score.gain[0] <= max(0, SURE_SHARE * whole):
            continue
        if part == OVERLAP and gain < NEARLY_ALL * whole:
            continue  # a pair's overlap is a part of most tasks; it is a fault where hardly anything else is needed
        reader = f" ({score.floor})" if score.floor and len(wholes) > 1 else ""
        shown = f"{part}{reader}: {scale.show(score.score)}, {scale.show(gain)} ({_ends(score.gain, scale)}) above the constant answer"
        beside = f"; everything is {scale.show(whole)} above it" if whole > 0 else ""
        meaning = (
            f"hardly more than this is needed; {REMEDIES[part]}" if part == OVERLAP else REMEDIES.get(part, ONE_TEXT)
        )
        yield Finding(f"artefact: {part}", found.task.id, found.task.scored_split, 1, shown + beside, meaning)


def _word_findings(found: Artefacts) -> Iterator[Finding]:
    """In a pair, no word of one text should tell the relation of the two."""
    if found.words is None or not found.words.found or not (found.task.is_pair or found.task.candidates):
        return
    named = ", ".join(
        f"“{word.word}” {word.answer} {word.share:.0%} of {word.rows} rows (all: {word.base:.0%})"
        for word in found.words.found[:MOST_WORDS]
    )
    count = len(found.words.found)
    what = f"{count} of {found.words.tested:,} words of one text tell the class: {named}"
    meaning = "a model can answer such rows without comparing the texts; balance the classes of rows with these words (step sample)"
    yield Finding("artefact: words", found.task.id, "train", count, what, meaning)


def _split_findings(found: Artefacts, scale: Scale) -> Iterator[Finding]:
    classes = found.classes
    if classes is not None and classes.p < DIFFERENT_SHARES:
        shares = {split: rows / rows.sum() for split, rows in classes.rows.items()}
        listed = "; ".join(
            f"{answer} {', '.join(f'{split} {own[number]:.0%}' for split, own in shares.items())}"
            for number, answer in enumerate(classes.answers)
        )
        what = f"the splits have other shares of the classes ({listed}; p = {classes.p:.1g})"
        meaning = "thresholds and constants chosen on one split are wrong for another; split anew, stratified by class (step split)"
        yield Finding("artefact: class shares", found.task.id, "", 1, what, meaning)
    if (gap := found.gap) is not None and not gap.interval[0] <= 0 <= gap.interval[1]:
        what = (
            f"the floor that reads everything has {scale.show(gap.dev)} on dev and {scale.show(gap.test)} on test (difference"
            f" {_ends(gap.interval, scale)})"
        )
        meaning = "a model that is chosen on dev is chosen for other rows; divide dev and test anew, with another seed (step split)"
        yield Finding("artefact: dev and test", found.task.id, "", 1, what, meaning)
    for each in found.repeats:
        if each.count > MANY_REPEATS * each.rows:
            what = f"{each.count} of {each.rows} rows have the texts of a training row"
            meaning = (
                "a model answers these rows by heart, and scores are too high; mtl audit --write-clean leaves them out (steps"
                " duplicates and split)"
            )
            yield Finding("artefact: repeats", found.task.id, each.split, each.count, what, meaning)
    for shift in found.shifts:
        # Rows of one group, as of an author, are in one split and are alike: that they are told from train is meant.
        if shift.interval[0] > CLEAR_SHIFT and found.task.group is None:
            area = f"{shift.area:.2f}, {shift.interval[0]:.2f} to {shift.interval[1]:.2f}"
            what = f"a classifier tells its rows from those of train (area under the curve {area})"
            meaning = (
                "the split is from another source or domain, or rows that belong together are in one split; if that is not"
                " meant, split anew (step split)"
            )
            yield Finding("artefact: shift", found.task.id, shift.split, 1, what, meaning)


def artefact_summary(suite: Suite, found: Sequence[Artefacts]) -> str:
    """The findings alone, in Markdown."""
    findings = [finding for each in found for finding in artefact_findings(each, suite.shown)]
    return "\n".join([*(f"- {inert(str(finding))}" for finding in findings), verdict(findings)])


def render_artefacts(suite: Suite, found: Sequence[Artefacts]) -> str:
    """The report in Markdown, which also reads well in a terminal."""
    findings = [finding for each in found for finding in artefact_findings(each, suite.shown)]
    sections = [
        f"## {inert(suite.title)}: what its tasks give away",
        _score_table(found, suite.shown),
        f"The floor reads everything, one text of each pair, or the words in random order. {LENGTHS}:"
        " a linear model or a network on the numbers of tokens and characters;"
        f" {OVERLAP}: the cosines of the two texts. Intervals ({1 - LEVEL:.0%}) are over the scored rows.",
        _word_table(found),
        _class_table(found),
        _shift_table(found),
        _gap_table(found, suite.shown),
        "\n".join(["### Findings", "", *(f"- {inert(str(finding))}" for finding in findings)]) if findings else "",
        verdict(findings),
    ]
    return "\n\n".join(filter(None, sections))


def _score_table(found: Sequence[Artefacts], scale: Scale) -> str:
    parts = [part for part in (*CHANGES, CANDIDATES) if any(_scores(each, part) for each in found)]
    table = [["task", "split", "floor", *parts]]
    for each in found:
        for floor in _scores(each, EVERYTHING):
            of_floor = {
                part: _scores(each, part).get(floor if part in (*READ_BY_FLOORS, CANDIDATES) else "") for part in parts
            }
            cells = [
                MISSING if own is None else f"{scale.show(own.score)} ({_ends(own.interval, scale)})"
                for own in of_floor.values()
            ]
            table.append([each.task.id, each.task.scored_split, floor, *cells])
    return markdown_table(table, left=3)


def _scores(found: Artefacts, part: str) -> dict[str, PartScore]:
    """By floor."""
    return {score.floor: score for score in found.scores if score.part == part}


def _ends(interval: tuple[float, float], scale: Scale) -> str:
    return " to ".join(scale.show(end) for end in interval)


def _word_table(found: Sequence[Artefacts]) -> str:
    table = [["task", "word", "class", "rows", "share", "all rows", "z"]]
    notes = []
    for each in found:
        if each.words is None or not each.words.tested:
            continue
        for word in each.words.found[:MOST_WORDS]:
            shares = [f"{word.share:.0%}", f"{word.base:.0%}", f"{word.z:.1f}"]
            table.append([each.task.id, inert(word.word), inert(word.answer), str(word.rows), *shares])
        notes.append(
            f"{each.task.id} {len(each.words.found)} of {each.words.tested:,} (z above {each.words.threshold:.1f})"
        )
    if not notes:
        return ""
    about = "Words that tell a class by more than chance, corrected for their number: "
    listed = f"{about}{'; '.join(notes)}. In a task on single texts such words may be what the task is about."
    return "\n\n".join(["### Words", *([markdown_table(table, left=3)] if len(table) > 1 else []), listed])


def _class_table(found: Sequence[Artefacts]) -> str:
    splits = list(dict.fromkeys(split for each in found if each.classes for split in each.classes.rows))
    table = [["task", "class", *splits, *(f"tokens, {split}" for split in splits)]]
    for each in found:
        for number, answer in enumerate(each.classes.answers if each.classes else ()):
            assert each.classes is not None
            rows, tokens = each.classes.rows, each.classes.tokens
            shares = [
                f"{rows[split][number] / rows[split].sum():.1%}" if split in rows else MISSING for split in splits
            ]
            means = [_mean(tokens[split][number]) if split in tokens else MISSING for split in splits]
            table.append([each.task.id, inert(answer), *shares, *means])
    return "\n\n".join(["### Classes", markdown_table(table, left=2)]) if len(table) > 1 else ""


def _mean(tokens: float) -> str:
    return MISSING if np.isnan(tokens) else f"{tokens:.1f}"


def _shift_table(found: Sequence[Artefacts]) -> str:
    table = [["task", "split", "told from train", "interval"]]
    for each in found:
        for shift in each.shifts:
            low, high = shift.interval
            table.append([each.task.id, shift.split, f"{shift.area:.2f}", f"{low:.2f} to {high:.2f}"])
    if len(table) == 1:
        return ""
    note = "The area under the curve of a classifier that tells a split's rows from training rows: 0.5 is chance, 1 is certain."
    return "\n\n".join(["### Splits", markdown_table(table, left=2), note])


def _gap_table(found: Sequence[Artefacts], scale: Scale) -> str:
    gaps = [(each.task.id, each.gap) for each in found if each.gap]
    if not gaps:
        return ""
    body = [[id, scale.show(gap.dev), scale.show(gap.test), _ends(gap.interval, scale)] for id, gap in gaps]
    return f"{markdown_table([['task', 'dev', 'test', 'difference'], *body])}\n\nThe floor that reads everything, on dev and on test."
