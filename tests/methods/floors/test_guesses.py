import numpy as np

from mtl.methods.floors.guesses import constant, guess_for, random_targets
from mtl.tasks.suite import Task

LABELS = Task("t", text=["x"], target="y", labels=["a", "b", "c"], metric="accuracy")
NUMBERS = Task("r", text=["x", "z"], target="y", range=[0, 10], metric="spearman")


def test_random_targets_come_from_training_and_as_often() -> None:
    targets = np.array([0.0, 0, 0, 2])
    drawn = random_targets(LABELS, targets, 4000, np.random.default_rng(1))
    assert set(drawn) == {0, 2}
    assert abs((drawn == 0).mean() - 0.75) < 0.03
    again = random_targets(LABELS, targets, 4000, np.random.default_rng(1))
    other = random_targets(LABELS, targets, 4000, np.random.default_rng(2))
    assert (drawn == again).all() and (drawn != other).any()


def test_the_constant_is_the_same_for_every_row() -> None:
    rng = np.random.default_rng(0)
    assert constant(LABELS, np.array([1.0, 2, 1]), 3, rng).tolist() == [1, 1, 1]
    assert constant(NUMBERS, np.array([1.0, 2, 6]), 2, rng).tolist() == [3, 3]


def test_the_overlap_of_a_single_text_is_a_constant() -> None:
    assert guess_for("overlap", LABELS) is constant and guess_for("overlap", NUMBERS) is None
    assert guess_for("random", NUMBERS) is random_targets and guess_for("svm", LABELS) is None
