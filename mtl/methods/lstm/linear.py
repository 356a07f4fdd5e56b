"""The linear models whose outputs heads add to their own (`head.linear`): logistic regression, for numbers ridge regression, on the TF-IDF features
of the floors.

The sum of a linear model's log-probabilities and a head's outputs is a product of experts (Hinton 2002, "Training products of experts by minimizing
contrastive divergence"): the LSTM learns what n-grams do not tell. So that it learns this from errors as they are on new rows, what a training row
gets is from a model that was not trained on it (out of fold, as in stacking: Wolpert 1992, "Stacked generalization"); the n-grams and their weights
are those of all training texts. All other rows get the outputs of a model that was trained on all training rows. Dev rows choose nothing here: the
penalty is chosen on the first fold."""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, TypedDict

import numpy as np
import scipy
import sklearn
import torch

from mtl.base.arrays import read_checkpoint
from mtl.base.errors import InputError
from mtl.base.files import write_checkpoint, write_json
from mtl.base.progress import Progress
from mtl.base.settings.schema import Config, FloorConfig
from mtl.base.untrusted import read_json
from mtl.base.version import VERSION
from mtl.data.dataset import Dataset, Split
from mtl.data.text import TokenizedTexts, moses_version
from mtl.methods.coded import with_weights
from mtl.methods.floors.estimators import new_estimator, quiet_fit
from mtl.methods.floors.features import CHARACTER_NGRAMS, WORD_NGRAMS, Matrix, TaskFeatures
from mtl.methods.floors.inputs import documents_of
from mtl.methods.floors.model_file import ModelContent, TaskModel, model_file, read_model, restored_model
from mtl.methods.floors.trained import TrainedFloor
from mtl.methods.lstm.folds import FOLDS, row_folds
from mtl.methods.method import LoadRequest
from mtl.tasks.target_kind import HeadTargets
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import RESTORE

METHOD = "logistic"
PENALTIES = {
    "classifier": [{"C": c} for c in (0.1, 1.0, 10.0, 100.0)],
    "regressor": [{"alpha": a} for a in (0.1, 1.0, 10.0)],
}
FORMAT = 2  # increase it when the same data gives other outputs, or when the file changes

logger = logging.getLogger("mtl")


class _CachedModel(TypedDict):
    """A file of the cache: the model of a task, its outputs as tensors (`LinearModels.outputs`), and the seconds of its training."""

    model: ModelContent
    outputs: dict[str, dict[str, Any]]
    seconds: float


@dataclass(frozen=True)
class LinearModels:
    """The linear models of a run or of one task, by the id of the task that each was trained on, and the seconds of their training."""

    models: Mapping[str, TaskModel]
    # float32 (inputs, outputs) by task id and split: of the tasks with models, and of those that their heads answer.
    outputs: Mapping[str, Mapping[str, np.ndarray]]
    seconds: float

    def write(self, seed_folder: Path) -> None:
        """Write the models into the folder of a seed, for `load_linear`."""
        for id, model in self.models.items():
            model.write(model_file(seed_folder, id))
        write_json(_list_file(seed_folder), list(self.models))

    @property
    def parameters(self) -> int:
        return sum(model.parameters for model in self.models.values())


def basis(floor: FloorConfig) -> str:
    """What the outputs depend on beside the data and the settings of the LSTM: the n-grams, and versions."""
    ngrams = [WORD_NGRAMS, CHARACTER_NGRAMS, floor.min_count, floor.max_features]
    versions = f"scikit-learn {sklearn.__version__}, scipy {scipy.__version__}, tokenizer {moses_version()}"
    return f"format {FORMAT}, n-grams {json.dumps(ngrams)}, {versions}"


def train_linear(config: Config, dataset: Dataset, texts: TokenizedTexts, language: str) -> LinearModels:
    """The linear models of all tasks whose training rows can teach one; from the cache if they are there. Tasks on words have none: their answers are
    too many. Nor has a task whose targets have several values, whose training rows have one target alone, or no n-gram in two texts. The texts are
    those of the dataset, without boundary words."""
    all_models, done = LinearModels({}, {}, 0.0), 0
    tasks = [task for task in dataset.trained_tasks if _has_linear(task, dataset.answers)]
    with Progress("linear models", sum(map(_fits, tasks)), "fits") as bar:
        for task in tasks:
            path = Path(config.cache_dir) / f"linear-{_key(config, dataset, task, language)[:16]}.ckpt"
            trained = _read(path, config, task) or _train(config, dataset, task, texts, path, bar)
            done += _fits(task)
            bar.reach(done)
            if trained is not None:
                models, outputs = {**all_models.models, **trained.models}, {**all_models.outputs, **trained.outputs}
                all_models = LinearModels(models, outputs, all_models.seconds + trained.seconds)
    return all_models


def load_linear(request: LoadRequest) -> TrainedFloor:
    """The linear models of a seed. Raises InputError for a file that is missing or damaged."""
    folder, tasks, list_file = request.seed_folder, request.suite.tasks, _list_file(request.seed_folder)
    listed = read_json(list_file, list[str])
    possible = [id for id in request.trained_tasks if _has_linear(tasks[id], request.answers)]
    present = {id for id in possible if model_file(folder, id).exists()}
    if odd := set(listed) - set(possible) or present - set(listed):
        raise InputError(f"does not list the tasks whose models are beside it ({min(odd)}); {RESTORE}", path=list_file)
    models = {id: read_model(model_file(folder, id), METHOD, request.config.floor, tasks[id]) for id in listed}
    return TrainedFloor(request.config, request.suite.language, models, request.answers)


def _has_linear(task: Task, answers: Mapping[str, Sequence[str]]) -> bool:
    """Whether the task's head may be added to a linear model."""
    return task.id not in answers and not target_kind(task).has_several_codes


def _list_file(seed_folder: Path) -> Path:
    return seed_folder / "models" / "tasks.json"


def _fits(task: Task) -> int:
    """How many estimators are trained: on the first fold one with each penalty, one on each other fold, and one on all rows."""
    return len(PENALTIES[target_kind(task).estimator]) + FOLDS


def _key(config: Config, dataset: Dataset, task: Task, language: str) -> str:
    """The hash of all that the model and the outputs of a task depend on."""
    settings = [config.max_length, config.held_out, config.loss.class_weights]
    followed = [VERSION, basis(config.floor), np.__version__, language, task.id, settings]
    content = json.dumps([followed, sorted(dataset.fingerprints.items())], default=list)
    return hashlib.sha256(content.encode()).hexdigest()


def _read(path: Path, config: Config, task: Task) -> LinearModels | None:
    """The model of a task in a file of the cache; None if it does not exist or is damaged."""
    if not path.exists():
        return None
    try:
        content = read_checkpoint(path, _CachedModel)
        model = restored_model(content["model"], METHOD, config.floor, task)
    except (InputError, KeyError, TypeError, ValueError, RecursionError):
        return None
    tensors = content["outputs"]
    outputs = {id: {name: tensor.numpy() for name, tensor in splits.items()} for id, splits in tensors.items()}
    return LinearModels({task.id: model}, outputs, content["seconds"])


def _train(
    config: Config, dataset: Dataset, task: Task, texts: TokenizedTexts, path: Path, bar: Progress
) -> LinearModels | None:
    """Train a task's model, and write its file of the cache; None if its training rows teach a linear model nothing."""
    start = monotonic()
    train, kind = dataset.splits[task.id]["train"], target_kind(task)
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

    def outputs_for(split: Split) -> np.ndarray:
        inputs = features.transform(documents_of(task, split, dataset.texts, texts.words))
        return kind.estimator_outputs(estimator, inputs, head, [])

    outputs = {}
    for answered in dataset.answered(task):
        splits = dataset.splits[answered.id]
        outputs[answered.id] = {name: outputs_for(split) for name, split in splits.items() if name != "train"}
    outputs[task.id]["train"] = unseen
    model, seconds = TaskModel(estimator, features), monotonic() - start
    tensors = {id: {name: torch.from_numpy(part) for name, part in parts.items()} for id, parts in outputs.items()}
    write_checkpoint(path, _CachedModel(model=model.content(), outputs=tensors, seconds=seconds))
    return LinearModels({task.id: model}, outputs, seconds)


class _Fitting:
    """The fits of one task's estimator to features (inputs, features) and targets (inputs,) of training rows, with the loss of the task's head."""

    def __init__(self, task: Task, head: HeadTargets, train: Split, matrix: Matrix, targets: np.ndarray) -> None:
        self.task, self.head, self.train, self.matrix, self.targets = task, head, train, matrix, targets
        self.kind = target_kind(task)
        self.weights = head.row_weights(train.targets)

    def fit(self, penalty: Mapping[str, Any], inputs: np.ndarray) -> Any:
        """An estimator that is trained on the inputs with these numbers."""
        estimator = new_estimator(METHOD, self.task, penalty, seed=0, threads=1)
        weights = None if self.weights is None else self.weights[inputs]
        return quiet_fit(estimator, self.matrix[inputs], self.targets[inputs], weights)

    def out_of_fold(self, bar: Progress) -> tuple[np.ndarray, dict[str, float]]:
        """For each training row, the outputs of a model that was trained on the other folds (`row_folds`), float32 (inputs, outputs), all 0 if these
        have one target alone; and the penalty, which has the smallest loss on the first fold."""
        folds = row_folds(self.task, self.train)
        input_folds = folds if self.train.sizes is None else np.repeat(folds, self.train.sizes)
        penalties = PENALTIES[self.kind.estimator]
        result = np.zeros((len(input_folds), self.head.outputs([])), dtype=np.float32)
        for fold in range(FOLDS):
            best, inputs, rest = 0, np.flatnonzero(input_folds == fold), np.flatnonzero(input_folds != fold)
            learnable = self.kind.estimator == "regressor" or len(np.unique(self.targets[rest])) > 1
            if len(inputs) and len(rest) and learnable:
                estimators = [self.fit(penalty, rest) for penalty in penalties]
                matrix, estimated = self.matrix[inputs], self.kind.estimator_outputs
                outputs = [estimated(estimator, matrix, self.head, []) for estimator in estimators]
                best = int(np.argmin([self._loss(tried, np.flatnonzero(folds == fold)) for tried in outputs]))
                result[inputs] = outputs[best]
            bar.advance(len(penalties))
            penalties = [penalties[best]]  # after the first fold, there is one penalty
        return result, penalties[0]

    def _loss(self, outputs: np.ndarray, rows: np.ndarray) -> float:
        """The loss of outputs for the inputs of the rows with these numbers."""
        codes = torch.from_numpy(self.train.targets[rows]).float()
        sizes = None if self.train.sizes is None else torch.from_numpy(self.train.sizes[rows])
        return float(self.head.loss(torch.from_numpy(outputs), codes, sizes))
