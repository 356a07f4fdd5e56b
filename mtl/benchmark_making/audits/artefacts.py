"""What a task gives away: scores of floors that read a part of each row, words that tell a class, and how the splits differ.

A model that scores high may have learned these instead of the task (Gururangan et al. 2018, "Annotation Artifacts in Natural Language
Inference Data"; Gardner et al. 2021, "Competency Problems").
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.stats import binom, chi2_contingency, norm, rankdata
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

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

FEW_TEXTS = 100  # distinct training texts
LEVEL = 0.05  # of the threshold for words, and of the intervals
FEWEST_WITH_WORD = 20  # rows
FOLDS = 5  # of a classifier that tells splits apart
MOST_ROWS = 4000  # of each split, that it tells apart
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
class Shift:
    """How well a classifier tells the rows of a split from training rows: the area under its ROC curve with its interval. 0.5 is chance."""

    split: str
    area: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class ClassShares:
    """The classes of a task in its splits: the number of rows of each, int64 (classes,), and the p of a test that all splits have the same shares."""

    answers: list[str]
    rows: dict[str, np.ndarray]
    p: float


@dataclass(frozen=True)
class Artefacts:
    """What one task gives away. Parts that do not apply to it are empty or None."""

    task: Task
    scores: list[PartScore]
    words: Words | None
    classes: ClassShares | None
    shifts: list[Shift]


def find_artefacts(job: Job) -> list[Artefacts]:
    """Train floors, and test words and splits, for each task that has its files, texts, training rows and targets to score, single
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
    splits = dataset.splits[task.id]
    shifts = [split_shift(dataset, splits["train"], split, name) for name, split in splits.items() if name != "train"]
    has_words = bool(task.labels or task.candidates) and not target_kind(task).by_unit
    words = telling_words(task, splits["train"], texts.words) if has_words else None
    classes = class_shares(task, splits) if task.labels else None
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
    return Artefacts(task, scores, words, classes, list(filter(None, shifts)))


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
    with TemporaryDirectory(prefix="mtl-artefacts-") as folder, hidden_progress(), _quiet():
        method = build(BuildRequest(config, job.suite, job.data_dir, dataset, Path(folder), None))
        (predictions,) = [by_split for _, by_split in method.predictions(SEED, Path(folder))]
    return dict(predictions)[task.scored_split]


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the remarks of each floor: an audit trains many."""
    logger = logging.getLogger("mtl")
    before = logger.level
    logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))
    try:
        yield
    finally:
        logger.setLevel(before)


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
    deviations = np.sqrt(np.maximum(having[:, None] * base * (1 - base), 1e-12))
    z = (counts - having[:, None] * base) / deviations
    threshold = float(norm.isf(LEVEL / (2 * z.size)))
    named = vectorizer.get_feature_names_out()
    chance = binom.sf(counts - 1, having[:, None], base)
    z_told = np.where((z > threshold) & (chance < LEVEL / (2 * z.size)), z, 0)
    telling = []
    for word in np.flatnonzero(z_told.any(axis=1)).tolist():
        answer = int(np.argmax(z_told[word]))
        figures = counts[word, answer] / having[word], base[answer], z[word, answer]
        telling.append(Word(str(named[word]), answers[answer], int(having[word]), *map(float, figures)))
    return Words(sorted(telling, key=lambda word: (-word.z, word.word)), len(named), threshold)


def class_shares(task: Task, splits: dict[str, Split]) -> ClassShares | None:
    """The classes of the splits whose targets are known; None if there is only one such split."""
    classes = np.arange(len(task.labels or ()))
    known = {name: split for name, split in splits.items() if not np.isnan(split.targets).any()}
    if len(known) < 2:
        return None
    rows = {name: (split.targets[:, None] == classes).sum(axis=0) for name, split in known.items()}
    table = np.array(list(rows.values()))
    table = table[:, table.any(axis=0)]
    return ClassShares(list(task.labels or ()), rows, float(chi2_contingency(table).pvalue))


def split_shift(dataset: Dataset, train: Split, scored: Split, name: str) -> Shift | None:
    """How well a classifier on TF-IDF of words tells the rows of a split from training rows; None with fewer groups of rows than folds.

    Each row is judged by a classifier that was not trained on it, nor on a row of its split with one of its texts: where the answers to a
    question stand in one split, the question alone would tell the split. Texts that both splits have tell nothing.
    """
    rng = np.random.default_rng(SEED)
    drawn = []
    for split in (train, scored):
        rows = np.arange(len(split.texts))
        rows = rows if len(rows) <= MOST_ROWS else np.sort(rng.choice(rows, MOST_ROWS, replace=False))
        drawn.append(split.texts[rows])
    inputs, marks = np.concatenate(drawn), np.repeat([0, 1], [len(texts) for texts in drawn])
    groups = _groups(inputs, marks)
    if min(len(np.unique(groups[marks == label])) for label in (0, 1)) < FOLDS:
        return None
    texts = [" ".join(dataset.texts[text] for text in row) for row in inputs.tolist()]
    classifier = LogisticRegression(class_weight="balanced", max_iter=300)
    model = make_pipeline(TfidfVectorizer(token_pattern=r"\w+"), classifier)
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED)
    try:
        judged = cross_val_predict(model, texts, marks, groups=groups, cv=folds, method="decision_function")
    except ValueError:  # no words at all, or a fold with rows of one split alone
        return None
    area, deviation = area_under_curve(judged[marks == 0], judged[marks == 1], groups[marks == 0], groups[marks == 1])
    reach = float(norm.isf(LEVEL / 2)) * deviation
    return Shift(name, area, (max(0.0, area - reach), min(1.0, area + reach)))


def _groups(inputs: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The group of each row: rows with a common text that one split alone has, and those joined by others, are in one."""
    rows = np.repeat(np.arange(len(inputs)), inputs.shape[1])
    texts = np.unique(inputs, return_inverse=True)[1].ravel()
    share = np.bincount(texts, marks[rows]) / np.bincount(texts)
    alone = np.isin(share[texts], (0, 1))
    size = len(inputs) + len(share)
    graph = coo_matrix((np.ones(alone.sum(), np.int8), (rows[alone], len(inputs) + texts[alone])), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][: len(inputs)])


def area_under_curve(
    low: np.ndarray, high: np.ndarray, low_groups: np.ndarray, high_groups: np.ndarray
) -> tuple[float, float]:
    """The area under the ROC curve of scores that should be low, and high, and its standard deviation for rows in groups, which may have
    rows of both (DeLong et al. 1988; Obuchowski 1997)."""
    ranks = rankdata(np.concatenate([low, high]))
    over = (ranks[len(low) :] - rankdata(high)) / len(low)  # which share of the low scores is below a high one
    under = 1 - (ranks[: len(low)] - rankdata(low)) / len(high)
    area = float(over.mean())
    groups = np.concatenate([low_groups, high_groups])
    influence = np.concatenate([(under - area) / len(low), (over - area) / len(high)])
    sums = np.bincount(np.unique(groups, return_inverse=True)[1], influence)
    return area, float(np.sqrt((sums**2).sum() * len(sums) / max(1, len(sums) - 1)))
