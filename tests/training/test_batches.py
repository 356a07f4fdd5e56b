import numpy as np
import pytest
import torch

from mtl.data.dataset import Split, first_choices
from mtl.model.network import Heads, Network, TaskNetwork
from mtl.model.sequences import ArraySequences
from mtl.tasks.task import Task
from mtl.training.batches import BatchDataset, predict_rows
from mtl.training.schedule import row_lengths, sorted_batches


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
