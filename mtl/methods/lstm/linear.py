"""The linear models of a run with `head.linear`: one for each task, on the floors' TF-IDF features; logistic or, for numbers, ridge regression.

A head adds the outputs of its task's model to its own: a product of experts (Hinton 2002), in which the LSTM learns what n-grams do not tell. It
should learn this from errors as they are on new rows. So a training row gets the outputs of a model that was not trained on it (out of fold, as in
stacking: Wolpert 1992), and all other rows those of a model of all training rows. N-grams and their weights are those of all training texts."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, TypedDict

import numpy as np
import scipy
import sklearn
import torch

from mtl.base.arrays import read_checkpoint, write_checkpoint
from mtl.base.errors import InputError
from mtl.base.files import write_json
from mtl.base.log import logger
from mtl.base.progress import Progress
from mtl.base.settings.schema import Config, FloorConfig
from mtl.base.untrusted import read_json
from mtl.base.version import VERSION
from mtl.data.dataset import Dataset
from mtl.data.text import TokenizedTexts, moses_version
from mtl.methods.floors.inputs import documents_of
from mtl.methods.floors.model_file import ModelContent, TaskModel, model_file, read_model, restored_model
from mtl.methods.floors.tfidf import CHARACTER_NGRAMS, WORD_NGRAMS, TaskFeatures
from mtl.methods.floors.trained import TrainedFloor
from mtl.methods.lstm.out_of_fold import METHOD, Fitting, fit_count
from mtl.methods.method import Answers, LoadRequest
from mtl.methods.network_training import with_weights
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import RESTORE_IT

FORMAT = 2  # increase it when the same data gives other outputs, or when the file changes
LIST_FILE = "models/tasks.json"  # in the folder of a seed: the ids of the tasks with a model
Outputs = Mapping[str, Mapping[str, np.ndarray]]  # float32 (inputs, outputs), by answered task and split


class CachedModel(TypedDict):
    """The linear model of one task in a file of the cache."""

    model: ModelContent
    outputs: dict[str, dict[str, Any]]  # `Outputs`, as tensors
    seconds: float


@dataclass(frozen=True)
class LinearModels:
    """The linear models of a run, or of some of its tasks."""

    models: Mapping[str, TaskModel]  # what predicts new rows, by the id of the task that it was trained on
    outputs: Outputs  # for the rows of all tasks that they answer
    seconds: float  # of their training

    def write(self, seed_folder: Path) -> None:
        """Write the models into the folder of a seed, for `load_linear`."""
        for id, model in self.models.items():
            write_checkpoint(model_file(seed_folder, id), model.content())
        write_json(seed_folder / LIST_FILE, list(self.models))


def train_linear(config: Config, dataset: Dataset, texts: TokenizedTexts, language: str) -> LinearModels:
    """The linear models of all tasks that may have one and can teach it; cached ones are read. `texts` are the dataset's, without boundary words."""
    tasks = [task for task in dataset.trained_tasks if _may_have_model(task, dataset.answers)]
    models: dict[str, TaskModel] = {}
    outputs: dict[str, Mapping[str, np.ndarray]] = {}
    seconds = 0.0
    with Progress("linear models", sum(fit_count(task) for task in tasks), "fits") as bar:
        for task in tasks:
            fits_before = bar.done
            path = _cache_file(config, dataset, task, language)
            linear = _read(path, config, task)
            if linear is None:
                linear = _train(config, dataset, task, texts, bar)
                _write(path, task, linear)
            models |= linear.models
            outputs |= linear.outputs
            seconds += linear.seconds
            bar.reach(fits_before + fit_count(task))  # also those of a model that is cached, or that cannot be taught
    return LinearModels(models, outputs, seconds)


def load_linear(request: LoadRequest) -> TrainedFloor:
    """The linear models of a seed. Raises InputError for a file that is missing or damaged."""
    folder, tasks, list_file = request.seed_folder, request.suite.tasks, request.seed_folder / LIST_FILE
    ids = read_json(list_file, list[str])
    possible_ids = {id for id in request.trained_tasks if _may_have_model(tasks[id], request.answers)}
    ids_with_file = {id for id in possible_ids if model_file(folder, id).exists()}
    wrong_ids = (set(ids) - possible_ids) or (ids_with_file - set(ids))
    if wrong_ids:
        problem = f"does not list the tasks whose models are beside it ({min(wrong_ids)})"
        raise InputError(f"{problem}; {RESTORE_IT}", path=list_file)
    models = {id: read_model(model_file(folder, id), METHOD, request.config.floor, tasks[id]) for id in ids}
    return TrainedFloor(request.config, request.suite.language, models, request.answers)


def outputs_version(floor: FloorConfig) -> str:
    """What the outputs depend on beside the data and the settings of the LSTM: the n-grams, and versions."""
    ngrams = [WORD_NGRAMS, CHARACTER_NGRAMS, floor.min_count, floor.max_features]
    versions = f"scikit-learn {sklearn.__version__}, scipy {scipy.__version__}, tokenizer {moses_version()}"
    return f"format {FORMAT}, n-grams {json.dumps(ngrams)}, {versions}"


def _may_have_model(task: Task, answers: Answers) -> bool:
    """Whether it is a task for linear models: not one on words, whose answers are too many, nor one with several codes for each target."""
    return task.id not in answers and not target_kind(task).has_several_codes


def _cache_file(config: Config, dataset: Dataset, task: Task, language: str) -> Path:
    """The file of a task's model in the cache. Its name has the hash of all that the model and its outputs depend on."""
    settings = [config.max_length, config.held_out, config.loss.class_weights]
    software = [VERSION, outputs_version(config.floor), np.__version__]
    content = json.dumps([[*software, language, task.id, settings], sorted(dataset.fingerprints.items())])
    return Path(config.cache_dir) / f"linear-{hashlib.sha256(content.encode()).hexdigest()[:16]}.ckpt"


def _read(path: Path, config: Config, task: Task) -> LinearModels | None:
    """The model of a task in a file of the cache; None if it does not exist or is damaged."""
    try:
        content = read_checkpoint(path, CachedModel)
        model = restored_model(content["model"], METHOD, config.floor, task)
        outputs = _converted(content["outputs"], torch.Tensor.numpy)
    except (InputError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return LinearModels({task.id: model}, outputs, content["seconds"])


def _write(path: Path, task: Task, linear: LinearModels) -> None:
    """Put the model of a task into the cache, if it has one."""
    if task.id in linear.models:
        content, outputs = linear.models[task.id].content(), _converted(linear.outputs, torch.from_numpy)
        write_checkpoint(path, CachedModel(model=content, outputs=outputs, seconds=linear.seconds))


def _converted(outputs: Mapping[str, Mapping[str, Any]], convert: Callable[[Any], Any]) -> dict[str, dict[str, Any]]:
    """The outputs as tensors in place of arrays, or the other way round."""
    return {id: {split: convert(part) for split, part in by_split.items()} for id, by_split in outputs.items()}


def _train(config: Config, dataset: Dataset, task: Task, texts: TokenizedTexts, bar: Progress) -> LinearModels:
    """The model of a task, if its training rows teach one."""
    start = monotonic()
    features = TaskFeatures(METHOD, config.floor, task)
    fitting = _fitting(config, dataset, task, texts, features)
    if fitting is None:
        return LinearModels({}, {}, 0.0)
    train_outputs, penalty = fitting.out_of_fold(bar)
    estimator = fitting.fit(penalty, np.arange(len(fitting.targets)))
    bar.advance()
    outputs: dict[str, dict[str, np.ndarray]] = {}
    for answered in dataset.answered(task):
        outputs[answered.id] = {}
        for name, split in dataset.splits[answered.id].items():
            if name != "train":
                inputs = features.transform(documents_of(task, split, dataset.texts, texts.words))
                outputs[answered.id][name] = target_kind(task).estimator_outputs(estimator, inputs, fitting.head, [])
    outputs[task.id]["train"] = train_outputs
    return LinearModels({task.id: TaskModel(estimator, features)}, outputs, monotonic() - start)


def _fitting(
    config: Config, dataset: Dataset, task: Task, texts: TokenizedTexts, features: TaskFeatures
) -> Fitting | None:
    """A task's training rows with their features; None, and a line of the log, if no n-gram is in enough of their texts, or they have one target."""
    train, kind = dataset.splits[task.id]["train"], target_kind(task)
    try:
        matrix = features.fit(documents_of(task, train, dataset.texts, texts.words))
    except ValueError:  # there is nothing to learn from
        message = "%s has no linear model: no n-gram occurs in %s of its training texts"
        logger.info(message, task.id, config.floor.min_count)
        return None
    targets = kind.training_targets(train.targets, train.sizes)
    if kind.estimator_type == "classifier" and len(np.unique(targets)) == 1:
        logger.info("%s has no linear model: all its training rows have one target", task.id)
        return None
    return Fitting(task, with_weights(kind.head, train.targets, config.loss), train, matrix, targets)
