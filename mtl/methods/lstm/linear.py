"""The linear models whose outputs heads add to their own (`head.linear`): logistic regression, for numbers ridge regression, on the TF-IDF
features of the floors.

The sum of a linear model's log-probabilities and a head's outputs is a product of experts (Hinton 2002, "Training products of experts by
minimizing contrastive divergence"): the LSTM learns what n-grams do not tell. So that it learns this from errors as they are on new rows, what
a training row gets is from a model that was not trained on it (out of fold, as in stacking: Wolpert 1992, "Stacked generalization"); the
n-grams and their weights are those of all training texts. All other rows get the outputs of a model that was trained on all training rows.
Dev rows choose nothing here: the penalty is chosen on the first fold.
"""

import hashlib
import json
import logging
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, TypedDict

import numpy as np
import scipy
import sklearn
import torch
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from mtl.base.errors import InputError
from mtl.base.files import write_checkpoint, write_json
from mtl.base.progress import Progress
from mtl.base.settings.schema import Config, FloorConfig
from mtl.base.untrusted import read_checkpoint, read_json
from mtl.base.version import VERSION
from mtl.data.dataset import Dataset, Split
from mtl.data.text import TokenizedTexts, moses_version
from mtl.methods.coded import with_weights
from mtl.methods.floors.estimators import new_estimator, numbers, quiet_fit
from mtl.methods.floors.features import CHARACTER_NGRAMS, WORD_NGRAMS, Matrix, TaskFeatures, documents_of
from mtl.methods.floors.kept import (
    Kept,
    KeptContent,
    TrainedFloor,
    kept_content,
    kept_file,
    read_kept,
    restored_kept,
    write_kept,
)
from mtl.methods.method import LoadRequest
from mtl.tasks.target_kind import HeadTargets
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import RESTORE

METHOD = "logistic"
FOLDS = 5
PENALTIES = {
    "classifier": [{"C": c} for c in (0.1, 1.0, 10.0, 100.0)],
    "regressor": [{"alpha": a} for a in (0.1, 1.0, 10.0)],
}
FORMAT = 2  # increase it when the same data gives other outputs, or when the file changes

logger = logging.getLogger("mtl")


class _CachedModel(TypedDict):
    """A file of the cache: outputs by split, of the task and, under other ids, of the tasks that its head answers, and seconds."""

    model: KeptContent
    outputs: dict[str, dict[str, Any]]
    seconds: float


@dataclass(frozen=True)
class LinearModels:
    """The linear models of a run, by the task that each was trained on, and the seconds of their training. Outputs are by task id and split."""

    kept: Mapping[str, Kept]
    outputs: Mapping[str, Mapping[str, np.ndarray]]
    seconds: float

    def write(self, seed_folder: Path) -> None:
        """Write the models into the folder of a seed, for `load_linear`."""
        for id, kept in self.kept.items():
            write_kept(kept_file(seed_folder, id), kept)
        write_json(_list_file(seed_folder), list(self.kept))

    @property
    def parameters(self) -> int:
        return sum(numbers(kept.estimator) for kept in self.kept.values())


def basis(floor: FloorConfig) -> str:
    """What the outputs depend on beside the data and the settings of the LSTM: the n-grams, and versions."""
    ngrams = [WORD_NGRAMS, CHARACTER_NGRAMS, floor.min_count, floor.max_features]
    versions = f"scikit-learn {sklearn.__version__}, scipy {scipy.__version__}, tokenizer {moses_version()}"
    return f"format {FORMAT}, n-grams {json.dumps(ngrams)}, {versions}"


def train_linear(config: Config, dataset: Dataset, texts: TokenizedTexts, language: str) -> LinearModels:
    """The linear models of all tasks whose training rows can teach one; from the cache if they are there. Tasks on words have none: their answers are
    too many. Nor has a task whose targets have several values, whose training rows have one target alone, or no n-gram in two texts. The texts are
    those of the dataset, without boundary words."""
    kept: dict[str, Kept] = {}
    outputs: dict[str, dict[str, np.ndarray]] = {}
    seconds, done = 0.0, 0
    tasks = [task for task in dataset.trained_tasks if _has_linear(task, dataset.answers)]
    with Progress("linear models", sum(map(_fits, tasks)), "fits") as bar:
        for task in tasks:
            path = Path(config.cache_dir) / f"linear-{_key(config, dataset, task, language)[:16]}.ckpt"
            model = _read(path, config, task) or _trained(config, dataset, task, texts, path, bar)
            done += _fits(task)
            bar.reach(done)
            if model is None:
                continue
            kept[task.id], content = model
            for id, parts in content["outputs"].items():
                outputs[id] = {name: part.numpy() for name, part in parts.items()}
            seconds += content["seconds"]
    return LinearModels(kept, outputs, seconds)


def load_linear(request: LoadRequest) -> TrainedFloor:
    """The linear models of a seed. Raises InputError for a file that is missing or damaged."""
    folder, tasks, listed = request.seed_folder, request.suite.tasks, _list_file(request.seed_folder)
    ids = read_json(listed, list[str])
    trained = [id for id in request.trained_tasks if _has_linear(tasks[id], request.answers)]
    if odd := set(ids) - set(trained) or {id for id in trained if kept_file(folder, id).exists()} - set(ids):
        raise InputError(f"does not list the tasks whose models are beside it ({min(odd)}); {RESTORE}", path=listed)
    kept = {id: read_kept(kept_file(folder, id), METHOD, request.config.floor, tasks[id]) for id in ids}
    return TrainedFloor(request.config, request.suite.language, kept, request.answers)


def _has_linear(task: Task, answers: Mapping[str, Sequence[str]]) -> bool:
    """Whether the task's head may be added to a linear model."""
    return task.id not in answers and not target_kind(task).has_several_codes


def _list_file(seed_folder: Path) -> Path:
    return seed_folder / "models" / "tasks.json"


def _fits(task: Task) -> int:
    """How many estimators are trained: on the first fold one with each penalty, one on each other fold, and one on all rows."""
    return len(PENALTIES[target_kind(task).estimator]) + FOLDS


def _key(config: Config, dataset: Dataset, task: Task, language: str) -> str:
    settings = [config.max_length, config.held_out, config.loss.class_weights]
    followed = [VERSION, basis(config.floor), np.__version__, language, task.id, settings]
    content = json.dumps([followed, sorted(dataset.fingerprints.items())], default=list)
    return hashlib.sha256(content.encode()).hexdigest()


def _read(path: Path, config: Config, task: Task) -> tuple[Kept, _CachedModel] | None:
    """The model in a file and the file's content; None if it does not exist or is damaged."""
    if not path.exists():
        return None
    try:
        content = read_checkpoint(path, _CachedModel)
        return restored_kept(content["model"], METHOD, config.floor, task), content
    except (InputError, KeyError, TypeError, ValueError, RecursionError):
        return None


def _trained(
    config: Config, dataset: Dataset, task: Task, texts: TokenizedTexts, path: Path, bar: Progress
) -> tuple[Kept, _CachedModel] | None:
    """A task's model and the content of its file, which is written; None if its training rows teach a linear model nothing."""
    start = monotonic()
    splits = dataset.splits[task.id]
    train = splits["train"]
    kind = target_kind(task)
    features = TaskFeatures(METHOD, config.floor, task)
    try:
        matrix = features.fit(documents_of(task, train, dataset.texts, texts.words))
    except ValueError:
        reason = f"no n-gram occurs in {config.floor.min_count} of its training texts"
        logger.info("%s has no linear model: %s", task.id, reason)
        return None
    targets = kind.fit_targets(train.targets, train.sizes)
    if kind.estimator == "classifier" and len(np.unique(targets)) == 1:
        logger.info("%s has no linear model: all its training rows have one target", task.id)
        return None
    head = with_weights(kind.head, task, train.targets, config.loss)
    fitting = _Fitting(task, head, train, matrix, targets)
    unseen, penalty = fitting.out_of_fold(bar)
    estimator = fitting.fit(penalty, np.arange(len(targets)))
    bar.advance(1)

    def answer(split: Split) -> torch.Tensor:
        inputs = features.transform(documents_of(task, split, dataset.texts, texts.words))
        return torch.from_numpy(kind.estimator_outputs(estimator, inputs, head, []))

    outputs = {}
    for answered in dataset.answered(task):
        parts = dataset.splits[answered.id]
        outputs[answered.id] = {name: answer(part) for name, part in parts.items() if name != "train"}
    outputs[task.id]["train"] = unseen
    kept = Kept(estimator, features)
    content = _CachedModel(model=kept_content(kept), outputs=outputs, seconds=monotonic() - start)
    write_checkpoint(path, content)
    return kept, content


class _Fitting:
    """The fits of one task to the features and targets of its training rows' inputs. The head has the loss of the task's head."""

    def __init__(self, task: Task, head: HeadTargets, train: Split, matrix: Matrix, targets: np.ndarray) -> None:
        self.task, self.head, self.train, self.matrix, self.targets = task, head, train, matrix, targets
        self.kind = target_kind(task)
        self.weights = head.row_weights(train.targets)

    def fit(self, values: Mapping[str, Any], inputs: np.ndarray) -> Any:
        estimator = new_estimator(METHOD, self.task, values, seed=0, threads=1)
        weights = None if self.weights is None else self.weights[inputs]
        return quiet_fit(estimator, self.matrix[inputs], self.targets[inputs], weights)

    def out_of_fold(self, bar: Progress) -> tuple[torch.Tensor, dict[str, float]]:
        """For each training row, the outputs of a model that was trained on the other folds (`row_folds`), float32 (inputs, outputs), all 0 if these
        have one target alone; and the penalty, which has the smallest loss on the first fold."""
        folds = row_folds(self.task, self.train)
        input_folds = folds if self.train.sizes is None else np.repeat(folds, self.train.sizes)
        tried = PENALTIES[self.kind.estimator]
        result = np.zeros((len(input_folds), self.head.outputs([])), dtype=np.float32)
        for fold in range(FOLDS):
            inputs, rest = np.flatnonzero(input_folds == fold), np.flatnonzero(input_folds != fold)
            learnable = self.kind.estimator == "regressor" or len(np.unique(self.targets[rest])) > 1
            if len(inputs) and len(rest) and learnable:
                fits = [self.fit(values, rest) for values in tried]
                outputs = [self.kind.estimator_outputs(fit, self.matrix[inputs], self.head, []) for fit in fits]
                losses = [self._loss(tried_outputs, np.flatnonzero(folds == fold)) for tried_outputs in outputs]
                best = int(np.argmin(losses))
                result[inputs] = outputs[best]
            else:
                best = 0
            bar.advance(len(tried))
            tried = tried[best : best + 1]
        return torch.from_numpy(result), tried[0]

    def _loss(self, outputs: np.ndarray, rows: np.ndarray) -> float:
        codes = torch.from_numpy(self.train.targets[rows]).float()
        sizes = None if self.train.sizes is None else torch.from_numpy(self.train.sizes[rows])
        return float(self.head.loss(torch.from_numpy(outputs), codes, sizes))


def row_folds(task: Task, train: Split) -> np.ndarray:
    """The fold of each training row, from 0 to FOLDS - 1, int64 (rows,): random, and the same for rows that belong together. These are the rows of
    one of the suite's groups, and those that share a text, on either side of a pair. If this joins more rows than half a fold has, through one text
    or a chain of them, only rows with the same first text stay together: a text in so many rows is known to a model on new rows, too."""
    joined, first = (_joined_rows(train, sides) for sides in (train.texts.shape[1], 1))
    most = max(len(train) / (2 * FOLDS), np.bincount(first).max(initial=0))
    groups = joined if np.bincount(joined).max(initial=0) <= most else first
    order = np.random.default_rng(zlib.crc32(task.id.encode())).permutation(groups.max(initial=-1) + 1)
    return order[groups] % FOLDS


def _joined_rows(train: Split, sides: int) -> np.ndarray:
    """The number of each row's set of rows that share a group or one of the first `sides` texts of an input, in order of the sets' first texts."""
    rows = len(train)
    owner = np.arange(rows) if train.sizes is None else np.repeat(np.arange(rows), train.sizes)
    texts = train.texts[:, :sides]
    nodes = [texts.ravel()]
    owners = [np.repeat(owner, sides)]
    if train.groups is not None:
        named = train.groups >= 0
        nodes.append(train.groups[named] + texts.max(initial=-1) + 1)
        owners.append(np.flatnonzero(named))
    linked = np.concatenate(nodes) + rows
    size = int(linked.max(initial=rows - 1)) + 1
    edges = csr_matrix((np.ones(len(linked), dtype=np.int8), (np.concatenate(owners), linked)), shape=(size, size))
    labels = connected_components(edges, directed=False)[1][:rows]
    least = np.full(size, size)
    np.minimum.at(least, labels[owner], texts.min(axis=1, initial=size))
    return np.unique(least[labels], return_inverse=True)[1].ravel()
