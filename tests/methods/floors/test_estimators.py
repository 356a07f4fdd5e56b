import numpy as np
import pytest
from input_errors import refused

from mtl.base.errors import InputError
from mtl.data.dataset import Split
from mtl.methods.floors.estimators import CosineInRange, YesOrNo, check_grid, grid_settings, new_estimator, weight_count
from mtl.methods.floors.guesses import guess_for, guessed
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LABELS = Task("t", kind="labels", text=["x"], target="y", labels=["a", "b"], metric="accuracy")
NUMBERS = Task("r", kind="number", text=["x"], target="y", range=[1, 5], metric="spearman")
THREE = Task("t", kind="labels", text=["x"], target="y", labels=["a", "b", "c"], metric="accuracy")
SIMILAR = Task("r", kind="number", text=["x", "z"], target="y", range=[0, 10], metric="spearman")
CHOICE = Task("c", kind="choice", text=["x"], candidates=["a", "b"], target="y", metric="accuracy")
WORD = Task("w", kind="word", text=["x"], target="y", metric="accuracy")


def test_every_combination_of_settings_and_one_that_is_unknown() -> None:
    grid = {"C": [1, 2], "class_weight": [None, "balanced"]}
    both = [{"C": c, "class_weight": weight} for c in (1, 2) for weight in (None, "balanced")]
    assert list(grid_settings("svm", "classifier", grid)) == both
    assert list(grid_settings("svm", "regressor", grid)) == [{"C": 1}, {"C": 2}]
    assert list(grid_settings("tree", "classifier", {})) == [{}]
    assert list(grid_settings("svm", "classifier", {"C": None, "class_weight": [None]})) == [{"class_weight": None}]
    # One of the classifier's, one of the regressor's.
    check_grid("svm", {"C": None, "class_weight": [None], "epsilon": [0]})
    refused(lambda: check_grid("svm", {"D": [1]}))


@pytest.mark.parametrize("method", ["svm", "tree", "forest"])
@pytest.mark.parametrize("task", [LABELS, NUMBERS], ids=["labels", "numbers"])
def test_learned_numbers_are_counted(method: str, task: Task) -> None:
    features = np.array([[0.0, 1], [1, 0], [0, 2], [3, 0]])
    targets = np.array([0, 1, 0, 1])
    chosen = {"svm": {"C": 100}, "tree": {}, "forest": {"n_estimators": 3, "bootstrap": False}}[method]
    estimator = new_estimator(method, task, chosen, 1, 1).fit(features, targets)
    assert estimator.predict(features).round().tolist() == targets.tolist()
    # A weight for each feature and a bias; a root and two leaves for each tree.
    assert weight_count(estimator) == {"svm": 3, "tree": 3, "forest": 9}[method]


def test_of_pairs_the_first_candidate_that_is_called_right_is_predicted_or_else_the_first() -> None:
    choice = Task("c", kind="choice", text=["x"], candidates=["z[]"], target="y", metric="accuracy")
    features = np.array([[0.0, 1], [1, 0], [0, 1], [1, 0]])
    pairs = YesOrNo(new_estimator("svm", choice, {"C": 100}, 1, 1).fit(features, [1, 0, 1, 0]))
    right, wrong = [0.0, 1.0], [1.0, 0.0]
    rows = np.array([wrong, [0.0, 1.1], [0.0, 9.0], wrong, wrong, wrong, right])
    predicted = target_kind(choice).estimator_targets(pairs, rows, np.array([3, 2, 2]))
    assert predicted.tolist() == [1, 0, 1]  # a higher score of a later candidate does not count
    assert weight_count(pairs) == 3


def test_a_cosine_becomes_a_number_in_the_range_of_the_task_whatever_the_targets_are() -> None:
    estimator = new_estimator("overlap", NUMBERS, {}, 1, 1)
    assert isinstance(estimator, CosineInRange) and weight_count(estimator) == 0
    estimator.fit(np.array([[0.5, 0.5]]), np.array([5.0]))
    # Only the last column counts: the cosine of the characters.
    assert estimator.predict(np.array([[0.9, 0.0], [0.1, 0.25], [0.5, 1.0]])).tolist() == [1, 2, 5]
    assert list(grid_settings("overlap", "regressor", {"C": [1, 2], "class_weight": [None]})) == [{}]


def rows(*targets: float | str, sizes: list[int] | None = None) -> Split:
    """Rows with these targets. sizes: of a choice, the candidates of each."""
    values = np.array(targets, dtype=object if isinstance(targets[0], str) else np.float64)
    count = len(targets) if sizes is None else sum(sizes)
    return Split(np.zeros((count, 1), np.int64), values, None if sizes is None else np.array(sizes))


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_random_targets_are_as_frequent_as_in_training() -> None:
    train, new = rows(0.0, 0, 0, 2), rows(*[np.nan] * 4000)
    drawn = guessed("random", THREE, train, new, rng(1))
    assert set(drawn) == {0, 2}
    assert abs((drawn == 0).mean() - 0.75) < 0.03
    again = guessed("random", THREE, train, new, rng(1))
    other = guessed("random", THREE, train, new, rng(2))
    assert (drawn == again).all() and (drawn != other).any()
    assert set(guessed("random", WORD, rows("ja", "nej"), rows(*["?"] * 50), rng(1))) == {"ja", "nej"}
    # Each candidate of a row is as frequent.
    sizes = [2, 4] * 2000
    drawn = guessed("random", CHOICE, rows(0.0, sizes=[2]), rows(*[np.nan] * 4000, sizes=sizes), rng(1))
    assert set(drawn[::2]) == {0, 1} and set(drawn[1::2]) == {0, 1, 2, 3}
    assert abs((drawn[::2] == 0).mean() - 1 / 2) < 0.04 and abs((drawn[1::2] == 0).mean() - 1 / 4) < 0.04


def test_constant_uniform_and_majority_answers() -> None:
    assert guessed("constant", THREE, rows(1.0, 2, 1), rows(0.0, 0, 0), rng(0)).tolist() == [1, 1, 1]
    assert guessed("constant", SIMILAR, rows(1.0, 2, 6), rows(0.0, 0), rng(0)).tolist() == [3, 3]
    assert guessed("constant", WORD, rows("ja", "nej", "nej"), rows("?", "?"), rng(0)).tolist() == ["nej", "nej"]
    choice = guessed("constant", CHOICE, rows(1.0, 1, 0, sizes=[2, 2, 2]), rows(np.nan, np.nan, sizes=[2, 2]), rng(0))
    assert choice.tolist() == [1, 1]
    assert guess_for("overlap", THREE) == "constant" and guess_for("overlap", SIMILAR) is None
    assert guess_for("random", SIMILAR) == "random" and guess_for("svm", THREE) is None
    assert guess_for("overlap", CHOICE) is None  # a text and a candidate are a pair
    train, new = rows(2.0, 2, 2, 1), rows(*[np.nan] * 600)
    assert set(guessed("uniform", THREE, train, new, rng(1))) == {0, 1, 2}
    assert (guessed("uniform", THREE, train, new, rng(1)) != guessed("uniform", THREE, train, new, rng(2))).any()
    assert guessed("majority", THREE, train, new, rng(1)).tolist() == [2] * 600
    choice = rows(np.nan, np.nan, sizes=[2, 3])
    assert guessed("majority", CHOICE, rows(1.0, 1, sizes=[2, 2]), choice, rng(1)).tolist() == [0, 0]
    assert guessed("uniform", CHOICE, rows(1.0, sizes=[2]), choice, rng(1)).tolist() in [
        [a, b] for a in (0, 1) for b in (0, 1, 2)
    ]


def test_a_bad_value_is_named() -> None:
    for method, key, value in (
        *(("fasttext", "max_characters", 1), ("fasttext", "epoch", 0), ("static", "head", "deep")),
        *(("static", "alpha", 0), ("svm", "C", -1), ("svm", "C", "abc")),
    ):
        with pytest.raises(InputError, match=f"^floor.grid.{key}={value}"):
            check_grid(method, {key: [value]})
