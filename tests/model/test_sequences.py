import numpy as np
import pytest
import torch

from mtl.model.sequences import ArraySequences

LENGTHS = np.array([3, 1, 4, 2])
STARTS = np.array([4, 0, 8, 2])  # not in the texts' order, with gaps


@pytest.mark.parametrize("width", [None, 5])
def test_gathered_texts_are_padded_with_zeros(width: int | None) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 100, 12) if width is None else rng.normal(size=(12, width)).astype(np.float32)
    before = rows.copy()
    sequences = ArraySequences(rows, STARTS, LENGTHS)
    texts = [1, 3, 0, 1]
    gathered, lengths = sequences.gather(torch.tensor(texts))
    assert lengths.tolist() == [1, 2, 3, 1]
    expected = np.zeros((4, 3) if width is None else (4, 3, width), dtype=rows.dtype)
    for place, text in enumerate(texts):
        expected[place, : LENGTHS[text]] = rows[STARTS[text] : STARTS[text] + LENGTHS[text]]
    np.testing.assert_array_equal(gathered.numpy(), expected)
    assert gathered.numpy().dtype == rows.dtype
    np.testing.assert_array_equal(rows, before)  # padding is written to a copy
