"""All rows of a data file as records, with the values of the columns that are asked for. `mtl.data.forms` describes the forms of files."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.data.columns import LIST, Value, names_in, nullable_value, optional_value, printable_names, value_of
from mtl.data.forms import PLAIN, SEPARATORS, TABLES, form_of, read_table, separator_of, value_part
from mtl.data.parquet import parquet_names
from mtl.data.rows import stream_rows
from mtl.tasks.layout import Layout
from mtl.tasks.task import NUMBERED

FIRST_ROWS = 100  # of a file of objects are read for its columns' names
OBJECTS = ("jsonl", "json", "parquet")  # the forms whose values have types; in the others, each is a text

Lookup = Callable[[object, str], Any]  # a nested row, a column's name -> its value in the row; raises ValueError


@dataclass(frozen=True, slots=True)
class Record:
    """One row: where it stands in its file, and the values of the columns that are asked for."""

    line: int  # on which the row begins; a header is line 1. In parquet and in SQuAD's form of JSON: the number of the row, from 1
    values: tuple[Value, ...]  # in the order of these columns


def read_records(
    path: Path, columns: Sequence[str], extra: Sequence[str] = (), layout: Layout = PLAIN, nullable: Sequence[str] = ()
) -> list[Record]:
    """All rows of a file, none dropped, with the values of these columns, and then those of extra columns.
    `extra` are further columns that the file has; the value is None where a row of objects has no text or number there.
    `nullable` are those of the columns whose value is None where a row of objects has null. Raises InputError, which names the file and the line: for
    an unknown suffix, a file that cannot be read or is damaged, a missing column or value, a row with too few or too many cells, and for no rows."""
    lookups = [(column, nullable_value if column in nullable else value_of) for column in columns]
    return _read(path, [*lookups, *((column, optional_value) for column in extra)], layout)


def read_fields(path: Path, layout: Layout = PLAIN) -> dict[str, list[Value | None]]:
    """The values of each column that holds texts or numbers, by the column's name; None where a row has no such value. Lists are left out, and
    columns that share a name. Errors are as in `read_records`, except for missing values."""
    names = column_names(path, layout)
    columns = [name for name, count in Counter(names).items() if not name.endswith(LIST) and count == 1]
    records = _read(path, [(column, optional_value) for column in columns], layout)
    return {name: [record.values[number] for record in records] for number, name in enumerate(columns)}


def column_names(path: Path, layout: Layout = PLAIN) -> list[str]:
    """The names of a file's columns in their order; of a file of objects, those of its first 100 rows, unless null. Errors: as `read_records`."""
    if form_of(path, layout) in TABLES and layout.beside is None:
        return list(read_table(path, layout)[0])  # of numbered parts, the names in the first one
    if form_of(path, layout) == "parquet" and layout.beside is None:
        return parquet_names(path)
    rows = islice(stream_rows(path, layout), FIRST_ROWS)
    return list(dict.fromkeys(name for _, row in rows for name in names_in(row)))


def _read(path: Path, lookups: Sequence[tuple[str, Lookup]], layout: Layout) -> list[Record]:
    """The records of a file with the values of these columns, each with what finds its value in a row of objects."""
    columns = [column for column, _ in lookups]
    if form_of(path, layout) in TABLES and layout.beside is None and layout.part != NUMBERED:
        return _cell_records(path, columns, layout)
    records = []
    for line, row in stream_rows(path, layout, columns):
        try:
            records.append(Record(line, tuple([lookup(row, column) for column, lookup in lookups])))
        except ValueError as error:
            raise InputError(str(error), path=path, line=line) from None
    if not records:
        raise InputError("no rows", path=path)
    return records


def _cell_records(path: Path, columns: Sequence[str], layout: Layout) -> list[Record]:
    header, rows = read_table(path, layout)
    part_column, part_value = value_part(path, layout)
    counts = Counter(header)
    for column in columns if part_column is None else [*columns, part_column]:
        if column not in counts:
            raise InputError(_no_column(path, column, header, layout), path=path, line=1)
        if counts[column] > 1:
            problem = f"column {column!r} stands more than once in the header; rename the others"
            raise InputError(problem, path=path, line=1)
    positions = [header.index(column) for column in columns]
    if part_column is not None:
        part_position = header.index(part_column)
        rows = ((line, cells) for line, cells in rows if cells[part_position] == part_value)
    records = [Record(line, tuple([cells[position] for position in positions])) for line, cells in rows]
    if records:
        return records
    no_part = f"no row has {part_value!r} in a column {part_column!r}"
    raise InputError("no rows after the header" if part_column is None else no_part, path=path)


def _no_column(path: Path, column: str, header: Sequence[str], layout: Layout) -> str:
    """What is wrong with a header that lacks a column, and what to do."""
    separator, _ = separator_of(path, layout)
    problem = f"no column {column!r} in the header; it has {printable_names(list(header))}"
    if near := [name for name in header if name.strip(" \"'").lower() == column.strip().lower()]:
        return f"no column {column!r} in the header, but {near[0]!r}; write the name as it stands there"
    if len(header) == 1:
        for sign, signs in SEPARATORS.items():
            if sign != separator and column in [name.strip() for name in header[0].split(sign)]:
                return f"{problem}; if {signs} set the cells apart, write reading: {{separator: {json.dumps(sign)}}}"
    return problem
