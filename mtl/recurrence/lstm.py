"""One bidirectional LSTM layer over packed sequences, for the CPU.

PyTorch's own packed LSTM spends most of a CPU's training time on everything but arithmetic: the cost of its
backward pass grows with the square of the length. Here all input products are one matrix product, the recurrence steps through preallocated
memory in place, whatever of the gradient does not depend on the recurrence is computed for all steps at once, and the
weights' gradients are one matrix product each.

Rows are packed (`mtl.recurrence.steps`).
"""

from typing import Any

import torch
from torch import Tensor

from mtl.recurrence.steps import Step, earlier, packed_steps

# PyTorch keeps a layer's gates in the order i, f, g, o. Here o comes first: o, i, f have a sigmoid, and i, f, g meet the
# cell's gradient, so that both are one slice.
_ORDER = (3, 0, 1, 2)


class PackedBiLSTMLayer(torch.autograd.Function):
    """data (rows, input_size) -> (rows, 2 * hidden_size), forward direction first, as `torch.nn.LSTM` gives them."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, sizes: list[int], *weights: Tensor) -> Tensor:
        """sizes: sequences that have each step, descending. weights: w_ih, w_hh, b_ih, b_hh of either direction."""
        hidden = weights[1].shape[1]
        output = data.new_empty(len(data), 2 * hidden)
        saved = [data, output]
        for direction in (0, 1):
            w_ih, w_hh, b_ih, b_hh = (reorder_gates(w, _ORDER) for w in weights[4 * direction : 4 * direction + 4])
            gates = torch.addmm(b_ih + b_hh, data, w_ih.T)
            cells, tanh_cells = torch.empty_like(output[:, :hidden]), torch.empty_like(output[:, :hidden])
            states = output[:, direction * hidden : (direction + 1) * hidden]
            _run(gates, cells, tanh_cells, states, w_hh.T, packed_steps(sizes, reverse=bool(direction)))
            saved += [gates, cells, tanh_cells, w_ih, w_hh]
        ctx.save_for_backward(*saved)
        ctx.sizes = sizes
        return output

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        data, output, *rest = ctx.saved_tensors
        hidden = output.shape[1] // 2
        grad_data: Tensor | None = None
        grads: list[Tensor | None] = []
        for direction in (0, 1):
            gates, cells, tanh_cells, w_ih, w_hh = rest[5 * direction : 5 * direction + 5]
            half = slice(direction * hidden, (direction + 1) * hidden)
            steps = packed_steps(ctx.sizes, reverse=bool(direction))
            grad_gates = _run_back(gates, cells, tanh_cells, grad_output[:, half], w_hh, steps)
            grad_w_hh = torch.mm(grad_gates.T, earlier(output[:, half], steps))
            grad_bias = grad_gates.sum(0)
            back = (grad_gates.T @ data, grad_w_hh, grad_bias, grad_bias)
            grads += [reorder_gates(grad, _INVERSE) for grad in back]
            if ctx.needs_input_grad[0]:
                grad_data = grad_gates @ w_ih if grad_data is None else grad_data.addmm_(grad_gates, w_ih)
        return grad_data, None, *grads


_INVERSE = tuple(_ORDER.index(gate) for gate in range(4))


def reorder_gates(weight: Tensor, order: tuple[int, ...]) -> Tensor:
    """A weight or bias (4 * hidden, …) with its four gates in another order."""
    parts = weight.chunk(4)
    return torch.cat([parts[gate] for gate in order])


def _run(gates: Tensor, cells: Tensor, tanh_cells: Tensor, states: Tensor, w_hh: Tensor, steps: list[Step]) -> None:
    """Fill cells, tanh_cells and states (rows, hidden); turn gates (rows, 4 * hidden) from input products to gate values.

    w_hh: (hidden, 4 * hidden).
    """
    hidden = states.shape[1]
    for rows, before, carried in steps:
        gate, cell, tanh_cell = gates[rows], cells[rows], tanh_cells[rows]
        if carried:
            gate[:carried].addmm_(states[before], w_hh)
        gate[:, : 3 * hidden].sigmoid_()
        gate[:, 3 * hidden :].tanh_()
        o, i, f, g = gate.split(hidden, 1)
        torch.mul(i, g, out=cell)
        if carried:
            cell[:carried].addcmul_(f[:carried], cells[before])
        torch.tanh(cell, out=tanh_cell)
        torch.mul(o, tanh_cell, out=states[rows])


def _run_back(
    gates: Tensor, cells: Tensor, tanh_cells: Tensor, grad_states: Tensor, w_hh: Tensor, steps: list[Step]
) -> Tensor:
    """The gradient of the gates' inputs (rows, 4 * hidden), given that of the states (rows, hidden).

    w_hh: (4 * hidden, hidden).
    """
    hidden = cells.shape[1]
    o, i, f, g = gates.split(hidden, 1)
    # What a gate's gradient is multiplied by, whatever comes back through time: o's meets the state's gradient, the
    # others' meet the cell's.
    grad_gates = torch.empty_like(gates)
    grad_o, grad_i, grad_f, grad_g = grad_gates.split(hidden, 1)
    torch.mul(o, 1 - o, out=grad_o).mul_(tanh_cells)
    torch.mul(i, 1 - i, out=grad_i).mul_(g)
    torch.mul(f, 1 - f, out=grad_f).mul_(earlier(cells, steps))
    torch.addcmul(i, i, g * g, value=-1, out=grad_g)
    into_cell = torch.addcmul(o, o, tanh_cells * tanh_cells, value=-1)
    forget = f.contiguous()
    grad_state = grad_states.clone()
    grad_cell = torch.zeros_like(cells)
    for rows, before, carried in reversed(steps):
        gate, dh, dc = grad_gates[rows], grad_state[rows], grad_cell[rows]
        dc.addcmul_(dh, into_cell[rows])
        gate[:, :hidden].mul_(dh)
        gate[:, hidden:].unflatten(1, (3, hidden)).mul_(dc[:, None])
        if carried:
            torch.mul(dc[:carried], forget[rows][:carried], out=grad_cell[before])
            grad_state[before].addmm_(gate[:carried], w_hh)
    return grad_gates
