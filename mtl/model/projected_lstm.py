"""One LSTM layer with a projected state, in one direction, over packed sequences: ELMo's recurrence.

Everything that does not depend on the previous step is one matrix product over all rows. No library has a layer that
clips the cell and the state and trains at this speed; allennlp-light's layer computes each product step by step."""

from typing import NamedTuple

import torch
from torch import Tensor

from mtl.model.lstm import Step


class Recurrence(NamedTuple):
    """What a layer has computed for all rows: its result, and what its gradient follows from."""

    states: Tensor  # projected, (rows, projection_size)
    gates: Tensor  # (rows, 4 * hidden), in the order o, i, f, g
    cells: Tensor  # (rows, hidden)
    tanh_cells: Tensor  # (rows, hidden)
    outputs: Tensor  # (rows, hidden), before the projection


def run_layer(
    data: Tensor,
    steps: list[Step],
    w_input: Tensor,
    w_state: Tensor,
    bias: Tensor,
    w_projection: Tensor,
    cell_clip: float | None,
    state_clip: float | None,
) -> Recurrence:
    """Run the layer over data (rows, input_size), without a gradient.

    The gates o, i, f are sigmoids and the candidate g is a tanh, each of a linear function of the input and the previous
    state h: c = clip(f * c + i * g, cell_clip), h = clip(P (o * tanh(c)), state_clip).

    Args:
        steps: as `packed_steps` gives them.
        w_input: (4 * hidden, input_size), as `w_state` and `bias` with its gates in the order o, i, f, g.
        w_state: (4 * hidden, projection_size).
        bias: (4 * hidden,).
        w_projection: (projection_size, hidden).
        cell_clip, state_clip: None means no clipping.
    """
    hidden = w_projection.shape[1]
    gates = torch.addmm(bias, data, w_input.T)
    cells = gates.new_empty(len(data), hidden)
    tanh_cells, outputs = torch.empty_like(cells), torch.empty_like(cells)
    states = gates.new_empty(len(data), len(w_projection))
    for rows, before, carried in steps:
        gate, cell, tanh_cell, output = gates[rows], cells[rows], tanh_cells[rows], outputs[rows]
        if carried:
            gate[:carried].addmm_(states[before], w_state.T)
        gate[:, : 3 * hidden].sigmoid_()
        gate[:, 3 * hidden :].tanh_()
        o, i, f, g = gate.split(hidden, 1)
        torch.mul(i, g, out=cell)
        if carried:
            cell[:carried].addcmul_(f[:carried], cells[before])
        if cell_clip is not None:
            cell.clamp_(-cell_clip, cell_clip)
        torch.tanh(cell, out=tanh_cell)
        torch.mul(o, tanh_cell, out=output)
        torch.mm(output, w_projection.T, out=states[rows])
        if state_clip is not None:
            states[rows].clamp_(-state_clip, state_clip)
    return Recurrence(states, gates, cells, tanh_cells, outputs)


def reorder_gates(weight: Tensor, order: tuple[int, ...]) -> Tensor:
    """A weight or bias (4 * hidden, …) with its four gates in another order: result's gate n is gate `order[n]`."""
    parts = weight.chunk(4)
    return torch.cat([parts[gate] for gate in order])
