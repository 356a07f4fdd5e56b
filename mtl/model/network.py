"""The network in plain PyTorch: a shared encoder, a head for each task, and the batches that it reads."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from mtl.model.encoder import Encoder
from mtl.model.heads import AttentionHead, CosineHead, Head, ProjectingHead, TokenHead
from mtl.tasks.head_targets import PAST
from mtl.tasks.targets import TARGET_KINDS, target_kind
from mtl.tasks.task import Task

AnyHead = Head | CosineHead | TokenHead

MOVED = ("targets", "tokens", "vectors", "overlap", "base", "spans", "units", "firsts")  # to a device, with a batch
# The tensors of a batch that `Batch.parts` cuts, by what they have one element for: a row, an input, or one of the texts of an input.
BY_ROW = ("rows", "targets", "sizes")
BY_INPUT = ("overlap", "base", "spans", "units")
BY_TEXT = ("tokens", "lengths", "vectors")


@dataclass(frozen=True)
class Batch:
    """Rows of one task. A row has one input, or in a choice one for each candidate. Of pairs, the first texts of all inputs come first, then all
    second ones. A batch has its texts in one of three forms: word numbers in `tokens`, an encoder's outputs for tokens there, or `vectors`."""

    task: str
    rows: Tensor  # int64 (rows,), the numbers of the rows in the split
    targets: Tensor  # float32 (rows,) or (rows, codes), codes (`mtl.tasks.target_kind`), NaN where unknown
    tokens: Tensor | None = None  # word numbers (sides * inputs, time), or outputs (…, time, dim); 0 past a text's end
    lengths: Tensor | None = None  # int64 (sides * inputs,), the numbers of tokens; set if `tokens` is
    vectors: Tensor | None = None  # (sides * inputs, dim)
    sizes: Tensor | None = None  # int64 (rows,), inputs of each row; None means one each
    overlap: Tensor | None = None  # float32 (inputs, features), how much the texts of each pair overlap
    base: Tensor | None = None  # float32 (inputs, outputs) of a linear model, to which those of the head are added
    spans: Tensor | None = None  # int64 (inputs, spans, 2), the marked spans, half-open, in steps of the tokens
    units: Tensor | None = None  # int64 (inputs, longest), the steps of each row's units, as in `unit_vectors` of heads
    firsts: Tensor | None = None  # int64 (inputs,), the row's first candidate with the same texts; None if all differ

    @property
    def output_sizes(self) -> Tensor | None:
        """How many outputs each row has, int64 (rows,) on the CPU; None: one each."""
        return self.sizes if self.units is None else (self.units != PAST).sum(dim=1).cpu()

    def to(self, device: torch.device, non_blocking: bool = False) -> "Batch":
        """The same batch on a device. What packing and splitting read stays on the CPU: `rows`, `lengths` and `sizes`."""
        return replace(self, **self._changed(MOVED, lambda tensor: tensor.to(device, non_blocking=non_blocking)))

    def pin_memory(self) -> "Batch":
        """The same batch in page-locked memory, for copies to a GPU that do not block."""
        return replace(self, **self._changed(MOVED, Tensor.pin_memory))

    def _changed(self, names: Iterable[str], change: Callable[[Tensor], Tensor]) -> dict[str, Any]:
        """Those of the tensors with these names that are set, changed, by name."""
        return {name: change(tensor) for name in names if (tensor := getattr(self, name)) is not None}

    def parts(self, most: int) -> "list[Batch]":
        """At most `most` batches of nearly equal numbers of rows, in order, each cut to its longest text."""
        count = min(most, len(self.rows))
        if count < 2:
            return [self]
        ends = [int(indices[-1]) + 1 for indices in torch.arange(len(self.rows)).tensor_split(count)]
        return [self._part(first, last) for first, last in pairwise([0, *ends])]

    def _part(self, first: int, last: int) -> "Batch":
        """The rows from `first` to `last`, which is excluded."""
        sizes = torch.ones(len(self.rows), dtype=torch.int64) if self.sizes is None else self.sizes
        begin, end = int(sizes[:first].sum()), int(sizes[:last].sum())  # of the rows' inputs
        inputs = int(sizes.sum())
        by_row = self._changed(BY_ROW, lambda tensor: tensor[first:last])
        by_input = self._changed(BY_INPUT, lambda tensor: tensor[begin:end])
        by_text = self._changed(BY_TEXT, lambda tensor: tensor.unflatten(0, (-1, inputs))[:, begin:end].flatten(0, 1))
        if "tokens" in by_text:
            by_text["tokens"] = by_text["tokens"][:, : int(by_text["lengths"].max())]
        return replace(self, firsts=None, **by_row, **by_input, **by_text)  # `firsts` are for predictions alone


class TaskNetwork(nn.Module):
    """The interface through which training and prediction use a network of some tasks; `head_targets` are their `TargetKind.head`, by id."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        super().__init__()
        self.head_targets = {task.id: target_kind(task).head for task in tasks}

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """The outputs for a batch of one of the tasks: (inputs, outputs)."""

    def loss(self, batch: Batch) -> Tensor:
        """The mean loss of a batch, as the task's target kind defines it."""
        return self.head_targets[batch.task].loss(self(batch), batch.targets, batch.output_sizes)

    def loss_weight(self, batch: Batch) -> Tensor:
        """The divisor of the mean in `loss`, (): a batch's loss is the mean of its parts' losses, weighted with their divisors."""
        return self.head_targets[batch.task].loss_weight(batch.targets, batch.output_sizes)

    def predict(self, batch: Batch, outputs: Tensor) -> Tensor:
        """The codes (rows,) or (rows, codes) of outputs (inputs, outputs). Candidates of a row with the same texts get the output of the first."""
        if batch.firsts is not None:
            outputs = outputs[batch.firsts]
        return self.head_targets[batch.task].predict(outputs, batch.output_sizes)


class Heads(nn.Module):
    """A head for each task, by the task's id."""

    def __init__(
        self,
        tasks: Sequence[Task],
        outputs: Mapping[str, int],
        dim: int,
        hidden_size: int,
        dropout: float,
        attention_size: int | None = None,
        projection: int | None = None,
        overlap: int = 0,
        cosine: bool = False,
        crf: bool = False,
    ) -> None:
        """
        Args: those of `Head`, and
            outputs: the number of outputs of each task's head for one input, by task id.
            attention_size: None means pair tasks have no attention between their sentences.
            projection: the size to which each token is projected before pooling, except where a pair has attention, as in jiant.
            cosine: whether the head of a pair without marked spans whose target is a number is a `CosineHead`."""
        super().__init__()
        self.dim, self.outputs, self.tasks = dim, dict(outputs), [task.id for task in tasks]
        shared: dict[str, Any] = {"hidden_size": hidden_size, "dropout": dropout, "overlap": overlap, "crf": crf}

        def new_head(task: Task) -> AnyHead:
            kind, spans = TARGET_KINDS[task.kind], [side for side, _ in task.marked]
            if cosine and task.is_pair and not spans and kind.by_cosine:
                return CosineHead(dim)
            layers = {**shared, "outputs": outputs[task.id], "spans": spans, "by_unit": kind.by_unit}
            if task.is_pair and attention_size is not None:
                return AttentionHead(dim, attention_size, **layers)
            if projection is not None:
                return ProjectingHead(dim, projection, pair=task.is_pair, **layers)
            return Head(dim, pair=task.is_pair, **layers)

        # A module's name must have no dot, but a task's id may: the heads are stored in the tasks' order.
        self.layers = nn.ModuleList(map(new_head, tasks))

    def __getitem__(self, task: str) -> AnyHead:
        head = self.layers[self.tasks.index(task)]
        assert isinstance(head, AnyHead)
        return head


class Network(TaskNetwork):
    """An encoder and the heads of some tasks (KLEJ, section 4.1). If `encoder` is None, the batches hold an encoder's outputs in place of texts."""

    def __init__(self, tasks: Sequence[Task], heads: Heads, encoder: Encoder | None) -> None:
        super().__init__(tasks)
        # The heads are registered before the encoder, because the norm of all gradients is summed in this order.
        self.heads, self.encoder = heads, encoder
        for id, targets in self.head_targets.items():
            if (transitions := heads[id].transitions) is not None:
                self.head_targets[id] = targets.with_transitions(transitions)

    def forward(self, batch: Batch) -> Tensor:
        """The outputs of the task's head for a batch, added to those of the linear model, if the batch has them: (inputs, outputs)."""
        head = self.heads[batch.task]
        if batch.vectors is not None:
            assert isinstance(head, Head | CosineHead)
            outputs: Tensor = head(batch.vectors, batch.overlap)
        else:
            assert batch.tokens is not None and batch.lengths is not None
            if self.encoder is not None:
                states = self.encoder.outputs(batch.tokens, batch.lengths)
            else:
                states = batch.tokens.float()  # token outputs may be kept as float16
            outputs = head.read(states, batch.lengths, batch.overlap, batch.spans, batch.units)
        return outputs if batch.base is None else outputs + batch.base
