"""Long lists of texts, encoded block by block."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mtl.base.errors import InputError
from mtl.base.progress import Progress, hidden_progress

BLOCK = 4096  # texts that are encoded at a time
Encode = Callable[[Sequence[str]], np.ndarray]  # at least one text -> vectors (texts, dim)


def encode_blocks(texts: Sequence[str], encode: Encode, dim: int, progress: bool) -> np.ndarray:
    """The vectors of these texts, float32 (texts, dim). Raises InputError for one text instead of a list, and for an element that is not a text."""
    vectors = np.empty((len(texts), dim), dtype=np.float32)
    with hidden_progress(not progress), Progress("encoding texts", len(texts), "texts") as bar:
        for start, block in text_blocks(texts):
            vectors[start : start + len(block)] = encode(block)
            bar.advance(len(block))
    return vectors


def text_blocks(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Blocks of texts, each with the number of its first one. Raises InputError as `encode_blocks`."""
    if isinstance(texts, str):
        raise InputError("encode takes a list of texts, not one text")
    for start in range(0, len(texts), BLOCK):
        block = list(texts[start : start + BLOCK])
        for number, text in enumerate(block, start=start):
            if not isinstance(text, str):
                raise InputError(f"encode takes texts; number {number} is of type {type(text).__name__}")
        yield start, block
