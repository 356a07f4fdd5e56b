"""What a task gives away: scores of floors that read a part of each row, words that tell a class, and the classes of its splits.

A model that scores high may have learned these instead of the task (Gururangan et al. 2018, "Annotation Artifacts in Natural Language
Inference Data"; Gardner et al. 2021, "Competency Problems").
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.stats import binom, norm
from sklearn.feature_extraction.text import CountVectorizer

from mtl.base.errors import InputError
from mtl.base.progress import hidden_progress, progress
from mtl.data.dataset import Dataset, Split, load_dataset, present_tasks
from mtl.data.text import TokenizedTexts, tokenized
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.methods.floors.features import Document, RowFeatures
from mtl.methods.floors.floor import Floor
from mtl.methods.method import BuildRequest, Method
from mtl.stats.resampling import resampled_scores, row_groups
from mtl.tasks.metrics import score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

logger = logging.getLogger("mtl")

FEW_TEXTS = 100  # distinct training texts
LEVEL = 0.05  # of the threshold for words, and of the intervals
FEWEST_WITH_WORD = 20  # rows
SEED = 1

EVERYTHING, CONSTANT = "everything", "constant"
FIRST, SECOND, CANDIDATES = "first text alone", "second text alone", "candidates alone"
LENGTHS, OVERLAP = "lengths alone", "overlap alone"

# What a floor reads: changes a task and its dataset, or returns None where the part does not exist.
Change = Callable[[Task, Dataset], tuple[Task, Dataset] | None]


@dataclass(frozen=True)
class PartScore:
    """How a floor scores that reads a part of each row."""

    part: str
    score: float  # × 100
    interval: tuple[float, float]  # of the score, over the scored rows (of groups, where rows belong together)
    gain: tuple[float, float]  # the interval of the difference to the constant answer, on the same rows


@dataclass(frozen=True)
class Word:
    """A word that tells a class, with "1: " or "2: " before it, which of a pair's texts it stands in: how many training rows have the word, how
    many of these are of the class, the share of the class in all rows, and how many standard deviations lie between the two."""

    word: str
    answer: str
    rows: int
    share: float
    base: float
    z: float


@dataclass(frozen=True)
class Words:
    """The words that tell a class by more than chance, the most certain first, of so many tested ones; the threshold is that of z (Bonferroni)."""

    telling: list[Word]
    tested: int
    threshold: float


@dataclass(frozen=True)
class Artefacts:
    """What one task gives away: scores, words (None: not tested), and the rows of each class, int64 (classes,), by split with targets."""

    task: Task
    scores: list[PartScore]
    words: Words | None = None
    classes: dict[str, np.ndarray] = field(default_factory=dict)


def find_artefacts(job: Job) -> list[Artefacts]:
    """Train floors, and test words, for each task that has its files, texts, training rows and targets to score, single
    values.

    Raises InputError for data that cannot be read, and if no task has its files, or none is one that the floors can learn.
    """
    present = {task.id for task in present_tasks(job.suite, job.data_dir)}
    found = [task for task in job.tasks if task.id in present]
    dataset = load_dataset(job.suite, found or job.tasks, job.data_dir, job.config.held_out)
    tasks = [
        task
        for task in dataset.trained_tasks
        if task.is_scored and not target_kind(task).several and METHODS["svm"].answers(task)
    ]
    if not tasks:
        raise InputError("no task has files, texts and targets that svm can learn; choose others", key="tasks")
    texts = tokenized(dataset.texts, job.suite.language, job.config.max_length, Path(job.config.cache_dir))
    return [_artefacts(job, dataset, texts, task) for task in progress(tasks, "artefacts", "tasks")]


def _artefacts(job: Job, dataset: Dataset, texts: TokenizedTexts, task: Task) -> Artefacts:
    splits, classes = dataset.splits[task.id], np.arange(len(task.labels or ()))
    has_words = bool(task.labels or task.candidates) and not target_kind(task).by_unit
    words = telling_words(task, splits["train"], texts.words) if has_words else None
    known = {name: split for name, split in splits.items() if task.labels and not np.isnan(split.targets).any()}
    predicted: dict[str, np.ndarray] = {}  # by part, the targets of the scored rows, (rows,)
    for part, (change, build, settings) in PARTS.items():
        if (changed := change(task, dataset)) is not None:
            shown = CANDIDATES if task.candidates is not None and part == SECOND else part
            predicted[shown] = _predictions(job, build, settings, *changed)
    # All are resampled together, so that differences are of the same rows.
    rows, recorded = dataset.scored(task).scored, dataset.scored_rows[task.id]
    groups = row_groups(recorded["texts"], np.array(recorded["groups"] or range(len(dataset.scored(task)))))
    points = {part: resampled_scores(task, targets[None], rows, groups)[0] for part, targets in predicted.items()}
    scores = [
        PartScore(part, score(task, predicted[part], rows), _interval(values), _interval(values - points[CONSTANT]))
        for part, values in points.items()
    ]
    counts = {name: (split.targets[:, None] == classes).sum(axis=0) for name, split in known.items()}
    return Artefacts(task, scores, words, counts)


def _side(side: int, task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
    """One of a pair's texts, or the candidates of a choice."""
    if not task.is_pair or (task.candidates is not None and side == 0):
        return None
    column = [task.text[side]] if task.candidates is None else []
    alone = replace(task, text=column, spans=None)
    splits = {
        name: replace(split, texts=split.texts[:, side : side + 1], spans=None)
        for name, split in dataset.splits[task.id].items()
    }
    return alone, replace(dataset, tasks=[alone], splits={task.id: splits})


def _whole(task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
    return task, replace(dataset, tasks=[task], splits={task.id: dataset.splits[task.id]})


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


SVM: dict[str, object] = {
    "method": "svm",
    "floor.features": "pair",
    "floor.choice": "candidates",
    "floor.grid.C": [0.1, 1.0],
}
# By part, what is read, and the floor that reads it with its settings.
PARTS: dict[str, tuple[Change, Callable[[BuildRequest], Method], dict[str, object]]] = {
    EVERYTHING: (_whole, Floor, SVM),
    FIRST: (partial(_side, 0), Floor, SVM),
    SECOND: (partial(_side, 1), Floor, SVM),
    LENGTHS: (_whole, LengthFloor, {"method": "static", "floor.features": "pair", "floor.grid.alpha": [1.0]}),
    OVERLAP: (
        lambda task, dataset: _whole(task, dataset) if task.is_pair else None,
        Floor,
        {"method": "overlap", "floor.features": "pair"},
    ),
    CONSTANT: (_whole, Floor, {"method": "constant"}),
}


def _interval(values: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(values, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def _predictions(
    job: Job, build: Callable[[BuildRequest], Method], settings: dict[str, object], task: Task, dataset: Dataset
) -> np.ndarray:
    """The targets of the scored rows that a floor predicts, (rows,)."""
    shared = {"suite": job.config.suite, "max_length": job.config.max_length, "cache_dir": job.config.cache_dir}
    config = load_job({**shared, **settings}).config
    if settings is SVM and len(np.unique(dataset.splits[task.id]["train"].texts)) < FEW_TEXTS:
        config.floor.min_count = 1  # as of topics: no word need stand in two of them
    before = logger.level
    logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))  # no remarks of each floor: an audit trains many
    try:
        with TemporaryDirectory(prefix="mtl-artefacts-") as folder, hidden_progress():
            method = build(BuildRequest(config, job.suite, job.data_dir, dataset, Path(folder), None))
            (predictions,) = [by_split for _, by_split in method.predictions(SEED, Path(folder))]
    finally:
        logger.setLevel(before)
    return dict(predictions)[task.scored_split]


def telling_words(task: Task, train: Split, words: Callable[[int], list[str]]) -> Words:
    """The words that tell a class, by the z-score of Gardner et al. 2021: the class's share among the rows that have the word, against its
    share among all rows. The rows of a choice are its candidates, which are right or wrong.

    A rare class has large z-scores by chance, so a word must pass the exact binomial test at the same level, too.
    """
    codes = target_kind(task).fit_targets(train.targets, train.sizes)
    answers, sides = list(task.labels or ()), train.texts
    if task.candidates is not None:
        answers, sides = ["wrong", "right"], train.texts[:, -1:]
    marks = [f"{side}: " if sides.shape[1] > 1 else "" for side in range(1, sides.shape[1] + 1)]
    rows = [
        {f"{mark}{word.lower()}" for mark, text in zip(marks, row, strict=True) for word in words(text)}
        for row in sides.tolist()
    ]
    vectorizer = CountVectorizer(analyzer=lambda row: row, binary=True, min_df=FEWEST_WITH_WORD)
    try:
        present = vectorizer.fit_transform(rows)
    except ValueError:  # no word in so many rows
        return Words([], 0, np.inf)
    indicators = (codes[:, None] == np.arange(len(answers))).astype(np.float64)
    base = indicators.mean(axis=0)
    having = np.asarray(present.sum(axis=0)).ravel().astype(np.float64)
    counts = present.T @ indicators
    z = (counts - having[:, None] * base) / np.sqrt(np.maximum(having[:, None] * base * (1 - base), 1e-12))
    level = LEVEL / (2 * z.size)
    threshold = float(norm.isf(level))
    told = np.where((z > threshold) & (binom.sf(counts - 1, having[:, None], base) < level), z, 0)
    telling, names = [], vectorizer.get_feature_names_out()
    for word, answer in enumerate(told.argmax(axis=1).tolist()):
        if told[word, answer] > 0:
            figures = counts[word, answer] / having[word], base[answer], z[word, answer]
            telling.append(Word(str(names[word]), answers[answer], int(having[word]), *map(float, figures)))
    return Words(sorted(telling, key=lambda word: (-word.z, word.word)), len(z), threshold)
