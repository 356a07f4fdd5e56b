"""Trained floors in use: predictions for new rows, of a run in training or of a finished one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from mtl.base.errors import InputError
from mtl.base.settings.schema import Config
from mtl.data.dataset import Split, first_choices, last_texts
from mtl.data.examples import Row, make_example
from mtl.data.loading import make_split
from mtl.data.text import UNKNOWN, moses
from mtl.methods.floors.features import Matrix
from mtl.methods.floors.guesses import guess_for
from mtl.methods.floors.inputs import documents_of, unit_inputs
from mtl.methods.floors.model_file import TaskModel, model_file, read_model
from mtl.methods.method import LoadRequest
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


@dataclass
class TrainedFloor:
    """The trained models of one seed."""

    config: Config
    language: str
    models: Mapping[str, TaskModel]  # by the id of the task that each was trained on
    answers: Mapping[str, Sequence[str]] = field(default_factory=dict)  # see `mtl.data.dataset.Dataset`

    def predict(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """Predicted targets (rows,) for new rows. Raises InputError for a task without a model, which has a constant answer."""
        model, features, split, texts = self._read(task, rows)
        return predicted_targets(task, model.estimator, features, split, texts)

    def outputs(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """What it says as a head's outputs, float32 (inputs, outputs). Raises InputError as `predict`, and for a classifier without probabilities."""
        model, features, *_ = self._read(task, rows)
        kind = target_kind(task)
        if kind.estimator == "classifier" and not hasattr(model.estimator, "predict_proba"):
            message = f"its answers to {task.id} have no probabilities; name a run of another method, such as logistic"
            raise InputError(message, key="method", value=self.config.method)
        answers = self.answers.get(task.answered_by or task.id, [])
        return kind.estimator_outputs(model.estimator, features, kind.head, answers)

    def _read(self, task: Task, rows: Sequence[Row]) -> tuple[TaskModel, Matrix, Split, list[str]]:
        """The model that answers a task; the features that it reads of new rows; their inputs; their last texts, as in `HeadTargets`."""
        trained_on = task.answered_by or task.id
        if trained_on not in self.models:
            problem = f"method {self.config.method} has no model for it, only a constant answer"
            raise InputError(f"task {trained_on}: {problem}")
        model, tokenize = self.models[trained_on], moses(self.language)
        examples = [make_example(task, row) for row in rows]
        texts = list(dict.fromkeys(text for example in examples for text in example.texts))
        index = {text: number for number, text in enumerate(texts)}
        split = unit_inputs(task, make_split(task, examples, index), texts)

        def words(text: int) -> list[str]:
            return tokenize(texts[text])[: self.config.max_length] or [UNKNOWN]

        documents = documents_of(task, split, texts, None if model.vectorizer else words)
        return model, model.features.transform(documents), split, last_texts(task, split, texts)


def predicted_targets(task: Task, estimator: Any, features: Matrix, rows: Split, texts: Sequence[str]) -> np.ndarray:
    """The targets (rows,) that an estimator predicts from features of inputs; of equal candidates, the first. The texts are as in `HeadTargets`."""
    predicted = target_kind(task).from_estimator(estimator, features, rows.sizes, texts)
    if task.candidates is None or rows.sizes is None:
        return predicted
    return first_choices(predicted, rows.texts, rows.sizes)


class LoadedFloor(TrainedFloor):
    """`mtl.methods.method.Model` of a floor: it predicts, and has no vectors of texts."""

    def __getattr__(self, name: str) -> NoReturn:
        """Raises InputError for what a model with an encoder has."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise InputError("has no vectors of texts; name a run with an encoder", key="method", value=self.config.method)


def load_trained(request: LoadRequest) -> LoadedFloor:
    """The models of a seed. Raises InputError if they were not kept."""
    config, method, tasks = request.config, request.config.method, request.suite.tasks
    ids = [id for id in request.trained_tasks if guess_for(method, tasks[id]) is None]
    models = {id: read_model(model_file(request.seed_folder, id), method, config.floor, tasks[id]) for id in ids}
    return LoadedFloor(config, request.suite.language, models, request.answers)
