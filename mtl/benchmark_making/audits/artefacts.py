"""What a task gives away: scores of floors that read a part of each row, and words that tell a class. A model may have learned these instead of the
task (Gururangan et al. 2018, "Annotation Artifacts in Natural Language Inference Data"; Gardner et al. 2021, "Competency Problems")."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import binom, norm
from sklearn.feature_extraction.text import CountVectorizer

from mtl.base.errors import InputError
from mtl.base.progress import progress
from mtl.base.wording import MISSING, inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit
from mtl.benchmark_making.audits.part_scores import CONSTANT, EVERYTHING, LENGTHS, OVERLAP, PARTS, PartScore, score_task
from mtl.benchmark_making.audits.parts import Finding
from mtl.data.dataset import Split
from mtl.data.loading import load_dataset
from mtl.data.present_files import present_tasks
from mtl.data.text import tokenized
from mtl.jobs.job import Job
from mtl.methods import METHODS
from mtl.stats.comparison import COVERAGE
from mtl.tasks.scale import Scale
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_WORDS = 5  # that are named for each task
LARGE_SHARE = 0.25  # of what everything gains over the constant answer; less is no finding
SURE_SHARE = 0.1  # of the same, which the lower end of the interval must reach
NEARLY_ALL = 0.9  # of what everything gains; more is a finding of the overlap
LEVEL = 0.05  # of the tests of all words and classes together
FEWEST_WITH_WORD = 20  # rows; a word in fewer is not tested
LEAST_VARIANCE = 1e-12  # of a count, where a class has all rows or none
ONE_TEXT = (
    "the other text is not needed for these points; give each text several targets in different pairs (step sample or pairs), or write rows"
    " anew with both texts in view"
)
MEANINGS = {  # of a part that gives much away, with a remedy, and the step of a recipe (`mtl make`) that does it
    **dict.fromkeys(PARTS, ONE_TEXT),  # of one text of a pair alone; the others follow
    LENGTHS: "cut or choose texts so that texts of every length have every target (steps cut and keep)",
    OVERLAP: "hardly more than this is needed; add pairs of similar texts with other targets than such pairs have, and of"
    " dissimilar ones (step pairs)",
}


@dataclass(frozen=True)
class Word:
    name: str  # with "1: " or "2: " before it, which says the text that it stands in
    answer: str  # the class
    rows: int  # the training rows that have the word
    share: float  # of the class among them
    base: float  # the share of the class among all training rows
    z: float  # the standard deviations that lie between the two shares

    def __str__(self) -> str:
        return f"“{self.name}” {self.answer} {self.share:.0%} of {self.rows} rows (all: {self.base:.0%})"


@dataclass(frozen=True)
class Artefacts:
    task: Task
    scores: list[PartScore]  # of everything, of the constant answer, and of parts
    words: list[Word] = field(default_factory=list)
    tested: int = 0  # words


def audit_artefacts(job: Job) -> Audit:
    artefacts = find_artefacts(job)
    scale = job.suite.shown
    findings = [finding for task_artefacts in artefacts for finding in artefact_findings(task_artefacts, scale)]
    return Audit(findings, render_artefacts(job.suite, artefacts))


def find_artefacts(job: Job) -> list[Artefacts]:
    """Train floors, and test words, for each task that floors can learn. Raises InputError for bad data, and for no such task."""
    present = [task for task in present_tasks(job.suite, job.data_dir) if task in job.tasks]
    dataset = load_dataset(job.suite, present or job.tasks, job.data_dir, job.config.held_out)
    scored = [task for task in dataset.trained_tasks if task.is_scored and METHODS["svm"].answers(task)]
    tasks = [task for task in scored if not target_kind(task).has_several_codes]
    if not tasks:
        raise InputError("no task has files, texts and targets that svm can learn; choose others", key="tasks")
    texts = tokenized(dataset.texts, job.suite.language, job.config.max_length, Path(job.config.cache_dir))
    artefacts = []
    for task in progress(tasks, "artefacts", "tasks"):
        words: list[Word] = []
        tested = 0
        # No word of one text should tell the relation of two. Of single texts, words are often what the task is about.
        if task.is_pair and task.labels and not target_kind(task).by_unit:
            words, tested = telling_words(task, dataset.splits[task.id]["train"], texts.words)
        artefacts.append(Artefacts(task, score_task(job, dataset, task), words, tested))
    return artefacts


def telling_words(task: Task, train: Split, words: Callable[[int], list[str]]) -> tuple[list[Word], int]:
    """The words of one text of a pair that tell the class by more than chance, the most certain first, and how many were tested."""
    answers = list(task.labels or ())
    vectorizer = CountVectorizer(analyzer=lambda row: _words_of(row, words), binary=True, min_df=FEWEST_WITH_WORD)
    try:
        present = vectorizer.fit_transform(train.texts.tolist())  # (rows, words)
    except ValueError:  # no word in so many rows
        return [], 0
    indicators = (train.targets[:, None] == np.arange(len(answers))).astype(np.float64)  # (rows, classes)
    base = indicators.mean(axis=0)  # (classes,)
    having = np.asarray(present.sum(axis=0)).reshape(-1, 1).astype(np.float64)  # rows, (words, 1)
    counts = present.T @ indicators  # rows, (words, classes)
    z = _certain_scores(counts, having, base)
    names = vectorizer.get_feature_names_out()
    telling = []
    for number in np.flatnonzero(z.max(axis=1) > 0):
        answer = z[number].argmax()  # the class that the word tells most certainly
        rows = int(having[number, 0])
        share, name = float(counts[number, answer] / rows), str(names[number])
        telling.append(Word(name, answers[answer], rows, share, float(base[answer]), float(z[number, answer])))
    return sorted(telling, key=lambda word: (-word.z, word.name)), len(z)


def _certain_scores(counts: np.ndarray, having: np.ndarray, base: np.ndarray) -> np.ndarray:
    """The z-score of each word and class (Gardner et al. 2021), (words, classes): the class's share among the rows that have the word, against its
    share among all rows; 0 for a difference that may be chance. A rare class has large ones by chance, so the exact binomial test counts, too."""
    variances = np.maximum(having * base * (1 - base), LEAST_VARIANCE)
    z = (counts - having * base) / np.sqrt(variances)
    level = LEVEL / (2 * z.size)  # of one side of each test, corrected for all words and classes (Bonferroni)
    return np.where((z > norm.isf(level)) & (binom.sf(counts - 1, having, base) < level), z, 0)


def _words_of(row: Sequence[int], words: Callable[[int], list[str]]) -> set[str]:
    """The different words of the texts of a row, in lower case, each with a mark of the text that it stands in."""
    return {f"{side}: {word.lower()}" for side, text in enumerate(row, start=1) for word in words(text)}


def artefact_findings(artefacts: Artefacts, scale: Scale) -> Iterator[Finding]:
    """What a task gives away clearly: the parts, the one that scores highest first, and then the words."""
    task, words = artefacts.task, artefacts.words
    scores = {part_score.part: part_score for part_score in artefacts.scores}
    constant, everything = scores.pop(CONSTANT).score, scores.pop(EVERYTHING).score
    for part, part_score in sorted(scores.items(), key=lambda item: -item[1].score):
        if _gains_much(part_score, constant, everything):
            what = _gain_text(part_score, constant, everything, scale)
            yield Finding(f"artefact: {part}", task.id, task.scored_split, 1, what, MEANINGS[part])
    if words:
        named = ", ".join(map(str, words[:MOST_WORDS]))
        what = f"{len(words)} of {artefacts.tested:,} words of one text tell the class: {named}"
        meaning = "a model can answer such rows without comparing the texts; balance the classes of rows with these words (step sample)"
        yield Finding("artefact: words", task.id, "train", len(words), what, meaning)


def _gains_much(part_score: PartScore, constant: float, everything: float) -> bool:
    """Whether a part surely gains a large share of what everything gains over the constant answer."""
    gain, full_gain = part_score.score - constant, everything - constant
    # A pair's overlap is a part of most tasks; it is a fault where hardly anything else is needed.
    share = NEARLY_ALL if part_score.part == OVERLAP else LARGE_SHARE
    return gain >= share * full_gain and part_score.gain[0] > max(0, SURE_SHARE * full_gain)


def _gain_text(part_score: PartScore, constant: float, everything: float, scale: Scale) -> str:
    """What a part scores, beside the constant answer and everything, and what it gains."""
    shown = f"{part_score.part} scores {scale.show(part_score.score)}, the constant answer {scale.show(constant)}"
    if everything > constant:
        shown += f" and everything {scale.show(everything)}"
    low, high = map(scale.show, part_score.gain)
    return f"{shown}; the gain over the constant answer is {scale.show(part_score.score - constant)} ({COVERAGE:g}% interval {low} to {high})"


def render_artefacts(suite: Suite, artefacts: Sequence[Artefacts]) -> list[str]:
    """The sections of the report before the findings, in Markdown, which also reads well in a terminal."""
    scale = suite.shown
    scored = {part_score.part for task_artefacts in artefacts for part_score in task_artefacts.scores}
    parts = [part for part in PARTS if part in scored]
    table = [["task", "split", *parts]]
    for task_artefacts in artefacts:
        task, cells = task_artefacts.task, dict.fromkeys(parts, MISSING)
        for part_score in task_artefacts.scores:
            low, high = map(scale.show, part_score.interval)
            cells[part_score.part] = f"{scale.show(part_score.score)} ({low} to {high})"
        table.append([task.id, task.scored_split, *cells.values()])
    return [
        f"## {inert(suite.title)}: annotation artefacts",
        markdown_table(table, left=2),
        f"A linear SVM reads everything, or one text of each pair. {LENGTHS}: a linear model or a network on the numbers of tokens and characters;"
        f" {OVERLAP}: the cosines of the two texts. Intervals ({COVERAGE:g}%) are over the scored examples.",
    ]
