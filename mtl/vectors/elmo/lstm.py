"""The LSTM layers of an ELMo while they are trained: their first weights, and the gradient of `mtl.embedders.elmo.network.run_layer`."""

from typing import Any

import torch
from torch import Tensor, nn

from mtl.embedders.elmo.network import ProjectedLSTM, run_layer
from mtl.embedders.elmo.options import Options
from mtl.model.packing import Steps, packed_steps


class TrainedLSTM(ProjectedLSTM):
    """A layer with drawn weights, from which gradients flow."""

    def __init__(self, options: Options, reverse: bool) -> None:
        """Draw from Glorot's uniform distribution over the joint matrix of input and state, as TensorFlow does."""
        super().__init__(options, reverse)
        limit = (6 / (2 * options.lstm.projection_dim + 4 * options.lstm.dim)) ** 0.5
        nn.init.uniform_(self.w_input, -limit, limit)
        nn.init.uniform_(self.w_state, -limit, limit)
        nn.init.xavier_uniform_(self.w_projection)
        nn.init.zeros_(self.bias)
        with torch.no_grad():
            self.bias[2 * options.lstm.dim : 3 * options.lstm.dim] = 1.0  # of the forget gate, the third

    def forward(self, data: Tensor, sizes: list[int]) -> Tensor:
        """As `ProjectedLSTM.forward`, with a gradient."""
        return ProjectedLSTMLayer.apply(data, sizes, self.reverse, *self.weights, *self.clips)


class ProjectedLSTMLayer(torch.autograd.Function):
    """data (rows, input_size) -> projected states (rows, projection_size), as `mtl.embedders.elmo.network.run_layer` computes them."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, sizes: list[int], reverse: bool, *weights_and_clips: Any) -> Tensor:
        """`sizes` says how many sequences have each step, descending. Then come the weights and the clips of `run_layer`; no clip is None."""
        w_input, w_state, bias, w_projection, *clips = weights_and_clips
        steps = packed_steps(sizes, reverse)
        layer = run_layer(data, steps, (w_input, w_state, bias, w_projection), clips)
        ctx.save_for_backward(data, *layer, w_input, w_state, w_projection)
        ctx.steps, ctx.clips = steps, clips
        return layer.states

    @staticmethod
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        data, states, gates, cells, tanh_cells, outputs, w_input, w_state, w_projection = ctx.saved_tensors
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
        output_by_cell = torch.addcmul(o, o, tanh_cells * tanh_cells, value=-1)  # the output's derivative by the cell
        forget = f.contiguous()
        # A clipped value has no gradient. A value at the limit counts as clipped.
        unclipped_cell, unclipped_state = cells.abs() < cell_clip, states.abs() < state_clip
        grad_state, grad_cell = grad_states.clone(), torch.zeros_like(cells)
        for rows, before, carried, _ in reversed(ctx.steps):
            grad_gate, grad_step_cell = grad_gates[rows], grad_cell[rows]
            grad_output = grad_state[rows].mul_(unclipped_state[rows]) @ w_projection
            grad_step_cell.addcmul_(grad_output, output_by_cell[rows])
            grad_step_cell.mul_(unclipped_cell[rows])
            grad_gate[:, :hidden].mul_(grad_output)
            grad_gate[:, hidden:].unflatten(1, (3, hidden)).mul_(grad_step_cell[:, None])
            torch.mul(grad_step_cell[:carried], forget[rows][:carried], out=grad_cell[before])
            grad_state[before].addmm_(grad_gate[:carried], w_state)
        grad_data = grad_gates @ w_input if ctx.needs_input_grad[0] else None
        grad_w_state = grad_gates.T @ previous_values(states, ctx.steps)
        grad_weights = (grad_gates.T @ data, grad_w_state, grad_gates.sum(0), grad_state.T @ outputs)
        return grad_data, None, None, *grad_weights, None, None


def previous_values(values: Tensor, steps: Steps) -> Tensor:
    """For each row the values of its sequence's previous step, zero at the first: (rows, hidden) -> (rows, hidden)."""
    result = values.new_zeros(values.shape)
    for rows, before, carried, _ in steps:
        result[rows.start : rows.start + carried] = values[before]
    return result
