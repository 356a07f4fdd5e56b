"""The content of a data file as columns: all rows of a file of usual size, a random sample of a large one."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError, locating
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.nested_rows import Cell, Unreadable, cells_by_column, is_key_of, row_cells
from mtl.benchmark_making.init_suite.wording import quantity, quoted, quoted_names
from mtl.data.columns import LIST
from mtl.data.forms import PLAIN, TABLES, NumberedRows, form_of
from mtl.data.parquet import labels_of, parquet_features
from mtl.data.records import OBJECTS, column_names
from mtl.data.rows import stream_rows
from mtl.tasks.layout import Layout

SAMPLE_ROWS = 50_000  # of a file that are looked at
SAMPLE_SIZE = 2**26  # characters of them, about
MADE_UP = "column_"  # before the number of a column without a name
MOST_GAPS = 2  # incomplete columns that a message explains
NAMELESS = "no name"  # of a column, often that of row numbers


@dataclass(frozen=True)
class FileTable:
    """A file's columns. Each of them stands in one of three dictionaries, unless no row has a value in it."""

    path: Path
    layout: Layout
    rows: int  # of the whole file
    columns: dict[str, FileColumn]  # those with a text, or a list of texts, in every row
    incomplete: dict[str, str]  # for each column that lacks a value in some rows, where
    unread: dict[str, str]  # what columns hold that no task can read: "a list of objects"

    def has(self, name: str) -> bool:
        """Whether the file has a column of this name that can be read and is not blank."""
        return name in self.columns and not self.columns[name].is_blank

    def lacks(self, name: str) -> bool:
        """Whether no row of the file has a value in a column. One that some rows lack, or that cannot be read, does not count."""
        return not self.has(name) and name not in {*self.incomplete, *self.unread}

    @property
    def listed(self) -> str:
        """The file and all its columns, as a part of a message."""
        are_made_up = (self.layout.header or [""])[0].startswith(MADE_UP)
        hint = " (answer header=true if its first line has other names)" if are_made_up else ""
        return f"{self.path.name} has {quoted_names([*self.columns, *self.incomplete, *self.unread])}{hint}"

    @property
    def gaps(self) -> list[str]:
        """Where values are missing, of the first incomplete columns: one of them may be the column that no other one looks like."""
        return list(self.incomplete.values())[:MOST_GAPS]

    def readable_column(self, name: object) -> FileColumn:
        """The column of this name. Raises InputError if the file has none, or one that cannot be read."""
        if not isinstance(name, str) or name not in {*self.columns, *self.incomplete}:
            raise InputError(f"no column {quoted(str(name))}: {self.listed}")
        if name in self.incomplete:
            raise InputError(self.incomplete[name])
        return self.columns[name]

    def whole(self, name: str) -> FileColumn:
        """A column with the counts of all rows of the file, which is read again if texts were sampled. A column of lists is returned as it is."""
        column = self.columns[name]
        if column.lists or len(column.texts) == self.rows:
            return column
        return replace(column, whole_counts=Counter(value for (value,) in self.cells([name])))

    def cells(self, names: Sequence[str]) -> Iterator[list[Any]]:
        """The values of columns in all rows of the file, which is read again: texts, or lists of them. Raises InputError where one cannot be had."""
        are_objects = form_of(self.path, self.layout) in OBJECTS
        for line, row in stream_rows(self.path, self.layout):
            with locating(path=self.path, line=line):
                cells = row_cells(row, are_objects)
                values = [_value(cells, name) for name in names]
            yield values


class SplitTables(dict[str, FileTable]):
    """The files of a task by split."""

    @property
    def main(self) -> FileTable:
        """The file with targets that decides most: train, or else dev, or else test."""
        return self.get("train") or self.get("dev") or self["test"]

    @property
    def test(self) -> FileTable | None:
        """The test file, if it is another one."""
        return self.get("test") if self.get("test") is not self.main else None


def read_table(path: Path, layout: Layout = PLAIN) -> FileTable:
    """Read a file. Raises InputError for one that cannot be read, or has no rows."""
    total, sample = _sample(stream_rows(path, layout))
    if not total:
        raise InputError("no rows; add some, or leave the file out, as with files.test=null", path=path)
    form = form_of(path, layout)
    columns_by_name = Counter(column_names(path, layout) if form in TABLES else [])
    features = parquet_features(path) if form == "parquet" else {}
    table = FileTable(path, layout, total, {}, {}, {})
    for name, cells in cells_by_column([row for _, row in sample], form in OBJECTS, path).items():
        values: list[Any] = [cell for cell in cells.values() if cell is not None]
        unreadable = next((cell.kind for cell in values if isinstance(cell, Unreadable)), None)
        if not name.removesuffix(LIST).rpartition(".")[2].strip():
            table.unread[name] = NAMELESS
        elif columns_by_name[name] > 1:
            table.unread[name] = f"the name of {columns_by_name[name]} columns"
        elif unreadable:
            table.unread[name] = unreadable
        elif len(values) == len(sample):
            texts, lists = ([], values) if isinstance(values[0], list) else (values, [])
            table.columns[name] = FileColumn(name, texts, lists, labels_of(features, name))
        elif values:
            line = next(line for number, (line, _) in enumerate(sample) if cells.get(number) is None)
            missing = quantity(len(sample) - len(values), "row")
            table.incomplete[name] = f"{path.name}:{line}: column {quoted(name)} has no value, as in {missing}"
    if not (table.columns or table.incomplete or table.unread):
        raise InputError("has no columns with a name and texts or numbers", path=path)
    return table


def _value(cells: Mapping[str, Cell], name: str) -> str | list[str]:
    """The value of a column in a row with these cells. Raises InputError if there is none; an empty list has no keys, but a value for each."""
    cell = cells.get(name)
    if name not in cells and any(items == [] and is_key_of(name, objects) for objects, items in cells.items()):
        return []
    if cell is None or isinstance(cell, Unreadable):
        raise InputError(f"column {quoted(name)} {'has no value' if cell is None else f'is {cell.kind}'}")
    return cell


def _sample(rows: NumberedRows) -> tuple[int, list[tuple[int, dict[str, Any]]]]:
    """The number of rows, and a random sample of at most SAMPLE_ROWS and about SAMPLE_SIZE characters, in their order, if these are not all rows.
    Each row is equally probable: whenever there are too many, each stays with probability 1/2. Of very long rows, the first stays if none does."""
    chance, share = random.Random(0), 1.0
    kept: list[tuple[int, dict[str, Any]]] = []
    size = total = 0
    for line, row in rows:
        total += 1
        if chance.random() < share:
            kept.append((line, row))
            size += len(str(row))
        while len(kept) > 1 and (len(kept) > SAMPLE_ROWS or size > SAMPLE_SIZE):
            share /= 2
            kept = [numbered_row for numbered_row in kept if chance.random() < 0.5] or kept[:1]
            size = sum(len(str(kept_row)) for _, kept_row in kept)
    return total, kept
