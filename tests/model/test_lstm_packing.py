import pytest
import torch

from mtl.model.lstm import WIDTH_MULTIPLE, Packing

LENGTHS = torch.tensor([2, 5, 1, 5, 3])


def test_columns_are_ordered_by_step_with_the_longest_sequence_first() -> None:
    packing = Packing(LENGTHS, 6)
    values = torch.arange(30.0).view(5, 6, 1)  # sequence * 6 + step
    rows = packing.pack(values)[:, 0].view(5, WIDTH_MULTIPLE)
    assert packing.sizes == [5, 4, 3, 2, 2]
    expected = [[6, 18, 24, 0, 12], [7, 19, 25, 1], [8, 20, 26], [9, 21], [10, 22]]
    assert [rows[step, : len(real)].tolist() for step, real in enumerate(expected)] == expected
    # Padding columns copy the longest sequence's step, never a value past a sequence's end.
    assert all((rows[step, len(real) :] == real[0]).all() for step, real in enumerate(expected))


@pytest.mark.parametrize("lengths", [LENGTHS, torch.arange(37) % 8 + 1])  # of more sequences than WIDTH_MULTIPLE
def test_unpack_restores_the_batch_with_zeros_past_each_end(lengths: torch.Tensor) -> None:
    values = torch.randn(len(lengths), int(lengths.max()) + 2, 3)
    packing = Packing(lengths, values.shape[1])
    assert packing.sizes == [int((lengths > step).sum()) for step in range(int(lengths.max()))]
    inside = torch.arange(values.shape[1]) < lengths[:, None]
    assert torch.equal(packing.unpack(packing.pack(values)), values * inside[:, :, None])
