import numpy as np

from mtl.data.dataset import Split
from mtl.methods.floors.estimators import constant, guess_for, majority, random_targets, uniform
from mtl.tasks.task import Task

LABELS = Task("t", kind="labels", text=["x"], target="y", labels=["a", "b", "c"], metric="accuracy")
NUMBERS = Task("r", kind="number", text=["x", "z"], target="y", range=[0, 10], metric="spearman")
CHOICE = Task("c", kind="choice", text=["x"], candidates=["a", "b"], target="y", metric="accuracy")
WORD = Task("w", kind="word", text=["x"], target="y", metric="accuracy")


def rows(*targets: float | str, sizes: list[int] | None = None) -> Split:
    """Rows with these targets. sizes: of a choice, the candidates of each."""
    values = np.array(targets, dtype=object if isinstance(targets[0], str) else np.float64)
    count = len(targets) if sizes is None else sum(sizes)
    return Split(np.zeros((count, 1), np.int64), values, None if sizes is None else np.array(sizes))


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_random_targets_are_as_frequent_as_in_training() -> None:
    train, new = rows(0.0, 0, 0, 2), rows(*[np.nan] * 4000)
    drawn = random_targets(LABELS, train, new, rng(1))
    assert set(drawn) == {0, 2}
    assert abs((drawn == 0).mean() - 0.75) < 0.03
    again = random_targets(LABELS, train, new, rng(1))
    other = random_targets(LABELS, train, new, rng(2))
    assert (drawn == again).all() and (drawn != other).any()
    assert set(random_targets(WORD, rows("ja", "nej"), rows(*["?"] * 50), rng(1))) == {"ja", "nej"}


def test_of_a_choice_each_candidate_of_the_row_is_as_frequent() -> None:
    sizes = [2, 4] * 2000
    drawn = random_targets(CHOICE, rows(0.0, sizes=[2]), rows(*[np.nan] * 4000, sizes=sizes), rng(1))
    assert set(drawn[::2]) == {0, 1} and set(drawn[1::2]) == {0, 1, 2, 3}
    assert abs((drawn[::2] == 0).mean() - 1 / 2) < 0.04 and abs((drawn[1::2] == 0).mean() - 1 / 4) < 0.04


def test_the_constant_is_the_same_for_every_row() -> None:
    assert constant(LABELS, rows(1.0, 2, 1), rows(0.0, 0, 0), rng(0)).tolist() == [1, 1, 1]
    assert constant(NUMBERS, rows(1.0, 2, 6), rows(0.0, 0), rng(0)).tolist() == [3, 3]
    assert constant(WORD, rows("ja", "nej", "nej"), rows("?", "?"), rng(0)).tolist() == ["nej", "nej"]
    choice = constant(CHOICE, rows(1.0, 1, 0, sizes=[2, 2, 2]), rows(np.nan, np.nan, sizes=[2, 2]), rng(0))
    assert choice.tolist() == [1, 1]


def test_the_overlap_of_a_single_text_is_a_constant() -> None:
    assert guess_for("overlap", LABELS) is constant and guess_for("overlap", NUMBERS) is None
    assert guess_for("random", NUMBERS) is random_targets and guess_for("svm", LABELS) is None
    assert guess_for("overlap", CHOICE) is None  # a text and a candidate are a pair


def test_uniform_and_majority() -> None:
    train, new = rows(2.0, 2, 2, 1), rows(*[np.nan] * 600)
    assert set(uniform(LABELS, train, new, rng(1))) == {0, 1, 2}
    assert (uniform(LABELS, train, new, rng(1)) != uniform(LABELS, train, new, rng(2))).any()
    assert majority(LABELS, train, new, rng(1)).tolist() == [2] * 600
    drawn = uniform(NUMBERS, rows(2.0, 3, 3), new, rng(1))
    assert drawn.min() >= 2 and drawn.max() <= 3 and len(set(drawn)) == 600
    assert majority(NUMBERS, rows(2.0, 3, 4), rows(0.0), rng(1)).tolist() == [3]
    choice = rows(np.nan, np.nan, sizes=[2, 3])
    assert majority(CHOICE, rows(1.0, 1, sizes=[2, 2]), choice, rng(1)).tolist() == [0, 0]
    assert uniform(CHOICE, rows(1.0, sizes=[2]), choice, rng(1)).tolist() in [[a, b] for a in (0, 1) for b in (0, 1, 2)]
