"""Compare a file of rows with predictions with the data file that it was made from."""

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any

from mtl.data.records import parse_row
from mtl.errors import InputError
from mtl.runs.formats.row_file import PREDICTION, RowFile, prediction_target, show

MOST_PROBLEMS = 10  # of one file that are listed


def file_problems(file: RowFile, data: RowFile) -> list[str]:
    """The problems of a submission's file, as ":line: message", in order of lines; after the first 10, their number.

    Rows are the same if their values are, of equal type: 3 is not 3.0. The order of keys and white space do not count.
    """
    rows: list[dict[str, Any] | None] = []
    problems = list[tuple[int, str]]()
    for number, line in enumerate(file.lines, start=1):
        try:
            rows.append(parse_row("", number, line))
        except InputError as error:
            rows.append(None)
            problems.append((number, str(error).removeprefix(f":{number}: ")))
            continue
        try:
            prediction_target(file.task, rows[-1] or {})
        except ValueError as error:
            problems.append((number, str(error)))
    problems += _row_problems(rows, data)
    listed = [f":{number}: {problem}" for number, problem in sorted(problems)]
    further = len(listed) - MOST_PROBLEMS
    return (
        listed if further <= 1 else [*listed[:MOST_PROBLEMS], f": {further} further problems of this kind or another"]
    )


def _row_problems(rows: Sequence[dict[str, Any] | None], data: RowFile) -> Iterator[tuple[int, str]]:
    """The line and the message of each row that is changed, missing or added, and of the first that is not in order.

    rows: of the submission; None for a line that is no row.
    """
    plain = [None if row is None else {key: row[key] for key in row if key != PREDICTION} for row in rows]
    places = _places(plain, data.rows)
    left = set(range(len(data.rows))) - set(places)
    furthest = expected = -1
    in_order = True
    for number, place in enumerate(places, start=1):
        expected += 1
        if place is None and expected in left:  # stands where that row should stand
            left.remove(expected)
            if (row := plain[number - 1]) is not None:
                yield number, _difference(row, data.rows[expected])
            continue
        if place is None:
            expected -= 1
            if plain[number - 1] is not None:
                yield number, f"is none of the rows of {data.name}, or stands here once more"
            continue
        if place < furthest and in_order:
            in_order = False
            yield number, f"row {place + 1} of {data.name} stands here; the rows must be in the order of that file"
        furthest, expected = max(furthest, place), place
    for place in sorted(left):
        yield place + 1, f"row {place + 1} of {data.name} is missing"


def _places(rows: Sequence[dict[str, Any] | None], data: Sequence[dict[str, Any]]) -> list[int | None]:
    """The index of the data's row that each row is; None if it is none. Each row of the data is taken once."""
    keys = [_canonical(row) for row in data]
    free = defaultdict[str, deque[int]](deque)
    for place, key in enumerate(keys):
        free[key].append(place)
    found = [None if row is None else _canonical(row) for row in rows]
    return [free[key].popleft() if key is not None and free[key] else None for key in found]


def _canonical(row: dict[str, Any]) -> str:
    """Equal for rows with the same values of the same types, whatever the order of their keys."""
    return json.dumps(row, sort_keys=True)


def _difference(row: dict[str, Any], data: dict[str, Any], outer: str = "") -> str:
    """Which key differs, and how."""
    for key in dict.fromkeys([*data, *row]):
        name = f"{outer}{key}"
        if key not in row:
            return f"key {name!r} of the data's row is missing"
        if key not in data:
            return f"key {name!r} is not in the data's row"
        one, other = row[key], data[key]
        if isinstance(one, dict) and isinstance(other, dict) and _canonical(one) != _canonical(other):
            return _difference(one, other, f"{name}.")
        if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
            return f"key {name!r} is {show(one)}, and in the data's row {show(other)}"
    raise AssertionError("the rows are the same")
