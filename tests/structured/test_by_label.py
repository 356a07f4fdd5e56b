"""Estimators of several labels against scikit-learn's one-vs-rest, and what a run keeps of them."""

from typing import Any

import numpy as np
import pytest
from default_settings import section
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mtl.base.settings.schema import FloorConfig
from mtl.methods.floors.dense import DenseClassifier
from mtl.methods.floors.estimators import weight_count
from mtl.methods.floors.features import Document, joined_features
from mtl.methods.floors.model_file import TaskModel, restored_model
from mtl.structured.by_label import LinearLabels, ProbableLabels, labels_estimator
from mtl.tasks.task import Task

RNG = np.random.default_rng(5)
FEATURES = csr_matrix(RNG.random((80, 12)) * (RNG.random((80, 12)) < 0.4))
TARGETS = np.column_stack([FEATURES.toarray()[:, :3] > 0.3, np.zeros(80), np.ones(80)]).astype(np.int64)
TASK = Task("t", kind="multi_label", text=["x"], target="y", labels=[*"abcde"], metric="micro_f1")


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(C=10), LinearSVC(C=2, random_state=1), MultinomialNB(alpha=0.3)],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore:Label")
def test_linear_models_predict_as_one_against_the_rest(estimator: Any) -> None:
    made = labels_estimator(estimator, 5).fit(FEATURES, TARGETS)
    rest = OneVsRestClassifier(estimator).fit(FEATURES, TARGETS)
    assert made.predict(FEATURES).tolist() == (rest.predict(FEATURES) > 0).tolist()
    assert isinstance(made, LinearLabels) and weight_count(made) == 5 * 12 + 5
    assert isinstance(made, ProbableLabels) == hasattr(estimator, "predict_proba")
    if isinstance(made, ProbableLabels):
        np.testing.assert_allclose(made.predict_proba(FEATURES), rest.predict_proba(FEATURES), atol=1e-5)


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(random_state=1),
        RandomForestClassifier(5, random_state=1),
        DenseClassifier(random_state=1),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_other_estimators_learn_each_label(estimator: Any) -> None:
    made = labels_estimator(estimator, 5).fit(FEATURES.toarray(), TARGETS)
    predicted = np.asarray(made.predict(FEATURES.toarray()))
    assert (predicted == TARGETS).mean() > 0.9 and predicted[:, 3:].tolist() == TARGETS[:, 3:].tolist()
    assert weight_count(made) > 0


def test_a_kept_model_predicts_the_same_and_a_damaged_one_is_refused() -> None:
    rows = [[Document(f"word{number % 7} word{number % 3} plenty", [])] for number in range(len(TARGETS))]
    features = joined_features("counts-1-2")
    matrix = features.fit(rows)
    made = labels_estimator(LogisticRegression(), 5).fit(matrix, TARGETS)
    content = TaskModel(made, features, "counts-1-2").content()
    settings = section(FloorConfig, features="joined")
    read = restored_model(content, "logistic", settings, TASK)
    assert read.estimator.predict(matrix).tolist() == made.predict(matrix).tolist()
    for key, value in (("classes", [0, 9]), ("numbers", {"coef_": content["numbers"]["coef_"][:2]})):
        with pytest.raises((KeyError, ValueError)):
            restored_model({**content, key: value}, "logistic", settings, TASK)  # type: ignore[misc]
