"""One batch of rows of one task, as tensors."""

from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Rows of one task. A row has one input, or in a choice one for each candidate.

    A pair's two texts are two sequences: first all inputs' first texts, then all their second texts.
    Either tokens and lengths are set (texts to encode, or their encoded tokens), or vectors (texts encoded before).

    rows: int64 (rows,), their numbers in the split. targets: float32 (rows,), codes (`mtl.tasks.targets`), NaN where unknown.
    tokens: (sides * inputs, time), word numbers, or (sides * inputs, time, dim), 0 past a text's end.
    lengths: int64 (sides * inputs,), tokens. vectors: (sides * inputs, dim). sizes: int64 (rows,), inputs of each row; None: one each.
    overlap: float32 (inputs, features), how much the texts of each pair overlap, for heads that read it.
    spans: int64 (inputs, spans, 2), the marked spans of each input, half-open, in steps of its tokens, for heads that read them.
    marked: (inputs, spans, dim), the vectors of the marked spans, beside vectors of whole texts.
    firsts: int64 (inputs,), of each candidate the first one of its row with the same texts; None if no two are equal.
    """

    task: str
    rows: Tensor
    targets: Tensor
    tokens: Tensor | None = None
    lengths: Tensor | None = None
    vectors: Tensor | None = None
    sizes: Tensor | None = None
    overlap: Tensor | None = None
    spans: Tensor | None = None
    marked: Tensor | None = None
    firsts: Tensor | None = None

    def to(self, device: torch.device, non_blocking: bool = False) -> "Batch":
        """The same batch on a device; rows, lengths and sizes stay on the CPU, where packing and splitting need them."""

        def move(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device, non_blocking=non_blocking)

        targets = self.targets.to(device, non_blocking=non_blocking)
        return replace(
            self,
            targets=targets,
            tokens=move(self.tokens),
            vectors=move(self.vectors),
            overlap=move(self.overlap),
            spans=move(self.spans),
            marked=move(self.marked),
            firsts=move(self.firsts),
        )

    def parts(self, most: int) -> "list[Batch]":
        """The batch in at most so many parts of nearly equally many rows, in order; the tokens of each end with its longest text."""
        count = min(most, len(self.rows))
        if count < 2:
            return [self]
        ends = [int(places[-1]) + 1 for places in torch.arange(len(self.rows)).tensor_split(count)]
        return [self._part(first, last) for first, last in pairwise([0, *ends])]

    def _part(self, first: int, last: int) -> "Batch":
        """The rows from `first` to `last`, which is excluded."""
        sizes = torch.ones(len(self.rows), dtype=torch.int64) if self.sizes is None else self.sizes
        begin, end, every = int(sizes[:first].sum()), int(sizes[:last].sum()), int(sizes.sum())

        def of_inputs(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor[begin:end]

        def of_texts(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.unflatten(0, (-1, every))[:, begin:end].flatten(0, 1)

        tokens, lengths = of_texts(self.tokens), of_texts(self.lengths)
        return Batch(
            self.task,
            self.rows[first:last],
            self.targets[first:last],
            tokens=None if tokens is None or lengths is None else tokens[:, : int(lengths.max())],
            lengths=lengths,
            vectors=of_texts(self.vectors),
            sizes=None if self.sizes is None else self.sizes[first:last],
            overlap=of_inputs(self.overlap),
            spans=of_inputs(self.spans),
            marked=of_inputs(self.marked),
        )

    def pin_memory(self) -> "Batch":
        """The same batch in page-locked memory, for copies to a GPU that do not block."""

        def pin(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.pin_memory()

        return replace(
            self,
            targets=self.targets.pin_memory(),
            tokens=pin(self.tokens),
            vectors=pin(self.vectors),
            overlap=pin(self.overlap),
            spans=pin(self.spans),
            marked=pin(self.marked),
        )
