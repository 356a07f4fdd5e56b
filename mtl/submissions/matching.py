"""Which predictions belong to which rows of the data: by ids, or by the values of the columns that stand beside both."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.names import one_spelling
from mtl.data.columns import text
from mtl.data.records import Record
from mtl.submissions.lines import ID, Order, PredictionLines
from mtl.submissions.row_files import show

# Texts that pandas reads as missing values and writes as empty cells, in lower case.
MISSING = {"nan", "-nan", "na", "n/a", "<na>", "#n/a", "#na", "null", "none"}

Values = Sequence[Any]  # of one row, in the columns that are compared


def match_ids(lines: PredictionLines, rows: Mapping[str, int], described: str, is_sample: bool) -> list[int]:
    """The order in which each row gets the prediction with its id. `rows` has the number of each row by its id; `described` are the rows in messages.
    Raises InputError for a row without a prediction, an id that stands twice, and one that no row has, unless the rows are a sample."""
    positions: dict[int, int] = {}
    for position, id in enumerate(lines.marks.ids or ()):
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise lines.error(f"id {show(id)} must be a text or a whole number", position)
        row = rows.get(text(id))
        if row is None and is_sample:
            continue
        if row is None and lines.marks.number_column is not None:
            raise number_error(lines, position, described)
        if row is None:
            raise lines.error(f"id {show(id)} is not among {described}; is this another file's?", position)
        earlier = positions.setdefault(row, position)
        if earlier != position:
            where = f"in row {earlier + 1}" if lines.lines is None else f"on line {lines.lines[earlier]}"
            raise lines.error(f"id {show(id)} stands {where} already", position)
    if lacking := [id for id, row in rows.items() if row not in positions]:
        raise lines.error(f"{len(lacking)} of {described} have no prediction; the first has the id {lacking[0]!r}")
    return [positions[row] for row in range(len(rows))]


def number_error(lines: PredictionLines, position: int, described: str) -> InputError:
    """What is wrong with a column that has neither the numbers nor the ids of the rows that are described."""
    name, ids = f"column {lines.marks.number_column!r}", lines.marks.ids or ()
    problem = f"{name} has {show(ids[position])}, which neither numbers {described} from 0 or 1 nor is an id of theirs"
    if repeated := next((id for id, count in Counter(ids).items() if count > 1), None):
        problem = f"{name} repeats {repeated}"
    return lines.error(f"{problem}; if the predictions are in the order of the data, leave it out", position)


def match_columns(
    lines: PredictionLines, file: Path, columns: Sequence[str], records: Sequence[Record], presumed: Order | None
) -> Order | None:
    """The order in which each row gets the prediction beside which its values stand: the presumed one, of ids, numbers or lines, if all values are
    equal in it, else another. `columns` stand in the data file and beside the predictions; `records` are the file's rows with their values. Raises
    InputError for a row whose values stand beside too few predictions, or not beside its id, and for equal rows with different predictions."""
    values_beside = [*zip(*(lines.marks.columns[name] for name in columns), strict=True)]
    row_keys, line_keys = _shared_keys([record.values for record in records], values_beside)
    misplaced = [row for row, key in enumerate(row_keys) if presumed is None or line_keys[presumed[row]] != key]
    if not misplaced:
        return presumed
    positions, equal_rows = defaultdict[str, list[int]](list), Counter(row_keys)  # by key
    for position, key in enumerate(line_keys):
        positions[key].append(position)
    for row in misplaced:
        key, record = row_keys[row], records[row]
        needed = 1 if lines.are_rows else equal_rows[key]
        if lines.marks.has_ids or len(positions[key]) < needed:
            values = f"{', '.join(columns)} {show(list(record.values))}"
            problem = f"the row on line {record.line} of {file}, with {values}, is not here"
            remedy = "predict these rows, or leave out columns whose values are changed"
            raise lines.error(f"{problem}; {remedy}", None if presumed is None else presumed[row])
    for key in equal_rows:
        first, *others = positions[key]
        if unequal := [position for position in others if lines.values[position] != lines.values[first]]:
            problem = f"rows with the same {', '.join(columns)} have different predictions here"
            remedy = f"put the lines into the order of the rows of {file}, or add a column {ID!r}"
            raise lines.error(f"{problem}; {remedy}", unequal[0])
    logger.info("%s: put to the rows of %s by %s: it has another order", lines.name, file, ", ".join(columns))
    # Equal rows take their equal predictions from the last to the first, which serves all rows that are left.
    return [positions[key].pop() if len(positions[key]) > 1 else positions[key][0] for key in row_keys]


def _shared_keys(rows: Sequence[Values], lines: Sequence[Values]) -> tuple[list[str], list[str]]:
    """A key for each row and each line, equal where they belong together. Only values that stand on no line as they are may have been changed."""
    exact_rows, exact_lines = [*map(exact_key, rows)], [*map(exact_key, lines)]
    unchanged = {*exact_rows} & {*exact_lines}
    row_keys = [key if key in unchanged else loose_key(row) for key, row in zip(exact_rows, rows, strict=True)]
    line_keys = [key if key in unchanged else loose_key(line) for key, line in zip(exact_lines, lines, strict=True)]
    return row_keys, line_keys


def exact_key(values: Values) -> str:
    """What is equal for the values of one row in two files that have the same texts."""
    return json.dumps([_plain(value) for value in values], ensure_ascii=False)


def loose_key(values: Values) -> str:
    """What is equal for the values of one row in two files of which one went through a spreadsheet or a library: letters, digits and numbers."""
    parts = []
    for value in values:
        plain = _plain(value)
        joined = plain if isinstance(plain, str) else " ".join(plain)
        spelled = one_spelling(joined).strip()
        try:
            parts.append("" if spelled.casefold() in MISSING else repr(float(spelled)))
        except ValueError:
            parts.append(re.sub(r"[\W_]+", "", spelled).casefold())
    return "\n".join(parts)


def _plain(value: Any) -> str | list[str]:
    """A value of JSON, of a table, or of Python as a text, or as a list of texts."""
    plain = value.tolist() if hasattr(value, "tolist") else value  # of NumPy
    if hasattr(plain, "isoformat"):  # dates and times
        return str(plain.isoformat())
    return [str(item) for item in plain] if isinstance(plain, list | tuple) else str(plain)
