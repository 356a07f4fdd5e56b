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


@dataclass(frozen=True)
class Unreadable:
    """A value that no task can read."""

    kind: str  # what it is, as in "a list of objects"


Cell = str | list[str] | Unreadable | None
CellsByColumn = dict[str, dict[int, Cell]]  # by column and number of the row: rows may have keys that others lack


def cells_by_column(rows: Sequence[Mapping[str, Any]], are_objects: bool, path: Path) -> CellsByColumn:
    """The cells of each column of rows. Raises InputError, with the path, for too many columns."""
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
    """The cells of a list: one list of texts, or one for each key of its objects."""
    if is_list(items):
        return {f"{name}{LIST}": [text(item) for item in items]}
    if lists := lists_below(items):
        keys = {str(key) for item in items for key in (item if isinstance(item, dict) else range(len(item)))}
        parts: dict[str, Cell] = {} if keys == {*lists} else {name: Unreadable(PARTS)}
        return parts | {f"{name}.{key}{LIST}": texts for key, texts in lists.items()}
    kinds = {kind_of(item).removeprefix("a ").removeprefix("an ") + "s" for item in items}
    return {name: Unreadable(f"a list of {' and '.join(sorted(kinds))}")}


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
    """The columns, in which those of the keys of a list's objects have an empty list in the rows where the list is empty, and so shows no keys."""
    shared = dict(columns)
    empty_lists = {name for name, cells in columns.items() if name.endswith(LIST) and not any(cells.values())}
    for name in [name for name in columns if empty_lists and name.endswith(LIST)]:
        parents = [f"{name[:place]}{LIST}" for place, sign in enumerate(name) if sign == "."]
        for empty_list in empty_lists.intersection(parents):
            shared[name] = dict(sorted({**shared[name], **columns[empty_list]}.items()))
            shared.pop(empty_list, None)
    return shared
