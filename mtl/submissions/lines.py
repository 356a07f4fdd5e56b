"""Predictions as they stand in a file or in a list of Python, before they are put to the rows of the data, and what stands beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mtl.base.errors import InputError
from mtl.data.columns import LIST, optional_value, text
from mtl.submissions.row_files import PREDICTION, value_target
from mtl.tasks.target_kind import Target, TargetKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import BESIDE, Task

ID = "id"  # the key of a row's id on a line of predictions
ID_COLUMNS = (ID, "ids", "guid", "uid", "qid", "row_id", "example_id")  # names of columns of ids, in lower case
NUMBER_COLUMNS = ("", "index", "idx", "row", "unnamed: 0")  # the same of row numbers; pandas writes an empty one

Order = Sequence[int]  # for each row of the data, the position of its prediction, from 0


@dataclass(frozen=True)
class RowMarks:
    """What stands beside predictions and says which rows they belong to: ids, or numbers of all rows, or neither; and values of the data."""

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # values by column of the data (`row_columns`)
    ids: Sequence[Any] | None = None  # or numbers, with a type; None: the predictions are in the order of the rows
    number_column: str | None = None  # the column of `ids`, if its name says that these may be numbers of the rows
    ignored: Sequence[str] = ()  # the names of all columns, if none of them tells the rows apart

    @cached_property
    def first_number(self) -> int | None:
        """The number of the first row, 0 or 1, if the ids number the rows, in any order; None if they do not."""
        if self.number_column is None or self.ids is None:
            return None
        ids, rows = set(self.ids), range(len(self.ids))
        return next((first for first in (0, 1) if ids == {str(first + row) for row in rows}), None)

    @property
    def has_ids(self) -> bool:
        """Whether there are ids, and they do not number the rows; in a column of numbers, other values than these are ids, too."""
        return self.ids is not None and self.first_number is None

    @property
    def stated_ids(self) -> Sequence[Any]:
        """The id or the number beside each prediction; empty if there are none."""
        return self.ids or ()


@dataclass(frozen=True)
class PredictionLines:
    """Predictions as they stand in a file or a list of Python: what they mean is not checked yet."""

    name: str  # the path of the file, or the key of the list, for messages
    values: Sequence[Any]  # as `value_form` says
    marks: RowMarks = field(default_factory=RowMarks)
    line_numbers: Sequence[int] | None = None  # the line that each prediction begins on; None: they are of a list
    value_form: Literal["values", "cells", "lines"] = "values"  # with types, or texts, or texts of `TargetKind.to_line`
    may_have_more_rows: bool = False  # than are wanted: each stands in a row of the data, whose columns say which it is

    def error(self, message: str, position: int | None = None) -> InputError:
        """The error for the prediction at a position, from 0. Without a position, it is an error of the whole file or list."""
        if self.line_numbers is None:
            return InputError(message, key=self.name if position is None else f"{self.name}, row {position + 1}")
        if position is None:
            return InputError(message, path=self.name)
        return InputError(message, path=self.name, line=self.line_numbers[position] if self.line_numbers else 1)

    def targets(
        self, task: Task, order: Order | None = None, candidates: np.ndarray | None = None
    ) -> tuple[np.ndarray, list[InputError]]:
        """The targets (rows,) of right predictions, in this order or their own, and errors of others. `candidates`: int64 (rows,), of a choice."""
        kind, positions = target_kind(task), range(len(self.values)) if order is None else order
        targets, errors = list[Target](), list[InputError]()
        for row, position in enumerate(positions):
            row_candidates = None if candidates is None else int(candidates[row])
            try:
                targets.append(self._target(kind, self.values[position], row_candidates))
            except ValueError as error:
                errors.append(self.error(str(error), position))
        return np.array(targets, dtype=kind.dtype), errors

    def _target(self, kind: TargetKind, value: Any, candidates: int | None) -> Target:
        """The target that one prediction means. Raises ValueError for a prediction that is not valid."""
        if self.value_form == "values":
            return value_target(kind.task, value, candidates)
        cell = kind.line_cell(value) if self.value_form == "lines" else value
        return kind.parse_prediction(cell, candidates)

    def answer(self, position: int) -> str:
        """A prediction as the text of an answer. Raises InputError for a value that has no text."""
        try:
            return text(self.values[position])
        except ValueError as error:
            raise self.error(f"{PREDICTION}: {error}", position) from None


def row_columns(task: Task) -> list[str]:
    """The columns of a task's data that tell its rows apart: those of texts and of spans. None of them has a target."""
    columns = [*task.text_columns, *task.span_columns]
    if task.reading is not None and task.reading.spans is not None:
        columns.append(task.reading.spans.split(BESIDE)[0])  # of the text that the spans are in
    return [column for column in columns if column not in task.target_columns]


def row_marks(task: Task, rows: Sequence[Mapping[Any, Any]], id_columns: Sequence[str]) -> RowMarks:
    """What stands beside predictions in rows that another program wrote. `id_columns` are further names that the column of ids may have."""
    columns = columns_beside(task, rows)
    titles = {str(title).strip().lower(): title for row in rows for title in row}  # as written, by plain name
    for name in (*map(str.lower, id_columns), *ID_COLUMNS):
        if name in titles:
            return RowMarks(columns, [row.get(titles[name]) for row in rows])
    for name in NUMBER_COLUMNS:
        if name in titles:
            numbers = [str(row.get(titles[name])) for row in rows]
            return RowMarks(columns, numbers, number_column=str(titles[name]).strip())
    return RowMarks(columns, ignored=() if columns else [str(title) for title in titles.values()])


def columns_beside(task: Task, rows: Sequence[Mapping[Any, Any]], further: Sequence[str] = ()) -> dict[str, list[Any]]:
    """The values of those of the task's `row_columns`, and of further columns, that any of the rows has."""
    values = {column: [_value_beside(row, column) for row in rows] for column in (*row_columns(task), *further)}
    return {column: cells for column, cells in values.items() if any(cell is not None for cell in cells)}


def _value_beside(row: Mapping[Any, Any], column: str) -> Any:
    """The value of a column in a row, perhaps with names in another case, and nested values and lists flat; or None."""
    if (value := optional_value(row, column)) is not None:
        return value
    values = {str(name).lower(): value for name, value in row.items()}
    return values.get(column.removesuffix(LIST).lower())
