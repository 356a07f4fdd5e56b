"""Convert padded batches to the packed columns that `mtl.recurrence.lstm` reads, and back."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

# Each step's columns are padded to a multiple of this: matrix products of other widths take up to twice as long.
WIDTH_MULTIPLE = 16


class Packing:
    """Which packed column holds which step of which sequence of a batch.

    A step's columns are its sequences, the longest first, then 0 to 15 padding columns.
    sizes: the number of sequences that have each step, descending.
    """

    def __init__(self, lengths: Tensor, time: int) -> None:
        """lengths: int64 (batch,), at least 1. time: steps of the padded batch."""
        order = torch.argsort(lengths, descending=True, stable=True).numpy()
        sizes = len(order) - np.searchsorted(np.sort(lengths.numpy()), np.arange(int(lengths.max())), side="right")
        widths = -(-sizes // WIDTH_MULTIPLE) * WIDTH_MULTIPLE
        steps = np.repeat(np.arange(len(sizes)), widths)
        ranks = np.arange(len(steps)) - np.repeat(np.cumsum(widths) - widths, widths)
        real = ranks < np.repeat(sizes, widths)
        # Padding columns repeat the longest sequence, which has every step.
        indices = order[np.where(real, ranks, 0)] * time + steps
        self.sizes: list[int] = sizes.tolist()
        self.shape = (len(order), time)
        self.indices = torch.from_numpy(indices)  # of each column, in the flattened padded batch
        self.real_columns = torch.from_numpy(np.flatnonzero(real))
        self.real_indices = self.indices[self.real_columns]

    def pack(self, values: Tensor) -> Tensor:
        """A padded batch (batch, time, dim) -> one row per packed column (columns, dim)."""
        packed: Tensor = _Pack.apply(values, self)
        return packed

    def unpack(self, rows: Tensor) -> Tensor:
        """Rows (columns, dim) -> a padded batch (batch, time, dim), zero past a sequence's end."""
        padded: Tensor = _Unpack.apply(rows, self)
        return padded

    def gather(self, values: Tensor) -> Tensor:
        """`pack` without a gradient."""
        return values.reshape(-1, values.shape[-1]).index_select(0, self.indices)

    def scatter(self, rows: Tensor) -> Tensor:
        """`unpack` without a gradient."""
        batch, time = self.shape
        padded = rows.new_zeros(batch * time, rows.shape[1])
        padded[self.real_indices] = rows[self.real_columns]
        return padded.view(batch, time, -1)


class _Pack(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, packing: Packing) -> Tensor:
        ctx.packing = packing
        return packing.gather(values)

    @staticmethod
    def backward(ctx: Any, grad_rows: Tensor) -> tuple[Tensor, None]:
        return ctx.packing.scatter(grad_rows), None


class _Unpack(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, packing: Packing) -> Tensor:
        ctx.packing = packing
        return packing.scatter(rows)

    @staticmethod
    def backward(ctx: Any, grad_values: Tensor) -> tuple[Tensor, None]:
        return ctx.packing.gather(grad_values), None
