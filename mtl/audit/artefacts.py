"""What a task gives away: scores of floors that read a part of each row, words that tell a class, and how the splits differ.

A model that scores high may have learned these instead of the task (Gururangan et al. 2018, "Annotation Artifacts in Natural Language
Inference Data"; Gardner et al. 2021, "Competency Problems").
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.stats import chi2_contingency, norm
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from mtl.base.progress import hidden_progress, progress
from mtl.data.dataset import Dataset, Split, load_dataset, present_tasks
from mtl.data.text import tokenized
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.methods.floors.features import Document
from mtl.methods.floors.floor import Floor
from mtl.methods.method import BuildRequest
from mtl.stats.resampling import resampled_scores, row_groups
from mtl.tasks.metrics import score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LEVEL = 0.05  # of intervals and of the threshold for words
FOLDS = 5
FEW_TEXTS = 100  # distinct training texts
MOST_ROWS = 4000  # of each split, that a classifier tells apart
FEWEST_WITH_WORD = 20  # rows
MOST_WORDS = 5  # that are named for each task
SEED = 1

EVERYTHING, CONSTANT = "everything", "constant"
SHUFFLED, LENGTHS, OVERLAP = "shuffled words", "lengths alone", "overlap alone"


@dataclass(frozen=True)
class PartScore:
    """How a floor scores that reads a part of each row.

    Args:
        part: what it reads.
        score: × 100.
        interval: of the score, over the scored rows (of groups, where rows belong together).
        gain: the interval of the difference to the constant answer, on the same rows.
    """

    part: str
    score: float
    interval: tuple[float, float]
    gain: tuple[float, float]


@dataclass(frozen=True)
class Word:
    """A word that tells a class.

    Args:
        word: with "1: " or "2: " before it, which of a pair's texts it stands in.
        answer: the class.
        rows: how many training rows have the word.
        share: how many of these are of the class.
        base: the share of the class in all rows.
        z: how many standard deviations the share is away from the base.
    """

    word: str
    answer: str
    rows: int
    share: float
    base: float
    z: float


@dataclass(frozen=True)
class Words:
    """The words that tell a class by more than chance, the most certain first.

    Args:
        tested: how many words were tested.
        threshold: for |z|, corrected for the number of words and classes (Bonferroni).
    """

    found: list[Word]
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
    """The classes of a task in its splits.

    Args:
        answers: the classes, as in the data.
        rows: by split, the number of rows of each class, int64 (classes,).
        tokens: by split, the mean number of tokens of a row of each class; NaN without rows.
        p: of a test that all splits have the same shares.
    """

    answers: list[str]
    rows: dict[str, np.ndarray]
    tokens: dict[str, np.ndarray]
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
    """Train the floors, and test words and splits, for each task that has its files, texts, training rows and targets to score.

    Raises:
        InputError: for data that cannot be read, and if no task has its files.
    """
    present = {task.id for task in present_tasks(job.suite, job.data_dir)}
    found = [task for task in job.tasks if task.id in present]
    dataset = load_dataset(job.suite, found or job.tasks, job.data_dir, job.config.held_out)
    tasks = [task for task in dataset.trained_tasks if task.is_scored and METHODS["svm"].answers(task)]
    return [_of_task(job, dataset, task) for task in progress(tasks, "artefacts", "tasks")]


def _of_task(job: Job, dataset: Dataset, task: Task) -> Artefacts:
    with hidden_progress():
        texts = tokenized(dataset.texts, job.suite.language, job.config.max_length, Path(job.config.cache_dir))
    splits = dataset.splits[task.id]
    shifts = [_shift(dataset, splits["train"], split, name) for name, split in splits.items() if name != "train"]
    words = telling_words(task, splits["train"], texts.words) if task.labels or task.candidates else None
    classes = _class_shares(task, splits, texts.lengths) if task.labels else None
    return Artefacts(task, part_scores(job, dataset, task), words, classes, [shift for shift in shifts if shift])


# What a floor reads: changes a task and its dataset, or returns None where the part does not exist.
Change = Callable[[Task, Dataset], tuple[Task, Dataset] | None]


def _side(side: int) -> Change:
    """One of a pair's texts, or the candidates of a choice."""

    def change(task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
        if not task.is_pair or (task.candidates is not None and side == 0):
            return None
        column = [task.text[side]] if task.candidates is None else []
        alone = replace(task, text=column, spans=None)
        splits = {
            name: replace(split, texts=split.texts[:, side : side + 1], spans=None)
            for name, split in dataset.splits[task.id].items()
        }
        return alone, replace(dataset, tasks=[alone], splits={task.id: splits})

    return change


def _whole(task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
    return task, replace(dataset, tasks=[task], splits={task.id: dataset.splits[task.id]})


def _pairs(task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
    return _whole(task, dataset) if task.is_pair else None


def _shuffled(task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
    """The words of each text in random order, the same for all seeds and machines."""
    if task.spans is not None:
        return None
    texts = []
    for text in dataset.texts:
        words = text.split()
        order = np.random.default_rng([SEED, zlib.crc32(text.encode("utf-8", "surrogatepass"))]).permutation(len(words))
        texts.append(" ".join(words[number] for number in order.tolist()))
    places = {text: number for number, text in enumerate(dict.fromkeys(texts))}  # two texts may become one
    moved = np.array([places[text] for text in texts])
    splits = {name: replace(split, texts=moved[split.texts]) for name, split in dataset.splits[task.id].items()}
    return task, replace(dataset, tasks=[task], texts=list(places), splits={task.id: splits})


class LengthFloor(Floor):
    """A floor that sees how long a row's texts are, and nothing else."""

    def new_features(self, task: Task, vectorizer: str | None) -> "LengthFeatures":
        return LengthFeatures()


class LengthFeatures:
    """The numbers of tokens and characters of each text, on a logarithmic scale, and the differences of a pair's."""

    problem = "its training texts are empty"

    def fit(self, rows: Sequence[Sequence[Document]]) -> np.ndarray:
        """The features of training rows: nothing is learned from them."""
        return self.transform(rows)

    def transform(self, rows: Sequence[Sequence[Document]]) -> np.ndarray:
        """The features of rows, float64 (rows, features)."""
        lengths = np.log1p([[(len(part.tokens), len(part.text)) for part in row] for row in rows])
        flat = lengths.reshape(len(rows), -1)
        if lengths.shape[1] == 1:
            return flat
        differences = lengths[:, 0] - lengths[:, 1]
        return np.concatenate([flat, differences, abs(differences)], axis=1)


# By what the floor reads: the method whose settings it has, the floor, and the change.
SVM = {"floor.features": "pair", "floor.choice": "candidates", "floor.grid.C": [0.1, 1.0]}
PARTS: dict[str, tuple[dict[str, object], type[Floor], Change]] = {
    EVERYTHING: ({"method": "svm", **SVM}, Floor, _whole),
    "first text alone": ({"method": "svm", **SVM}, Floor, _side(0)),
    "second text alone": ({"method": "svm", **SVM}, Floor, _side(1)),
    SHUFFLED: ({"method": "svm", **SVM}, Floor, _shuffled),
    LENGTHS: ({"method": "static", "floor.features": "pair", "floor.grid.alpha": [1.0]}, LengthFloor, _whole),
    OVERLAP: ({"method": "overlap", "floor.features": "pair"}, Floor, _pairs),
    CONSTANT: ({"method": "constant"}, Floor, _whole),
}


def part_scores(job: Job, dataset: Dataset, task: Task) -> list[PartScore]:
    """The scores of the floors of PARTS, as far as the task has these parts, in their order.

    All floors are resampled together, so that differences are of the same rows.
    """
    recorded = dataset.scored_rows[task.id]
    rows = dataset.scored(task).scored
    numbers = recorded["groups"] or list(range(len(rows.targets)))
    groups = row_groups(recorded["texts"], np.array(numbers))
    predicted = {}
    for part, (settings, floor, change) in PARTS.items():
        if (changed := change(task, dataset)) is not None:
            predicted[part] = _predictions(job, settings, floor, *changed)
    points = {part: resampled_scores(task, own[None], rows, groups)[0] for part, own in predicted.items()}
    whole = {part: _score(task, own, dataset) for part, own in predicted.items()}

    def interval(values: np.ndarray) -> tuple[float, float]:
        low, high = np.quantile(values, [LEVEL / 2, 1 - LEVEL / 2])
        return float(low), float(high)

    return [
        PartScore(
            "candidates alone" if task.candidates is not None and part == "second text alone" else part,
            whole[part],
            interval(values),
            interval(values - points[CONSTANT]),
        )
        for part, values in points.items()
    ]


def _score(task: Task, predicted: np.ndarray, dataset: Dataset) -> float:
    return score(task, predicted, dataset.scored(task).scored)


def _predictions(job: Job, settings: dict[str, object], floor: type[Floor], task: Task, dataset: Dataset) -> np.ndarray:
    """The targets (rows,) of the scored rows that a floor predicts."""
    with TemporaryDirectory(prefix="mtl-artefacts-") as folder, hidden_progress():
        given = {"suite": job.config.suite, "max_length": job.config.max_length, "cache_dir": folder, **settings}
        if "floor.grid.C" in settings and len(np.unique(dataset.splits[task.id]["train"].texts)) < FEW_TEXTS:
            given["floor.min_count"] = 1  # as of topics: no word need stand in two of them
        config = load_job(given).config
        method = floor(BuildRequest(config, job.suite, job.data_dir, dataset, Path(folder)))
        (predictions,) = [by_split for _, by_split in method.predictions(SEED, Path(folder))]
    return predictions[task.scored_split]


def telling_words(task: Task, train: Split, words: Callable[[int], list[str]]) -> Words:
    """The words that tell a class, by the z-score of Gardner et al. 2021: the class's share among the rows that have the word, against its
    share among all rows.

    The rows of a choice are its candidates, which are right or wrong.

    Args:
        words: returns the tokens of a text of the dataset.
    """
    if task.candidates is not None:
        codes = target_kind(task).simple.fit_targets(train.targets, train.sizes)
        answers, sides = ["wrong", "right"], train.texts[:, -1:]
    else:
        codes, answers, sides = train.targets.astype(np.int64), list(task.labels or ()), train.texts
    rows = [
        {
            f"{side}: {word.lower()}" if sides.shape[1] > 1 else word.lower()
            for side, text in enumerate(row, 1)
            for word in words(text)
        }
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
    best = [(word, int(np.argmax(z[word]))) for word in np.flatnonzero((z > threshold).any(axis=1)).tolist()]
    found = [
        Word(
            str(named[word]),
            answers[answer],
            int(having[word]),
            float(counts[word, answer] / having[word]),
            float(base[answer]),
            float(z[word, answer]),
        )
        for word, answer in best
    ]
    return Words(sorted(found, key=lambda word: (-word.z, word.word)), len(named), threshold)


def _class_shares(task: Task, splits: dict[str, Split], lengths: np.ndarray) -> ClassShares | None:
    """The classes of the splits whose targets are known; None if there is only one such split."""
    classes = np.arange(len(task.labels or ()))
    known = {name: split for name, split in splits.items() if not np.isnan(split.targets).any()}
    if len(known) < 2:
        return None
    rows = {name: (split.targets[:, None] == classes).sum(axis=0) for name, split in known.items()}
    tokens = {}
    for name, split in known.items():
        totals = lengths[split.texts].sum(axis=1)
        tokens[name] = np.array(
            [
                totals[split.targets == number].mean() if (split.targets == number).any() else np.nan
                for number in classes
            ]
        )
    table = np.array(list(rows.values()))
    table = table[:, table.any(axis=0)]
    return ClassShares(list(task.labels or ()), rows, tokens, float(chi2_contingency(table).pvalue))


def _shift(dataset: Dataset, train: Split, other: Split, name: str) -> Shift | None:
    """How well a classifier on TF-IDF of words tells the rows of a split from training rows; None with fewer rows than folds.

    Each row is judged by a classifier that was not trained on it. The interval is Hanley and McNeil's (1982).
    """
    rng = np.random.default_rng(SEED)
    texts, labels = [], []
    for label, split in enumerate((train, other)):
        rows = np.arange(len(split.texts))
        if len(rows) > MOST_ROWS:
            rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
        texts += [" ".join(dataset.texts[text] for text in row) for row in split.texts[rows].tolist()]
        labels += [label] * len(rows)
    marks = np.array(labels)
    positive, negative = int(marks.sum()), int((1 - marks).sum())
    if min(positive, negative) < FOLDS:
        return None
    model = make_pipeline(
        TfidfVectorizer(token_pattern=r"\w+"), LogisticRegression(class_weight="balanced", max_iter=300)
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    try:
        judged = cross_val_predict(model, texts, marks, cv=folds, method="decision_function")
    except ValueError:  # no words at all
        return None
    area = float(roc_auc_score(marks, judged))
    twice, square = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (positive - 1) * (twice - area**2) + (negative - 1) * (square - area**2)
    deviation = float(np.sqrt(max(variance, 0) / (positive * negative)))
    reach = float(norm.isf(LEVEL / 2)) * deviation
    return Shift(name, area, (max(0.0, area - reach), min(1.0, area + reach)))
