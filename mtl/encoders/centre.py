"""The mean vector of texts, which centred vectors lack."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from mtl.data.blocks import text_blocks
from mtl.errors import InputError
from mtl.files import replacing
from mtl.progress import Progress
from mtl.untrusted import read_bytes

LIMIT = 2**24  # bytes of a mean vector's file


def mean_vector(texts: Sequence[str], encode: Callable[[Sequence[str]], np.ndarray], title: str) -> np.ndarray:
    """The mean of the texts' vectors, float32 (dim,). texts: at least one. encode: returns vectors (texts, dim)."""
    total = np.zeros(1)  # grows to (dim,)
    with Progress(title, len(texts), "texts") as shown:
        for _, block in text_blocks(texts):
            total = total + encode(block).sum(axis=0, dtype=np.float64)
            shown.advance(len(block))
    mean: np.ndarray = (total / len(texts)).astype(np.float32)
    return mean


def read_centre(path: Path, dim: int) -> np.ndarray | None:
    """A mean vector that `write_centre` wrote, or None if there is none or it is damaged."""
    try:
        centre = np.load(io.BytesIO(read_bytes(path, LIMIT)), allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError, InputError):
        return None
    if not isinstance(centre, np.ndarray) or centre.dtype != np.float32 or centre.shape != (dim,):
        return None
    return centre if np.isfinite(centre).all() else None


def write_centre(path: Path, centre: np.ndarray) -> None:
    """Keep a mean vector. Does nothing where the folder cannot be written to: it is computed again."""
    try:
        with replacing(path) as partial, partial.open("wb") as file:
            np.save(file, centre)
    except OSError:
        return
