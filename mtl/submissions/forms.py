"""Files of predictions in each of their forms: tables, JSON Lines, an object by ids, and the data's rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import parse_json
from mtl.data.columns import optional_value
from mtl.data.files import split_lines
from mtl.data.forms import quoted_rows
from mtl.data.json_rows import parse_row
from mtl.submissions.lines import ID, IDS, NUMBERS, PredictionLines, RowMarks, columns_beside, row_columns, row_marks
from mtl.submissions.row_files import PREDICTION, show
from mtl.tasks.task import Task

HEADER = "index\tprediction"  # of a file whose lines have the number of their row, from 0
# What an only column of predictions may be called, in lower case, beside the name of the targets' column.
PREDICTIONS = (PREDICTION, "predictions", "predicted", "pred", "y_pred", "target", "label", "answer")


@dataclass(frozen=True)
class PredictionFile:
    """A file of predictions before it is read."""

    task: Task  # that the predictions are of
    name: str  # the path of the file, for messages; its suffix says which form it has
    content: bytes
    ids: Sequence[str]  # what its column of ids may be called, beside `mtl.submissions.lines.IDS`
    most: int  # lines that it may have

    @cached_property
    def lines(self) -> list[str]:
        """Its lines without their ends. Raises InputError for too many of them."""
        return split_lines(self.content, self.name, most=self.most)

    def error(self, message: str, line: int) -> InputError:
        """The error on a line, from 1."""
        return InputError(message, path=self.name, line=line)


def read_by_suffix(file: PredictionFile) -> PredictionLines:
    """The predictions in a file of the form that its name says."""
    if file.name.endswith(".jsonl"):
        return read_json_lines(file)
    return read_json_by_id(file) if file.name.endswith(".json") else read_table(file)


def read_table(file: PredictionFile) -> PredictionLines:
    """The predictions in a .csv or a .tsv with a header: in the column `prediction`, in its only column, or in one of two. Another column may have the
    rows' ids or their numbers, and others the data's `row_columns`. A .tsv as mtl writes it is read by `read_tsv`. Raises InputError for a header
    that does not say which column has what, and for rows of other lengths."""
    is_tsv = file.name.endswith(".tsv")
    if is_tsv and (not file.lines or file.lines[0] in (HEADER, file.task.target, "target")):
        return read_tsv(file, indexed=file.lines[:1] == [HEADER])
    header_row, *rows = _table_rows(file) or [(1, [])]
    header_line, header = header_row
    column = _prediction_column(file, header_line, header)
    predictions, cells_beside = [], []
    for line, cells in rows:
        if len(cells) != len(header):
            raise file.error(f"must have {len(header)} cells, as the header", line)
        predictions.append(cells.pop(column))
        cells_beside.append(cells)
    titles = [title.strip() for title in header]
    del titles[column]
    marks = row_marks(file.task, [dict(zip(titles, cells, strict=True)) for cells in cells_beside], file.ids)
    writing = "lines" if is_tsv else "cells"
    return PredictionLines(file.name, predictions, marks, [line for line, _ in rows], writing)


def _table_rows(file: PredictionFile) -> list[tuple[int, list[str]]]:
    """The cells of each row of a table, after the line that the row begins on. Blank lines of a .csv are no rows."""
    if file.name.endswith(".csv"):
        rows = quoted_rows(file.name, (f"{line}\n" for line in file.lines))
        return [(line, cells) for line, cells in rows if file.lines[line - 1]]
    return [(number, line.split("\t")) for number, line in enumerate(file.lines, start=1)]


def _prediction_column(file: PredictionFile, line: int, header: Sequence[str]) -> int:
    """The number of the column of predictions, from 0. Raises InputError, with the header's line, if the header does not say it."""
    titles = [title.strip().lower() for title in header]
    if titles.count(PREDICTION) == 1:
        return titles.index(PREDICTION)
    if len(titles) == 1 and titles[0] in (*PREDICTIONS, file.task.target.lower()):
        return 0
    if len(titles) == 2:
        known = {*map(str.lower, file.ids), *IDS, *NUMBERS}
        unknown = [number for number, title in enumerate(titles) if title not in known]
        if len(unknown) == 1:
            return unknown[0]  # the other column has ids or numbers
    rule = (
        f"it must be {ID} and {PREDICTION}, or {file.task.target!r} alone with a prediction for each row in their order"
    )
    raise file.error(f"the header is {', '.join(header)!r}; {rule}", line)


def read_tsv(file: PredictionFile, indexed: bool) -> PredictionLines:
    """The predictions in a file as mtl writes it: a header, and one prediction on each further line, after the number of its row if the file is
    `indexed`. Raises InputError, which names the line, for another header or number."""
    if not file.lines:
        raise file.error("the file is empty; it needs a header and one prediction for each row", 1)
    header, *lines = file.lines
    headers = [HEADER] if indexed else list(dict.fromkeys([file.task.target, "target"]))
    if header not in headers:
        raise file.error(f"the header is {header!r}; it must be {' or '.join(map(repr, headers))}", 1)
    predictions = [_without_index(file, row, line) for row, line in enumerate(lines)] if indexed else lines
    return PredictionLines(file.name, predictions, line_numbers=range(2, len(file.lines) + 1), writing="lines")


def _without_index(file: PredictionFile, row: int, line: str) -> str:
    """The prediction on the line of a row, from 0, after the row's number. Raises InputError for another number."""
    index, tab, prediction = line.partition("\t")
    if index != str(row) or not tab:
        problem = f"the index is {index!r}; rows are in order, and this one has the index {row}"
        raise file.error(problem, row + 2)
    return prediction


def read_json_lines(file: PredictionFile) -> PredictionLines:
    """The predictions in a file with an object on each line. Raises InputError, which names the line, for other lines, and for ids of some rows only."""
    predictions, rows = [], list[dict[str, Any]]()
    for line, (prediction, row) in enumerate(_predicted_objects(file), start=1):
        predictions.append(prediction)
        rows.append(row)
        if (ID in row) != (ID in rows[0]):
            difference = "an id, and line 1 has none" if ID in row else "no id, and line 1 has one"
            raise file.error(f"has {difference}; write the ids of all rows, or of none", line)
    marks = row_marks(file.task, rows, file.ids)
    return PredictionLines(file.name, predictions, marks, range(1, len(rows) + 1))


def read_row_lines(file: PredictionFile) -> PredictionLines:
    """The predictions in a file of the data's rows, which the first of `file.ids` that all of them have tells apart, and their other columns. Raises
    InputError, which names the line, for other lines."""
    objects = list(_predicted_objects(file))
    rows = [row for _, row in objects]
    complete = [id for id in file.ids if all(optional_value(row, id) is not None for row in rows)]
    marks = RowMarks(columns_beside(rows, [*row_columns(file.task), *complete[:1]]))
    predictions = [prediction for prediction, _ in objects]
    return PredictionLines(file.name, predictions, marks, range(1, len(rows) + 1), are_rows=True)


def _predicted_objects(file: PredictionFile) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The prediction and the other keys of the object on each line."""
    if not file.lines:
        raise file.error("the file is empty; it needs a prediction for each row", 1)
    for line, written in enumerate(file.lines, start=1):
        row = parse_row(file.name, line, written)
        if PREDICTION not in row:
            raise file.error(f'no key {PREDICTION!r}; a line is {{"id": …, "prediction": …}}', line)
        yield _flat_value(file, line, PREDICTION, row.pop(PREDICTION)), row


def read_json_by_id(file: PredictionFile) -> PredictionLines:
    """The predictions in a file with an object by ids, as the script of SQuAD takes them; errors number them from 1. Raises InputError."""
    by_id = parse_json(file.content, file.name, dict[str, Any], "it is an object with a prediction for each id")
    values = [_flat_value(file, number, id, value) for number, (id, value) in enumerate(by_id.items(), start=1)]
    return PredictionLines(file.name, values, RowMarks(ids=list(by_id)), range(1, len(values) + 1))


def _flat_value(file: PredictionFile, line: int, key: str, value: Any) -> Any:
    """The value of a key on a line. Raises InputError for lists or objects in a list, which take many times the memory of their texts."""
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        raise file.error(f"{key} {show(value)} must be a value, or a list of texts or numbers", line)
    return value
