"""Data files that mtl writes: rows of columns, in the form that a file's suffix names."""

import csv
import json
import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.data.columns import LIST, Value, text
from mtl.data.parquet import parquet_errors

SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")  # of the files that mtl writes


def write_records(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> int:
    """Write rows of these columns' values to a file, in the form that its suffix names. Returns how many values were changed: in a tsv file,
    each tab and each line end becomes a space. Raises InputError for another suffix, and for values that a file of this form cannot hold."""
    suffix = path.suffix.lower()
    changed = 0
    if suffix not in SUFFIXES:
        raise InputError(f"unknown format; a data file's name ends in {', '.join(SUFFIXES)}", path=path)
    try:
        if suffix == ".parquet":
            content = [nested(columns, values) for values in rows]
            with parquet_errors(path, "cannot be written", "give each column values of one type") as (pyarrow, parquet):
                parquet.write_table(pyarrow.Table.from_pylist(content), path)
        elif suffix == ".jsonl":
            lines = [json.dumps(nested(columns, values), ensure_ascii=False) + "\n" for values in rows]
            path.write_text("".join(lines), encoding="utf-8", newline="")
        else:
            cells = [[text(value) for value in values] for values in rows]
            if suffix == ".csv":
                with path.open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file).writerows([columns, *cells])
            else:
                changed = _write_tsv(path, columns, cells)
    except ValueError as error:
        raise InputError(f"cannot be written: {error}", path=path) from None
    return changed


def _write_tsv(path: Path, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> int:
    """Write a table with tabs between its cells. Returns the number of cells with a tab or a line end, each of which becomes a space."""
    kept = [[re.sub("\r\n|[\t\r\n]", " ", cell) for cell in row] for row in cells]
    path.write_text("".join("\t".join(row) + "\n" for row in [columns, *kept]), encoding="utf-8", newline="")
    return sum(old != new for old, new in zip(chain(*cells), chain(*kept), strict=True))


def nested(columns: Sequence[str], values: Sequence[Value]) -> dict[str, Any]:
    """The nested row in which each of these columns has its value. Raises ValueError where one column is inside another."""
    row: dict[str, Any] = {}
    for column, value in zip(columns, values, strict=True):
        *outer, last = column.removesuffix(LIST).split(".")
        inner = row
        for key in outer:
            inner = inner.setdefault(key, {}) if isinstance(inner, dict) else inner
        if not isinstance(inner, dict) or last in inner:
            raise ValueError(f"column {column!r} is inside another column")
        inner[last] = value
    return row
