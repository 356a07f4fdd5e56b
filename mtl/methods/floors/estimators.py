"""The estimators of each method, with scikit-learn's interface: the features that they read, the settings to try, their training and their size."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mtl.base.errors import InputError
from mtl.base.settings.schema import FloorConfig
from mtl.methods.floors.dense import DenseClassifier, DenseRegressor
from mtl.methods.floors.fasttext_classifier import FastTextClassifier, FastTextRegressor
from mtl.methods.floors.features import RowFeatures, TokenLines, joined_features, unit_features
from mtl.methods.floors.tfidf import TaskFeatures
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

# The most iterations of a linear model. On dev, a logistic regression with a small penalty gains nothing after some hundreds.
ITERATIONS = {"svm": 20_000, "logistic": 300}
# The attributes in which scikit-learn's estimators keep what they have learned.
ARRAYS = ("coef_", "intercept_", "feature_log_prob_", "class_log_prior_")
LISTS_OF_ARRAYS = ("coefs_", "intercepts_")


class CosineInRange(BaseEstimator):
    """A regressor that learns nothing: it scales the last feature, a cosine between 0 and 1, to the range from low to high."""

    _parameter_constraints = {"low": [Real], "high": [Real]}  # where scikit-learn looks for the allowed types

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        self.low, self.high = low, high

    def fit(self, features: np.ndarray, targets: np.ndarray) -> "CosineInRange":
        """Do nothing, and return the estimator."""
        return self

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Numbers between low and high, (rows,)."""
        return self.low + (self.high - self.low) * features[:, -1]


class YesOrNo:
    """A trained classifier of pairs of a text and a candidate. Of a row, `Choice` takes the first candidate that is called right, else the first."""

    def __init__(self, classifier: Any) -> None:
        self.classifier, self.parts = classifier, [classifier]

    def decision_function(self, features: Any) -> np.ndarray:
        """1 for pairs that are called right, 0 for others, (pairs,)."""
        return self.classifier.predict(features)


# The estimators of each method, by what `mtl.tasks.target_kind.TargetKind.estimator_type` may say.
ESTIMATORS: dict[str, dict[str, type[BaseEstimator]]] = {
    "overlap": {"classifier": LogisticRegression, "regressor": CosineInRange},
    "logistic": {"classifier": LogisticRegression, "regressor": Ridge},
    "naive_bayes": {"classifier": MultinomialNB},
    "svm": {"classifier": LinearSVC, "regressor": LinearSVR},
    "tree": {"classifier": DecisionTreeClassifier, "regressor": DecisionTreeRegressor},
    "forest": {"classifier": RandomForestClassifier, "regressor": RandomForestRegressor},
    "static": {"classifier": DenseClassifier, "regressor": DenseRegressor},
    "fasttext": {"classifier": FastTextClassifier, "regressor": FastTextRegressor},
}


def new_features(method: str, settings: FloorConfig, task: Task, vectorizer: str | None) -> RowFeatures:
    """The features of a task's rows, before they are fitted. `vectorizer` is the one for joined texts; None: texts are not joined."""
    if method == "fasttext":
        return TokenLines()
    if target_kind(task).by_unit:
        return unit_features(settings)
    return joined_features(vectorizer) if vectorizer else TaskFeatures(method, settings, task)


def check_grid(method: str, grid: Mapping[str, Sequence[Any]]) -> None:
    """Raise InputError for a setting that none of the method's estimators has, and for a value that is not valid."""
    settings = {estimator: estimator().get_params() for estimator in ESTIMATORS[method].values()}
    for key, values in grid.items():
        having = [estimator for estimator in settings if key in settings[estimator]]
        if not having:
            known = sorted({name for names in settings.values() for name in names})
            raise InputError(f"floor.grid.{key}: {method} has no such setting; it has {', '.join(known)}")
        for estimator, value in product(having, values or ()):
            try:
                estimator(**{key: value})._validate_params()
            except ValueError as error:
                raise InputError(f"floor.grid.{key}={value}: {error}") from None


def grid_settings(method: str, estimator: str, grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of the grid's values, for the settings that the estimator has. A setting with None keeps its default."""
    settings = ESTIMATORS[method][estimator]().get_params()
    keys = [key for key, values in grid.items() if key in settings and values is not None]
    for values in product(*(grid[key] for key in keys)):
        yield dict(zip(keys, values, strict=True))


def new_estimator(method: str, task: Task, settings: Mapping[str, Any], seed: int, threads: int) -> Any:
    """An untrained estimator with these settings. Only a forest uses threads."""
    kind = target_kind(task)
    estimator = ESTIMATORS[method][kind.estimator_type]
    fixed: dict[str, Any] = {"random_state": seed} if "random_state" in estimator().get_params() else {}
    if estimator is CosineInRange:
        fixed["low"], fixed["high"] = task.bounds
    if method in ITERATIONS:
        fixed["max_iter"] = ITERATIONS[method]
    if method == "forest":
        fixed["n_jobs"] = threads
    return kind.trainable(estimator(**{**fixed, **settings}))


def quiet_fit(estimator: Any, features: Any, targets: np.ndarray, weights: np.ndarray | None = None) -> Any:
    """Train an estimator, without the warning that it has not converged: its scores on other rows show it. Weights are those of inputs, (inputs,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(features, targets) if weights is None else estimator.fit(features, targets, weights)


def weight_count(estimator: Any) -> int:
    """How many numbers a trained estimator, or those in its `parts`, hold: weights of a linear model or a network, or nodes of trees."""
    if isinstance(estimator, FastTextClassifier):
        return int(estimator.model_.get_input_matrix().size + estimator.model_.get_output_matrix().size)
    if hasattr(estimator, "parts"):
        return sum(map(weight_count, estimator.parts))
    arrays = [getattr(estimator, name, ()) for name in ARRAYS]
    lists_of_arrays = [array for name in LISTS_OF_ARRAYS for array in getattr(estimator, name, ())]
    trees = [tree.tree_ for tree in getattr(estimator, "estimators_", [estimator]) if hasattr(tree, "tree_")]
    return int(sum(map(np.size, [*arrays, *lists_of_arrays])) + sum(tree.node_count for tree in trees))
