"""Which prediction each row of the data gets by its values beside the predictions, such as its texts, even if another program changed them."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from mtl.base.log import logger
from mtl.base.names import one_spelling
from mtl.submissions.data_rows import DataRows
from mtl.submissions.lines import ID, Order, PredictionLines
from mtl.submissions.row_files import excerpt

# Texts that pandas reads as missing values and writes as empty cells, in lower case.
MISSING = {"nan", "-nan", "na", "n/a", "<na>", "#n/a", "#na", "null", "none"}


def column_order(rows: DataRows, lines: PredictionLines, stated: Order | None) -> Order | None:
    """The position of the prediction that each row gets: as stated, if the values beside the predictions agree or there are none, else by them.
    Raises InputError for a row whose values stand beside too few predictions, or not beside its id, and for equal rows with different predictions."""
    columns = _shared_columns(rows, lines)
    if not columns or not len(rows):
        return stated
    records = rows.records([], columns)
    values_beside = list(zip(*(lines.marks.columns[name] for name in columns), strict=True))
    row_keys, line_keys = _comparable_keys([record.values for record in records], values_beside)
    misplaced = [row for row, key in enumerate(row_keys) if stated is None or line_keys[stated[row]] != key]
    if stated is not None and not misplaced:
        return stated
    names = ", ".join(columns)
    row_counts, line_counts = Counter(row_keys), Counter(line_keys)
    for row in misplaced:
        lines_needed = 1 if lines.may_have_more_rows else row_counts[row_keys[row]]
        if lines.marks.has_ids or line_counts[row_keys[row]] < lines_needed:
            line, values = records[row].line, excerpt(list(records[row].values))
            problem = f"the row on line {line} of {rows.file}, with {names} {values}, is not here"
            remedy = "predict these rows, or leave out columns whose values are changed"
            raise lines.error(f"{problem}; {remedy}", None if stated is None else stated[row])
    order = _key_order(rows, lines, names, row_keys, line_keys)
    logger.info("%s: put to the rows of %s by %s: it has another order", lines.name, rows.file, names)
    return order


def _shared_columns(rows: DataRows, lines: PredictionLines) -> list[str]:
    """The columns beside the predictions that the data has, too. Raises InputError if it has none of them, and one has texts of the task."""
    shared_columns = [name for name in lines.marks.columns if name in rows.columns]
    text_columns = [name for name in lines.marks.columns if name in rows.task.text_columns]
    if text_columns and not shared_columns:
        problem = f"has a column {text_columns[0]!r}, and {rows.file} has none to compare it with"
        remedy = "name the data's folder, or leave the column out if the lines are in the order of the rows"
        raise lines.error(f"{problem}; {remedy}", 0)
    return shared_columns


def _key_order(rows: DataRows, lines: PredictionLines, names: str, row_keys: list[str], line_keys: list[str]) -> Order:
    """The order in which each row gets a prediction with its key. Raises InputError, with the `names` of the columns, if such predictions differ."""
    positions: dict[str, list[int]] = {}  # of the predictions, by key
    for position, key in enumerate(line_keys):
        positions.setdefault(key, []).append(position)
    for key in dict.fromkeys(row_keys):
        for position in positions[key]:
            if lines.values[position] != lines.values[positions[key][0]]:
                remedy = f"put the lines into the order of the rows of {rows.file}, or add a column {ID!r}"
                raise lines.error(f"rows with the same {names} have different predictions here; {remedy}", position)
    # Equal rows take their equal predictions from the last to the first, which serves all rows that are left.
    return [positions[key].pop() if len(positions[key]) > 1 else positions[key][0] for key in row_keys]


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
    """A value without what spreadsheets and libraries change: ' A-b!' and '"a" B' are both ab, 3 and 03.0 are both 3.0, and N/A is empty."""
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
    built_in = value.tolist() if hasattr(value, "tolist") else value  # of Python, in place of NumPy's
    if hasattr(built_in, "isoformat"):  # dates and times
        return str(built_in.isoformat())
    return [str(item) for item in built_in] if isinstance(built_in, list | tuple) else str(built_in)
