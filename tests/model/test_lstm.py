from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from input_errors import raises_input_error
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mtl.model.lstm import BiLSTM, check_recurrence

# One bidirectional layer in NumPy, sequence by sequence, with bfloat16 factors and results of every matrix product. All other arithmetic, and
# the sums within a product, are float64.


def rounded(values: np.ndarray) -> np.ndarray:
    """The nearest bfloat16 numbers, ties to even."""
    bits = values.astype(np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return rounded(rounded(left) @ rounded(right))


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def run_direction(
    inputs: np.ndarray, weights: Sequence[np.ndarray], grad_states: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """inputs (steps, input_size) and the gradient of the states (steps, hidden), in the order in which the direction reads.

    Returns the states, the gradient of the gates' inputs (steps, 4 * hidden), and each step's previous state.
    """
    w_ih, w_hh, b_ih, b_hh = weights
    steps, hidden = grad_states.shape
    state, cell = np.zeros(hidden), np.zeros(hidden)
    kept = []
    for step in range(steps):
        from_input = rounded(rounded(inputs[step]) @ rounded(w_ih).T + rounded(b_ih + b_hh))
        i, f, g, o = np.split(from_input + product(state, w_hh.T), 4)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        before = cell, state
        cell = f * cell + i * g
        state = rounded(o * np.tanh(cell))
        kept.append((i, f, g, o, cell, state, *before))
    grad_gates = np.zeros((steps, 4 * hidden))
    grad_cell, after = np.zeros(hidden), np.zeros(4 * hidden)
    for step in reversed(range(steps)):
        i, f, g, o, cell, _, cell_before, _ = kept[step]
        grad_state = rounded(grad_states[step]) + product(after, w_hh)
        grad_cell = grad_cell + grad_state * o * (1 - np.tanh(cell) ** 2)
        parts = (
            grad_cell * g * i * (1 - i),
            grad_cell * cell_before * f * (1 - f),
            grad_cell * i * (1 - g**2),
            grad_state * np.tanh(cell) * o * (1 - o),
        )
        after = grad_gates[step] = rounded(np.concatenate(parts))
        grad_cell = grad_cell * f
    states, previous = (np.array([of[place] for of in kept]) for place in (5, 7))
    return states, grad_gates, previous


def run_layer(
    sequences: Sequence[np.ndarray], weights: Sequence[np.ndarray], grad_outputs: Sequence[np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Each sequence (steps, input_size), the eight weights, and each output's gradient (steps, 2 * hidden).

    Returns each sequence's output, the gradient of each sequence, and the gradients of the weights.
    """
    hidden = weights[1].shape[1]
    outputs, grad_inputs, grads = [], [np.zeros_like(x) for x in sequences], []
    for direction in (0, 1):
        turn = slice(None, None, -1 if direction else 1)
        of, half = weights[4 * direction : 4 * direction + 4], slice(direction * hidden, (direction + 1) * hidden)
        runs = [run_direction(x[turn], of, grad[turn, half]) for x, grad in zip(sequences, grad_outputs, strict=True)]
        outputs.append([states[turn] for states, *_ in runs])
        for grad, (_, gates, _) in zip(grad_inputs, runs, strict=True):
            grad[turn] = rounded(
                grad[turn] + gates @ rounded(of[0])
            )  # the second product is added before it is rounded
        gates = np.concatenate([run[1] for run in runs])
        read = np.concatenate([x[turn] for x in sequences]), np.concatenate([run[2] for run in runs])
        grads += [*(product(gates.T, values) for values in read), gates.sum(0), gates.sum(0)]
    return [np.concatenate(both, axis=1) for both in zip(*outputs, strict=True)], grad_inputs, grads


# The last one has more sequences than a step has columns before it is padded.
LENGTHS = [[3], [1, 1, 1], [5, 5, 5], [7, 1, 4, 9, 4], [1, 2, 3, 4, 5, 6, 30], [*range(1, 9), *range(12, 1, -1)]]


def reference(lstm: nn.LSTM, inputs: Tensor, lengths: Tensor) -> Tensor:
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=inputs.shape[1])[0]


def twins(layers: int, dtype: torch.dtype) -> tuple[BiLSTM, nn.LSTM]:
    torch.manual_seed(0)
    ours = BiLSTM(5, 7, layers).to(dtype)
    theirs = nn.LSTM(5, 7, layers, bidirectional=True, batch_first=True).to(dtype)
    theirs.load_state_dict(ours.state_dict())
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 2e-5)])
def test_outputs_and_gradients_of_torch(lengths: list[int], layers: int, dtype: torch.dtype, tolerance: float) -> None:
    ours, theirs = twins(layers, dtype)
    sizes = torch.tensor(lengths)
    values = torch.randn(len(sizes), int(sizes.max()) + 2, 5, dtype=dtype)
    inputs = [values.clone().requires_grad_() for _ in range(2)]
    outputs = [ours(inputs[0], sizes), reference(theirs, inputs[1], sizes)]
    torch.testing.assert_close(outputs[0], outputs[1], atol=tolerance, rtol=0)
    weight = torch.randn_like(outputs[0])
    for output in outputs:
        (output * weight).sum().backward()
    torch.testing.assert_close(inputs[0].grad, inputs[1].grad, atol=tolerance, rtol=0)
    for (name, one), (_, other) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, atol=tolerance, rtol=1e-4, msg=name)


@pytest.mark.parametrize("columns", [1, 4, 9])
def test_equals_torch_for_any_size_of_the_input_product(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.model.lstm.PRODUCT_COLUMNS", columns)
    for lengths in LENGTHS:
        test_outputs_and_gradients_of_torch(lengths, 2, torch.float64, 1e-12)


@pytest.mark.parametrize("bfloat16", [False, True])
def test_outputs_without_gradients_are_the_same(bfloat16: bool) -> None:
    lstm = BiLSTM(5, 7)
    inputs, lengths = torch.randn(4, 9, 5), torch.tensor([9, 2, 7, 2])
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        with torch.no_grad():
            alone = lstm(inputs, lengths)
        assert torch.equal(alone, lstm(inputs, lengths))


def test_accelerator_path_gives_the_same_outputs() -> None:
    lstm = BiLSTM(5, 7)
    inputs, lengths = torch.randn(4, 10, 5), torch.tensor([2, 9, 7, 2])
    torch.testing.assert_close(lstm.on_accelerator(inputs, lengths), lstm(inputs, lengths))


def test_padding_is_never_read_and_is_zero_in_the_output() -> None:
    lstm = BiLSTM(5, 7)
    inputs = torch.randn(2, 6, 5)
    spoilt = inputs.clone()
    spoilt[0, 3:] = float("nan")
    lengths = torch.tensor([3, 6])
    outputs = lstm(spoilt, lengths)
    assert torch.equal(outputs, lstm(inputs, lengths))
    assert (outputs[0, 3:] == 0).all()
    outputs.sum().backward()  # though the inputs need no gradient
    assert all(parameter.grad is not None for parameter in lstm.parameters())


@pytest.mark.parametrize("fault", ["none", "wrong outputs", "wrong gradients", "no gradients"])
def test_a_device_whose_lstms_differ_is_refused(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forward, calls = BiLSTM.forward, 0

    def on_device(self: BiLSTM, inputs: Tensor, lengths: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        if calls == 1 or fault == "none":
            return forward(self, inputs, lengths)
        if fault == "no gradients":
            return forward(self, inputs.detach(), lengths)
        outputs = forward(self, inputs, lengths)
        return outputs * 1.01 if fault == "wrong outputs" else outputs.detach() + (outputs - outputs.detach()) * 0.9

    monkeypatch.setattr(BiLSTM, "forward", on_device)
    before = torch.random.get_rng_state()
    with nullcontext() if fault == "none" else raises_input_error(key="trainer.accelerator"):
        check_recurrence(torch.device("cpu"))
    assert calls == 2 and torch.equal(torch.random.get_rng_state(), before)


INPUT, HIDDEN = 24, 16


def run(lstm: BiLSTM, inputs: Tensor, lengths: list[int], grad: Tensor, bfloat16: bool) -> tuple[Tensor, list[Tensor]]:
    """The outputs of one layer, and the gradients of the inputs and of the weights."""
    read = inputs.detach().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        output = lstm(read, torch.tensor(lengths))
    assert output.dtype == (torch.bfloat16 if bfloat16 else torch.float32)
    grads = list(torch.autograd.grad((output.float() * grad).sum(), [read, *lstm.parameters()]))
    assert {made.dtype for made in grads} == {torch.float32}
    return output.float(), grads


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
    lstm, inputs = BiLSTM(INPUT, HIDDEN, 1), torch.randn(len(lengths), max(lengths), INPUT)
    grad = torch.randn(len(lengths), max(lengths), 2 * HIDDEN)
    (output, grads), (exact, exact_grads) = (run(lstm, inputs, lengths, grad, bfloat16) for bfloat16 in (True, False))
    cut = [[rows[:length].double().numpy() for rows, length in zip(of, lengths, strict=True)] for of in (inputs, grad)]
    expected, expected_grad, expected_grads = run_layer(
        cut[0], [weight.detach().double().numpy() for weight in lstm.parameters()], cut[1]
    )
    compared = [
        (joined(output, lengths), np.concatenate(expected), joined(exact, lengths)),
        (joined(grads[0], lengths), np.concatenate(expected_grad), joined(exact_grads[0], lengths)),
        *((a.numpy(), b, c.numpy()) for a, b, c in zip(grads[1:], expected_grads, exact_grads[1:], strict=True)),
    ]
    for ours, reference, float32 in compared:
        assert distance(ours, reference) < 0.5 * distance(float32, reference)
