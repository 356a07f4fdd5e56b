"""Estimators of several labels of a row: a scikit-learn estimator for each label, or one for all, as trees and forests are. Targets are
int64 (rows, labels) of 0 and 1, and predictions the same or bool. Linear models are trained for each label, and kept as one matrix of weights."""

import warnings
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

from mtl.tasks.floor_targets import LEAST_PROBABILITY

CERTAIN = -float(np.log(LEAST_PROBABILITY))  # the logarithm of the odds of a label that all training rows have


def labels_estimator(estimator: Any, labels: int) -> Any:
    """An estimator of so many labels, from one of a single label that has not been trained."""
    if isinstance(estimator, LogisticRegression | MultinomialNB):
        return ProbableLabels(estimator, labels)
    if isinstance(estimator, LinearSVC):
        return LinearLabels(estimator, labels)
    return estimator if get_tags(estimator).target_tags.multi_output else SeparateLabels(estimator)


class LinearLabels:
    """A linear model for each label: a row has the labels with a decision above 0."""

    coef_: np.ndarray  # (labels, features), which `fit` sets, or who restores a model that was kept
    intercept_: np.ndarray  # (labels,), likewise

    def __init__(self, estimator: Any, labels: int) -> None:
        self.estimator, self.labels = estimator, labels
        self.classes_ = np.arange(labels)

    def shapes(self, width: int) -> dict[str, tuple[int, ...]]:
        """The shapes of what it has learned from so many features, by attribute."""
        return {"coef_": (self.labels, width), "intercept_": (self.labels,)}

    def fit(self, features: Any, targets: np.ndarray) -> "LinearLabels":
        """Train on features (rows, features). Of a label that all rows have, or none, nothing can be learned."""
        self.coef_, self.intercept_ = np.zeros((self.labels, features.shape[1])), np.zeros(self.labels)
        for label, column in enumerate(targets.T):
            if column.min() == column.max():
                self.intercept_[label] = CERTAIN if column[0] else -CERTAIN
                continue
            fitted = clone(self.estimator).fit(features, column)
            if isinstance(fitted, MultinomialNB):
                self.coef_[label] = fitted.feature_log_prob_[1] - fitted.feature_log_prob_[0]  # class 1 has the label
                self.intercept_[label] = fitted.class_log_prior_[1] - fitted.class_log_prior_[0]
            else:
                self.coef_[label], self.intercept_[label] = fitted.coef_[0], fitted.intercept_[0]
        return self

    def decision_function(self, features: Any) -> np.ndarray:
        """How much speaks for each label, float64 (rows, labels)."""
        return np.asarray(features @ self.coef_.T) + self.intercept_

    def predict(self, features: Any) -> np.ndarray:
        """Whether each row has each label, (rows, labels)."""
        return self.decision_function(features) > 0


class ProbableLabels(LinearLabels):
    """Linear models whose decisions are the logarithms of odds."""

    def predict_proba(self, features: Any) -> np.ndarray:
        """The probability of each label, (rows, labels)."""
        return expit(self.decision_function(features))


class SeparateLabels(OneVsRestClassifier):
    """An estimator for each label, or its one value in the training rows. `parts` are the trained estimators."""

    def fit(self, features: Any, targets: np.ndarray) -> "SeparateLabels":
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Label .* is present in all training examples")
            super().fit(features, targets)
        self.parts = [fitted for fitted in self.estimators_ if type(fitted) is type(self.estimator)]
        return self
