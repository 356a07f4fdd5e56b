"""One bidirectional LSTM layer in NumPy, sequence by sequence, with bfloat16 factors and results of every matrix product.

All other arithmetic, and the sums within a product, are float64.
"""

from collections.abc import Sequence

import numpy as np


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
