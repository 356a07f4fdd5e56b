"""One LSTM layer with a projected state, in one direction, over packed sequences: ELMo's recurrence.

Everything that does not depend on the previous step is one matrix product over all rows. No library has a layer that
clips the cell and the state and trains at this speed; allennlp-light's layer computes each product step by step."""

from typing import Any

import torch
from torch import Tensor

from mtl.model.lstm import packed_steps, previous_values


class ProjectedLSTMLayer(torch.autograd.Function):
    """data (rows, input_size) -> projected states (rows, projection_size).

    The gates o, i, f are sigmoids and the candidate g is a tanh, each of a linear function of the input and the previous
    state h: c = clip(f * c + i * g, cell_clip), h = clip(P (o * tanh(c)), state_clip).
    """

    @staticmethod
    def forward(
        ctx: Any,
        data: Tensor,
        sizes: list[int],
        reverse: bool,
        w_input: Tensor,
        w_state: Tensor,
        bias: Tensor,
        w_projection: Tensor,
        cell_clip: float | None,
        state_clip: float | None,
    ) -> Tensor:
        """w_input (4 * hidden, input_size), w_state (4 * hidden, projection_size) and bias (4 * hidden,) have their
        gates in the order o, i, f, g. w_projection (projection_size, hidden).

        Args:
            sizes: the number of sequences that have each step, descending.
            reverse: whether the steps run from the last to the first.
            cell_clip, state_clip: None means no clipping.
        """
        hidden = w_projection.shape[1]
        steps = packed_steps(sizes, reverse)
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
        ctx.save_for_backward(data, gates, cells, tanh_cells, outputs, states, w_input, w_state, w_projection)
        ctx.steps, ctx.clips = steps, (cell_clip, state_clip)
        return states

    @staticmethod
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        data, gates, cells, tanh_cells, outputs, states, w_input, w_state, w_projection = ctx.saved_tensors
        hidden = cells.shape[1]
        o, i, f, g = gates.split(hidden, 1)
        cell_clip, state_clip = ctx.clips
        # The local derivative of each gate. The loop multiplies o's with the output's gradient, the others with the cell's.
        grad_gates = torch.empty_like(gates)
        grad_o, grad_i, grad_f, grad_g = grad_gates.split(hidden, 1)
        torch.mul(o, 1 - o, out=grad_o).mul_(tanh_cells)
        torch.mul(i, 1 - i, out=grad_i).mul_(g)
        torch.mul(f, 1 - f, out=grad_f).mul_(previous_values(cells, ctx.steps))
        torch.addcmul(i, i, g * g, value=-1, out=grad_g)
        output_to_cell = torch.addcmul(o, o, tanh_cells * tanh_cells, value=-1)
        forget = f.contiguous()
        # A clipped value has no gradient. A value at the limit counts as clipped.
        unclipped_cell = None if cell_clip is None else cells.abs() < cell_clip
        unclipped_state = None if state_clip is None else states.abs() < state_clip
        grad_state = grad_states.clone()
        grad_cell = torch.zeros_like(cells)
        for rows, before, carried in reversed(ctx.steps):
            gate, dh, dc = grad_gates[rows], grad_state[rows], grad_cell[rows]
            if unclipped_state is not None:
                dh.mul_(unclipped_state[rows])
            d_output = dh @ w_projection
            dc.addcmul_(d_output, output_to_cell[rows])
            if unclipped_cell is not None:
                dc.mul_(unclipped_cell[rows])
            gate[:, :hidden].mul_(d_output)
            gate[:, hidden:].unflatten(1, (3, hidden)).mul_(dc[:, None])
            if carried:
                torch.mul(dc[:carried], forget[rows][:carried], out=grad_cell[before])
                grad_state[before].addmm_(gate[:carried], w_state)
        grad_data = grad_gates @ w_input if ctx.needs_input_grad[0] else None
        grad_w_state = grad_gates.T @ previous_values(states, ctx.steps)
        grad_weights = (grad_gates.T @ data, grad_w_state, grad_gates.sum(0), grad_state.T @ outputs)
        return grad_data, None, None, *grad_weights, None, None


def reorder_gates(weight: Tensor, order: tuple[int, ...]) -> Tensor:
    """A weight or bias (4 * hidden, …) with its four gates in another order: result's gate n is gate `order[n]`."""
    parts = weight.chunk(4)
    return torch.cat([parts[gate] for gate in order])
