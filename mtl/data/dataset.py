"""The data of a run: the distinct texts of its tasks, and the rows of each task as indices into them, with targets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from mtl.data.examples import Row
from mtl.data.marked_spans import span_texts
from mtl.data.sampled import RowSample
from mtl.data.splits import CHOOSING
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import ScoredRows, Task

INPUT_ARRAYS = ("overlap", "base")  # the arrays of a split, (inputs, …), that heads read beside texts


@dataclass(frozen=True)
class Split:
    """The rows of one task in one split. A row has one model input; in a choice, it has one for each candidate. What a task lacks is None."""

    texts: np.ndarray  # int64 (inputs, sides), indices into the dataset's texts; 1 side, or 2 for a pair
    targets: np.ndarray  # (rows,), see `mtl.tasks.target_kind`; NaN or None where they are not known
    sizes: np.ndarray | None = None  # int64 (rows,), inputs of each row, which are adjacent in `texts`; None: one each
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)  # `further_columns`, by name, a string per row
    groups: np.ndarray | None = None  # int64 (rows,), equal for the rows of an `Example.group`, -1 for a row without
    overlap: np.ndarray | None = None  # float32 (inputs, features) of a pair's texts (`mtl.methods.overlap`)
    base: np.ndarray | None = None  # float32 (inputs, outputs) that a head's are added to (`mtl.methods.lstm.linear`)
    spans: np.ndarray | None = None  # int64 (rows, spans, 2), in characters of their texts, as in `Task.marked`
    token_spans: np.ndarray | None = None  # the same in tokens of what a model reads (`mtl.data.spans`)
    units: np.ndarray | None = None  # int64 (rows,), how many units each row has, if targets depend on it
    steps: np.ndarray | None = None  # int64 (rows, most units), the first token of each unit (`mtl.data.spans`)

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def scored_rows(self) -> ScoredRows:
        """The rows as a metric takes them."""
        return ScoredRows(self.targets, self.units if self.sizes is None else self.sizes, self.columns)

    @cached_property
    def starts(self) -> np.ndarray:
        """The index in `texts` of each row's first input, int64 (rows,)."""
        return np.arange(len(self)) if self.sizes is None else np.cumsum(self.sizes) - self.sizes

    def inputs(self, rows: np.ndarray) -> np.ndarray:
        """The indices in `texts` of the inputs of rows with these numbers, row after row, int64 (inputs,)."""
        if self.sizes is None:
            return rows
        ranges = [np.arange(self.sizes[row]) + self.starts[row] for row in rows]
        return np.concatenate([np.empty(0, np.int64), *ranges])

    def row_texts(self, task: Task, row: int) -> list[int]:
        """The texts of a task's row as `Example.texts` has them, by their indices in the dataset's texts. A row may have an input for each unit."""
        count = 1 if task.candidates is None or self.sizes is None else self.sizes[row]
        inputs = self.texts[self.starts[row] : self.starts[row] + count]
        return [*inputs[0, :-1].tolist(), *inputs[:, -1].tolist()]

    def row_spans(self, row: int) -> list[list[int]]:
        """The (start, stop) of each span of a row; empty for a task without spans."""
        return [] if self.spans is None else self.spans[row].tolist()

    def take(self, rows: np.ndarray) -> "Split":
        """The split with the rows of these numbers, int64 (rows,), alone."""
        columns = {name: [values[row] for row in rows] if values else [] for name, values in self.columns.items()}
        by_row = self.arrays(("targets", "sizes", "groups", "spans", "token_spans", "units", "steps"), rows)
        return replace(self, columns=columns, **by_row, **self.arrays(("texts", *INPUT_ARRAYS), self.inputs(rows)))

    def arrays(self, names: Sequence[str], numbers: np.ndarray) -> dict[str, Any]:
        """Those of the arrays with these names that are there, by name, each with these of its elements alone."""
        return {name: array[numbers] for name in names if (array := getattr(self, name)) is not None}


@dataclass(frozen=True)
class Dataset:
    """The tasks of a run and their distinct texts. Mappings are by task id, but for `fingerprints`."""

    tasks: list[Task]
    texts: list[str]
    splits: dict[str, dict[str, Split]]  # by split name
    held_out: dict[str, list[int]]  # the lines of the train file that are used as dev rows
    answers: dict[str, list[str]] = field(default_factory=dict)  # the words that the outputs of a head mean
    fingerprints: dict[str, str] = field(default_factory=dict)  # as `fingerprints` returns
    changed: dict[str, list[str]] = field(default_factory=dict)  # splits whose files have another checksum
    described_rows: dict[str, dict[str, Any]] = field(default_factory=dict)  # `describe_rows`; `lines` of `samples`
    samples: dict[str, RowSample] = field(default_factory=dict)  # of tasks whose scored split has no other rows
    choosing: dict[str, np.ndarray] = field(default_factory=dict)  # numbers of rows that choose (`mtl.data.repeats`)

    @property
    def trained_tasks(self) -> list[Task]:
        """The tasks with training rows; the others are answered by the head of one of them."""
        return [task for task in self.tasks if task.answered_by is None]

    def answered(self, task: Task) -> list[Task]:
        """The tasks that the head of a trained task answers: itself, and those that have no training rows of their own."""
        return [answered for answered in self.tasks if task.id in (answered.id, answered.answered_by)]

    @property
    def scored_tasks(self) -> list[Task]:
        """The tasks whose predictions are compared with targets."""
        return [task for task in self.tasks if task.is_scored]

    def scored(self, task: Task) -> Split:
        """The rows that the task is scored on."""
        return self.splits[task.id][task.scored_split]

    def choosing_split(self, task: Task) -> str:
        """The split of a trained task whose rows choose: CHOOSING or dev."""
        return CHOOSING if CHOOSING in self.splits[task.id] else "dev"

    def choosing_rows(self, task: Task) -> np.ndarray:
        """The numbers of the rows of this split that choose, int64 (rows,)."""
        return self.choosing.get(task.id, np.arange(len(self.splits[task.id][self.choosing_split(task)])))

    def distinct_texts(self, split: str) -> np.ndarray:
        """The indices of the texts that occur in this split of any task, int64 (texts,), in ascending order."""
        parts = [splits[split] for splits in self.splits.values() if split in splits]
        return np.unique(np.concatenate([part.texts.ravel() for part in parts]))

    def rows(self) -> dict[str, dict[str, int]]:
        """The number of rows by task and split, as the files have them: held-out rows count as train."""
        counts = {}
        for task in self.tasks:
            sizes = {split: len(part) for split, part in self.splits[task.id].items()}
            if CHOOSING in sizes:
                sizes["dev"] += sizes.pop(CHOOSING)
            if held_out := len(self.held_out.get(task.id, ())):
                sizes["train"] += held_out
                del sizes["dev"]
            counts[task.id] = sizes
        return counts


def last_texts(task: Task, split: Split, texts: Sequence[str]) -> list[str]:
    """The last text of each row of a task with units; an empty list for other tasks. `texts` are those that the split has the numbers of."""
    if not TARGET_KINDS[task.kind].by_unit:
        return []
    return [texts[number] for number in split.texts[split.starts, -1].tolist()]


def input_rows(dataset: Dataset, task: Task, split: Split, rows: Iterable[int] | None = None) -> list[Row]:
    """The rows of a split with these numbers, or all, as a trained model takes new ones (`mtl.methods.method.Model.predict`)."""
    chosen = range(len(split)) if rows is None else rows
    return [(*(dataset.texts[text] for text in split.row_texts(task, row)), *split.row_spans(row)) for row in chosen]


def marked_texts(task: Task, split: Split, texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The text of each span of each row, in the order of `Task.marked`. The task must have spans; the texts are the dataset's."""
    assert split.spans is not None
    rows = zip(split.texts.tolist(), split.spans.tolist(), strict=True)
    return [span_texts(task, [texts[number] for number in numbers], spans) for numbers, spans in rows]


def first_equal(texts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """For each model input of a choice, the number of the first input of its row with the same texts, int64 (inputs,).
    Equal candidates have equal outputs up to rounding, which must not decide between them. Arguments are as in `Split`."""
    keyed = np.column_stack([np.repeat(np.arange(len(sizes)), sizes), texts])
    _, first, inverse = np.unique(keyed, axis=0, return_index=True, return_inverse=True)
    return first[inverse.ravel()]


def first_choices(codes: np.ndarray, texts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Predicted candidates (rows,), each replaced by the first of its row with the same texts. Arguments are as in `Split`."""
    starts = np.cumsum(sizes) - sizes
    return (first_equal(texts, sizes)[starts + codes.astype(np.int64)] - starts).astype(np.float64)


def with_one_wrong(split: Split, rng: np.random.Generator) -> Split:
    """The rows of a choice, which all have targets, each with its right candidate and a random wrong one, if there is one, in their order."""
    assert split.sizes is not None
    right = split.targets.astype(np.int64)
    wrong = rng.integers(np.maximum(split.sizes - 1, 1))  # the number among the wrong candidates
    wrong += wrong >= right  # the number among all candidates
    pairs = np.sort(np.column_stack([right, wrong]), axis=1) + split.starts[:, None]
    has_wrong = split.sizes > 1
    inputs = pairs[np.column_stack([np.ones_like(has_wrong), has_wrong])]
    targets, sizes = (right > wrong).astype(np.float64), np.minimum(split.sizes, 2)
    return replace(split, targets=targets, sizes=sizes, **split.arrays(("texts", *INPUT_ARRAYS), inputs))
