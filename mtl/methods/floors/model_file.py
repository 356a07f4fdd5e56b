"""Files of trained floors (`floor.keep`) and linear models of heads (`head.linear`): tensors and plain values, which run no code when read."""

from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC, LinearSVR

from mtl.base.arrays import read_checkpoint
from mtl.base.errors import InputError, reason_of
from mtl.base.settings.schema import FloorConfig
from mtl.methods.floors.estimators import ESTIMATORS, CosineInRange, YesOrNo, new_features, weight_count
from mtl.methods.floors.features import VECTORIZERS, Document, RowFeatures, finite_numbers
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import RESTORE_IT

# Methods whose models can be kept. Of a damaged tree, scikit-learn would read any memory.
KEEPABLE = ("svm", "logistic", "naive_bayes", "overlap")
NOT_KEPT = "no such file: the models of this run were not kept; make it again with floor.keep=true and another run_dir="


class TaskModel(NamedTuple):
    """What predicts a task's targets: an estimator, the features that it reads, and the name of their vectorizer, if texts are joined."""

    estimator: Any
    features: RowFeatures
    vectorizer: str | None = None

    @property
    def parameters(self) -> int:
        """How many numbers its estimator holds."""
        return weight_count(self.estimator)

    def content(self) -> "ModelContent":
        """What its file (`model_file`) holds, for `read_model`; only of one of the KEEPABLE methods."""
        in_pairs = isinstance(self.estimator, YesOrNo)
        estimator = self.estimator.classifier if in_pairs else self.estimator
        arrays = {name: getattr(estimator, name) for name in _shapes(estimator, width=0, classes=0)}
        return ModelContent(
            in_pairs=in_pairs,
            numbers={name: torch.as_tensor(array, dtype=torch.float64).contiguous() for name, array in arrays.items()},
            classes=estimator.classes_.tolist() if hasattr(estimator, "classes_") else None,
            vectorizer=self.vectorizer,
            features=self.features.state(),
        )


class ModelContent(TypedDict):
    """A model in a file."""

    in_pairs: bool  # whether the estimator is that of a `YesOrNo`
    numbers: dict[str, Any]  # by attribute
    classes: list[int | str] | None  # None for a regressor
    vectorizer: str | None
    features: dict[str, Any]  # `RowFeatures.state`


def model_file(seed_folder: Path, task: str) -> Path:
    """The file of the model of the task with this id."""
    return seed_folder / "models" / f"{task}.ckpt"


def read_model(path: Path, method: str, settings: FloorConfig, task: Task) -> TaskModel:
    """The model in a file, which this method trained on this task. Raises InputError if it is missing, damaged, or another model."""
    if not path.exists():
        raise InputError(NOT_KEPT, path=path)
    content = read_checkpoint(path, ModelContent, f"; {RESTORE_IT}")
    try:
        return restored_model(content, method, settings, task)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else reason_of(error)
        raise InputError(f"is no model that the method {method} keeps ({reason}); {RESTORE_IT}", path=path) from None


def restored_model(content: ModelContent, method: str, settings: FloorConfig, task: Task) -> TaskModel:
    """The model that `TaskModel.content` described. Raises KeyError, TypeError, ValueError or RecursionError for a content of another form."""
    name = content["vectorizer"]
    if name is not None and name not in VECTORIZERS:
        raise ValueError(f"its vectorizer {name} is unknown")
    features = new_features(method, settings, task, name)
    features.restore(content["features"])
    empty_row = [Document("", [])] * (2 if task.is_pair else 1)
    width = features.transform([empty_row]).shape[1]
    return TaskModel(_restored_estimator(content, method, task, width), features, name)


def _restored_estimator(content: ModelContent, method: str, task: Task, width: int) -> Any:
    """The estimator of so many features that a model's content describes. Errors are those of `restored_model`."""
    kind = target_kind(task)
    estimator = kind.trainable(ESTIMATORS[method][kind.estimator_type]())
    if isinstance(estimator, CosineInRange):
        return CosineInRange(*task.bounds)
    classes = content["classes"] or []
    if kind.estimator_type == "classifier":
        _check_classes(classes, task)
        estimator.classes_ = np.array(classes)
    for attribute, shape in _shapes(estimator, width, len(classes)).items():
        setattr(estimator, attribute, finite_numbers(content["numbers"][attribute], shape))
    estimator.n_features_in_ = width
    if content["in_pairs"] and not task.candidates:
        raise ValueError("it judges candidates, which the task has not")
    return YesOrNo(estimator) if content["in_pairs"] else estimator


def _check_classes(classes: list[int | str], task: Task) -> None:
    """Raise ValueError unless these are two or more different targets that a classifier of the task may have learned."""
    possible: Any = classes
    if task.labels:
        possible = range(len(task.labels))
    elif task.candidates or target_kind(task).by_unit:
        possible = range(2)  # no and yes
    if len(classes) < 2 or len(set(classes)) < len(classes) or not set(classes) <= set(possible):
        raise ValueError(f"its classes are {classes[:5]}")


def _shapes(estimator: Any, width: int, classes: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the numbers that a trained estimator with so many features and classes consists of, by attribute."""
    if hasattr(estimator, "shapes"):
        return estimator.shapes(width)
    rows = 1 if classes == 2 else classes  # of two, a linear model has the weights of the second alone
    if isinstance(estimator, LogisticRegression | LinearSVC):
        return {"coef_": (rows, width), "intercept_": (rows,)}
    if isinstance(estimator, MultinomialNB):
        return {"feature_log_prob_": (classes, width), "class_log_prior_": (classes,)}
    if isinstance(estimator, Ridge):
        return {"coef_": (width,), "intercept_": ()}
    if isinstance(estimator, LinearSVR):
        return {"coef_": (width,), "intercept_": (1,)}
    return {}  # a CosineInRange has learned nothing
