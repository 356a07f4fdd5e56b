"""Files of predictions in each of their forms: tables, JSON Lines, an object by ids, and the data's rows."""

from collections.abc import Sequence
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


def read_tsv(task: Task, lines: Sequence[str], name: str, indexed: bool | None = None) -> PredictionLines:
    """The predictions on the lines of the file `name`: a header, and one prediction on each further line. `indexed`: whether the number of its row
    stands before it; None: the header says it. Raises InputError, which names the line, for another header or number."""
    if not lines:
        raise InputError("the file is empty; it needs a header and one prediction for each row", path=name, line=1)
    header = lines[0]
    indexed = header == HEADER if indexed is None else indexed
    wanted = [HEADER] if indexed else dict.fromkeys([task.target, "target"])
    if header not in wanted:
        raise InputError(f"the header is {header!r}; it must be {' or '.join(map(repr, wanted))}", path=name, line=1)
    predictions = list[str]()
    for row, line in enumerate(lines[1:]):
        prediction = line
        if indexed:
            index, tab, prediction = line.partition("\t")
            if index != str(row) or not tab:
                problem = f"the index is {index!r}; rows are in order, and this one has the index {row}"
                raise InputError(problem, path=name, line=row + 2)
        predictions.append(prediction)
    return PredictionLines(name, predictions, lines=range(2, len(lines) + 1), typed=False, escaped=True)


def read_cells(task: Task, content: bytes, name: str, ids: Sequence[str], most: int) -> PredictionLines:
    """The predictions in the file `name` of at most `most` lines, a .csv or a .tsv with a header: in the column prediction, in its only column, or in
    one of two. Another column may have the rows' ids (`ids` are further names of it) or their numbers, and others the data's `row_columns`. A .tsv
    as mtl writes it is read by `read_tsv`. Raises InputError for a header that does not say which column has what, and for rows of other lengths."""
    lines = split_lines(content, name, most=most)
    if name.endswith(".tsv") and (not lines or lines[0] in (HEADER, task.target, "target")):
        return read_tsv(task, lines, name)
    if name.endswith(".csv"):
        quoted = quoted_rows(name, (f"{line}\n" for line in lines))
        numbered = [(number, cells) for number, cells in quoted if lines[number - 1]]  # blank lines are left out
    else:
        numbered = [(number, line.split("\t")) for number, line in enumerate(lines, start=1)]
    header_number, header = numbered[0] if numbered else (1, list[str]())
    column = _prediction_column(task, name, header_number, header, ids)
    rows = numbered[1:]
    if uneven := [number for number, cells in rows if len(cells) != len(header)]:
        raise InputError(f"must have {len(header)} cells, as the header", path=name, line=uneven[0])
    titles = {place: title.strip() for place, title in enumerate(header) if place != column}
    beside = [{title: cells[place] for place, title in titles.items()} for _, cells in rows]
    predictions = [cells[column] for _, cells in rows]
    numbers = [number for number, _ in rows]
    marks = row_marks(task, beside, ids)
    return PredictionLines(name, predictions, marks, numbers, typed=False, escaped=name.endswith(".tsv"))


def _prediction_column(task: Task, name: str, line: int, header: Sequence[str], ids: Sequence[str]) -> int:
    """The number of the column of predictions, from 0. `line` is the header's; the rest, and the error if it does not say it: as `read_cells`."""
    columns = [title.strip().lower() for title in header]
    if columns.count(PREDICTION) == 1:
        return columns.index(PREDICTION)
    id_columns = [number for number, title in enumerate(columns) if title in (*map(str.lower, ids), *IDS, *NUMBERS)]
    if len(columns) == 2 and len(id_columns) == 1:
        return 1 - id_columns[0]  # the other one
    if len(columns) == 1 and columns[0] in (*PREDICTIONS, task.target.lower()):
        return 0
    rule = f"it must be {ID} and {PREDICTION}, or {task.target!r} alone with a prediction for each row in their order"
    raise InputError(f"the header is {', '.join(header)!r}; {rule}", path=name, line=line)


def read_json_lines(
    task: Task, content: bytes, name: str, ids: Sequence[str], most: int, are_rows: bool = False
) -> PredictionLines:
    """The predictions in the file `name` with an object on each line. Raises InputError, which names the line. The arguments are those of
    `read_cells`, and `are_rows`: whether the objects are the data's rows, which their columns tell apart, and not the key `id`."""
    predictions, beside = [], []
    for line, written in enumerate(split_lines(content, name, most=most), start=1):
        row = parse_row(name, line, written)
        if PREDICTION not in row:
            raise InputError(f'no key {PREDICTION!r}; a line is {{"id": …, "prediction": …}}', path=name, line=line)
        predictions.append(_flat_value(name, line, PREDICTION, row.pop(PREDICTION)))
        beside.append(row)
        if not are_rows and (ID in row) != (ID in beside[0]):
            difference = "an id, and line 1 has none" if ID in row else "no id, and line 1 has one"
            raise InputError(f"has {difference}; write the ids of all rows, or of none", path=name, line=line)
    if not beside:
        raise InputError("the file is empty; it needs a prediction for each row", path=name, line=1)
    if are_rows:
        complete = [id for id in ids if all(optional_value(row, id) is not None for row in beside)]
        marks = RowMarks(columns_beside(beside, [*row_columns(task), *complete[:1]]))
    else:
        marks = row_marks(task, beside, ids)
    return PredictionLines(name, predictions, marks, range(1, len(predictions) + 1), are_rows=are_rows)


def read_json_by_id(content: bytes, name: str) -> PredictionLines:
    """The predictions in the file `name` with an object by ids, as the script of SQuAD takes them; errors number them from 1. Raises InputError."""
    by_id = parse_json(content, name, dict[str, Any], "it is an object with a prediction for each id")
    values = [_flat_value(name, number, id, value) for number, (id, value) in enumerate(by_id.items(), start=1)]
    return PredictionLines(name, values, RowMarks(ids=list(by_id)), range(1, len(values) + 1))


def _flat_value(name: str, line: int, key: str, value: Any) -> Any:
    """The value of a key on a line. Raises InputError for lists or objects in a list, which take many times the memory of their texts."""
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        raise InputError(f"{key} {show(value)} must be a value, or a list of texts or numbers", path=name, line=line)
    return value
