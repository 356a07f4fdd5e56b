import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mtl.model.lstm import BiLSTM

LENGTHS = [[3], [1, 1, 1], [5, 5, 5], [7, 1, 4, 9, 4], [1, 2, 3, 4, 5, 6, 30]]


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
def test_equals_torch_in_outputs_and_gradients(
    lengths: list[int], layers: int, dtype: torch.dtype, tolerance: float
) -> None:
    ours, theirs = twins(layers, dtype)
    sizes = torch.tensor(lengths)
    inputs = [torch.randn(len(sizes), int(sizes.max()) + 2, 5, dtype=dtype).requires_grad_() for _ in range(1)]
    inputs.append(inputs[0].detach().clone().requires_grad_())
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
    monkeypatch.setattr("mtl.recurrence.lstm.PRODUCT_COLUMNS", columns)
    for lengths in LENGTHS:
        test_equals_torch_in_outputs_and_gradients(lengths, 2, torch.float64, 1e-12)


def test_outputs_without_gradients_are_the_same() -> None:
    lstm = BiLSTM(5, 7)
    inputs, lengths = torch.randn(4, 9, 5), torch.tensor([9, 2, 7, 2])
    with torch.no_grad():
        alone = lstm(inputs, lengths)
    assert torch.equal(alone, lstm(inputs, lengths))


def test_accelerator_path_gives_the_same_outputs() -> None:
    lstm = BiLSTM(5, 7)
    inputs, lengths = torch.randn(4, 10, 5), torch.tensor([2, 9, 7, 2])
    torch.testing.assert_close(lstm._on_accelerator(inputs, lengths), lstm(inputs, lengths))


def test_bfloat16_is_the_same_except_for_rounding() -> None:
    ours, theirs = twins(2, torch.float32)
    inputs, lengths = torch.randn(6, 9, 5), torch.tensor([9, 2, 7, 2, 1, 5])
    weight = torch.randn(6, 9, 14)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = ours(inputs, lengths)
    exact = reference(theirs, inputs, lengths)
    torch.testing.assert_close(rounded.float(), exact, atol=0.03, rtol=0)
    for output in (rounded, exact):
        (output.float() * weight).sum().backward()
    for (name, one), (_, other) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert one.dtype == one.grad.dtype == torch.float32, name
        assert torch.cosine_similarity(one.grad.ravel(), other.grad.ravel(), dim=0) > 0.99, name


def test_gradients_equal_numerical_differences() -> None:
    torch.manual_seed(0)
    lstm = BiLSTM(2, 3, 2).double()
    inputs = torch.randn(3, 4, 2, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([2, 4, 1])
    assert torch.autograd.gradcheck(lambda x, *_: lstm(x, lengths), (inputs, *lstm.parameters()))


def test_padding_is_never_read_and_is_zero_in_the_output() -> None:
    lstm = BiLSTM(5, 7)
    inputs = torch.randn(2, 6, 5)
    spoilt = inputs.clone()
    spoilt[0, 3:] = float("nan")
    lengths = torch.tensor([3, 6])
    outputs = lstm(spoilt, lengths)
    assert torch.equal(outputs, lstm(inputs, lengths))
    assert (outputs[0, 3:] == 0).all()


def test_inputs_that_need_no_gradient() -> None:
    lstm = BiLSTM(5, 7)
    lstm(torch.randn(2, 6, 5), torch.tensor([3, 6])).sum().backward()
    assert all(parameter.grad is not None for parameter in lstm.parameters())
