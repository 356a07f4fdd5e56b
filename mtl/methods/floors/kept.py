"""Floors that were kept (`floor.keep`), and the linear models of heads (`head.linear`): estimators and features in files of tensors and
plain values, which run no code when they are read, and predictions with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypedDict

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC, LinearSVR

from mtl.base.errors import InputError
from mtl.base.files import write_checkpoint
from mtl.base.settings.schema import Config, FloorConfig
from mtl.base.untrusted import read_checkpoint
from mtl.data.dataset import Split, first_choices, last_texts, make_split
from mtl.data.examples import Row, make_example
from mtl.data.text import UNKNOWN, moses
from mtl.methods.floors.classifiers import TokenLines
from mtl.methods.floors.estimators import ESTIMATORS, CosineInRange, YesOrNo
from mtl.methods.floors.features import (
    VECTORIZERS,
    Document,
    Matrix,
    RowFeatures,
    TaskFeatures,
    documents_of,
    finite_numbers,
    joined_features,
    unit_features,
    unit_inputs,
)
from mtl.methods.floors.guesses import guess_for
from mtl.methods.method import LoadRequest
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import RESTORE

# Methods whose models can be kept. Of a damaged tree, scikit-learn would read any memory.
KEEPABLE = ("svm", "logistic", "naive_bayes", "overlap")
NOT_KEPT = "no such file: the models of this run were not kept; make it again with floor.keep=true and another run_dir="


class Kept(NamedTuple):
    """What predicts a task's targets: an estimator, the features that it reads, and the name of their vectorizer, if they are joined."""

    estimator: Any
    features: RowFeatures
    vectorizer: str | None = None


class KeptContent(TypedDict):
    """A model in a file."""

    in_pairs: bool  # whether the estimator is that of a `YesOrNo`
    numbers: dict[str, Any]  # by attribute
    classes: list[int | str] | None  # None for a regressor
    vectorizer: str | None
    features: dict[str, Any]  # `TaskFeatures.state`


def kept_file(seed_folder: Path, task: str) -> Path:
    return seed_folder / "models" / f"{task}.ckpt"


def kept_content(kept: Kept) -> KeptContent:
    """A model of one of the KEEPABLE methods, as tensors and plain values."""
    in_pairs = isinstance(kept.estimator, YesOrNo)
    estimator = kept.estimator.classifier if in_pairs else kept.estimator
    return KeptContent(
        in_pairs=in_pairs,
        numbers={
            name: torch.as_tensor(getattr(estimator, name), dtype=torch.float64).contiguous()
            for name in _shapes(estimator, 0, 0)
        },
        classes=estimator.classes_.tolist() if hasattr(estimator, "classes_") else None,
        vectorizer=kept.vectorizer,
        features=kept.features.state(),
    )


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
    return {"coef_": (width,), "intercept_": (1,)} if isinstance(estimator, LinearSVR) else {}


def write_kept(path: Path, kept: Kept) -> None:
    write_checkpoint(path, kept_content(kept))


def read_kept(path: Path, method: str, settings: FloorConfig, task: Task) -> Kept:
    """The model in a file, which this method trained on this task. Raises InputError if it is missing, damaged, or another model."""
    if not path.exists():
        raise InputError(NOT_KEPT, path=path)
    content = read_checkpoint(path, KeptContent, f"; {RESTORE}")
    try:
        return restored_kept(content, method, settings, task)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]
        raise InputError(f"is no model that the method {method} keeps ({reason}); {RESTORE}", path=path) from None


def restored_kept(content: KeptContent, method: str, settings: FloorConfig, task: Task) -> Kept:
    """The model that `kept_content` described. Raises KeyError, TypeError, ValueError or RecursionError for a content of another form."""
    name = content["vectorizer"]
    if name is not None and name not in VECTORIZERS:
        raise ValueError(f"its vectorizer {name} is unknown")
    features = new_features(method, settings, task, name)
    features.restore(content["features"])
    width = features.transform([[Document("", [])] * (2 if task.is_pair else 1)]).shape[1]
    kind = target_kind(task)
    estimator = kind.fitting(ESTIMATORS[method][kind.estimator]())
    if isinstance(estimator, CosineInRange):
        return Kept(CosineInRange(*task.bounds), features, name)
    classes = content["classes"] or []
    if kind.estimator == "classifier":
        known = range(len(task.labels)) if task.labels else range(2) if task.candidates or kind.by_unit else classes
        if len(classes) < 2 or len(set(classes)) < len(classes) or not set(classes) <= set(known):
            raise ValueError(f"its classes are {classes[:5]}")
        estimator.classes_ = np.array(classes)
    for attribute, shape in _shapes(estimator, width, len(classes)).items():
        setattr(estimator, attribute, finite_numbers(content["numbers"][attribute], shape))
    estimator.n_features_in_ = width
    if content["in_pairs"] and not task.candidates:
        raise ValueError("it judges candidates, which the task has not")
    return Kept(YesOrNo(estimator) if content["in_pairs"] else estimator, features, name)


def new_features(method: str, settings: FloorConfig, task: Task, vectorizer: str | None) -> RowFeatures:
    """What makes features of a task's rows, before it is fitted. `vectorizer` is the one for joined texts; None: they are not joined."""
    if method == "fasttext":
        return TokenLines()
    if target_kind(task).by_unit:
        return unit_features(settings)
    return joined_features(vectorizer) if vectorizer else TaskFeatures(method, settings, task)


@dataclass
class TrainedFloor:
    """The trained models of one seed, by the id of the task that each was trained on; `answers` as in `mtl.data.dataset.Dataset`."""

    config: Config
    language: str
    kept: Mapping[str, Kept]
    answers: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def predict(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """Predicted targets (rows,) for new rows. Raises InputError for a task without a model, which has a constant answer."""
        return decided(task, *self._read(task, rows))

    def outputs(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """What it says as a head's outputs, float32 (inputs, outputs): of classes, logarithms of probabilities. Raises InputError as `predict` does,
        and for a classifier without probabilities."""
        estimator, features, *_ = self._read(task, rows)
        kind = target_kind(task)
        if kind.estimator == "classifier" and not hasattr(estimator, "predict_proba"):
            message = f"its answers to {task.id} have no probabilities; name a run of another method, such as logistic"
            raise InputError(message, key="method", value=self.config.method)
        return kind.estimator_outputs(estimator, features, kind.head, self.answers.get(task.answered_by or task.id, []))

    def _read(self, task: Task, rows: Sequence[Row]) -> tuple[Any, Matrix, Split, list[str]]:
        if (source := task.answered_by or task.id) not in self.kept:
            raise InputError(f"task {source}: method {self.config.method} has no model for it, only a constant answer")
        tokenize, kept = moses(self.language), self.kept[source]
        examples = [make_example(task, row) for row in rows]
        texts = list(dict.fromkeys(text for example in examples for text in example.texts))
        split = unit_inputs(
            task, make_split(task, examples, {text: number for number, text in enumerate(texts)}), texts
        )

        def words(text: int) -> list[str]:
            return tokenize(texts[text])[: self.config.max_length] or [UNKNOWN]

        documents = documents_of(task, split, texts, None if kept.vectorizer else words)
        return kept.estimator, kept.features.transform(documents), split, last_texts(task, split, texts)


def decided(task: Task, estimator: Any, features: Matrix, rows: Split, texts: Sequence[str]) -> np.ndarray:
    """The targets (rows,) that an estimator predicts from features of inputs; of equal candidates, the first. The texts are as in `HeadTargets`."""
    predicted = target_kind(task).from_estimator(estimator, features, rows.sizes, texts)
    if task.candidates is None or rows.sizes is None:
        return predicted
    return first_choices(predicted, rows.texts, rows.sizes)


class KeptFloor(TrainedFloor):
    """`mtl.methods.method.Model` of a floor: it predicts, and has no vectors of texts."""

    def __getattr__(self, name: str) -> NoReturn:
        """Raises InputError for what a model with an encoder has."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise InputError("has no vectors of texts; name a run with an encoder", key="method", value=self.config.method)


def load_kept(request: LoadRequest) -> KeptFloor:
    """The models of a seed. Raises InputError if they were not kept."""
    tasks = [id for id in request.trained_tasks if guess_for(request.config.method, request.suite.tasks[id]) is None]
    method, config, suite = request.config.method, request.config, request.suite
    kept = {id: read_kept(kept_file(request.seed_folder, id), method, config.floor, suite.tasks[id]) for id in tasks}
    return KeptFloor(config, suite.language, kept, request.answers)
