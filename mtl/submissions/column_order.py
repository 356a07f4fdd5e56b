"""The order of predictions that have columns of the data beside them: each row gets the prediction beside its own values."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.names import one_spelling
from mtl.data.records import Record
from mtl.submissions.lines import ID, Order, PredictionLines
from mtl.submissions.row_files import show

# Texts that pandas reads as missing values and writes as empty cells, in lower case.
MISSING = {"nan", "-nan", "na", "n/a", "<na>", "#n/a", "#na", "null", "none"}


def column_order(
    lines: PredictionLines, file: Path, columns: Sequence[str], records: Sequence[Record], expected: Order | None
) -> Order | None:
    """The order in which each row gets a prediction beside its values in the columns, which `records` have: the expected one, if they agree. Raises
    InputError for a row whose values stand beside too few predictions, or not beside its id, and for equal rows with different predictions."""
    values_beside = list(zip(*(lines.marks.columns[name] for name in columns), strict=True))
    row_keys, line_keys = _comparable_keys([record.values for record in records], values_beside)
    misplaced = [row for row, key in enumerate(row_keys) if expected is None or line_keys[expected[row]] != key]
    if not misplaced:
        return expected
    positions = defaultdict[str, list[int]](list)  # of the predictions, by the key of the values beside them
    for position, key in enumerate(line_keys):
        positions[key].append(position)
    names, equal_rows = ", ".join(columns), Counter(row_keys)
    for row in misplaced:
        lines_needed = 1 if lines.are_rows else equal_rows[row_keys[row]]
        if lines.marks.has_ids or len(positions[row_keys[row]]) < lines_needed:
            raise _absent_row_error(lines, file, names, records[row], None if expected is None else expected[row])
    for key in equal_rows:
        for position in positions[key]:
            if lines.values[position] != lines.values[positions[key][0]]:
                raise _equal_rows_error(lines, file, names, position)
    logger.info("%s: put to the rows of %s by %s: it has another order", lines.name, file, names)
    order = []
    for key in row_keys:
        # Equal rows take their equal predictions from the last to the first, which serves all rows that are left.
        remaining = positions[key]
        order.append(remaining.pop() if len(remaining) > 1 else remaining[0])
    return order


def _absent_row_error(lines: PredictionLines, file: Path, names: str, row: Record, position: int | None) -> InputError:
    problem = f"the row on line {row.line} of {file}, with {names} {show(list(row.values))}, is not here"
    remedy = "predict these rows, or leave out columns whose values are changed"
    return lines.error(f"{problem}; {remedy}", position)


def _equal_rows_error(lines: PredictionLines, file: Path, names: str, position: int) -> InputError:
    problem = f"rows with the same {names} have different predictions here"
    remedy = f"put the lines into the order of the rows of {file}, or add a column {ID!r}"
    return lines.error(f"{problem}; {remedy}", position)


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
    return json.dumps([_plain(value) for value in values], ensure_ascii=False)


def loose_key(values: Sequence[Any]) -> str:
    """What is equal for the values of one row in two files of which one went through a spreadsheet or a library."""
    return "\n".join(_loose_text(value) for value in values)


def _loose_text(value: Any) -> str:
    """A value without what spreadsheets and libraries change: nothing if it is missing, a number in one form, the letters and digits of a text."""
    plain = _plain(value)
    spelled = one_spelling(plain if isinstance(plain, str) else " ".join(plain)).strip()
    if spelled.casefold() in MISSING:
        return ""
    try:
        return repr(float(spelled))
    except ValueError:
        return re.sub(r"[\W_]+", "", spelled).casefold()


def _plain(value: Any) -> str | list[str]:
    """A value of JSON, of a table, or of Python as a text, or as a list of texts."""
    plain = value.tolist() if hasattr(value, "tolist") else value  # of NumPy
    if hasattr(plain, "isoformat"):  # dates and times
        return str(plain.isoformat())
    return [str(item) for item in plain] if isinstance(plain, list | tuple) else str(plain)
