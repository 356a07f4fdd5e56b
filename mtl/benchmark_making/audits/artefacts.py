"""What a task gives away: scores of floors that read a part of each row, words that tell a class, and how the splits differ.

A model that scores high may have learned these instead of the task (Gururangan et al. 2018, "Annotation Artifacts in Natural Language
Inference Data"; Gardner et al. 2021, "Competency Problems").
"""

import copy
import logging
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from mtl.base.errors import InputError
from mtl.base.progress import hidden_progress, progress
from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import Config
from mtl.benchmark_making.audits.splits import ClassShares, Gap, Repeats, Shift, class_shares, repeats, split_shift
from mtl.benchmark_making.audits.words import LEVEL, Words, telling_words
from mtl.data.dataset import Dataset, load_dataset, present_tasks
from mtl.data.examples import read_examples
from mtl.data.text import TokenizedTexts, tokenized
from mtl.embedders.find import Vectors
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.methods.floors.features import Document, RowFeatures
from mtl.methods.floors.floor import Floor
from mtl.methods.method import BuildRequest, Method
from mtl.stats.resampling import RowGroups, resampled_scores, row_groups
from mtl.tasks.metrics import score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

FEW_TEXTS = 100  # distinct training texts
SEED = 1

EVERYTHING, CONSTANT = "everything", "constant"
FIRST, SECOND, CANDIDATES = "first text alone", "second text alone", "candidates alone"
SHUFFLED, LENGTHS, OVERLAP = "shuffled words", "lengths alone", "overlap alone"

# What a floor reads: changes a task and its dataset, or returns None where the part does not exist.
Change = Callable[[Task, Dataset], tuple[Task, Dataset] | None]
READ_BY_FLOORS = (EVERYTHING, FIRST, SECOND, SHUFFLED)
# By the method of a floor that reads parts of rows: its settings, beside those of `configs/method`.
READERS: dict[str, dict[str, object]] = {
    "svm": {"floor.features": "pair", "floor.choice": "candidates", "floor.grid.C": [0.1, 1.0]},
    "logistic": {"floor.features": "pair", "floor.choice": "candidates", "floor.grid.C": [1.0, 10.0]},
    "naive_bayes": {"floor.features": "pair", "floor.choice": "candidates"},
    "fasttext": {},
    "static": {},
}


@dataclass(frozen=True)
class PartScore:
    """How a floor scores that reads a part of each row.

    Args:
        floor: the method that reads it; "" for the parts that one floor reads in every audit (lengths, overlap, nothing).
        score: × 100.
        interval: of the score, over the scored rows (of groups, where rows belong together).
        gain: the interval of the difference to the constant answer, on the same rows.
    """

    part: str
    floor: str
    score: float
    interval: tuple[float, float]
    gain: tuple[float, float]


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


def find_artefacts(job: Job, floors: Sequence[str] = ("svm",)) -> list[Artefacts]:
    """Train floors, and test words and splits, for each task that has its files, texts, training rows and targets to score, single
    values.

    Args:
        floors: the methods that read everything, one text of a pair, and shuffled words.

    Raises:
        InputError: for data that cannot be read, if no task has its files, and for methods that are no such floors.
    """
    if isinstance(floors, str) or not floors:
        raise InputError("must be a list of methods", key="floors", value=floors)
    for name in floors:
        if name not in READERS:
            raise InputError(f"no such floor; there are {', '.join(READERS)}", key="floors", value=name)
    present = {task.id for task in present_tasks(job.suite, job.data_dir)}
    found = [task for task in job.tasks if task.id in present]
    dataset = load_dataset(job.suite, found or job.tasks, job.data_dir, job.config.held_out)
    readers = {
        task.id: [name for name in dict.fromkeys(floors) if METHODS[name].answers(task)]
        for task in dataset.trained_tasks
        if task.is_scored and not target_kind(task).several
    }
    tasks = [task for task in dataset.trained_tasks if readers.get(task.id)]
    if not tasks:
        raise InputError(
            f"no task has files, texts and targets that {' or '.join(floors)} can learn; choose others", key="tasks"
        )
    configs = {name: _config(job, {"method": name, **READERS[name], **_vectors(job, name)}) for name in floors}
    vectors = {name: METHODS[name].find_inputs(config, job.suite) for name, config in configs.items()}
    for name, file in vectors.items():
        if file is not None:
            file.train_if_missing(job.suite, job.data_dir, configs[name].held_out, torch.device("cpu"))
    texts = tokenized(dataset.texts, job.suite.language, job.config.max_length, Path(job.config.cache_dir))
    with TemporaryDirectory(prefix="mtl-artefacts-") as cache:
        return [
            _of_task(Audited(job, dataset, texts, configs, vectors, Path(cache)), task, readers[task.id])
            for task in progress(tasks, "artefacts", "tasks")
        ]


@dataclass(frozen=True)
class Audited:
    """What all tasks of an audit share.

    Args:
        configs: by floor.
        vectors: the word vectors that each floor reads, which exist; None if it reads none.
        cache: a folder for texts with shuffled words.
    """

    job: Job
    dataset: Dataset
    texts: TokenizedTexts
    configs: dict[str, Config]
    vectors: dict[str, Vectors | None]
    cache: Path


def _of_task(audited: Audited, task: Task, floors: Sequence[str]) -> Artefacts:
    dataset, texts = audited.dataset, audited.texts
    splits = dataset.splits[task.id]
    others = {name: split for name, split in splits.items() if name != "train"}
    shifts = [split_shift(dataset, splits["train"], split, name) for name, split in others.items()]
    repeated = [repeats(splits["train"], split, name) for name, split in others.items()]
    kind = target_kind(task)
    has_words = bool(task.labels or task.candidates) and not kind.by_unit
    words = telling_words(task, splits["train"], texts.words) if has_words else None
    classes = class_shares(task, splits, texts.lengths) if task.labels and not kind.several else None
    predicted: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    for part, change in CHANGES.items():
        if (changed := change(task, dataset)) is not None:
            for name in floors if part in READ_BY_FLOORS else [""]:
                predicted[part, name] = _predictions(audited, part, name, *changed)
    gap = _gap(audited.job, dataset, task, predicted[EVERYTHING, floors[0]])
    scores = _part_scores(dataset, task, {key: own[task.scored_split] for key, own in predicted.items()})
    return Artefacts(task, scores, words, classes, list(filter(None, shifts)), list(filter(None, repeated)), gap)


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


CHANGES: dict[str, Change] = {
    EVERYTHING: _whole,
    FIRST: _side(0),
    SECOND: _side(1),
    SHUFFLED: _shuffled,
    LENGTHS: _whole,
    OVERLAP: _pairs,
    CONSTANT: _whole,
}

# The floors of the other parts, with their settings.
OTHERS: dict[str, tuple[Callable[[BuildRequest], Method], dict[str, object]]] = {
    LENGTHS: (LengthFloor, {"method": "static", "floor.features": "pair", "floor.grid.alpha": [1.0]}),
    OVERLAP: (Floor, {"method": "overlap", "floor.features": "pair"}),
    CONSTANT: (Floor, {"method": "constant"}),
}


def _part_scores(dataset: Dataset, task: Task, predicted: dict[tuple[str, str], np.ndarray]) -> list[PartScore]:
    """The scores of floors on the scored rows. All are resampled together, so that differences are of the same rows.

    Args:
        predicted: by part and floor, the targets of these rows, (rows,).
    """
    rows = dataset.scored(task).scored
    groups = _scored_groups(dataset, task)
    points = {key: resampled_scores(task, own[None], rows, groups)[0] for key, own in predicted.items()}
    return [
        PartScore(
            CANDIDATES if task.candidates is not None and part == SECOND else part,
            floor,
            score(task, predicted[part, floor], rows),
            _interval(values),
            _interval(values - points[CONSTANT, ""]),
        )
        for (part, floor), values in points.items()
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
    path, kind = task.path("test", job.data_dir), target_kind(task)
    if task.scored_split != "dev" or "test" not in predicted or path is None:
        return None
    try:
        rows = read_examples(task, path, True, task.layout("test", job.data_dir))
    except InputError:
        return None
    test = replace(
        dataset.splits[task.id]["test"], targets=np.array([row.target for row in rows], dtype=kind.dtype)
    ).scored
    names = [str(number) if row.group is None else row.group for number, row in enumerate(rows)]
    groups = row_groups(f"{task.id} test", np.unique(names, return_inverse=True)[1])
    (of_dev,) = resampled_scores(
        task, predicted["dev"][None], dataset.scored(task).scored, _scored_groups(dataset, task)
    )
    (of_test,) = resampled_scores(task, predicted["test"][None], test, groups)
    dev = score(task, predicted["dev"], dataset.scored(task).scored)
    return Gap(dev, score(task, predicted["test"], test), _interval(of_dev - of_test))


def _predictions(audited: Audited, part: str, floor: str, task: Task, dataset: Dataset) -> dict[str, np.ndarray]:
    """The targets that a floor predicts, by split, (rows,) each."""
    job = audited.job
    vectors = None
    if part in OTHERS:
        build, settings = OTHERS[part]
        config = _config(job, settings)
    else:
        build, config = METHODS[floor].build, copy.deepcopy(audited.configs[floor])
        vectors = audited.vectors[floor]
        if len(np.unique(dataset.splits[task.id]["train"].texts)) < FEW_TEXTS:
            config.floor.min_count = 1  # as of topics: no word need stand in two of them
    if part == SHUFFLED:
        config.cache_dir = str(audited.cache)
    with TemporaryDirectory(prefix="mtl-artefacts-") as folder, hidden_progress(), _quiet():
        path = None if vectors is None else vectors.path
        method = build(BuildRequest(config, job.suite, job.data_dir, dataset, Path(folder), path))
        (predictions,) = [by_split for _, by_split in method.predictions(SEED, Path(folder))]
    return dict(predictions)


def _config(job: Job, settings: dict[str, object]) -> Config:
    own = job.config
    shared = {"suite": own.suite, "max_length": own.max_length, "cache_dir": own.cache_dir}
    return load_job({**shared, **settings}).config


def _vectors(job: Job, floor: str) -> dict[str, object]:
    """The settings that say which static vectors a floor reads."""
    own = flatten_config(job.config)
    if floor != "static":
        return {}
    if own["static.vectors"] is not None:
        return {key: value for key, value in own.items() if key.startswith("static.")}
    named = ("embeddings_dir", "embeddings.path")
    return {"embeddings": own["embeddings.name"], **{key: own[key] for key in named if key in own}}


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
