from collections import Counter

import numpy as np
import pytest
import torch

from mtl.data.dataset import Split
from mtl.training.batches import BatchDataset, Schedule, ScheduleSampler, SortedSampler, TokenTable, row_lengths


def lengths(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"big": rng.integers(1, 90, 3000), "small": rng.integers(1, 90, 1000), "tiny": rng.integers(1, 90, 10)}


def test_tasks_are_drawn_in_proportion_to_their_rows() -> None:
    schedule = Schedule(lengths(), 32, 8000, seed=1)
    drawn = Counter(schedule.tasks[i] for i in schedule._draws)
    assert drawn["big"] / 8000 == pytest.approx(3000 / 4010, abs=0.02)
    assert drawn["tiny"] / 8000 == pytest.approx(10 / 4010, abs=0.002)


def test_each_pass_sees_every_row_once() -> None:
    schedule = Schedule(lengths(), 32, 400, seed=1)
    rows = [r for task, r in map(schedule.rows, range(400)) if task == "big"]
    per_pass = -(-3000 // 32)
    for start in range(0, len(rows) - per_pass, per_pass):
        assert sorted(np.concatenate(rows[start : start + per_pass])) == list(range(3000))
    assert not np.array_equal(rows[0], rows[per_pass])  # shuffled anew


def test_any_step_can_be_asked_for_alone() -> None:
    whole = list(ScheduleSampler(Schedule(lengths(), 32, 300, seed=5), 0, 300))
    part = list(ScheduleSampler(Schedule(lengths(), 32, 300, seed=5), 217, 1000))
    assert len(part) == 83
    for (task, rows), (other_task, other_rows) in zip(whole[217:], part, strict=True):
        assert task == other_task
        np.testing.assert_array_equal(rows, other_rows)
    other = list(ScheduleSampler(Schedule(lengths(), 32, 300, seed=6), 0, 300))
    assert [task for task, _ in whole] != [task for task, _ in other]


def test_rows_of_like_length_meet() -> None:
    sizes = lengths()
    padded = real = 0
    for task, rows in map(Schedule(sizes, 32, 300, seed=1).rows, range(300)):
        padded += sizes[task][rows].max() * len(rows)
        real += sizes[task][rows].sum()
    assert real / padded > 0.9


def test_sorted_sampler_gives_every_row_once() -> None:
    seen: dict[str, list[int]] = {"big": [], "small": [], "tiny": []}
    for task, rows in SortedSampler(lengths(), 64):
        seen[task] += rows.tolist()
        assert (np.diff(lengths()[task][rows]) >= 0).all()
    assert {task: sorted(rows) for task, rows in seen.items()} == {t: list(range(len(x))) for t, x in lengths().items()}


def test_batches_against_plain_loops() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, 20)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    tokens = rng.integers(1, 100, starts[-1])
    split = Split(rng.integers(0, 20, (7, 2)), rng.random(7))
    np.testing.assert_array_equal(row_lengths(split, sizes), [max(sizes[a], sizes[b]) for a, b in split.texts])
    chosen = np.array([4, 0, 6])
    batch = BatchDataset({"t": split}, TokenTable(tokens, starts[:-1], sizes))[("t", chosen)]
    texts = [*split.texts[chosen, 0], *split.texts[chosen, 1]]  # first sides, then second sides
    assert batch.tokens is not None and batch.lengths is not None
    assert batch.lengths.tolist() == [sizes[t] for t in texts]
    for row, text in zip(batch.tokens.tolist(), texts, strict=True):
        words = tokens[starts[text] : starts[text + 1]].tolist()
        assert row == words + [0] * (len(row) - len(words))
    torch.testing.assert_close(batch.targets, torch.tensor(split.targets[chosen]).float())
    vectors = torch.randn(20, 3)
    batch = BatchDataset({"t": split}, vectors=vectors)[("t", chosen)]
    assert batch.vectors is not None and batch.tokens is None
    assert torch.equal(batch.vectors, vectors[texts])
