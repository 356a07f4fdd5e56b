"""Estimators of dense features, with scikit-learn's interface: linear models, and networks with one hidden layer."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_sample_weight

ITERATIONS = 2_000  # the most of a linear model
HIDDEN = 256  # units of a network
EPOCHS = 30  # of a network, at most; it stops when a tenth of the training rows is no longer predicted better
BATCH = 128
FEWEST_TO_STOP = 50  # training rows of a network that stops early


class DenseRegressor(BaseEstimator):
    """A model of features, which it standardizes: ridge regression (linear), or a network with one hidden layer (mlp); `alpha` is the penalty."""

    _parameter_constraints = {
        "head": [StrOptions({"linear", "mlp"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, head: str = "linear", alpha: float = 1.0, random_state: int | None = None) -> None:
        self.head, self.alpha, self.random_state = head, alpha, random_state

    def fit(self, features: np.ndarray, targets: np.ndarray) -> "DenseRegressor":
        """Train on features (rows, features) and targets (rows,)."""
        linear = Ridge(self.alpha, random_state=self.random_state)
        model = linear if self.head == "linear" else MLPRegressor(**self._network(len(targets)))
        self._fit(model, features, targets)
        return self

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Predicted targets (rows,)."""
        return self.model_.predict(features)

    def _network(self, rows: int, can_spare: bool = True) -> dict[str, Any]:
        """The settings of a network for so many training rows. A tenth of them says when to stop, if there are enough and it can be spared."""
        return {
            "hidden_layer_sizes": (HIDDEN,),
            "alpha": self.alpha,
            "batch_size": min(BATCH, -(-rows // 2)),
            "max_iter": EPOCHS,
            "early_stopping": can_spare and rows >= FEWEST_TO_STOP,
            "random_state": self.random_state,
        }

    def _fit(self, model: Any, features: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Train a model on standardized features, with a weight for each row, (rows,)."""
        self.model_ = make_pipeline(StandardScaler(), model)
        self.model_.fit(features, targets, **{f"{self.model_.steps[-1][0]}__sample_weight": weights})
        self.parts = [model]  # what `mtl.methods.floors.estimators.weight_count` counts


class DenseClassifier(DenseRegressor):
    """As `DenseRegressor`, but a logistic regression or a network that classifies; `class_weight` is "balanced" or None."""

    _parameter_constraints = {**DenseRegressor._parameter_constraints, "class_weight": [StrOptions({"balanced"}), None]}

    def __init__(
        self, head: str = "linear", alpha: float = 1.0, class_weight: str | None = None, random_state: int | None = None
    ) -> None:
        super().__init__(head, alpha, random_state)
        self.class_weight = class_weight

    def fit(self, features: np.ndarray, targets: np.ndarray) -> "DenseClassifier":
        linear = LogisticRegression(C=1 / self.alpha, max_iter=ITERATIONS, random_state=self.random_state)
        can_spare = np.unique(targets, return_counts=True)[1].min() > 1  # each class is to be in both parts
        model = linear if self.head == "linear" else MLPClassifier(**self._network(len(targets), can_spare))
        weights = compute_sample_weight(self.class_weight, targets) if self.class_weight else None
        self._fit(model, features, targets, weights)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """The probability of each class, (rows, classes)."""
        return self.model_.predict_proba(features)
