"""The layer's products in bfloat16; tests/model/test_lstm.py compares the float32 layer with torch's LSTM."""

import numpy as np
import pytest
import torch
from bfloat16_reference import run_layer
from torch import Tensor

from mtl.model.lstm import PackedBiLSTMLayer, Packing

INPUT, HIDDEN = 24, 16


def new_weights() -> list[Tensor]:
    shapes = [(4 * HIDDEN, INPUT), (4 * HIDDEN, HIDDEN), (4 * HIDDEN,), (4 * HIDDEN,)] * 2
    return [torch.empty(shape).uniform_(-0.25, 0.25).requires_grad_() for shape in shapes]


def run(
    inputs: Tensor, lengths: list[int], weights: list[Tensor], grad: Tensor, dtype: torch.dtype
) -> tuple[Tensor, list[Tensor]]:
    """The layer's output for a padded batch, and the gradients of the inputs and of the weights. dtype: of the products."""
    read = inputs.detach().requires_grad_()
    packing = Packing(torch.tensor(lengths), inputs.shape[1])
    given = [weight.to(dtype) if weight.ndim == 2 else weight for weight in weights]
    output = packing.unpack(PackedBiLSTMLayer.apply(packing.pack(read.to(dtype)).T, packing.sizes, *given).T)
    assert output.dtype == dtype
    return output.float(), list(torch.autograd.grad((output.float() * grad).sum(), [read, *weights]))


def distance(values: np.ndarray, others: np.ndarray) -> float:
    return float(np.linalg.norm(values - others) / np.linalg.norm(others))


def joined(batch: Tensor, lengths: list[int]) -> np.ndarray:
    """The real steps of a padded batch, sequence after sequence."""
    return np.concatenate([rows[:length].detach().numpy() for rows, length in zip(batch, lengths, strict=True)])


@pytest.mark.parametrize("lengths", [[7], [5, 5, 5], [*range(1, 41)]])
def test_it_rounds_where_the_reference_rounds(lengths: list[int]) -> None:
    """Sums of another order end in another bfloat16 number now and then. Rounding anything else, or less, would be as far from the
    reference as float32 is."""
    torch.manual_seed(0)
    weights, inputs = new_weights(), torch.randn(len(lengths), max(lengths), INPUT)
    grad = torch.randn(len(lengths), max(lengths), 2 * HIDDEN)
    (output, grads), (exact, exact_grads) = (
        run(inputs, lengths, weights, grad, dtype) for dtype in (torch.bfloat16, torch.float32)
    )
    cut = [[rows[:length].double().numpy() for rows, length in zip(of, lengths, strict=True)] for of in (inputs, grad)]
    expected, expected_grad, expected_grads = run_layer(
        cut[0], [weight.detach().double().numpy() for weight in weights], cut[1]
    )
    compared = [
        (joined(output, lengths), np.concatenate(expected), joined(exact, lengths)),
        (joined(grads[0], lengths), np.concatenate(expected_grad), joined(exact_grads[0], lengths)),
        *((a.numpy(), b, c.numpy()) for a, b, c in zip(grads[1:], expected_grads, exact_grads[1:], strict=True)),
    ]
    for ours, reference, float32 in compared:
        assert distance(ours, reference) < 0.5 * distance(float32, reference)
