"""The rows of a data file as columns, which have names for nested keys (`mtl.data.columns`) and hold texts or lists of texts.
The row {"n": 7, "first": {"text": "a b"}, "qas": [{"q": "c"}, {"q": "d"}]} has the columns n ("7"), first.text ("a b") and qas.q[] (["c", "d"])."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.data.columns import INTEGER_LIMIT, LIST, is_list, kind_of, lists_below, text
from mtl.data.forms import MOST_COLUMNS

NO_NAME = "a key with a dot or brackets, which no column's name reaches"  # why a value cannot be read
PARTS = "a list of objects, not all of whose keys are read"
PLURALS = {"null": "nulls", "an object": "objects", "a list": "lists"}  # of what `kind_of` says


@dataclass(frozen=True)
class Unreadable:
    """A value that no task can read."""

    kind: str  # what it is, as in "a list of objects"


Cell = str | list[str] | Unreadable | None
CellsByColumn = dict[str, dict[int, Cell]]  # by column and number of the row: rows may have keys that others lack


def cells_by_column(rows: Sequence[Mapping[str, Any]], are_objects: bool, path: Path) -> CellsByColumn:
    """The cells of each column of rows. Raises InputError, with the path, if there are more than MOST_COLUMNS columns."""
    columns: CellsByColumn = {}
    for number, row in enumerate(rows):
        for name, cell in row_cells(row, are_objects).items():
            columns.setdefault(name, {})[number] = cell
        if len(columns) > MOST_COLUMNS:
            raise InputError(f"more than {MOST_COLUMNS:,} columns, the most that mtl reads", path=path)
    return _with_shared_empty_lists(columns)


def row_cells(row: Mapping[str, Any], are_objects: bool, prefix: str = "") -> dict[str, Cell]:
    """The cells of a row by column. Rows that are objects have nested keys, whose names follow the prefix; other rows have texts alone."""
    cells: dict[str, Cell] = {}
    for key, value in row.items():
        name = f"{prefix}{key}"
        if are_objects and ("." in key or key.endswith(LIST)):
            cells[name] = Unreadable(NO_NAME)
        elif isinstance(value, dict) and value:
            cells |= row_cells(value, are_objects, f"{name}.")
        elif isinstance(value, list):
            cells |= _list_cells(name, value)
        else:
            cells[name] = _single_cell(value)
    return cells


def is_key_of(name: str, objects: str) -> bool:
    """Whether a column holds a key of each object of a list. An empty list shows none of its keys."""
    return name.endswith(LIST) and name.startswith(f"{objects.removesuffix(LIST)}.")


def _list_cells(name: str, items: list[Any]) -> dict[str, Cell]:
    """The cells of a list: of texts, or of each key that all its objects have. A cell of its own name says what else it has, which cannot be read."""
    if is_list(items):
        return {f"{name}{LIST}": [text(item) for item in items]}
    values_by_key = lists_below(items)
    if not values_by_key:
        return {name: Unreadable(f"a list of {' and '.join(sorted(set(map(_plural_kind, items))))}")}
    have_more_keys = any(len(item) > len(values_by_key) for item in items)
    cells: dict[str, Cell] = {name: Unreadable(PARTS)} if have_more_keys else {}
    return cells | {f"{name}.{key}{LIST}": values for key, values in values_by_key.items()}


def _plural_kind(item: object) -> str:
    """What several values of this kind are, for messages: "objects", or "values of type float"."""
    kind = kind_of(item)
    return PLURALS.get(kind) or kind.replace("a value", "values", 1)


def _single_cell(value: Any) -> Cell:
    """The cell of a value that is neither a list nor an object with keys."""
    if value is None or value == {}:
        return None
    if isinstance(value, int) and not -INTEGER_LIMIT <= value < INTEGER_LIMIT:
        return Unreadable("an integer of more than 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        return Unreadable("a number that is not finite")
    return text(value) if isinstance(value, str | int | float) else Unreadable(kind_of(value))


def _with_shared_empty_lists(columns: CellsByColumn) -> CellsByColumn:
    """The columns, where a list of objects that is empty in some rows gives each of its keys an empty list there: of the rows {"qas": [{"q": "c"}]}
    and {"qas": []}, which have the columns qas.q[] and qas[], only qas.q[] is left, with the cells ["c"] and []."""
    empty_lists = {name for name, cells in columns.items() if name.endswith(LIST) and not any(cells.values())}
    shared, merged = dict(columns), set()
    for name in columns:
        for objects in empty_lists.intersection(_lists_above(name)):
            shared[name] = dict(sorted({**shared[name], **columns[objects]}.items()))
            merged.add(objects)
    return {name: cells for name, cells in shared.items() if name not in merged}


def _lists_above(name: str) -> list[str]:
    """The columns of the lists that a column may be a key of: a[] and a.b[] for a.b.c[], but none for a column without lists."""
    keys = name.split(".") if name.endswith(LIST) else []
    return [f"{'.'.join(keys[:depth])}{LIST}" for depth in range(1, len(keys))]
