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
from mtl.methods.method import Answers, LoadRequest
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


@dataclass
class TrainedFloor:
    """`mtl.methods.method.Model` of a floor: it predicts, and has no vectors of texts."""

    config: Config
    language: str
    models: Mapping[str, TaskModel]  # by the id of the task that each was trained on
    answers: Answers = field(default_factory=dict)

    def predict(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """Predicted targets (rows,) for new rows. Raises InputError for a task without a model, which has a constant answer."""
        model = self._model(task)
        split, texts = self._inputs(task, rows)
        features = self._features(model, task, split, texts)
        return predicted_targets(task, model.estimator, features, split, last_texts(task, split, texts))

    def outputs(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """What it says as a head's outputs, float32 (inputs, outputs). Raises InputError as `predict`, and for a classifier without probabilities."""
        model, kind = self._model(task), target_kind(task)
        features = self._features(model, task, *self._inputs(task, rows))
        if kind.estimator_type == "classifier" and not hasattr(model.estimator, "predict_proba"):
            message = f"its answers to {task.id} have no probabilities; name a run of another method, such as logistic"
            raise InputError(message, key="method", value=self.config.method)
        answers = self.answers.get(task.answered_by or task.id, [])
        return kind.estimator_outputs(model.estimator, features, kind.head, answers)

    def __getattr__(self, name: str) -> NoReturn:
        """Raises InputError for what a model with an encoder has."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise InputError("has no vectors of texts; name a run with an encoder", key="method", value=self.config.method)

    def _model(self, task: Task) -> TaskModel:
        trained_on = task.answered_by or task.id
        if trained_on not in self.models:
            problem = f"method {self.config.method} has no model for it, only a constant answer"
            raise InputError(f"task {trained_on}: {problem}")
        return self.models[trained_on]

    def _inputs(self, task: Task, rows: Sequence[Row]) -> tuple[Split, list[str]]:
        """The inputs of new rows, and the texts that they have the numbers of."""
        examples = [make_example(task, row) for row in rows]
        texts = list(dict.fromkeys(text for example in examples for text in example.texts))
        split = make_split(task, examples, {text: number for number, text in enumerate(texts)})
        return unit_inputs(task, split, texts), texts

    def _features(self, model: TaskModel, task: Task, split: Split, texts: Sequence[str]) -> Matrix:
        """What the model reads of inputs with the numbers of these texts."""
        tokenize = moses(self.language)

        def words(text: int) -> list[str]:
            return tokenize(texts[text])[: self.config.max_length] or [UNKNOWN]

        return model.features.transform(documents_of(task, split, texts, None if model.vectorizer else words))


def predicted_targets(task: Task, estimator: Any, features: Matrix, rows: Split, texts: Sequence[str]) -> np.ndarray:
    """The targets (rows,) that an estimator predicts from features of inputs; of equal candidates, the first. The texts are as in `HeadTargets`."""
    predicted = target_kind(task).estimator_targets(estimator, features, rows.sizes, texts)
    if task.candidates is None or rows.sizes is None:
        return predicted
    return first_choices(predicted, rows.texts, rows.sizes)


def load_trained(request: LoadRequest) -> TrainedFloor:
    """The models of a seed. Raises InputError if they were not kept."""
    config, method, tasks = request.config, request.config.method, request.suite.tasks
    ids = [id for id in request.trained_tasks if guess_for(method, tasks[id]) is None]
    models = {id: read_model(model_file(request.seed_folder, id), method, config.floor, tasks[id]) for id in ids}
    return TrainedFloor(config, request.suite.language, models, request.answers)
