import pytest
import torch
from allennlp_light.modules.lstm_cell_with_projection import LstmCellWithProjection
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from mtl.vectors.elmo.language_model import LSTMWithGradient

LENGTHS = [[3], [1, 1], [5, 5, 5], [9, 7, 4, 4, 1], [30, 6, 5, 4, 3, 2, 1]]
CLIPS = [(1e9, 1e9), (0.3, 0.2)]  # none is reached, or both


def weights(inputs: int, hidden: int, projection: int) -> list[Tensor]:
    torch.manual_seed(0)
    shapes = [(4 * hidden, inputs), (4 * hidden, projection), (4 * hidden,), (projection, hidden)]
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def theirs(made: list[Tensor], reverse: bool, clips: tuple[float, float]) -> LstmCellWithProjection:
    """allennlp-light's cell with these weights; its gates have the order i, f, g, o, ours o, i, f, g."""
    w_input, w_state, bias, w_projection = made
    projection, hidden = w_projection.shape
    module = LstmCellWithProjection(w_input.shape[1], projection, hidden, not reverse, 0.0, *clips).double()
    with torch.no_grad():
        module.input_linearity.weight.copy_(w_input.roll(-hidden, 0))
        module.state_linearity.weight.copy_(w_state.roll(-hidden, 0))
        module.state_linearity.bias.copy_(bias.roll(-hidden, 0))
        module.state_projection.weight.copy_(w_projection)
    return module


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("clips", CLIPS)
def test_equals_allennlp_in_outputs_and_gradients(
    lengths: list[int], reverse: bool, clips: tuple[float, float]
) -> None:
    mine = weights(5, 7, 3)
    cell = theirs(mine, reverse, clips)
    inputs = torch.randn(len(lengths), lengths[0], 5, dtype=torch.float64, requires_grad=True)
    packed = pack_padded_sequence(inputs, torch.tensor(lengths), batch_first=True)
    rows = LSTMWithGradient.apply(packed.data, packed.batch_sizes.tolist(), reverse, *mine, *clips)
    ours = pad_packed_sequence(PackedSequence(rows, packed.batch_sizes), batch_first=True)[0]
    twin = inputs.detach().clone().requires_grad_()
    expected, _ = cell(twin, lengths)
    torch.testing.assert_close(ours, expected, atol=1e-12, rtol=0)
    assert (ours.abs() == clips[1]).any() == (clips[1] < 1)
    weight = torch.randn_like(ours)
    (ours * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(inputs.grad, twin.grad, atol=1e-12, rtol=0)
    grads = [cell.input_linearity.weight.grad, cell.state_linearity.weight.grad, cell.state_linearity.bias.grad]
    ordered = [grad.roll(7, 0) for grad in grads]
    for parameter, grad in zip(mine, [*ordered, cell.state_projection.weight.grad], strict=True):
        torch.testing.assert_close(parameter.grad, grad, atol=1e-11, rtol=0)
