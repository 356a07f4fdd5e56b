"""Predictions one after another, as they stand in tables, in JSON Lines, in an object by ids, in the data's rows, and in lists of Python."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.data.columns import LIST, optional_value, text
from mtl.submissions.row_files import PREDICTION, value_target
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import BESIDE, Task

ID = "id"  # the key of a row's id on a line of predictions
IDS = (ID, "ids", "guid", "uid", "qid", "row_id", "example_id")  # names of columns of ids, in lower case
NUMBERS = ("", "index", "idx", "row", "unnamed: 0")  # and of columns of row numbers; pandas writes an empty name

Order = Sequence[int]  # for each row of the data, the position of its prediction, from 0


@dataclass(frozen=True)
class RowMarks:
    """What stands beside predictions and says which rows they are of."""

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # of the data (`row_columns`), with their values
    ids: Sequence[Any] | None = None  # values with a type; None: the predictions are in the order of the rows
    number_column: str | None = None  # the column of the ids, if by its name these may be the rows' numbers
    ignored: Sequence[str] = ()  # the names of what stands there, if nothing of it tells the rows apart

    @cached_property
    def first_number(self) -> int | None:
        """The number of the first row, 0 or 1, if the ids number the rows, in any order; None if they do not."""
        if self.number_column is None or self.ids is None:
            return None
        numbers, count = {*self.ids}, len(self.ids)
        return next((first for first in (0, 1) if numbers == {str(first + row) for row in range(count)}), None)

    @property
    def has_ids(self) -> bool:
        """Whether the ids are not numbers of the rows."""
        return self.ids is not None and self.first_number is None


@dataclass(frozen=True)
class PredictionLines:
    """Predictions as they stand in a file or a list of Python: what they mean is not checked yet."""

    name: str  # the path of the file, or the key of the list, for messages
    values: Sequence[Any]  # texts, or of JSON Lines and of lists values with a type
    marks: RowMarks = field(default_factory=RowMarks)
    lines: Sequence[int] | None = None  # the line that each begins on; None: they are of a list
    typed: bool = True  # whether the values have types
    escaped: bool = False  # whether they are texts as `TargetKind.to_line` writes them
    are_rows: bool = False  # whether they stand in rows of the data, of which there may be more than are wanted

    def error(self, message: str, position: int | None = None) -> InputError:
        """What is wrong with the prediction at a position, from 0; None: with the whole file or list."""
        if self.lines is None:
            return InputError(message, key=self.name if position is None else f"{self.name}, row {position + 1}")
        if position is None:
            return InputError(message, path=self.name)
        return InputError(message, path=self.name, line=self.lines[position] if self.lines else 1)

    def targets(
        self, task: Task, order: Order | None = None, candidates: np.ndarray | None = None
    ) -> tuple[np.ndarray, list[InputError]]:
        """The targets that predictions mean, (rows,), and what is wrong with the file. The targets are whole if nothing is. `order` is None for that
        of the predictions; `candidates`, int64 (rows,), has the number of candidates of each row of a choice; None: unknown."""
        kind, targets, errors = target_kind(task), list[Target](), list[InputError]()
        for row, position in enumerate(range(len(self.values)) if order is None else order):
            count = int(candidates[row]) if candidates is not None and row < len(candidates) else None
            value = self.values[position]
            try:
                if self.typed:
                    targets.append(value_target(task, value, count))
                else:
                    cell = kind.line_cell(value) if self.escaped else value
                    targets.append(kind.parse_prediction(cell, count))
            except ValueError as error:
                errors.append(self.error(str(error), position))
        return np.array(targets, dtype=kind.dtype), errors

    def answer(self, position: int) -> str:
        """A prediction as the text of an answer. Raises InputError for a value that has no text."""
        try:
            return text(self.values[position])
        except ValueError as error:
            raise self.error(f"{PREDICTION}: {error}", position) from None


def row_columns(task: Task) -> list[str]:
    """The columns of a task's data that tell its rows apart: those of texts and of spans. None of them has a target."""
    marked = task.reading.spans.split(BESIDE)[:1] if task.reading and task.reading.spans else []
    return [column for column in [*task.text_columns, *task.span_columns, *marked] if column not in task.target_columns]


def cell_beside(row: Mapping[Any, Any], column: str) -> Any:
    """The value of a column in a row that another program wrote, perhaps flat for nested, a text for a list, in another case; None: it has none."""
    if (value := optional_value(row, column)) is not None:
        return value
    values = {str(name).lower(): value for name, value in row.items()}
    return values.get(column.removesuffix(LIST).lower())


def columns_beside(rows: Sequence[Mapping[Any, Any]], columns: Iterable[str]) -> dict[str, list[Any]]:
    """The values of those of the columns that any of the rows has (`cell_beside`)."""
    values = {column: [cell_beside(row, column) for row in rows] for column in columns}
    return {column: cells for column, cells in values.items() if any(cell is not None for cell in cells)}


def row_marks(task: Task, rows: Sequence[Mapping[Any, Any]], ids: Sequence[str]) -> RowMarks:
    """What stands beside predictions in rows that another program wrote. `ids` are further names that the column of ids may have."""
    columns = columns_beside(rows, row_columns(task))
    id_names = [*map(str.lower, ids), *IDS]
    spelled = {str(key).strip().lower(): key for row in rows for key in row}
    name = next((known for known in (*id_names, *NUMBERS) if known in spelled), None)
    if name is None:
        return RowMarks(columns, ignored=() if columns else [*map(str, spelled.values())])
    values = [row.get(spelled[name]) for row in rows]
    if name in id_names:
        return RowMarks(columns, values)
    return RowMarks(columns, [*map(str, values)], number_column=str(spelled[name]).strip())
