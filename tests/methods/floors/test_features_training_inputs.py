import numpy as np

from mtl.data.dataset import Split
from mtl.methods.floors.features import training_inputs
from mtl.tasks.task import Task

LABELS = Task("t", kind="labels", text=["x"], target="y", labels=["a", "b"], metric="accuracy")
CHOICE = Task("c", kind="choice", text=["x"], candidates=["z[]"], target="y", metric="accuracy")


def split(targets: list[float], sizes: list[int] | None = None) -> Split:
    inputs = len(targets) if sizes is None else sum(sizes)
    return Split(np.arange(inputs)[:, None], np.array(targets), None if sizes is None else np.array(sizes))


def test_all_rows_in_their_order() -> None:
    found = training_inputs(LABELS, split([0.0, 1, 1]), None, False)
    assert found.places.tolist() == [0, 1, 2] and found.targets.tolist() == [0, 1, 1]
    found = training_inputs(CHOICE, split([1.0, 0], [3, 2]), 9, False)
    assert found.places.tolist() == [0, 1, 2, 3, 4] and found.targets.tolist() == [0, 1, 0, 1, 0]


def test_fewer_rows_are_evenly_spread() -> None:
    found = training_inputs(LABELS, split([float(i % 2) for i in range(10)]), 4, False)
    assert found.places.tolist() == [0, 2, 5, 7] and found.targets.tolist() == [0, 0, 1, 1]
    found = training_inputs(CHOICE, split([1.0, 0, 0], [3, 2, 1]), 1, False)
    assert found.places.tolist() == [0, 1, 2]


def test_of_a_choice_the_right_candidate_and_a_wrong_one() -> None:
    """A row with one candidate has no wrong one."""
    rows = split([2.0, 0, 0] * 500, [4, 3, 1] * 500)
    found = training_inputs(CHOICE, rows, None, True)
    pairs = found.places.reshape(-1, 5) - 8 * np.arange(500)[:, None]
    assert found.targets.reshape(-1, 5).tolist() == [[1, 0, 1, 0, 1]] * 500
    assert set(pairs[:, 0]) == {2} and set(pairs[:, 2]) == {4} and set(pairs[:, 4]) == {7}
    drawn = np.bincount(pairs[:, 1], minlength=4) / 500
    assert drawn[2] == 0 and np.abs(drawn[[0, 1, 3]] - 1 / 3).max() < 0.08
    assert set(pairs[:, 3]) == {5, 6}
    assert (training_inputs(CHOICE, rows, None, True).places == found.places).all()


def test_without_candidates_there_are_no_pairs() -> None:
    assert training_inputs(LABELS, split([0.0, 1]), None, True).places.tolist() == [0, 1]
