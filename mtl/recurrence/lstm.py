"""One bidirectional LSTM layer over packed sequences, for the CPU.

PyTorch's own packed LSTM trains slowly on a CPU: the cost of its backward pass grows with the square of the length.
This layer computes the input products of many steps in one matrix product, keeps a step's arithmetic in memory that is
still in the cache, and computes the gradient of each weight matrix in one matrix product.

Matrices are feature-major: one row for each feature, one column for each step of each sequence
(`mtl.recurrence.packing`). The recurrent products have few sequences and many gates; in this layout they run up to twice
as fast, and each of a step's four gates is one contiguous block of memory.

If the data and the weight matrices are bfloat16 and the biases float32, the factors and results of all matrix products are
bfloat16, with sums in float32 inside a product. Gates, cells and their gradients stay float32. The states and the gates'
gradients are stored as bfloat16, because only products read them.
"""

from typing import Any

import torch
from torch import Tensor

from mtl.recurrence.packing import WIDTH_MULTIPLE
from mtl.recurrence.steps import Step, packed_steps

# The most columns of one input product: enough for the product to run at the machine's full rate.
PRODUCT_COLUMNS = 1024

_sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
_tanh_backward = torch.ops.aten.tanh_backward.grad_input


class PackedBiLSTMLayer(torch.autograd.Function):
    """data (input_size, columns) -> (2 * hidden_size, columns), forward direction first, as `torch.nn.LSTM` computes it."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, sizes: list[int], *weights: Tensor) -> Tensor:
        """sizes: the number of sequences that have each step, descending; a step's columns are padded to a multiple of WIDTH_MULTIPLE.

        weights: w_ih, w_hh, b_ih, b_hh of the forward direction, then of the backward one. Padding columns are zero in the output.
        The output and the gradients of data, w_ih and w_hh have the dtype of data; the rest is computed in that of the biases.
        """
        hidden = weights[1].shape[1]
        output = data.new_empty(2 * hidden, data.shape[1])
        training = any(ctx.needs_input_grad)
        saved = [data, output]
        for direction in (0, 1):
            w_ih, w_hh, b_ih, b_hh = weights[4 * direction : 4 * direction + 4]
            states = output[direction * hidden : (direction + 1) * hidden]
            steps = _steps(sizes, reverse=bool(direction))
            gates = b_ih.new_empty(4 * hidden * data.shape[1] if training else 0)
            cells = b_ih.new_empty(hidden * data.shape[1])
            _run(data, w_ih, w_hh, (b_ih + b_hh).to(data.dtype), steps, gates, cells, states)
            saved += [gates, cells, w_ih, w_hh]
        if training:
            ctx.save_for_backward(*saved)
            ctx.sizes = sizes
        return output

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        data, output, *rest = ctx.saved_tensors
        hidden = len(output) // 2
        grad_data: Tensor | None = None
        grads: list[Tensor | None] = []
        grad_gates = data.new_empty(4 * hidden, data.shape[1])
        for direction in (0, 1):
            gates, cells, w_ih, w_hh = rest[4 * direction : 4 * direction + 4]
            half = slice(direction * hidden, (direction + 1) * hidden)
            steps = _steps(ctx.sizes, reverse=bool(direction))
            _run_back(w_hh, steps, gates, cells, grad_output[half], grad_gates)
            grad_bias = grad_gates.sum(1, dtype=cells.dtype)
            grads += [grad_gates @ data.T, grad_gates @ _previous_states(output[half], steps).T, grad_bias, grad_bias]
            if ctx.needs_input_grad[0]:
                grad_data = w_ih.T @ grad_gates if grad_data is None else grad_data.addmm_(w_ih.T, grad_gates)
        return grad_data, None, *grads


def _steps(sizes: list[int], reverse: bool) -> list[tuple[Step, int]]:
    """The steps in the order in which a direction processes them, each with its number of sequences without padding."""
    widths = [-(-size // WIDTH_MULTIPLE) * WIDTH_MULTIPLE for size in sizes]
    return list(zip(packed_steps(widths, reverse), sizes[::-1] if reverse else sizes, strict=True))


def _run(
    data: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    bias: Tensor,
    steps: list[tuple[Step, int]],
    gates: Tensor,
    cells: Tensor,
    states: Tensor,
) -> None:
    """Forward pass: fill `states` (hidden, columns), `cells`, and `gates` (i, f, g, o), one block of memory per step.

    gates: empty if there will be no backward pass.
    """
    hidden = len(states)
    product, begin = data.new_empty(0, 0), 0
    for number, ((columns, before, carried), real) in enumerate(steps):
        if not begin <= columns.start < columns.stop <= begin + product.shape[1]:
            begin, end = _product_columns(steps, number)
            product = torch.addmm(bias[:, None], w_ih, data[:, begin:end])
        inputs = product[:, columns.start - begin : columns.stop - begin]
        if len(gates):
            gate = _block(gates, 4 * hidden, columns).copy_(inputs)
        else:
            gate = inputs.to(cells.dtype).contiguous()
        cell = _block(cells, hidden, columns)
        if carried:
            _add_product(gate[:, :carried], w_hh, states[:, before])
        i, f, g, o = gate.split(hidden)
        gate[: 2 * hidden].sigmoid_()
        g.tanh_()
        o.sigmoid_()
        torch.mul(i, g, out=cell)
        if carried:
            last = _block(cells, hidden, steps[number - 1][0][0])
            cell[:, :carried].addcmul_(f[:, :carried], last[:, :carried])
        cell[:, real:] = 0  # the padding columns
        torch.mul(o, cell.tanh(), out=states[:, columns])


def _run_back(
    w_hh: Tensor, steps: list[tuple[Step, int]], gates: Tensor, cells: Tensor, grad_states: Tensor, grad_gates: Tensor
) -> None:
    """Backward pass: fill grad_gates, of the gates' inputs (4 * hidden, columns), from grad_states (hidden, columns)."""
    hidden = len(grad_states)
    w_back = w_hh.T.contiguous()
    carried_after = 0  # sequences that continue in the step processed after this one
    gate_after = cell_after = gates
    for number in reversed(range(len(steps))):
        (columns, _, carried), real = steps[number]
        gate, cell = _block(gates, 4 * hidden, columns), _block(cells, hidden, columns)
        i, f, g, o = gate.split(hidden)
        tanh_cell = cell.tanh()
        grad_state = grad_states[:, columns].to(cells.dtype, copy=True, memory_format=torch.contiguous_format)
        if carried_after:
            _add_product(grad_state[:, :carried_after], w_back, gate_after[:, :carried_after])
        grad_gate = torch.empty_like(gate)
        grad_i, grad_f, grad_g, grad_o = grad_gate.split(hidden)
        grad_state[:, real:] = 0
        torch.mul(grad_state, tanh_cell, out=grad_o)
        grad_cell = grad_state.mul_(o)
        _tanh_backward(grad_cell, tanh_cell, grad_input=grad_cell)
        if carried_after:
            grad_cell[:, :carried_after] += cell_after
            grad_cell[:, real:] = 0
        torch.mul(grad_cell, g, out=grad_i)
        torch.mul(grad_cell, i, out=grad_g)
        if carried:
            last = _block(cells, hidden, steps[number - 1][0][0])
            torch.mul(grad_cell[:, :carried], last[:, :carried], out=grad_f[:, :carried])
            cell_after = grad_cell[:, :carried] * f[:, :carried]
        grad_f[:, carried:] = 0
        _sigmoid_backward(grad_gate[: 2 * hidden], gate[: 2 * hidden], grad_input=grad_gate[: 2 * hidden])
        _tanh_backward(grad_g, g, grad_input=grad_g)
        _sigmoid_backward(grad_o, o, grad_input=grad_o)
        gate_after, carried_after = grad_gate.to(grad_gates.dtype), carried
        grad_gates[:, columns] = gate_after


def _add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """total += left @ right. A product of bfloat16 factors is rounded to bfloat16, and then added to a float32 total."""
    if total.dtype == left.dtype:
        total.addmm_(left, right)
    else:
        total += left @ right  # torch cannot compute a float32 product of bfloat16 factors on a CPU


def _product_columns(steps: list[tuple[Step, int]], number: int) -> tuple[int, int]:
    """Begin and end of the columns of one input product: this step's, and the next steps' up to PRODUCT_COLUMNS."""
    begin, end = steps[number][0][0].start, steps[number][0][0].stop
    for (columns, _, _), _ in steps[number + 1 :]:
        if max(end, columns.stop) - min(begin, columns.start) > PRODUCT_COLUMNS:
            break
        begin, end = min(begin, columns.start), max(end, columns.stop)
    return begin, end


def _block(values: Tensor, features: int, columns: slice) -> Tensor:
    """One step's block of memory, (features, columns), in a flat array that holds one block per step."""
    return values[features * columns.start : features * columns.stop].view(features, -1)


def _previous_states(states: Tensor, steps: list[tuple[Step, int]]) -> Tensor:
    """For each column the state of its sequence's previous step, zero at the first step: (hidden, columns)."""
    result = torch.empty_like(states, memory_format=torch.contiguous_format)
    for (columns, before, carried), _ in steps:
        result[:, columns.start : columns.start + carried] = states[:, before]
        result[:, columns.start + carried : columns.stop] = 0
    return result
