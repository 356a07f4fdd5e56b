from collections import Counter

import numpy as np
import pytest
import torch

from mtl.data.dataset import Split, first_choices
from mtl.model.network import Heads, Network, TaskNetwork
from mtl.model.sequences import ArraySequences
from mtl.tasks.task import Task
from mtl.training.batches import (
    BatchDataset,
    Schedule,
    batch_rows,
    pass_batches,
    pool_size,
    predict_rows,
    row_lengths,
    sorted_batches,
)


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


def test_batches_against_plain_loops() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, 20)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    tokens = rng.integers(1, 100, starts[-1])
    split = Split(rng.integers(0, 20, (7, 2)), rng.random(7))
    np.testing.assert_array_equal(row_lengths(split, sizes), [max(sizes[a], sizes[b]) for a, b in split.texts])
    chosen = np.array([4, 0, 6])
    batch = BatchDataset({"t": split}, ArraySequences(tokens, starts[:-1], sizes))[("t", chosen)]
    texts = [*split.texts[chosen, 0], *split.texts[chosen, 1]]  # first sides, then second sides
    assert batch.lengths.tolist() == [sizes[t] for t in texts]
    for row, text in zip(batch.tokens.tolist(), texts, strict=True):
        words = tokens[starts[text] : starts[text + 1]].tolist()
        assert row == words + [0] * (len(row) - len(words))
    torch.testing.assert_close(batch.targets, torch.tensor(split.targets[chosen]).float())
    vectors = torch.randn(20, 3)
    batch = BatchDataset({"t": split}, vectors=vectors)[("t", chosen)]
    assert batch.vectors is not None and batch.tokens is None
    assert torch.equal(batch.vectors, vectors[texts])


CHOICE = Split(
    np.array([[0, 1], [0, 2], [0, 3], [4, 1], [5, 2], [5, 3]]), np.array([2.0, 0.0, 1.0]), np.array([3, 1, 2])
)


def test_batches_of_a_choice_hold_the_candidates_row_after_row() -> None:
    sizes = np.array([1, 3, 2, 4, 1, 6])
    tokens = np.arange(1, sizes.sum() + 1)
    starts = np.cumsum(sizes) - sizes
    batch = BatchDataset({"c": CHOICE}, ArraySequences(tokens, starts, sizes))[("c", np.array([2, 0]))]
    texts = [5, 5, 0, 0, 0, 2, 3, 1, 2, 3]  # what the candidates share, then the candidates
    assert batch.lengths.tolist() == sizes[texts].tolist()
    assert [row[0] for row in batch.tokens.tolist()] == [starts[text] + 1 for text in texts]
    assert (batch.rows.tolist(), batch.targets.tolist(), batch.sizes.tolist()) == ([2, 0], [1, 2], [2, 3])
    # They have about as many inputs as others.
    assert row_lengths(CHOICE, np.array([1, 3, 2, 4, 1, 6])).tolist() == [4, 3, 6]  # of the longest text of each row
    assert batch_rows(CHOICE, 16) == 8  # of two candidates on average
    assert batch_rows(CHOICE, 2) == 1
    assert [pass_batches(CHOICE, size) for size in (2, 4, 16)] == [3, 2, 1]
    assert batch_rows(Split(np.zeros((4, 1), dtype=np.int64), np.zeros(4)), 16) == 16


@pytest.mark.parametrize("batch", [1, 2])
@torch.no_grad()
def test_predictions_are_in_the_order_of_the_rows(batch: int) -> None:
    task = Task(id="c", kind="choice", text=["q"], candidates=["a[]"], target="y", metric="accuracy")
    torch.manual_seed(0)
    network = Network([task], Heads([task], {"c": 1}, 4, 8, 0.5), None)
    vectors = torch.randn(6, 4)
    order = sorted_batches({"c": np.array([4, 3, 6])}, {"c": batch})
    codes = predict_rows(network, BatchDataset({"c": CHOICE}, vectors=vectors), order, torch.device("cpu"))
    assert not network.training
    head = network.heads["c"]
    for row, inputs in enumerate(([0, 1, 2], [3], [4, 5])):
        texts = [*CHOICE.texts[inputs, 0], *CHOICE.texts[inputs, 1]]
        assert codes[row] == int(head(vectors[texts])[:, 0].argmax())


@pytest.mark.parametrize("encoded", [False, True])
def test_batches_hold_the_spans_of_their_rows(encoded: bool) -> None:
    spans = np.arange(14).reshape(7, 1, 2)
    split = Split(np.zeros((7, 1), dtype=np.int64), np.zeros(7), spans=spans + 1, token_spans=spans)
    rows = np.zeros((3, 4), dtype=np.float16) if encoded else np.array([5, 6, 7])
    sequences = ArraySequences(rows, np.array([0]), np.array([3]))
    batch = BatchDataset({"t": split}, sequences)[("t", np.array([4, 0, 6]))]
    assert batch.spans is not None and batch.spans.tolist() == [[[8, 9]], [[0, 1]], [[12, 13]]]
    assert BatchDataset({"t": Split(split.texts, split.targets)}, sequences)[("t", np.array([1]))].spans is None


def test_equal_candidates_of_a_row_are_decided_alike() -> None:
    texts = np.array([[0, 5], [0, 6], [0, 5], [1, 6], [1, 7], [1, 7]])  # the third equals the first, the last the fifth
    split = Split(texts, np.zeros(2), np.array([3, 3]))
    batches = BatchDataset({"t": split}, vectors=torch.zeros(8, 2))
    batch = batches["t", np.array([1, 0])]
    assert batch.firsts is not None and batch.firsts.tolist() == [0, 1, 1, 3, 4, 3]
    network = TaskNetwork([Task(id="t", kind="choice", text=["q"], candidates=["a[]"], target="y", metric="accuracy")])
    outputs = torch.tensor([0.0, 1.0, 1.0 + 1e-6, 1.0, 0.5, 1.0 + 1e-6])[:, None]
    assert network.predict(batch, outputs).tolist() == [1, 0]
    assert network.predict(batches["t", np.array([0])], outputs[3:]).tolist() == [0]
    different = Split(np.arange(4)[:, None], np.zeros(2), np.array([2, 2]))
    assert BatchDataset({"t": different}, vectors=torch.zeros(4, 2))["t", np.array([0, 1])].firsts is None
    assert first_choices(np.array([2.0, 2.0]), texts, np.array([3, 3])).tolist() == [0.0, 1.0]
