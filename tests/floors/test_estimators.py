import numpy as np
import pytest

from mtl.errors import InputError
from mtl.floors.estimators import ESTIMATORS, check_grid, new_estimator, numbers, settings


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


@pytest.mark.parametrize("method", ESTIMATORS)
@pytest.mark.parametrize("regression", [False, True])
def test_numbers_that_were_learned(method: str, regression: bool) -> None:
    features = np.array([[0.0, 1], [1, 0], [0, 2], [3, 0]])
    targets = np.array([0, 1, 0, 1])
    chosen = {"svm": {"C": 100}, "tree": {}, "forest": {"n_estimators": 3, "bootstrap": False}}[method]
    estimator = new_estimator(method, regression, chosen, 1, 1).fit(features, targets)
    assert estimator.predict(features).round().tolist() == targets.tolist()
    # A weight a feature and a bias; a root and two leaves a tree.
    assert numbers(estimator) == {"svm": 3, "tree": 3, "forest": 9}[method]
