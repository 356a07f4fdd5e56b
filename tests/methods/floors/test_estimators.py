import numpy as np
import pytest

from mtl.errors import InputError
from mtl.methods.floors.estimators import CosineInRange, check_grid, new_estimator, numbers, settings
from mtl.tasks.suite import Task

LABELS = Task("t", text=["x"], target="y", labels=["a", "b"], metric="accuracy")
NUMBERS = Task("r", text=["x"], target="y", range=[1, 5], metric="spearman")


def test_every_combination_and_none_that_a_regression_does_not_have() -> None:
    grid = {"C": [1, 2], "class_weight": [None, "balanced"]}
    assert list(settings("svm", False, grid)) == [
        {"C": 1, "class_weight": None},
        {"C": 1, "class_weight": "balanced"},
        {"C": 2, "class_weight": None},
        {"C": 2, "class_weight": "balanced"},
    ]
    assert list(settings("svm", True, grid)) == [{"C": 1}, {"C": 2}]
    assert list(settings("tree", False, {})) == [{}]


def test_an_unknown_setting_is_named() -> None:
    check_grid("svm", {"class_weight": [None], "epsilon": [0]})  # each of one of the two
    with pytest.raises(InputError, match=r"floor.grid.D: svm has no such setting; it has C, "):
        check_grid("svm", {"D": [1]})


@pytest.mark.parametrize("method", ["svm", "tree", "forest"])
@pytest.mark.parametrize("task", [LABELS, NUMBERS], ids=["labels", "numbers"])
def test_numbers_that_were_learned(method: str, task: Task) -> None:
    features = np.array([[0.0, 1], [1, 0], [0, 2], [3, 0]])
    targets = np.array([0, 1, 0, 1])
    chosen = {"svm": {"C": 100}, "tree": {}, "forest": {"n_estimators": 3, "bootstrap": False}}[method]
    estimator = new_estimator(method, task, chosen, 1, 1).fit(features, targets)
    assert estimator.predict(features).round().tolist() == targets.tolist()
    # A weight a feature and a bias; a root and two leaves a tree.
    assert numbers(estimator) == {"svm": 3, "tree": 3, "forest": 9}[method]


def test_a_cosine_is_a_number_in_the_task_s_range_whatever_the_targets_are() -> None:
    estimator = new_estimator("overlap", NUMBERS, {}, 1, 1)
    assert isinstance(estimator, CosineInRange) and numbers(estimator) == 0
    estimator.fit(np.array([[0.5, 0.5]]), np.array([5.0]))
    # The last column alone counts: the characters' cosine.
    assert estimator.predict(np.array([[0.9, 0.0], [0.1, 0.25], [0.5, 1.0]])).tolist() == [1, 2, 5]
    assert list(settings("overlap", True, {"C": [1, 2], "class_weight": [None]})) == [{}]


def test_overlap_learns_which_label_has_the_higher_cosine() -> None:
    features = np.array([[0.1, 0.2], [0.2, 0.1], [0.8, 0.9], [0.9, 0.8]])
    estimator = new_estimator("overlap", LABELS, {"C": 100.0}, 1, 1).fit(features, [0, 0, 1, 1])
    assert estimator.predict([[0.0, 0.0], [1.0, 1.0]]).tolist() == [0, 1]
    assert numbers(estimator) == 3
