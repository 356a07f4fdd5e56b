import numpy as np
import pytest
from input_errors import refused

from mtl.data.blocks import encode_blocks, text_blocks


def test_every_text_is_encoded_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.data.blocks.BLOCK", 3)
    sizes: list[int] = []

    def lengths(texts: list[str]) -> np.ndarray:
        sizes.append(len(texts))
        return np.array([[len(text), 0] for text in texts])

    for progress in (False, True):
        vectors = encode_blocks(["a" * number for number in range(8)], lengths, 2, progress)
        assert vectors.dtype == np.float32 and vectors[:, 0].tolist() == list(range(8))
    assert sizes == [3, 3, 2] * 2
    assert encode_blocks([], lengths, 2, False).shape == (0, 2)


def test_what_is_no_list_of_texts() -> None:
    refused(lambda: list(text_blocks("abc")))
    refused(lambda: list(text_blocks(["a", 1.5])))
