"""What a task gives away: scores of floors that read a part of each row, and words that tell a class.

A model that scores high may have learned these instead of the task (Gururangan et al. 2018, "Annotation Artifacts in Natural Language
Inference Data"; Gardner et al. 2021, "Competency Problems"). Each finding says what it means for a score and what would mend it.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from scipy.stats import binom, norm
from sklearn.feature_extraction.text import CountVectorizer

from mtl.base.errors import InputError
from mtl.base.progress import hidden_progress, progress
from mtl.base.wording import MISSING, inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit
from mtl.benchmark_making.audits.parts import Finding
from mtl.data.dataset import Dataset, Split, load_dataset, present_tasks
from mtl.data.text import TokenizedTexts, tokenized
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.methods.floors.features import Document, RowFeatures
from mtl.methods.floors.floor import Floor
from mtl.methods.method import BuildRequest, Method
from mtl.stats.resampling import resampled_scores, row_groups
from mtl.tasks.metrics import score
from mtl.tasks.scale import Scale
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

logger = logging.getLogger("mtl")

FEW_TEXTS = 100  # distinct training texts
LEVEL = 0.05  # of the threshold for words, and of the intervals
FEWEST_WITH_WORD = 20  # rows
SEED = 1
MOST_WORDS = 5  # that are named for each task
LARGE_SHARE = 0.25  # of what everything gains over the constant answer; less is no finding
SURE_SHARE = 0.1  # of the same, which the lower end of the interval must reach
NEARLY_ALL = 0.9  # of what everything gains; more is a finding of the overlap

EVERYTHING, CONSTANT = "everything", "constant"
FIRST, SECOND = "first text alone", "second text alone"  # of a choice, the second text is a candidate
LENGTHS, OVERLAP = "lengths alone", "overlap alone"
# What would mend what a part alone gives away, with the step of a recipe (`mtl make`) that does it.
REMEDIES = {
    LENGTHS: "cut or choose texts so that texts of every length have every target (steps cut and keep)",
    OVERLAP: "add pairs of similar texts with other targets than such pairs have, and of dissimilar ones (step pairs)",
}
ONE_TEXT = (
    "the other text is not needed for these points; give each text several targets in different pairs (step sample or pairs), or write rows"
    " anew with both texts in view"
)


Settings = dict[str, object]  # of a floor, by dotted keys


class Reader(NamedTuple):
    """A floor that reads a part of each row."""

    # The task and its dataset with this part alone; None where the task has no such part.
    select: Callable[[Task, Dataset], tuple[Task, Dataset] | None]
    build: Callable[[BuildRequest], Method]
    settings: Settings


@dataclass(frozen=True)
class PartScore:
    """How a floor scores that reads a part of each row."""

    part: str  # a key of PARTS
    score: float  # × 100
    interval: tuple[float, float]  # of the score, over the scored rows (of groups, where rows belong together)
    gain: tuple[float, float]  # the interval of the difference to the constant answer, on the same rows


@dataclass(frozen=True)
class Word:
    """A word that tells a class."""

    word: str  # of a pair's texts with "1: " or "2: " before it, which says the text that it stands in
    answer: str  # the class
    rows: int  # the training rows that have the word
    share: float  # of the class among them
    base: float  # the share of the class among all training rows
    z: float  # the standard deviations that lie between the two shares

    def __str__(self) -> str:
        return f"“{self.word}” {self.answer} {self.share:.0%} of {self.rows} rows (all: {self.base:.0%})"


@dataclass(frozen=True)
class Artefacts:
    """What one task gives away."""

    task: Task
    scores: list[PartScore]
    words: list[Word] = field(default_factory=list)
    tested: int = 0  # words


def audit_artefacts(job: Job) -> Audit:
    """What the tasks of a job give away. Raises InputError as `find_artefacts`."""
    artefacts, scale = find_artefacts(job), job.suite.shown
    findings = [finding for task_artefacts in artefacts for finding in artefact_findings(task_artefacts, scale)]
    return Audit(findings, render_artefacts(job.suite, artefacts))


def find_artefacts(job: Job) -> list[Artefacts]:
    """Train floors, and test words, for each task that has its files, texts, training rows and targets to score, single values. Raises InputError for
    data that cannot be read, and if no task has its files, or none is one that the floors can learn."""
    with_files = {task.id for task in present_tasks(job.suite, job.data_dir)}
    present = [task for task in job.tasks if task.id in with_files]
    dataset = load_dataset(job.suite, present or job.tasks, job.data_dir, job.config.held_out)
    scored = [task for task in dataset.trained_tasks if task.is_scored and METHODS["svm"].answers(task)]
    tasks = [task for task in scored if not target_kind(task).has_several_codes]
    if not tasks:
        raise InputError("no task has files, texts and targets that svm can learn; choose others", key="tasks")
    texts = tokenized(dataset.texts, job.suite.language, job.config.max_length, Path(job.config.cache_dir))
    return [_artefacts(job, dataset, texts, task) for task in progress(tasks, "artefacts", "tasks")]


def _artefacts(job: Job, dataset: Dataset, texts: TokenizedTexts, task: Task) -> Artefacts:
    """What one task gives away."""
    words, tested = list[Word](), 0
    # No word of one text should tell the relation of two. Of single texts, words are often what the task is about.
    if task.is_pair and task.labels and not target_kind(task).by_unit:
        words, tested = telling_words(task, dataset.splits[task.id]["train"], texts.words)
    predicted: dict[str, np.ndarray] = {}  # by part, the targets of the scored rows, (rows,)
    for part, reader in PARTS.items():
        if (selected := reader.select(task, dataset)) is not None:
            predicted[part] = _predictions(job, reader, *selected)
    # All are resampled together, so that differences are of the same rows.
    rows, recorded = dataset.scored(task).scored, dataset.scored_rows[task.id]
    groups = row_groups(recorded["texts"], np.array(recorded["groups"] or range(len(dataset.scored(task)))))
    points = {part: resampled_scores(task, targets[None], rows, groups)[0] for part, targets in predicted.items()}
    scores = [
        PartScore(part, score(task, predicted[part], rows), _interval(values), _interval(values - points[CONSTANT]))
        for part, values in points.items()
    ]
    return Artefacts(task, scores, words, tested)


def _one_text(side: int, task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
    """The first (0) or the second (1) of a pair's texts; of a choice, the second are the candidates, and the first alone tells nothing."""
    if not task.is_pair or (task.candidates is not None and side == 0):
        return None
    column = [task.text[side]] if task.candidates is None else []
    alone = replace(task, text=column, spans=None)
    pairs = dataset.splits[task.id].items()
    splits = {name: replace(split, texts=split.texts[:, side : side + 1], spans=None) for name, split in pairs}
    return alone, replace(dataset, tasks=[alone], splits={task.id: splits})


def _all_texts(task: Task, dataset: Dataset) -> tuple[Task, Dataset]:
    return task, replace(dataset, tasks=[task], splits={task.id: dataset.splits[task.id]})


def _both_texts(task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
    return _all_texts(task, dataset) if task.is_pair else None


class LengthFloor(Floor):
    """A floor that sees how long a row's texts are, and nothing else."""

    def new_features(self, task: Task, vectorizer: str | None) -> "LengthFeatures":
        return LengthFeatures()


class LengthFeatures(RowFeatures):
    """The numbers of tokens and characters of each text, on a logarithmic scale, and the differences of a pair's."""

    def transform(self, rows: Sequence[Sequence[Document]]) -> np.ndarray:
        """The features of rows, float64 (rows, features)."""
        lengths = np.log1p([[(len(part.tokens), len(part.text)) for part in row] for row in rows])
        flat = lengths.reshape(len(rows), -1)
        if lengths.shape[1] == 1:
            return flat
        differences = lengths[:, 0] - lengths[:, 1]
        return np.concatenate([flat, differences, abs(differences)], axis=1)


SVM: Settings = {"method": "svm", "floor.features": "pair", "floor.choice": "candidates", "floor.grid.C": [0.1, 1.0]}
LINEAR_LENGTHS: Settings = {"method": "static", "floor.features": "pair", "floor.grid.alpha": [1.0]}
PARTS = {
    EVERYTHING: Reader(_all_texts, Floor, SVM),
    FIRST: Reader(partial(_one_text, 0), Floor, SVM),
    SECOND: Reader(partial(_one_text, 1), Floor, SVM),
    LENGTHS: Reader(_all_texts, LengthFloor, LINEAR_LENGTHS),
    OVERLAP: Reader(_both_texts, Floor, {"method": "overlap", "floor.features": "pair"}),
    CONSTANT: Reader(_all_texts, Floor, {"method": "constant"}),
}


def _interval(values: np.ndarray) -> tuple[float, float]:
    """The ends of the interval of resampled values, (resamples,)."""
    low, high = np.quantile(values, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def _predictions(job: Job, reader: Reader, task: Task, dataset: Dataset) -> np.ndarray:
    """The targets of the scored rows that a floor predicts, (rows,)."""
    shared = {"suite": job.config.suite, "max_length": job.config.max_length, "cache_dir": job.config.cache_dir}
    config = load_job({**shared, **reader.settings}).config
    if config.method == "svm" and len(np.unique(dataset.splits[task.id]["train"].texts)) < FEW_TEXTS:
        config.floor.min_count = 1  # as of topics: no word need stand in two of them
    before = logger.level
    logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))  # no remarks of each floor: an audit trains many
    try:
        with TemporaryDirectory(prefix="mtl-artefacts-") as folder, hidden_progress():
            method = reader.build(BuildRequest(config, job.suite, job.data_dir, dataset, Path(folder), None))
            ((_, by_split),) = method.predictions(SEED, Path(folder))
    finally:
        logger.setLevel(before)
    return by_split[task.scored_split]


def telling_words(task: Task, train: Split, words: Callable[[int], list[str]]) -> tuple[list[Word], int]:
    """The words that tell a class by more than chance, the most certain first, and how many words were tested.

    The z-score is that of Gardner et al. 2021: the class's share among the rows that have the word, against its share among all rows. Its
    threshold is corrected for the number of words and classes (Bonferroni). A rare class has large z-scores by chance, so a word must pass the exact
    binomial test at the same level, too.

    Args:
        words: gives the words of a text, by its index in `Split.texts`.
    """
    answers, sides = list(task.labels or ()), train.texts.shape[1]
    marks = [f"{side}: " if sides > 1 else "" for side in range(1, sides + 1)]
    rows = [
        {f"{mark}{word.lower()}" for mark, text in zip(marks, row, strict=True) for word in words(text)}
        for row in train.texts.tolist()
    ]
    vectorizer = CountVectorizer(analyzer=lambda row: row, binary=True, min_df=FEWEST_WITH_WORD)
    try:
        present = vectorizer.fit_transform(rows)
    except ValueError:  # no word in so many rows
        return [], 0
    indicators = (train.targets[:, None] == np.arange(len(answers))).astype(np.float64)  # (rows, classes)
    base = indicators.mean(axis=0)  # (classes,)
    having = np.asarray(present.sum(axis=0)).ravel().astype(np.float64)  # rows, (words,)
    counts = present.T @ indicators  # rows, (words, classes)
    z = (counts - having[:, None] * base) / np.sqrt(np.maximum(having[:, None] * base * (1 - base), 1e-12))
    level = LEVEL / (2 * z.size)
    certain = np.where((z > norm.isf(level)) & (binom.sf(counts - 1, having[:, None], base) < level), z, 0)
    telling, names = [], vectorizer.get_feature_names_out()
    for word, answer in enumerate(certain.argmax(axis=1).tolist()):
        if certain[word, answer] > 0:
            share = float(counts[word, answer] / having[word])
            class_share, deviations = float(base[answer]), float(z[word, answer])
            telling.append(Word(str(names[word]), answers[answer], int(having[word]), share, class_share, deviations))
    return sorted(telling, key=lambda word: (-word.z, word.word)), len(z)


def artefact_findings(artefacts: Artefacts, scale: Scale) -> Iterator[Finding]:
    """What a task gives away clearly."""
    task, words = artefacts.task, artefacts.words
    scores = {part_score.part: part_score.score for part_score in artefacts.scores}
    constant, full_gain = scores[CONSTANT], scores[EVERYTHING] - scores[CONSTANT]
    parts = [part_score for part_score in artefacts.scores if part_score.part not in (EVERYTHING, CONSTANT)]
    for part_score in sorted(parts, key=lambda part_score: -part_score.score):
        part, gain, (low, _) = part_score.part, part_score.score - constant, part_score.gain
        if gain < LARGE_SHARE * full_gain or low <= max(0, SURE_SHARE * full_gain):
            continue
        # A pair's overlap is a part of most tasks; it is a fault where hardly anything else is needed.
        if part == OVERLAP and gain < NEARLY_ALL * full_gain:
            continue
        ends = _ends(part_score.gain, scale)
        shown = f"{part} scores {scale.show(part_score.score)}, the constant answer {scale.show(constant)}"
        beside = f" and everything {scale.show(scores[EVERYTHING])}" if full_gain > 0 else ""
        gained = f"; the gain over the constant answer is {scale.show(gain)} ({1 - LEVEL:.0%} interval {ends})"
        remedy = REMEDIES.get(part, ONE_TEXT)
        meaning = f"hardly more than this is needed; {remedy}" if part == OVERLAP else remedy
        yield Finding(f"artefact: {part}", task.id, task.scored_split, 1, f"{shown}{beside}{gained}", meaning)
    if words:
        named = ", ".join(map(str, words[:MOST_WORDS]))
        what = f"{len(words)} of {artefacts.tested:,} words of one text tell the class: {named}"
        meaning = "a model can answer such rows without comparing the texts; balance the classes of rows with these words (step sample)"
        yield Finding("artefact: words", task.id, "train", len(words), what, meaning)


def render_artefacts(suite: Suite, artefacts: Sequence[Artefacts]) -> list[str]:
    """The sections of the report before the findings, in Markdown, which also reads well in a terminal."""
    scale = suite.shown
    scored = {part_score.part for task_artefacts in artefacts for part_score in task_artefacts.scores}
    parts = [part for part in PARTS if part in scored]
    table = [["task", "split", *parts]]
    for task_artefacts in artefacts:
        task, cells = task_artefacts.task, dict.fromkeys(parts, MISSING)
        for part_score in task_artefacts.scores:
            cells[part_score.part] = f"{scale.show(part_score.score)} ({_ends(part_score.interval, scale)})"
        table.append([task.id, task.scored_split, *cells.values()])
    return [
        f"## {inert(suite.title)}: annotation artefacts",
        markdown_table(table, left=2),
        f"A linear SVM reads everything, or one text of each pair. {LENGTHS}: a linear model or a network on the numbers of tokens and characters;"
        f" {OVERLAP}: the cosines of the two texts. Intervals ({1 - LEVEL:.0%}) are over the scored examples.",
    ]


def _ends(interval: tuple[float, float], scale: Scale) -> str:
    return " to ".join(scale.show(end) for end in interval)
