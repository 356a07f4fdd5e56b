"""Files of predictions in each of their forms: tables, JSON Lines, an object by ids, and the data's rows."""

from collections.abc import Sequence
from typing import Any

from mtl.base.untrusted import parse_json
from mtl.data.columns import optional_value
from mtl.data.forms import quoted_rows
from mtl.data.json_rows import parse_row
from mtl.submissions.files import PredictionFile
from mtl.submissions.lines import ID, ID_COLUMNS, NUMBER_COLUMNS, PredictionLines, RowMarks, columns_beside, row_marks
from mtl.submissions.row_files import PREDICTION, excerpt

HEADER = "index\tprediction"  # of a file whose lines have the number of their row, from 0
# What an only column of predictions may be called, in lower case, beside the name of the targets' column.
PREDICTIONS = (PREDICTION, "predictions", "predicted", "pred", "y_pred", "target", "label", "answer")


def read_table(file: PredictionFile) -> PredictionLines:
    """The predictions in a .csv or a .tsv with a header: in the column `prediction`, in an only column of PREDICTIONS or of the target, or beside one
    of ids or numbers. Others may have values of the data (`row_columns`). Raises InputError for another header, and rows of other lengths."""
    is_tsv = file.name.endswith(".tsv")
    if is_tsv and (not file.lines or file.lines[0] in (HEADER, file.task.target, "target")):
        return read_tsv(file, indexed=file.lines[:1] == [HEADER])
    table = _numbered_cells(file)
    header_line, header = table[0] if table else (1, [])
    column = _prediction_column(file, header_line, header)
    predictions, cells_beside = [], []
    for line, cells in table[1:]:
        if len(cells) != len(header):
            raise file.error(f"must have {len(header)} cells, as the header", line)
        predictions.append(cells[column])
        cells_beside.append({header[number].strip(): cell for number, cell in enumerate(cells) if number != column})
    marks, line_numbers = row_marks(file.task, cells_beside, file.ids), [line for line, _ in table[1:]]
    return PredictionLines(file.name, predictions, marks, line_numbers, "lines" if is_tsv else "cells")


def _numbered_cells(file: PredictionFile) -> list[tuple[int, list[str]]]:
    """The cells of each row of a table, after the line that the row begins on. Blank lines of a .csv are no rows."""
    if not file.name.endswith(".csv"):
        return [(number, line.split("\t")) for number, line in enumerate(file.lines, start=1)]
    rows = quoted_rows(file.name, (f"{line}\n" for line in file.lines))
    return [(line, cells) for line, cells in rows if file.lines[line - 1]]


def _prediction_column(file: PredictionFile, line: int, header: Sequence[str]) -> int:
    """The number of the column of predictions, from 0. Raises InputError, with the header's line, if the header does not say it."""
    titles = [title.strip().lower() for title in header]
    if titles.count(PREDICTION) == 1:
        return titles.index(PREDICTION)
    if len(titles) == 1 and titles[0] in (*PREDICTIONS, file.task.target.lower()):
        return 0
    names_of_marks = {*map(str.lower, file.ids), *ID_COLUMNS, *NUMBER_COLUMNS}
    unmarked = [number for number, title in enumerate(titles) if title not in names_of_marks]
    if len(titles) == 2 and len(unmarked) == 1:
        return unmarked[0]
    without_ids = f"{file.task.target!r} alone with a prediction for each row in their order"
    raise file.error(f"the header is {', '.join(header)!r}; it must be {ID} and {PREDICTION}, or {without_ids}", line)


def read_tsv(file: PredictionFile, indexed: bool) -> PredictionLines:
    """The predictions in a .tsv as mtl writes it: one on each line after the header, in an `indexed` file behind the number of its row, from 0."""
    if not file.lines:
        raise file.error("the file is empty; it needs a header and one prediction for each row", 1)
    header, *predictions = file.lines
    headers = [HEADER] if indexed else list(dict.fromkeys([file.task.target, "target"]))
    if header not in headers:
        raise file.error(f"the header is {header!r}; it must be {' or '.join(map(repr, headers))}", 1)
    if indexed:
        for row, line in enumerate(predictions):
            index, tab, prediction = line.partition("\t")
            if index != str(row) or not tab:
                rule = f"rows are in order, and this one has the index {row}"
                raise file.error(f"the index is {index!r}; {rule}", row + 2)
            predictions[row] = prediction
    return PredictionLines(file.name, predictions, line_numbers=range(2, len(file.lines) + 1), value_form="lines")


def read_json_lines(file: PredictionFile) -> PredictionLines:
    """The predictions in a file of objects, one a line. Columns of the data tell its rows apart, and so does an id of `file.ids` that all have."""
    predictions, rows = [], list[dict[str, Any]]()
    for number, line in enumerate(file.lines, start=1):
        row = parse_row(file.name, number, line)
        if PREDICTION not in row:
            raise file.error(f'no key {PREDICTION!r}; a line is {{"id": …, "prediction": …}}', number)
        predictions.append(_flat_value(file, number, PREDICTION, row.pop(PREDICTION)))
        rows.append(row)
        if (ID in row) != (ID in rows[0]) and not file.has_rows:
            difference = "an id, and line 1 has none" if ID in row else "no id, and line 1 has one"
            raise file.error(f"has {difference}; write the ids of all rows, or of none", number)
    if not rows:
        raise file.error("the file is empty; it needs a prediction for each row", 1)
    if file.has_rows:
        complete = [id for id in file.ids if all(optional_value(row, id) is not None for row in rows)]
        marks = RowMarks(columns_beside(file.task, rows, complete[:1]))
    else:
        marks = row_marks(file.task, rows, file.ids)
    return PredictionLines(file.name, predictions, marks, range(1, len(rows) + 1), may_have_more_rows=file.has_rows)


def read_json_by_id(file: PredictionFile) -> PredictionLines:
    """The predictions in a file with an object by ids, as the script of SQuAD takes them; errors number them from 1."""
    by_id = parse_json(file.content, file.name, dict[str, Any], "it is an object with a prediction for each id")
    values = [_flat_value(file, number, id, value) for number, (id, value) in enumerate(by_id.items(), start=1)]
    return PredictionLines(file.name, values, RowMarks(ids=list(by_id)), range(1, len(values) + 1))


def _flat_value(file: PredictionFile, line: int, key: str, value: Any) -> Any:
    """The value of a key on a line. Raises InputError for lists or objects in a list, which take many times the memory of their texts."""
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        raise file.error(f"{key} {excerpt(value)} must be a value, or a list of texts or numbers", line)
    return value
