"""Texts as an embedder or a head reads them, ready to be gathered into padded batches."""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor


class Sequences(Protocol):
    """Texts that can be gathered into padded batches. lengths: int64 (texts,), tokens."""

    lengths: Tensor

    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Texts (batch,) as numbers (batch, time, …), 0 past their ends, and their lengths (batch,)."""


class Rows(Protocol):
    """An array that is indexed by its first dimension: row numbers (…,) in, rows out. NumPy arrays are, memory-mapped ones too."""

    def __getitem__(self, places: np.ndarray) -> np.ndarray: ...


class ArraySequences:
    """Texts as slices of one long array: word numbers, or vectors of tokens.

    rows: int64 (all tokens,), or floating (all tokens, width). starts, lengths: int64 (texts,), of each text in it.
    """

    def __init__(self, rows: Rows, starts: np.ndarray, lengths: np.ndarray) -> None:
        self.rows = rows
        self.starts = starts
        self.lengths = torch.from_numpy(lengths)

    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Texts (batch,) as word numbers (batch, time) or vectors (batch, time, width), and their lengths (batch,)."""
        lengths = self.lengths[texts]
        steps = np.arange(int(lengths.max()))
        inside = steps < lengths.numpy()[:, None]
        places = np.where(inside, self.starts[texts.numpy()][:, None] + steps, 0)
        gathered = self.rows[places]
        gathered[~inside] = 0
        return torch.from_numpy(gathered), lengths
