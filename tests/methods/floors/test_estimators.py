import numpy as np
import pytest
from input_errors import raises_input_error

from mtl.base.errors import InputError
from mtl.methods.floors.estimators import CosineInRange, YesOrNo, check_grid, new_estimator, numbers, settings
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LABELS = Task("t", kind="labels", text=["x"], target="y", labels=["a", "b"], metric="accuracy")
NUMBERS = Task("r", kind="number", text=["x"], target="y", range=[1, 5], metric="spearman")


def test_every_combination_of_the_settings_that_the_estimator_has() -> None:
    grid = {"C": [1, 2], "class_weight": [None, "balanced"]}
    assert list(settings("svm", "classifier", grid)) == [
        {"C": 1, "class_weight": None},
        {"C": 1, "class_weight": "balanced"},
        {"C": 2, "class_weight": None},
        {"C": 2, "class_weight": "balanced"},
    ]
    assert list(settings("svm", "regressor", grid)) == [{"C": 1}, {"C": 2}]
    assert list(settings("tree", "classifier", {})) == [{}]
    assert list(settings("svm", "classifier", {"C": None, "class_weight": [None]})) == [{"class_weight": None}]


def test_an_unknown_setting_is_named() -> None:
    check_grid(
        "svm", {"C": None, "class_weight": [None], "epsilon": [0]}
    )  # one of the classifier's, one of the regressor's
    with raises_input_error():
        check_grid("svm", {"D": [1]})


@pytest.mark.parametrize("value", [-1, "abc"])
def test_a_value_that_the_estimator_refuses_is_named(value: object) -> None:
    with pytest.raises(InputError, match=f"^floor.grid.C={value}: The 'C' parameter of LinearSVC must be a float"):
        check_grid("svm", {"C": [1.0, value]})


@pytest.mark.parametrize("method", ["svm", "tree", "forest"])
@pytest.mark.parametrize("task", [LABELS, NUMBERS], ids=["labels", "numbers"])
def test_learned_numbers_are_counted(method: str, task: Task) -> None:
    features = np.array([[0.0, 1], [1, 0], [0, 2], [3, 0]])
    targets = np.array([0, 1, 0, 1])
    chosen = {"svm": {"C": 100}, "tree": {}, "forest": {"n_estimators": 3, "bootstrap": False}}[method]
    estimator = new_estimator(method, task, chosen, 1, 1).fit(features, targets)
    assert estimator.predict(features).round().tolist() == targets.tolist()
    # A weight for each feature and a bias; a root and two leaves for each tree.
    assert numbers(estimator) == {"svm": 3, "tree": 3, "forest": 9}[method]


def test_of_pairs_the_first_candidate_that_is_called_right_is_predicted_or_else_the_first() -> None:
    choice = Task("c", kind="choice", text=["x"], candidates=["z[]"], target="y", metric="accuracy")
    features = np.array([[0.0, 1], [1, 0], [0, 1], [1, 0]])
    pairs = YesOrNo(new_estimator("svm", choice, {"C": 100}, 1, 1).fit(features, [1, 0, 1, 0]))
    right, wrong = [0.0, 1.0], [1.0, 0.0]
    rows = np.array([wrong, [0.0, 1.1], [0.0, 9.0], wrong, wrong, wrong, right])
    predicted = target_kind(choice).from_estimator(pairs, rows, np.array([3, 2, 2]))
    assert predicted.tolist() == [1, 0, 1]  # a higher score of a later candidate does not count
    assert numbers(pairs) == 3


def test_a_cosine_becomes_a_number_in_the_range_of_the_task_whatever_the_targets_are() -> None:
    estimator = new_estimator("overlap", NUMBERS, {}, 1, 1)
    assert isinstance(estimator, CosineInRange) and numbers(estimator) == 0
    estimator.fit(np.array([[0.5, 0.5]]), np.array([5.0]))
    # Only the last column counts: the cosine of the characters.
    assert estimator.predict(np.array([[0.9, 0.0], [0.1, 0.25], [0.5, 1.0]])).tolist() == [1, 2, 5]
    assert list(settings("overlap", "regressor", {"C": [1, 2], "class_weight": [None]})) == [{}]


def test_overlap_learns_which_label_has_the_higher_cosine() -> None:
    features = np.array([[0.1, 0.2], [0.2, 0.1], [0.8, 0.9], [0.9, 0.8]])
    estimator = new_estimator("overlap", LABELS, {"C": 100.0}, 1, 1).fit(features, [0, 0, 1, 1])
    assert estimator.predict([[0.0, 0.0], [1.0, 1.0]]).tolist() == [0, 1]
    assert numbers(estimator) == 3
