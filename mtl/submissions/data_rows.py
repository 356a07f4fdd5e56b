"""The rows of the data that predictions are put to (`mtl.submissions.row_order` says which each of them gets), and the files with their targets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.untrusted import inside
from mtl.data.columns import optional_value, text
from mtl.data.records import Record, column_names, read_records
from mtl.data.rows import stream_rows
from mtl.data.sampled import RowSample
from mtl.submissions.row_files import read_row_file
from mtl.tasks.layout import Layout
from mtl.tasks.task import BESIDE, Task

Rows = Mapping[str, Mapping[str, "DataRows"]]  # by task id and split


@dataclass(frozen=True)
class DataRows:
    """The rows of a task's split: all rows of a file, those of a training file that are held out as dev, or a sample of the split."""

    task: Task
    split: str
    file: Path  # the data file that the rows stand in
    layout: Layout  # how the file is read
    targets: np.ndarray  # (rows,), see `mtl.tasks.target_kind`; NaN or None where they are not known
    candidates: np.ndarray | None = None  # int64 (rows,), how many candidates each row of a choice has; else None
    lines: Sequence[int] | None = None  # those of the rows, if the file has other rows, too; None: it has no others
    sample: RowSample | None = None  # if the rows are a sample; predictions may then be of all rows of the split

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def description(self) -> str:
        """What the rows are called in a message."""
        if self.sample is not None:
            return f"the {len(self)} rows of {self.file} that are in the sample"
        held_out = "" if self.lines is None else " that are held out as dev (mtl data --write-splits writes them)"
        return f"the {len(self)} rows of {self.file}{held_out}"

    @cached_property
    def columns(self) -> list[str]:
        return column_names(self.file, self.layout)

    def records(self, columns: Sequence[str], optional: Sequence[str] = ()) -> list[Record]:
        """The rows with the values of these columns (`mtl.data.records.read_records`)."""
        records = read_records(self.file, columns, optional, layout=self.layout)
        lines = None if self.lines is None else set(self.lines)
        return [record for record in records if lines is None or record.line in lines]

    def numbers_by_id(self, column: str) -> dict[str, int]:
        """The number of each row, from 0, by its id in this column. Raises InputError if two rows have the same id."""
        numbers: dict[str, int] = {}
        for record in self.records([column]):
            id = text(record.values[0])
            if id in numbers:
                problem = f"column {column!r} has {id!r} twice and does not tell rows apart"
                remedy = "leave the ids out of the predictions, in the order of these rows"
                raise InputError(f"{problem}; {remedy}", path=self.file, line=record.line)
            numbers[id] = len(numbers)
        return numbers


def labelled_file(task: Task, split: str, folder: Path) -> tuple[Path, Layout] | None:
    """The task's file of a split in a data folder, and how it is read, if every row has its target. A test file may also be called test.tsv."""
    for name in filter(None, [task.file(split), "test.tsv" if split == "test" else None]):
        path = inside(folder, f"{task.folder or '.'}/{name}")
        layout = task.layout(split, folder) if path == task.path(split, folder) else task.plain_layout
        if path.is_file() and _has_targets(task, split, path, layout):
            return path, layout
    return None


def _has_targets(task: Task, split: str, path: Path, layout: Layout) -> bool:
    """Whether a file has the columns of the targets, and a target in every row where rows can lack one."""
    if layout.reading.spans is not None:
        # A row whose text has no span has an empty list; without a list, it is not labelled.
        spans = layout.reading.spans.split(BESIDE)[1]
        without_spans = replace(layout, reading=replace(layout.reading, spans=None))
        lists = [optional_value(row, spans) for _, row in stream_rows(path, without_spans)]
        return None not in lists and any(lists)
    if not set(task.target_columns) <= set(column_names(path, layout)):
        return False
    return path.suffix != ".jsonl" or read_row_file(task, split, path).is_labelled
