"""The conditional random field against sums and maxima over all sequences of labels."""

from itertools import product

import pytest
import torch
from torch import Tensor

from mtl.structured.crf import best_sequences, sequence_loss
from mtl.tasks.head_targets import PAST


def scores_of_all(outputs: Tensor, transitions: Tensor) -> dict[tuple[int, ...], Tensor]:
    """The score of each sequence of labels of one row, whose outputs are (units, labels)."""
    units, labels = outputs.shape
    scored = {}
    for sequence in product(range(labels), repeat=units):
        path = [labels, *sequence]  # the row of transitions before the last is that from the start
        scored[sequence] = (
            sum((outputs[unit, label] for unit, label in enumerate(sequence)), torch.zeros(()))
            + sum((transitions[first, label] for first, label in zip(path, sequence, strict=False)), torch.zeros(()))
            + (transitions[labels + 1, sequence[-1]] if sequence else 0)
        )
    return scored


@pytest.mark.parametrize("sizes", [[1], [3, 1, 4], [2, 0, 3], [0], [4, 4]])
@pytest.mark.parametrize("labels", [1, 2, 4])
def test_loss_and_best_sequences_are_those_of_all_sequences(sizes: list[int], labels: int) -> None:
    chance = torch.Generator().manual_seed(labels)
    outputs = torch.randn(sum(sizes), labels, generator=chance, requires_grad=True)
    transitions = torch.randn(labels + 2, labels, generator=chance, requires_grad=True)
    codes = torch.full((len(sizes), max(sizes) + 1), PAST)
    for row, size in enumerate(sizes):
        codes[row, :size] = torch.randint(labels, (size,), generator=chance)
    loss = sequence_loss(outputs, codes, torch.tensor(sizes), transitions)
    best = best_sequences(outputs, torch.tensor(sizes), transitions)
    expected = torch.zeros(())
    for row, part in enumerate(outputs.split(sizes)):
        scored = scores_of_all(part, transitions)
        right = tuple(codes[row, : sizes[row]].tolist())
        expected = expected + torch.stack(list(scored.values())).logsumexp(dim=0) - scored[right]
        most = max(scored, key=lambda sequence: scored[sequence].item())
        assert best[row].tolist() == [*most, *[PAST] * (max(sizes) - sizes[row])]
    assert torch.allclose(loss, expected, atol=1e-4)
    if expected.requires_grad:
        made, wanted = (
            torch.autograd.grad(value, (outputs, transitions), materialize_grads=True, allow_unused=True)
            for value in (loss, expected)
        )
        assert all(torch.allclose(*pair, atol=1e-4) for pair in zip(made, wanted, strict=True))
