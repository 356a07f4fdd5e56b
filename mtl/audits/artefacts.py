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
from scipy.stats import binom, norm
from sklearn.feature_extraction.text import CountVectorizer

from mtl.audits.splits import ClassShares, Gap, Repeats, Shift, class_shares, repeats, split_shift
from mtl.base.errors import InputError
from mtl.base.progress import hidden_progress, progress
from mtl.data.dataset import Dataset, Split, load_dataset, present_tasks
from mtl.data.examples import read_examples
from mtl.data.text import tokenized
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.methods.floors.features import Document
from mtl.methods.floors.floor import Floor
from mtl.methods.method import BuildRequest
from mtl.stats.resampling import RowGroups, resampled_scores, row_groups
from mtl.tasks.metrics import score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LEVEL = 0.05  # of intervals and of the threshold for words
FEW_TEXTS = 100  # distinct training texts
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
        threshold: for z, corrected for the number of words and classes (Bonferroni).
    """

    found: list[Word]
    tested: int
    threshold: float


@dataclass(frozen=True)
class Artefacts:
    """What one task gives away. Parts that do not apply to it are empty or None."""

    task: Task
    scores: list[PartScore]
    words: Words | None
    classes: ClassShares | None
    shifts: list[Shift]
    repeats: list[Repeats]
    gap: Gap | None = None


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
    others = {name: split for name, split in splits.items() if name != "train"}
    shifts = [split_shift(dataset, splits["train"], split, name) for name, split in others.items()]
    repeated = [repeats(splits["train"], split, name) for name, split in others.items()]
    words = telling_words(task, splits["train"], texts.words) if task.labels or task.candidates else None
    classes = class_shares(task, splits, texts.lengths) if task.labels else None
    predicted = {
        part: _predictions(job, settings, floor, *changed)
        for part, (settings, floor, change) in PARTS.items()
        if (changed := change(task, dataset)) is not None
    }
    gap = _gap(job, dataset, task, predicted[EVERYTHING])
    scores = _part_scores(dataset, task, {part: own[task.scored_split] for part, own in predicted.items()})
    return Artefacts(task, scores, words, classes, list(filter(None, shifts)), list(filter(None, repeated)), gap)


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


def _part_scores(dataset: Dataset, task: Task, predicted: dict[str, np.ndarray]) -> list[PartScore]:
    """The scores of floors on the scored rows. All are resampled together, so that differences are of the same rows.

    Args:
        predicted: by part, the targets of these rows, (rows,).
    """
    rows = dataset.scored(task).scored
    groups = _scored_groups(dataset, task)
    points = {part: resampled_scores(task, own[None], rows, groups)[0] for part, own in predicted.items()}
    return [
        PartScore(
            "candidates alone" if task.candidates is not None and part == "second text alone" else part,
            score(task, predicted[part], rows),
            _interval(values),
            _interval(values - points[CONSTANT]),
        )
        for part, values in points.items()
    ]


def _scored_groups(dataset: Dataset, task: Task) -> RowGroups:
    recorded = dataset.scored_rows[task.id]
    numbers = recorded["groups"] or list(range(len(dataset.scored(task))))
    return row_groups(recorded["texts"], np.array(numbers))


def _interval(values: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(values, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def _gap(job: Job, dataset: Dataset, task: Task, predicted: dict[str, np.ndarray]) -> Gap | None:
    """How far a floor's scores on dev and test differ. None without test targets, as in most published data.

    Args:
        predicted: its predictions by split.
    """
    path = task.path("test", job.data_dir)
    if task.scored_split != "dev" or "test" not in predicted or path is None:
        return None
    try:
        rows = read_examples(task, path, True)
    except InputError:
        return None
    test = replace(dataset.splits[task.id]["test"], targets=np.array([row.target for row in rows])).scored
    names = [str(number) if row.group is None else row.group for number, row in enumerate(rows)]
    groups = row_groups(f"{task.id} test", np.unique(names, return_inverse=True)[1])
    (of_dev,) = resampled_scores(
        task, predicted["dev"][None], dataset.scored(task).scored, _scored_groups(dataset, task)
    )
    (of_test,) = resampled_scores(task, predicted["test"][None], test, groups)
    dev = score(task, predicted["dev"], dataset.scored(task).scored)
    return Gap(dev, score(task, predicted["test"], test), _interval(of_dev - of_test))


def _predictions(
    job: Job, settings: dict[str, object], floor: type[Floor], task: Task, dataset: Dataset
) -> dict[str, np.ndarray]:
    """The targets that a floor predicts, by split, (rows,) each."""
    with TemporaryDirectory(prefix="mtl-artefacts-") as folder, hidden_progress():
        given = {"suite": job.config.suite, "max_length": job.config.max_length, "cache_dir": folder, **settings}
        if "floor.grid.C" in settings and len(np.unique(dataset.splits[task.id]["train"].texts)) < FEW_TEXTS:
            given["floor.min_count"] = 1  # as of topics: no word need stand in two of them
        config = load_job(given).config
        method = floor(BuildRequest(config, job.suite, job.data_dir, dataset, Path(folder)))
        (predictions,) = [by_split for _, by_split in method.predictions(SEED, Path(folder))]
    return dict(predictions)


def telling_words(task: Task, train: Split, words: Callable[[int], list[str]]) -> Words:
    """The words that tell a class, by the z-score of Gardner et al. 2021: the class's share among the rows that have the word, against its
    share among all rows.

    A rare class has large z-scores by chance, so a word must pass the exact binomial test at the same level, too.

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
    chance = binom.sf(counts - 1, having[:, None], base)
    z_told = np.where((z > threshold) & (chance < LEVEL / (2 * z.size)), z, 0)
    best = [(word, int(np.argmax(z_told[word]))) for word in np.flatnonzero(z_told.any(axis=1)).tolist()]
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
