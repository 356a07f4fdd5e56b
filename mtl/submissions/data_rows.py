"""The rows of the data to which predictions are put: how many they are, and what their file says of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mtl.data.records import Record, column_names, read_records
from mtl.data.sampled import RowSample
from mtl.submissions.lines import Order
from mtl.tasks.task import Layout, Task

Rows = Mapping[str, Mapping[str, "DataRows"]]  # by task id and split


@dataclass(frozen=True)
class DataRows:
    """The rows of a task's split: all rows of a file, those of it that are held out, or a sample."""

    task: Task
    split: str
    file: Path  # the data file that they stand in
    layout: Layout  # how it is read
    targets: np.ndarray  # (rows,), see `mtl.tasks.target_kind`; NaN or None where they are not known
    candidates: np.ndarray | None = None  # int64 (rows,), how many candidates each row of a choice has; else None
    lines: Sequence[int] | None = None  # in the file, if it has other rows too, as a training file with held-out rows
    sample: RowSample | None = None  # if they are one; predictions may then be of all rows of the split

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.targets)

    @property
    def description(self) -> str:
        """The rows in a message."""
        if self.sample is not None:
            return f"the {len(self)} rows of {self.file} that are in the sample"
        held_out = " that are held out as dev (mtl data --write-splits writes them)" if self.lines is not None else ""
        return f"the {len(self)} rows of {self.file}{held_out}"

    @cached_property
    def columns(self) -> list[str]:
        """The names of the file's columns."""
        return column_names(self.file, self.layout)

    def records(self, columns: Sequence[str], optional: Sequence[str] = ()) -> list[Record]:
        """The rows with the values of these columns (`mtl.data.records.read_records`)."""
        records = read_records(self.file, columns, optional, layout=self.layout)
        if self.lines is None:
            return records
        lines = set(self.lines)
        return [record for record in records if record.line in lines]

    def order_of_lines(self, count: int) -> Order | None:
        """The order in which the rows get so many predictions that stand in the order of the data; None if so many do not fit the rows."""
        if self.sample is not None and count == self.sample.whole:
            return self.sample.positions
        return range(count) if count == len(self) else None
