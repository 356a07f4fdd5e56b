"""Packed sequences. A column is one step of one sequence: first come those of step 0, of all sequences (the longest first), then those of step 1."""

from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

WIDTH_MULTIPLE = 16  # each step's columns are padded to it: matrix products of other widths take up to twice as long

Rearrange = Callable[[Tensor], Tensor]


class Step(NamedTuple):
    """One step of a packed batch, as a direction processes it. Its first `carried` columns continue the columns `before`, in order."""

    columns: slice
    before: slice  # the first ones of the step that the direction processes before this one
    carried: int  # the number of sequences that continue or, with padding, more
    sequences: int  # its columns without padding


Steps = list[Step]  # in the order in which a direction processes them


def packed_steps(sizes: list[int], reverse: bool, multiple: int = 1) -> Steps:
    """The steps for one direction; `sizes` says how many sequences have each step, descending. In a step, sequences that begin there come after those
    that continue. Padding fills a step to a `multiple` of columns. A sequence that begins may continue it, so its values must be zero."""
    starts = list(accumulate((-(-size // multiple) * multiple for size in sizes), initial=0))
    numbers = range(len(sizes))
    steps: Steps = []
    for number in reversed(numbers) if reverse else numbers:
        columns = slice(starts[number], starts[number + 1])
        last = steps[-1].columns if steps else slice(0, 0)
        # Backwards, a sequence that is shorter than others begins at its last token.
        carried = min(columns.stop - columns.start, last.stop - last.start)
        steps.append(Step(columns, slice(last.start, last.start + carried), carried, sizes[number]))
    return steps


class Packing:
    """Which column holds which step of which sequence. A step's columns are its sequences, the longest first, then padding to WIDTH_MULTIPLE."""

    def __init__(self, lengths: Tensor, time: int) -> None:
        """The lengths are int64 (batch,), at least 1; the padded batch has `time` steps."""
        order = torch.argsort(lengths, descending=True, stable=True).numpy()
        sizes = len(order) - np.searchsorted(np.sort(lengths.numpy()), np.arange(int(lengths.max())), side="right")
        widths = -(-sizes // WIDTH_MULTIPLE) * WIDTH_MULTIPLE  # of each step, its columns
        # Of each column, its step, and its place among the columns of the step.
        steps = np.repeat(np.arange(len(sizes)), widths)
        ranks = np.arange(len(steps)) - np.repeat(np.cumsum(widths) - widths, widths)
        is_real = ranks < np.repeat(sizes, widths)
        # Padding columns repeat the longest sequence, which has every step.
        indices = order[np.where(is_real, ranks, 0)] * time + steps
        self.sizes: list[int] = sizes.tolist()  # the number of sequences of each step, descending
        self.shape = (len(order), time)
        self.indices = torch.from_numpy(indices)  # of each column, in the flattened padded batch
        self.real_columns = torch.from_numpy(np.flatnonzero(is_real))
        self.real_indices = self.indices[self.real_columns]

    def pack(self, values: Tensor) -> Tensor:
        """A padded batch (batch, time, dim) -> the values of the columns (columns, dim)."""
        return _Rearranged.apply(values, self.gather, self.scatter)

    def unpack(self, values: Tensor) -> Tensor:
        """The values of the columns (columns, dim) -> a padded batch (batch, time, dim), zero past a sequence's end."""
        return _Rearranged.apply(values, self.scatter, self.gather)

    def gather(self, values: Tensor) -> Tensor:
        """`pack` without a gradient."""
        return values.reshape(-1, values.shape[-1]).index_select(0, self.indices)

    def scatter(self, values: Tensor) -> Tensor:
        """`unpack` without a gradient."""
        batch, time = self.shape
        padded = values.new_zeros(batch * time, values.shape[1])
        padded[self.real_indices] = values[self.real_columns]
        return padded.view(batch, time, -1)


class _Rearranged(torch.autograd.Function):
    """Values that the function `move` rearranges; `restore` puts their gradient back in order."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, move: Rearrange, restore: Rearrange) -> Tensor:
        ctx.restore = restore
        return move(values)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return ctx.restore(grad), None, None
