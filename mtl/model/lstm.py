"""A bidirectional LSTM over sequences of different lengths, with layers of our own for the CPU.
PyTorch's own packed LSTM trains slowly on a CPU: the cost of its backward pass grows with the square of the length. A layer here computes the input
products of many steps, and the gradient of each weight matrix, in one matrix product, and keeps a step's arithmetic in memory that is in the cache.
Sequences are packed (`mtl.model.packing`). Matrices are feature-major: one row for each feature, one column for each step of each sequence. The
recurrent products have few sequences and many gates; in this layout they run up to twice as fast, and each of a step's four gates is one block.
If the data and the weight matrices are bfloat16 and the biases float32, the factors and results of all matrix products are bfloat16, with sums in
float32. Gates, cells and their gradients stay float32. The states and the gates' gradients are bfloat16, because only products read them."""

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mtl.base.device import to_device
from mtl.base.errors import InputError
from mtl.model.packing import WIDTH_MULTIPLE, Packing, Steps, packed_steps

PRODUCT_COLUMNS = 1024  # the most of one input product: enough for it to run at the machine's full rate

_sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
_tanh_backward = torch.ops.aten.tanh_backward.grad_input


class PackedBiLSTMLayer(torch.autograd.Function):
    """The states of one layer, (2 * hidden_size, columns), forward direction first, from data (input_size, columns), as `torch.nn.LSTM` has them."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, sizes: list[int], *weights: Tensor) -> Tensor:
        """The states, which are zero in padding columns. `sizes` are as in `Packing`; the weights are w_ih, w_hh, b_ih, b_hh of each direction."""
        hidden = weights[1].shape[1]
        output = data.new_empty(2 * hidden, data.shape[1])
        training = any(ctx.needs_input_grad)
        saved = [data, output]
        for direction in (0, 1):
            w_ih, w_hh, b_ih, b_hh = weights[4 * direction : 4 * direction + 4]  # four of each direction
            states = output[direction * hidden : (direction + 1) * hidden]
            steps = packed_steps(sizes, bool(direction), WIDTH_MULTIPLE)
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
            steps = packed_steps(ctx.sizes, bool(direction), WIDTH_MULTIPLE)
            _run_back(w_hh, steps, gates, cells, grad_output[half], grad_gates)
            grad_bias = grad_gates.sum(1, dtype=cells.dtype)
            grads += [grad_gates @ data.T, grad_gates @ _previous_states(output[half], steps).T, grad_bias, grad_bias]
            if ctx.needs_input_grad[0]:
                grad_data = w_ih.T @ grad_gates if grad_data is None else grad_data.addmm_(w_ih.T, grad_gates)
        return grad_data, None, *grads


def _run(
    data: Tensor, w_ih: Tensor, w_hh: Tensor, bias: Tensor, steps: Steps, gates: Tensor, cells: Tensor, states: Tensor
) -> None:
    """The forward pass: fill `states`, (hidden, columns), and for each step a block of `cells` and of `gates` (i, f, g, o), unless that is empty."""
    hidden = len(states)
    product, begin = data.new_empty(0, 0), 0  # of the weights and the data, from the column `begin` on
    for number, (columns, before, carried, sequences) in enumerate(steps):
        if not begin <= columns.start < columns.stop <= begin + product.shape[1]:
            begin, end = _product_columns(steps, number)
            product = torch.addmm(bias[:, None], w_ih, data[:, begin:end])
        inputs = product[:, columns.start - begin : columns.stop - begin]
        if len(gates):
            step_gates = _block(gates, 4 * hidden, columns).copy_(inputs)
        else:
            step_gates = inputs.to(cells.dtype).contiguous()
        step_cells = _block(cells, hidden, columns)
        if carried:
            _add_product(step_gates[:, :carried], w_hh, states[:, before])
        i, f, g, o = step_gates.split(hidden)
        step_gates[: 2 * hidden].sigmoid_()
        g.tanh_()
        o.sigmoid_()
        torch.mul(i, g, out=step_cells)
        if carried:
            previous_cells = _block(cells, hidden, steps[number - 1].columns)
            step_cells[:, :carried].addcmul_(f[:, :carried], previous_cells[:, :carried])
        step_cells[:, sequences:] = 0  # the padding columns, which sequences that begin in the next step may follow
        torch.mul(o, step_cells.tanh(), out=states[:, columns])


def _run_back(
    w_hh: Tensor, steps: Steps, gates: Tensor, cells: Tensor, grad_states: Tensor, grad_gates: Tensor
) -> None:
    """The backward pass: fill the gradients of the gates' inputs, (4 * hidden, columns), from those of the states, (hidden, columns)."""
    hidden = len(grad_states)
    w_back = w_hh.T.contiguous()
    # Of the step that the forward pass processes after this one: `Step.carried`, and the gradients of its gates and of its carried cells, which are
    # read only where `carried_after` is not 0.
    carried_after, gates_after, cells_after = 0, gates, gates
    for number in reversed(range(len(steps))):
        columns, _, carried, sequences = steps[number]
        step_gates, step_cells = _block(gates, 4 * hidden, columns), _block(cells, hidden, columns)
        i, f, g, o = step_gates.split(hidden)
        tanh_cells = step_cells.tanh()
        grad_state = grad_states[:, columns].to(cells.dtype, copy=True, memory_format=torch.contiguous_format)
        if carried_after:
            _add_product(grad_state[:, :carried_after], w_back, gates_after[:, :carried_after])
        grad_gate = torch.empty_like(step_gates)
        grad_i, grad_f, grad_g, grad_o = grad_gate.split(hidden)
        grad_state[:, sequences:] = 0
        torch.mul(grad_state, tanh_cells, out=grad_o)
        grad_cell = grad_state.mul_(o)  # in the memory of the state's gradient, which nothing reads from here on
        _tanh_backward(grad_cell, tanh_cells, grad_input=grad_cell)
        if carried_after:
            grad_cell[:, :carried_after] += cells_after
            grad_cell[:, sequences:] = 0
        torch.mul(grad_cell, g, out=grad_i)
        torch.mul(grad_cell, i, out=grad_g)
        if carried:
            previous_cells = _block(cells, hidden, steps[number - 1].columns)
            torch.mul(grad_cell[:, :carried], previous_cells[:, :carried], out=grad_f[:, :carried])
            cells_after = grad_cell[:, :carried] * f[:, :carried]
        grad_f[:, carried:] = 0
        _sigmoid_backward(grad_gate[: 2 * hidden], step_gates[: 2 * hidden], grad_input=grad_gate[: 2 * hidden])
        _tanh_backward(grad_g, g, grad_input=grad_g)
        _sigmoid_backward(grad_o, o, grad_input=grad_o)
        gates_after, carried_after = grad_gate.to(grad_gates.dtype), carried
        grad_gates[:, columns] = gates_after


def _add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """total += left @ right. A product of bfloat16 factors is rounded to bfloat16, and then added to a float32 total."""
    if total.dtype == left.dtype:
        total.addmm_(left, right)
    else:
        total += left @ right  # torch cannot compute a float32 product of bfloat16 factors on a CPU


def _product_columns(steps: Steps, number: int) -> tuple[int, int]:
    """Begin and end of the columns of one input product: this step's, and the next steps' up to PRODUCT_COLUMNS."""
    begin, end = steps[number].columns.start, steps[number].columns.stop
    for step in steps[number + 1 :]:
        longer_begin, longer_end = min(begin, step.columns.start), max(end, step.columns.stop)
        if longer_end - longer_begin > PRODUCT_COLUMNS:
            break
        begin, end = longer_begin, longer_end
    return begin, end


def _block(values: Tensor, features: int, columns: slice) -> Tensor:
    """One step's block of memory, (features, columns), in a flat array that holds one block per step."""
    return values[features * columns.start : features * columns.stop].view(features, -1)


def _previous_states(states: Tensor, steps: Steps) -> Tensor:
    """For each column the state of its sequence's previous step, zero at the first step: (hidden, columns)."""
    result = torch.empty_like(states, memory_format=torch.contiguous_format)
    for columns, before, carried, _ in steps:
        begin = columns.start + carried  # of the sequences that begin in this step
        result[:, columns.start : begin] = states[:, before]
        result[:, begin : columns.stop] = 0
    return result


class BiLSTM(nn.LSTM):
    """Stacked bidirectional LSTM without dropout between its layers. Parameters are named and shaped as those of `torch.nn.LSTM(bidirectional=True)`:
    either loads the other's state dict. On a CPU, `PackedBiLSTMLayer` computes it (experiments/performance/README.md); on a GPU, cuDNN does."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 2) -> None:
        super().__init__(input_size, hidden_size, num_layers, bidirectional=True, batch_first=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:  # type: ignore[override]
        """inputs (batch, time, input_size), lengths (batch,) in steps, on the CPU, at least 1 -> (batch, time, 2 * hidden_size). Inputs past a
        sequence's length are never read; outputs there are zero. Under `torch.autocast` the outputs have its dtype."""
        if inputs.device.type != "cpu":
            return self.on_accelerator(inputs, lengths)
        packing = Packing(lengths, inputs.shape[1])
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else inputs.dtype
        data = packing.pack(inputs.to(dtype)).T
        for forward, backward in zip(self.all_weights[::2], self.all_weights[1::2], strict=True):
            # Only products are computed in autocast's dtype, so the biases keep theirs.
            weights = [weight.to(dtype) if weight.ndim == 2 else weight for weight in (*forward, *backward)]
            data = PackedBiLSTMLayer.apply(data, packing.sizes, *weights)
        return packing.unpack(data.T)

    def on_accelerator(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Sorts the batch itself, by lengths on the CPU: if torch sorted it, the CPU would wait for the GPU in every step."""
        order = torch.argsort(lengths, descending=True, stable=True)
        ordered = inputs.index_select(0, to_device(order, inputs.device))
        packed = pack_padded_sequence(ordered, lengths[order], batch_first=True)
        outputs = pad_packed_sequence(super().forward(packed)[0], batch_first=True, total_length=inputs.shape[1])[0]
        return outputs.index_select(0, to_device(torch.argsort(order), inputs.device))


def check_recurrence(device: torch.device, tolerance: float = 1e-3) -> None:
    """Raise InputError if a device computes a small LSTM, or its gradients, otherwise than the CPU. torch's packed bidirectional LSTMs have had wrong
    and missing gradients on Apple's GPUs (pytorch#102911). Differences up to the tolerance, of numbers around 1, count as rounding."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        lstm, inputs, lengths = BiLSTM(5, 7), torch.randn(4, 6, 5), torch.tensor([6, 1, 4, 2])
    results: list[list[Tensor | None]] = []
    for target in ("cpu", device):
        moved_lstm = copy.deepcopy(lstm).to(target)
        moved_inputs = inputs.to(target).detach().requires_grad_()
        outputs = moved_lstm(moved_inputs, lengths)
        outputs.square().sum().backward()
        results.append([outputs, moved_inputs.grad, *(weight.grad for weight in moved_lstm.parameters())])
    for expected, computed in zip(*results, strict=True):
        assert expected is not None
        if computed is None or not torch.allclose(computed.cpu(), expected, atol=tolerance, rtol=tolerance):
            message = "this version of torch computes wrong gradients of LSTMs there; set trainer.accelerator=cpu"
            raise InputError(message, key="trainer.accelerator", value=device.type)
