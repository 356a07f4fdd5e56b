"""Columns of nested rows (JSON objects, parquet rows): their names, and their values.

A dot in a column's name separates nested keys (`first.context`); `[]` at its end says that the value is a list of
texts (`candidate_answers[]`).
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

Value = str | int | float | bool | list[str]
"""What a column of a row holds. JSON and parquet keep the type; a cell of a tsv or csv file is a text."""

INTEGER_LIMIT = 2**63
LIST = "[]"


def text(value: Value | None) -> str:
    """A value as the text of a cell. Raises ValueError for None and for a list."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise ValueError(f"a text or a number is expected here, not {kind_of(value)}")


def kind_of(value: object) -> str:
    """What a value is, for error messages."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"a value of type {type(value).__name__}"


def value_of(row: object, column: str) -> Value:
    """The value of a column in a nested row. Raises ValueError that says why there is none."""
    name = column.removesuffix(LIST)
    found = row
    for key in name.split("."):
        if not isinstance(found, dict) or key not in found:
            raise ValueError(f"no key {name!r} in this row; it has {listed(list(names_in(row)))}")
        found = found[key]
    if name != column:
        if isinstance(found, list) and all(isinstance(item, str) for item in found):
            return found
        raise ValueError(f"key {name!r}: a list of texts is expected, not {_described(found)}")
    if isinstance(found, float) and not math.isfinite(found):
        raise ValueError(f"key {name!r}: {found} is not a finite number")
    if isinstance(found, int) and not -INTEGER_LIMIT <= found < INTEGER_LIMIT:
        raise ValueError(f"key {name!r}: the integer has more than 64 bits")
    if isinstance(found, str | int | float):
        return found
    advice = f" (a list of texts is named {column}{LIST})" if isinstance(found, list) else ""
    raise ValueError(f"key {name!r}: a text or a number is expected, not {kind_of(found)}{advice}")


def optional_value(row: object, column: str) -> Value | None:
    """The value of a column in a nested row; None if there is none."""
    try:
        return value_of(row, column)
    except ValueError:
        return None


def _described(found: object) -> str:
    if isinstance(found, list):
        return "one that holds " + kind_of(next(item for item in found if not isinstance(item, str)))
    return kind_of(found)


def names_in(row: Any, prefix: str = "") -> Iterator[str]:
    """The names of a nested row's columns that hold a text, a number or a list of texts."""
    if not isinstance(row, dict):
        return
    for key, value in row.items():
        if "." in key or key.endswith(LIST):
            continue  # no column name reaches this key
        if isinstance(value, dict):
            yield from names_in(value, f"{prefix}{key}.")
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            yield f"{prefix}{key}{LIST}"
        elif isinstance(value, str | int | float):
            yield f"{prefix}{key}"


def nested(columns: Sequence[str], values: Sequence[Value]) -> dict[str, Any]:
    """The nested row in which each of these columns has its value. Raises ValueError where one column is inside another."""
    row: dict[str, Any] = {}
    for column, value in zip(columns, values, strict=True):
        *outer, last = column.removesuffix(LIST).split(".")
        inner = row
        for key in outer:
            inner = inner.setdefault(key, {})
        if not isinstance(inner, dict) or last in inner:
            raise ValueError(f"column {column!r} is inside another column")
        inner[last] = value
    return row


def listed(names: list[str]) -> str:
    """Names in one line of an error message, whatever characters an untrusted file puts into them."""
    return ", ".join(name if name.isprintable() else ascii(name) for name in names) or "nothing"
