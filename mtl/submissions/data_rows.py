"""The rows of the data, and which prediction each of them gets: by ids, numbers, the order of the lines, or the columns beside the predictions."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.names import one_spelling
from mtl.base.wording import listed
from mtl.data.columns import text
from mtl.data.records import Record, column_names, read_records
from mtl.data.sampled import RowSample
from mtl.submissions.lines import ID, Order, PredictionLines
from mtl.submissions.row_files import excerpt
from mtl.tasks.layout import Layout
from mtl.tasks.task import Task

Rows = Mapping[str, Mapping[str, "DataRows"]]  # by task id and split
# Texts that pandas reads as missing values and writes as empty cells, in lower case.
MISSING = {"nan", "-nan", "na", "n/a", "<na>", "#n/a", "#na", "null", "none"}


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
        wanted = None if self.lines is None else set(self.lines)
        return [record for record in records if wanted is None or record.line in wanted]


def prediction_order(rows: DataRows, lines: PredictionLines, ids: Sequence[str]) -> Order:
    """The position of the prediction that each row gets. Ids (in the first column of `ids` that the data has, else in `id`), numbers or the lines say
    it; columns of the data beside the predictions confirm it, or say another one. Raises InputError for predictions of other rows."""
    id_columns = [*ids, ID]
    stated_order = _stated_order(rows, lines, id_columns)
    columns = _columns_of_both(rows, lines) if stated_order is not None or lines.may_have_more_rows else []
    if columns and len(rows):
        order = column_order(lines, rows.file, columns, rows.records([], columns), stated_order)
    elif stated_order is not None:
        order = stated_order
    else:
        rule = "; without ids, each row has one, in their order" if lines.value_form == "values" else ""
        raise lines.error(f"{len(lines.values)} predictions for {rows.description}{rule}", len(lines.values) - 1)
    if lines.marks.ignored:
        message = "%s: its lines are taken in the order of the rows of %s; columns that are not compared: %s"
        logger.warning(message, lines.name, rows.file, listed(lines.marks.ignored, 5))
    if lines.marks.first_number is not None:
        _check_numbers(rows, lines, order, id_columns)
    return order


def _stated_order(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> Order | None:
    """The order that ids or numbers say, else that of the lines; None if the lines are too few or too many for the rows, or for their whole split."""
    if lines.marks.has_ids:
        return _id_order(rows, lines, _rows_by_id(rows, lines, id_columns))
    if rows.sample is not None and len(lines.values) == rows.sample.whole:
        line_order: Order = rows.sample.positions
    elif len(lines.values) == len(rows):
        line_order = range(len(rows))
    else:
        return None
    if (first_number := lines.marks.first_number) is None:
        return line_order
    return _id_order(rows, lines, {str(first_number + position): row for row, position in enumerate(line_order)})


def _rows_by_id(rows: DataRows, lines: PredictionLines, id_columns: Sequence[str]) -> dict[str, int]:
    """The number of each row by its id, from the first of these columns that the data has. Raises InputError if it has none, or an id twice."""
    column = next((name for name in id_columns if name in rows.columns), None)
    if column is None and lines.marks.number_column is not None:
        raise _unknown_id_error(rows, lines, 0)
    if column is None:
        problem = f"has ids, and {rows.file} has no column {' or '.join(dict.fromkeys(id_columns))}"
        remedy = "leave them out where the lines are in the order of its rows, or name the column in the suite file"
        raise lines.error(f"{problem}; {remedy} (submission: ids)", 0)
    rows_by_id: dict[str, int] = {}
    for record in rows.records([column]):
        id = text(record.values[0])
        if id in rows_by_id:
            problem = f"column {column!r} has {id!r} twice and does not tell rows apart"
            remedy = "leave the ids out of the predictions, in the order of these rows"
            raise InputError(f"{problem}; {remedy}", path=rows.file, line=record.line)
        rows_by_id[id] = len(rows_by_id)
    return rows_by_id


def _id_order(rows: DataRows, lines: PredictionLines, rows_by_id: Mapping[str, int]) -> Order:
    """The order in which each row gets the prediction with its id, or its number. Raises InputError for a missing, a repeated and an unknown id."""
    position_of_row: dict[int, int] = {}
    for position, id in enumerate(lines.marks.ids or ()):
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise lines.error(f"id {excerpt(id)} must be a text or a whole number", position)
        row = rows_by_id.get(text(id))
        if row is None and rows.sample is not None:
            continue  # of a row of the split that is not in the sample
        if row is None:
            raise _unknown_id_error(rows, lines, position)
        if row in position_of_row:
            earlier, numbers = position_of_row[row], lines.line_numbers
            where = f"in row {earlier + 1}" if numbers is None else f"on line {numbers[earlier]}"
            raise lines.error(f"id {excerpt(id)} stands {where} already", position)
        position_of_row[row] = position
    if absent := [id for id, row in rows_by_id.items() if row not in position_of_row]:
        raise lines.error(f"{len(absent)} of {rows.description} have no prediction; the first has the id {absent[0]!r}")
    return [position_of_row[row] for row in range(len(rows_by_id))]


def _unknown_id_error(rows: DataRows, lines: PredictionLines, position: int) -> InputError:
    """The error for an id that no row has, also for one in a column that by its name numbers the rows."""
    ids, column = lines.marks.ids or (), lines.marks.number_column
    id = excerpt(ids[position])
    if column is None:
        return lines.error(f"id {id} is not among {rows.description}; is this another file's?", position)
    problem = f"has {id}, which neither numbers {rows.description} from 0 or 1 nor is an id of theirs"
    if repeated := next((id for id, count in Counter(ids).items() if count > 1), ""):
        problem = f"repeats {repeated}"
    remedy = "if the predictions are in the order of the data, leave it out"
    return lines.error(f"column {column!r} {problem}; {remedy}", position)


def _columns_of_both(rows: DataRows, lines: PredictionLines) -> list[str]:
    """The columns beside the predictions that the data has, too. Raises InputError if it has none of them, and one has texts of the task."""
    shared_columns = [name for name in lines.marks.columns if name in rows.columns]
    text_columns = [name for name in lines.marks.columns if name in rows.task.text_columns]
    if text_columns and not shared_columns:
        problem = f"has a column {text_columns[0]!r}, and {rows.file} has none to compare it with"
        remedy = "name the data's folder, or leave the column out if the lines are in the order of the rows"
        raise lines.error(f"{problem}; {remedy}", 0)
    return shared_columns


def _check_numbers(rows: DataRows, lines: PredictionLines, order: Order, id_columns: Sequence[str]) -> None:
    """Raise InputError if the numbers may be ids that put the predictions to other rows. They may be if a column of the data file has the
    same name as the column of the numbers, or if it has ids that are all among the numbers, and its values have another order."""
    title, numbers = str(lines.marks.number_column), lines.marks.ids or ()
    for column in rows.columns:
        has_same_name = column.lower() == title.lower()
        if not has_same_name and column not in id_columns:
            continue
        records = rows.records([], [column])
        ids = [str(record.values[0]) for record in records]
        if not has_same_name and not set(ids) <= set(numbers):
            continue
        for record, id, position in zip(records, ids, order, strict=True):
            if id != numbers[position]:
                in_data = f"column {column!r} of {rows.file} has {excerpt(record.values[0])} on line {record.line}"
                declaration = f"name it in the suite file (submission: {{ids: [{column}]}})"
                remedy = declaration if has_same_name else f"call it {column}"
                problem = f"column {title!r} has {numbers[position]}, and {in_data}; if it has ids, {remedy}"
                raise lines.error(f"{problem}; if the lines are in the order of the rows, leave it out", position)


def column_order(
    lines: PredictionLines, file: Path, columns: Sequence[str], records: Sequence[Record], expected: Order | None
) -> Order:
    """The order in which each row gets a prediction beside its values in the columns, which `records` have: the expected one, if they agree. Raises
    InputError for a row whose values stand beside too few predictions, or not beside its id, and for equal rows with different predictions."""
    values_beside = list(zip(*(lines.marks.columns[name] for name in columns), strict=True))
    row_keys, line_keys = _comparable_keys([record.values for record in records], values_beside)
    misplaced = [row for row, key in enumerate(row_keys) if expected is None or line_keys[expected[row]] != key]
    if expected is not None and not misplaced:
        return expected
    names, equal_rows = ", ".join(columns), Counter(row_keys)
    positions = defaultdict[str, list[int]](list)  # of the predictions, by the key of the values beside them
    for position, key in enumerate(line_keys):
        positions[key].append(position)
    for row in misplaced:
        lines_needed = 1 if lines.may_have_more_rows else equal_rows[row_keys[row]]
        if lines.marks.has_ids or len(positions[row_keys[row]]) < lines_needed:
            line, values = records[row].line, excerpt(list(records[row].values))
            problem = f"the row on line {line} of {file}, with {names} {values}, is not here"
            remedy = "predict these rows, or leave out columns whose values are changed"
            raise lines.error(f"{problem}; {remedy}", None if expected is None else expected[row])
    for key in equal_rows:
        for position in positions[key]:
            if lines.values[position] != lines.values[positions[key][0]]:
                remedy = f"put the lines into the order of the rows of {file}, or add a column {ID!r}"
                raise lines.error(f"rows with the same {names} have different predictions here; {remedy}", position)
    logger.info("%s: put to the rows of %s by %s: it has another order", lines.name, file, names)
    order = []
    for key in row_keys:
        # Equal rows take their equal predictions from the last to the first, which serves all rows that are left.
        remaining = positions[key]
        order.append(remaining.pop() if len(remaining) > 1 else remaining[0])
    return order


def _comparable_keys(rows: Sequence[Any], lines: Sequence[Any]) -> tuple[list[str], list[str]]:
    """A key for the values of each row and each line, equal where they belong together: exact for values that both have, else loose."""
    exact_row_keys = [exact_key(values) for values in rows]
    exact_line_keys = [exact_key(values) for values in lines]
    unchanged = set(exact_row_keys) & set(exact_line_keys)
    row_keys = [key if key in unchanged else loose_key(row) for key, row in zip(exact_row_keys, rows, strict=True)]
    line_keys = [key if key in unchanged else loose_key(line) for key, line in zip(exact_line_keys, lines, strict=True)]
    return row_keys, line_keys


def exact_key(values: Sequence[Any]) -> str:
    """What is equal for the values of one row in two files that have the same texts."""
    return json.dumps([_as_text(value) for value in values], ensure_ascii=False)


def loose_key(values: Sequence[Any]) -> str:
    """What is equal for the values of one row in two files of which one went through a spreadsheet or a library."""
    return "\n".join(_loose_text(value) for value in values)


def _loose_text(value: Any) -> str:
    """A value without what spreadsheets and libraries change: nothing if it is missing, a number in one form, the letters and digits of a text."""
    texts = _as_text(value)
    spelled = one_spelling(texts if isinstance(texts, str) else " ".join(texts)).strip()
    if spelled.casefold() in MISSING:
        return ""
    try:
        return repr(float(spelled))
    except ValueError:
        return re.sub(r"[\W_]+", "", spelled).casefold()


def _as_text(value: Any) -> str | list[str]:
    """A value of JSON, of a table, of Python or of NumPy as a text; a list or an array as a list of texts."""
    own_value = value.tolist() if hasattr(value, "tolist") else value  # of Python, in place of NumPy's
    if hasattr(own_value, "isoformat"):  # dates and times
        return str(own_value.isoformat())
    return [str(item) for item in own_value] if isinstance(own_value, list | tuple) else str(own_value)
