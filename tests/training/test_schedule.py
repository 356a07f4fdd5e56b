from collections import Counter

import numpy as np
import pytest

from mtl.data.dataset import Split
from mtl.training.schedule import Schedule, batch_rows, pass_batches, pool_size, row_lengths, sorted_batches


def lengths(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"big": rng.integers(1, 90, 3000), "small": rng.integers(1, 90, 1000), "tiny": rng.integers(1, 90, 10)}


def batch_sizes(size: int) -> dict[str, int]:
    return dict.fromkeys(lengths(), size)


@pytest.mark.parametrize("sampling", [0.0, 0.5, 1.0])
def test_tasks_are_drawn_in_proportion_to_a_power_of_their_rows(sampling: float) -> None:
    schedule = Schedule(lengths(), batch_sizes(32), 8000, seed=1, sampling=sampling)
    drawn = Counter(schedule.tasks[i] for i in schedule.draws)
    total = 3000**sampling + 1000**sampling + 10**sampling
    assert drawn["big"] / 8000 == pytest.approx(3000**sampling / total, abs=0.02)
    assert drawn["tiny"] / 8000 == pytest.approx(10**sampling / total, abs=0.02 if sampling < 1 else 0.002)


def test_each_pass_sees_every_row_once_in_batches_of_similar_length() -> None:
    schedule = Schedule(lengths(), batch_sizes(32), 400, seed=1)
    rows = [r for task, r in map(schedule.rows, range(400)) if task == "big"]
    per_pass = -(-3000 // 32)
    for start in range(0, len(rows) - per_pass, per_pass):
        assert sorted(np.concatenate(rows[start : start + per_pass])) == list(range(3000))
    assert not np.array_equal(rows[0], rows[per_pass])  # shuffled anew
    # Batches of similar length need many batches to choose from: 60 rows give none, 100,000 rows pools of 32.
    assert [pool_size(batches) for batches in (1, 2, 15, 16, 80, 3000)] == [1, 1, 1, 2, 10, 32]
    sizes = {"big": 32, "small": 8, "tiny": 3}
    schedule = Schedule(lengths(), sizes, 300, seed=1)
    seen = [(task, len(rows)) for task, rows in map(schedule.rows, range(300))]
    assert {name: max(size for task, size in seen if task == name) for name in sizes} == sizes
    sizes = lengths()
    padded = real = 0
    for task, rows in map(Schedule(sizes, batch_sizes(32), 300, seed=1).rows, range(300)):
        padded += sizes[task][rows].max() * len(rows)
        real += sizes[task][rows].sum()
    assert real / padded > 0.9


def test_sorted_batches_give_every_row_once_and_any_step_can_be_asked_for_alone() -> None:
    seen: dict[str, list[int]] = {"big": [], "small": [], "tiny": []}
    for task, rows in sorted_batches(lengths(), batch_sizes(64)):
        seen[task] += rows.tolist()
        assert (np.diff(lengths()[task][rows]) >= 0).all()
    assert {task: sorted(rows) for task, rows in seen.items()} == {t: list(range(len(x))) for t, x in lengths().items()}
    whole = Schedule(lengths(), batch_sizes(32), 300, seed=5).steps(0, 300)
    part = Schedule(lengths(), batch_sizes(32), 300, seed=5).steps(217, 1000)
    assert len(part) == 83
    for (task, rows), (other_task, other_rows) in zip(whole[217:], part, strict=True):
        assert task == other_task
        np.testing.assert_array_equal(rows, other_rows)
    other = Schedule(lengths(), batch_sizes(32), 300, seed=6).steps(0, 300)
    assert [task for task, _ in whole] != [task for task, _ in other]


def test_batches_of_a_choice_have_about_as_many_inputs_as_others() -> None:
    texts = np.array([[0, 1], [0, 2], [0, 3], [4, 1], [5, 2], [5, 3]])
    choice = Split(texts, np.array([2.0, 0.0, 1.0]), np.array([3, 1, 2]))
    assert row_lengths(choice, np.array([1, 3, 2, 4, 1, 6])).tolist() == [4, 3, 6]  # of the longest text of each row
    assert batch_rows(choice, 16) == 8  # of two candidates on average
    assert batch_rows(choice, 2) == 1
    assert [pass_batches(choice, size) for size in (2, 4, 16)] == [3, 2, 1]
    assert batch_rows(Split(np.zeros((4, 1), dtype=np.int64), np.zeros(4)), 16) == 16
