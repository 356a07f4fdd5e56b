"""Predictions one after another, as they stand in tables, in JSON Lines, in an object by ids, in the data's rows, and in lists of Python."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.untrusted import parse_json
from mtl.data.columns import LIST, optional_value, text
from mtl.data.files import split_lines
from mtl.data.forms import quoted_rows
from mtl.data.json_rows import parse_row
from mtl.submissions.files import MOST_PREDICTIONS
from mtl.submissions.row_files import PREDICTION, show, value_target
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import BESIDE, Task

HEADER = "index\tprediction"  # of a file whose lines have the number of their row, from 0
ID = "id"  # the key of a row's id on a line of predictions
FORM = '{"id": …, "prediction": …}'
# Names of columns, in lower case: of predictions, of rows' ids, and of their numbers (pandas writes an empty name).
PREDICTIONS = (PREDICTION, "predictions", "predicted", "pred", "y_pred", "target", "label", "answer")
IDS = (ID, "ids", "guid", "uid", "qid", "row_id", "example_id")
NUMBERS = ("", "index", "idx", "row", "unnamed: 0")

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
        line = None if position is None else self.lines[position] if self.lines else 1
        return InputError(message, path=self.name, line=line)

    def targets(
        self, task: Task, order: Order | None = None, candidates: np.ndarray | None = None
    ) -> tuple[np.ndarray, list[InputError]]:
        """The targets that predictions mean, (rows,), and what is wrong with the file. The targets are whole if nothing is. `order` is None for that
        of the predictions; `candidates`, int64 (rows,), has the number of candidates of each row of a choice; None: unknown."""
        kind, targets = target_kind(task), list[Target]()
        errors: list[InputError] = []
        for row, position in enumerate(range(len(self.values)) if order is None else order):
            count = int(candidates[row]) if candidates is not None and row < len(candidates) else None
            value = self.values[position]
            try:
                if self.typed:
                    targets.append(value_target(task, value, count))
                else:
                    targets.append(kind.parse_prediction(kind.line_cell(value) if self.escaped else value, count))
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
    """The value of a column of the data in a row that another program wrote, which may have written a nested column as a flat one, a list as a text,
    and its name in another case. None if there is none."""
    if (value := optional_value(row, column)) is not None:
        return value
    names = {str(name).lower(): name for name in row}
    return row.get(names.get(column.removesuffix(LIST).lower()))


def columns_beside(rows: Sequence[Mapping[Any, Any]], columns: Iterable[str]) -> dict[str, list[Any]]:
    """The values of those of the columns that any of the rows has (`cell_beside`)."""
    values = {column: [cell_beside(row, column) for row in rows] for column in columns}
    return {column: cells for column, cells in values.items() if any(cell is not None for cell in cells)}


def row_marks(task: Task, rows: Sequence[Mapping[Any, Any]], ids: Sequence[str]) -> RowMarks:
    """What stands beside predictions in rows that another program wrote. `ids` are further names that the column of ids may have."""
    columns = columns_beside(rows, row_columns(task))
    id_names = [*map(str.lower, ids), *IDS]
    spelled = {str(name).strip().lower(): name for row in rows for name in row}
    name = next((name for name in (*id_names, *NUMBERS) if name in spelled), None)
    if name is None:
        return RowMarks(columns, ignored=() if columns else [*map(str, spelled.values())])
    values = [row.get(spelled[name]) for row in rows]
    if name in id_names:
        return RowMarks(columns, values)
    return RowMarks(columns, [*map(str, values)], number_column=str(spelled[name]).strip())


def read_tsv(
    task: Task, content: bytes, name: str, indexed: bool | None = None, most: int = MOST_PREDICTIONS
) -> PredictionLines:
    """The predictions in the file `name`, a header and one prediction on each line. Raises InputError, which names the file and the line, for a file
    without such a header, and for an index that is not the number of the row. `indexed`: whether the number of the row stands before each prediction;
    None: the header says it. The file may have at most `most` lines."""
    lines = split_lines(content, name, most=most)
    if not lines:
        raise InputError("the file is empty; it needs a header and one prediction for each row", path=name, line=1)
    header, *cells = lines
    indexed = header == HEADER if indexed is None else indexed
    wanted = [HEADER] if indexed else dict.fromkeys([task.target, "target"])
    if header not in wanted:
        raise InputError(f"the header is {header!r}; it must be {' or '.join(map(repr, wanted))}", path=name, line=1)
    if indexed:
        for row, line in enumerate(cells):
            index, tab, cells[row] = line.partition("\t")
            if index != str(row) or not tab:
                problem = f"the index is {index!r}; rows are in order, and this one has the index {row}"
                raise InputError(problem, path=name, line=row + 2)
    return PredictionLines(name, cells, lines=range(2, len(lines) + 1), typed=False, escaped=True)


def read_cells(task: Task, content: bytes, name: str, ids: Sequence[str], most: int) -> PredictionLines:
    """The predictions in the file `name`, a .csv or a .tsv with a header: in the column prediction, in its only column, or in one of two. Another one
    may have the rows' ids, or, unless `ids` name it, their numbers; further ones may be `row_columns`. A .tsv as mtl writes it is read by `read_tsv`.
    Raises InputError, which names the header that is expected, for one that does not say which column has what, and for rows of other lengths. `ids`
    are further names that the column of ids may have. The file may have at most `most` lines."""
    lines = split_lines(content, name, most=most)
    if name.endswith(".tsv") and (not lines or lines[0] in (HEADER, task.target, "target")):
        return read_tsv(task, content, name, most=most)
    if name.endswith(".csv"):
        quoted = quoted_rows(name, (f"{line}\n" for line in lines))
        numbered = [(number, cells) for number, cells in quoted if cells != [""]]
    else:
        numbered = [(number, line.split("\t")) for number, line in enumerate(lines, start=1)]
    header = numbered[0][1] if numbered else []
    column = _prediction_column(task, name, header, ids)
    if uneven := [number for number, cells in numbered if len(cells) != len(header)]:
        raise InputError(f"must have {len(header)} cells, as the header", path=name, line=uneven[0])
    rows = [cells for _, cells in numbered[1:]]
    names = [(number, title.strip()) for number, title in enumerate(header) if number != column]
    others = [{title: cells[number] for number, title in names} for cells in rows]
    return PredictionLines(
        name,
        [cells[column] for cells in rows],
        row_marks(task, others, ids),
        [number for number, _ in numbered[1:]],
        typed=False,
        escaped=name.endswith(".tsv"),
    )


def _prediction_column(task: Task, name: str, header: Sequence[str], ids: Sequence[str]) -> int:
    """The number of the column of predictions, from 0. The arguments, and the error for a header that does not say it: as `read_cells`."""
    columns = [title.strip().lower() for title in header]
    id_columns = [number for number, title in enumerate(columns) if title in (*map(str.lower, ids), *IDS, *NUMBERS)]
    if columns.count(PREDICTION) == 1:
        return columns.index(PREDICTION)
    if len(columns) == 2 and len(id_columns) == 1:
        return 1 - id_columns[0]
    if len(columns) == 1 and columns[0] in (*PREDICTIONS, task.target.lower()):
        return 0
    alone = f"{task.target!r} alone with a prediction for each row in their order"
    expected = f"it must be {ID} and {PREDICTION}, or {alone}"
    raise InputError(f"the header is {', '.join(header)!r}; {expected}", path=name, line=1)


def read_json_lines(
    task: Task, content: bytes, name: str, ids: Sequence[str], most: int, are_rows: bool = False
) -> PredictionLines:
    """The predictions in the file `name` with an object on each line. Raises InputError, which names the line. The arguments are those of
    `read_cells`, and `are_rows`: whether the objects are the data's rows, which their columns tell apart, and not the key `id`."""
    predictions, rows = [], []
    for number, written in enumerate(split_lines(content, name, most=most), start=1):
        row = parse_row(name, number, written)
        if PREDICTION not in row:
            raise InputError(f"no key {PREDICTION!r}; a line is {FORM}", path=name, line=number)
        predictions.append(_flat(name, number, PREDICTION, row.pop(PREDICTION)))
        rows.append(row)
        if not are_rows and (ID in row) != (ID in rows[0]):
            difference = "an id, and line 1 has none" if ID in row else "no id, and line 1 has one"
            raise InputError(f"has {difference}; write the ids of all rows, or of none", path=name, line=number)
    if not rows:
        raise InputError("the file is empty; it needs a prediction for each row", path=name, line=1)
    if are_rows:
        complete = [id for id in ids if all(optional_value(row, id) is not None for row in rows)]
        marks = RowMarks(columns_beside(rows, [*row_columns(task), *complete[:1]]))
    else:
        marks = row_marks(task, rows, ids)
    return PredictionLines(name, predictions, marks, range(1, len(rows) + 1), are_rows=are_rows)


def read_json_by_id(content: bytes, name: str) -> PredictionLines:
    """The predictions in the file `name` with an object from ids to predictions, as the script of SQuAD takes them. In messages, their
    numbers, from 1, stand in place of lines. Raises InputError."""
    by_id = parse_json(content, name, dict[str, Any], "it is an object with a prediction for each id")
    values = [_flat(name, number, id, value) for number, (id, value) in enumerate(by_id.items(), start=1)]
    return PredictionLines(name, values, RowMarks(ids=list(by_id)), range(1, len(values) + 1))


def _flat(name: str, line: int, key: str, value: Any) -> Any:
    """A value on a line. Raises InputError for lists or objects in a list, which take many times the memory of their texts."""
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        raise InputError(f"{key} {show(value)} must be a value, or a list of texts or numbers", path=name, line=line)
    return value
