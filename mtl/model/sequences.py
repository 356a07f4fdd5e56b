"""What an encoder reads: texts in the form of padded batches, and the embedder that makes vectors of them."""

from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor


class Sequences(Protocol):
    """Texts that can be gathered into padded batches."""

    lengths: Tensor  # int64 (texts,), tokens

    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """The padded batch of texts with these indices, (batch, time, …), with 0 past their ends, and their lengths, (batch,)."""


class Embedder(Protocol):
    """A module (`torch.nn.Module`): the first tensor that `Sequences.gather` returns, (batch, time, …) -> vectors (batch, time, dim)."""

    def __call__(self, tokens: Tensor) -> Tensor: ...

    def for_task(self) -> "Embedder":
        """The embedder for an encoder that stage 2 trains for one task: trained weights are copied, fixed weights are shared."""


class ArraySequences:
    """Texts as slices, with starts and lengths int64 (texts,), of one array of word ids, int64 (tokens,), or token vectors, float (tokens, width)."""

    def __init__(self, rows: Any, starts: np.ndarray, lengths: np.ndarray) -> None:
        self.rows, self.starts, self.lengths = rows, starts, torch.from_numpy(lengths)

    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """As `Sequences.gather`: word ids (batch, time) or vectors (batch, time, width), and lengths (batch,)."""
        lengths = self.lengths[texts]
        steps = np.arange(int(lengths.max()))
        inside = steps < lengths.numpy()[:, None]
        positions = np.where(inside, self.starts[texts.numpy()][:, None] + steps, 0)
        gathered = self.rows[positions]
        gathered[~inside] = 0
        return torch.from_numpy(gathered), lengths
