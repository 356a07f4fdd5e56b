"""Columns of nested rows (JSON objects, rows of parquet files): their names and values.
A dot in a column's name separates nested keys (`first.context`); `[]` at its end says that the value is a list of texts or integers
(`candidate_answers[]`). Of a list of objects it is the value of a key in each of them: `answers.text[]` is the same column of `{"answers": {"text":
["x", "y"]}}` and of `{"answers": [{"text": "x"}, {"text": "y"}]}`. In a list of lists, numbers from 0 stand in place of keys: `answers.1[]`."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

Value = str | int | float | bool | list[str]  # of a column in a row; a cell of a tsv or csv file is a text

INTEGER_LIMIT = 2**63
KINDS = {type(None): "null", dict: "an object", list: "a list"}  # what error messages call such values
LIST = "[]"
KEY = "key"  # in the name of a column: the key of each object of an object (`items_of`)
TOKENS, TAGS = "tokens", "tags"  # the columns that marked spans become (`mtl.tasks.task.Reading.spans`)


def text(value: Value | None) -> str:
    """A value as the text of a cell. Raises ValueError for None and for a list."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise ValueError(f"a text or a number is expected here, not {kind_of(value)}")


def is_list(value: object) -> TypeGuard[list[str | int]]:
    """Whether a value is a list that a column may hold: of texts and integers."""
    return isinstance(value, list) and all(isinstance(item, str | int) for item in value)


def kind_of(value: object) -> str:
    """What a value is, for error messages."""
    return KINDS.get(type(value), f"a value of type {type(value).__name__}")


def value_of(row: object, column: str) -> Value:
    """The value of a column in a nested row. Raises ValueError that says why there is none."""
    name = column.removesuffix(LIST)
    value = _nested(row, name, name != column)
    if name != column:
        if is_list(value):
            return [text(item) for item in value]
        kind = kind_of(value)
        if isinstance(value, list):
            kind = "one that holds " + kind_of(next(item for item in value if not is_list([item])))
        raise ValueError(f"key {name!r}: a list of texts is expected, not {kind}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"key {name!r}: {value} is not a finite number")
    if isinstance(value, int) and not -INTEGER_LIMIT <= value < INTEGER_LIMIT:
        raise ValueError(f"key {name!r}: the integer has more than 64 bits")
    if isinstance(value, str | int | float):
        return value
    advice = f" (a list of texts is named {column}{LIST})" if isinstance(value, list) else ""
    raise ValueError(f"key {name!r}: a text or a number is expected, not {kind_of(value)}{advice}")


def _nested(row: object, name: str, in_lists: bool) -> Any:
    """What stands below nested keys, of lists in each of their items. Raises ValueError if one is missing."""
    value: Any = row
    for key in name.split("."):
        try:
            if isinstance(value, dict):
                value = value[key]
            elif in_lists and isinstance(value, list):
                value = [_keyed(item)[key] for item in value]
            else:
                raise KeyError(key)
        except KeyError:
            raise ValueError(f"no key {name!r} in this row; it has {printable_names(list(names_in(row)))}") from None
    return value


def _keyed(item: object) -> dict[str, Any]:
    """An object, or a list as an object whose keys are its places, from 0; empty for anything else."""
    if isinstance(item, list):
        return {str(place): value for place, value in enumerate(item)}
    return item if isinstance(item, dict) else {}


def nullable_value(row: object, column: str) -> Value | None:
    """The value of a column in a nested row; None where it is null. Raises ValueError as `value_of`."""
    name = column.removesuffix(LIST)
    return None if _nested(row, name, name != column) is None else value_of(row, column)


def optional_value(row: object, column: str) -> Value | None:
    """The value of a column in a nested row; None if there is none."""
    try:
        return value_of(row, column)
    except ValueError:
        return None


def names_in(row: Any, prefix: str = "") -> Iterator[str]:
    """The names of a nested row's columns that hold a text, a number or a list of texts."""
    if not isinstance(row, dict):
        return
    for key, value in row.items():
        if "." in key or key.endswith(LIST):
            continue  # no column name reaches this key
        if isinstance(value, dict):
            yield from names_in(value, f"{prefix}{key}.")
        elif is_list(value):
            yield f"{prefix}{key}{LIST}"
        elif isinstance(value, list):
            yield from (f"{prefix}{key}.{inner}{LIST}" for inner in lists_below(value))
        elif isinstance(value, str | int | float):
            yield f"{prefix}{key}"


def lists_below(items: Sequence[object]) -> dict[str, list[str]]:
    """The values of each key, or place, below which all items of a list hold a text or an integer. There must be an item."""
    keyed = list(map(_keyed, items))
    shared = [key for key in keyed[0] if all(key in item and is_list([item[key]]) for item in keyed)]
    return {key: [text(item[key]) for item in keyed] for key in shared}


def items_of(value: Any) -> list[Any]:
    """The items of a list, or the objects below the keys of an object, with each of these keys as `KEY`."""
    if isinstance(value, dict):
        return [{**item, KEY: key} for key, item in value.items() if isinstance(item, dict)]
    return value if isinstance(value, list) else []


def nested_value(item: Any, keys: Sequence[str]) -> Any:
    """What stands below nested keys, or places of lists, of an item; None: nothing."""
    for key in keys:
        item = _keyed(item).get(key)
    return item


def printable_names(names: list[str]) -> str:
    """Names in one line of an error message, whatever characters an untrusted file puts into them."""
    return ", ".join(name if name.isprintable() else ascii(name) for name in names) or "nothing"
