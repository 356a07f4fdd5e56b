"""The content of a data file as columns: all rows of a file of usual size, a random sample of a large one."""

import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.guess import count, quoted, quoted_names
from mtl.data.columns import INTEGER_LIMIT, LIST, is_list, items_of, kind_of, lists_below, text
from mtl.data.forms import MOST_COLUMNS, TABLES, form_of
from mtl.data.parquet import opened_parquet
from mtl.data.records import OBJECTS, column_names
from mtl.data.rows import stream_rows
from mtl.tasks.layout import Layout

SAMPLE_ROWS = 50_000  # of a file that are looked at
SAMPLE_SIZE = 2**26  # characters of texts in them
NAMELESS = "no name"  # of a column, often that of row numbers
SPAN_LIST = "a list of spans, which reading.spans reads, or kind: answer in a suite file (docs/how-to/own-suite.md)"
# The words in the names of whole numbers with which a span begins, and ends; in lists the places of these numbers.
STARTS, STOPS = {"start", "begin", "from", "0"}, {"end", "stop", "to", "1"}

CellsByColumn = dict[str, dict[int, Any]]  # by column and row number in a sample: rows may have keys of their own


@dataclass(frozen=True)
class FileTable:
    """A file's columns."""

    path: Path
    layout: Layout
    rows: int  # of the whole file
    columns: dict[str, FileColumn]
    incomplete: dict[str, str] = field(default_factory=dict)  # for each column that lacks a value in some rows, where
    unread: dict[str, str] = field(default_factory=dict)  # what columns hold that no task can read: "a list of objects"

    @property
    def is_nested(self) -> bool:
        """Whether the rows are objects, whose keys may hold lists and further objects."""
        return form_of(self.path, self.layout) in OBJECTS

    def has(self, name: str) -> bool:
        """Whether the file has a column of this name that can be read and is not blank."""
        return name in self.columns and not self.columns[name].is_blank

    def lacks(self, name: str) -> bool:
        """Whether no row of the file has a value in a column. One that some rows lack, or that cannot be read, does not count."""
        column = self.columns.get(name)
        return column.is_blank if column is not None else name not in {*self.incomplete, *self.unread}

    def whole(self, name: str) -> FileColumn:
        """A column with the counts of all rows of the file, which is read again if texts were sampled. A column of lists is returned as it is."""
        column = self.columns[name]
        if column.lists or len(column.texts) == self.rows:
            return column
        counts = Counter(value for (value,) in self.cells([name]))
        return FileColumn(name, column.texts, labels=column.labels, all_counts=counts)

    def cells(self, names: Sequence[str]) -> Iterator[list[Any]]:
        """The values of columns in all rows of the file, which is read again: texts, or lists of them. Raises InputError where one cannot be had."""
        for line, row in stream_rows(self.path, self.layout):
            values = dict(_flat(row, self.is_nested))
            empty = [name for name, value in values.items() if value == []]
            for name in names:
                if name not in values and any(_is_key_of(name, objects) for objects in empty):
                    values[name] = []
                value = values.get(name)
                if value is None or isinstance(value, _Unreadable):
                    problem = "has no value" if value is None else f"is {value.kind}"
                    raise InputError(f"column {quoted(name)} {problem}", path=self.path, line=line)
            yield [values[name] for name in names]

    @property
    def listed(self) -> str:
        return f"{self.path.name} has {quoted_names([*self.columns, *self.incomplete, *self.unread])}"


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


def read_table(path: Path, layout: Layout = Layout()) -> FileTable:  # noqa: B008 - a frozen value
    """Read a file. Raises InputError for one that cannot be read, or has no rows."""
    rows, sample = _sample(stream_rows(path, layout))
    if not rows:
        raise InputError("no rows; add some, or leave the file out, as with files.test=null", path=path)
    form, table = form_of(path, layout), FileTable(path, layout, rows, {})
    header = Counter(column_names(path, layout) if form in TABLES else [])
    features = parquet_features(path) if form == "parquet" else {}
    for name, cells in _cells_by_column(sample, table).items():
        if not name.removesuffix(LIST).rpartition(".")[2].strip():
            table.unread[name] = NAMELESS
        elif header[name] > 1:
            table.unread[name] = f"the name of {header[name]} columns"
        else:
            _add_column(table, name, cells, [line for line, _ in sample], labels_of(features, name))
    if not (table.columns or table.incomplete or table.unread):
        raise InputError("has no columns with a name and texts or numbers", path=path)
    return table


def _cells_by_column(sample: Sequence[tuple[int, Any]], table: FileTable) -> CellsByColumn:
    """The values of each column of a table in a sample of its rows. Raises InputError for too many columns."""
    values: CellsByColumn = {}
    for number, (_, row) in enumerate(sample):
        for name, value in _flat(row, table.is_nested):
            values.setdefault(name, {})[number] = value
        if len(values) > MOST_COLUMNS:
            raise InputError(f"more than {MOST_COLUMNS:,} columns, the most that mtl reads", path=table.path)
    _merge_empty_lists(values)
    _drop_parts_of_spans(values)
    return values


def _merge_empty_lists(values: CellsByColumn) -> None:
    """Give the columns of the keys of a list's objects an empty list in the rows in which the list is empty, and so shows none of its keys."""
    for objects in [name for name, cells in values.items() if name.endswith(LIST) and not any(cells.values())]:
        keys = [name for name in values if _is_key_of(name, objects)]
        for name in keys:
            values[name] = dict(sorted({**values[name], **values[objects]}.items()))
        if keys:
            del values[objects]


def _drop_parts_of_spans(values: CellsByColumn) -> None:
    """Delete the columns below a list of spans. Rows have them where the list does not look like one of spans: it is empty, or a place is null."""
    for spans in [name for name, cells in values.items() if _Unreadable(SPAN_LIST) in cells.values()]:
        for name in [name for name in values if name.startswith((f"{spans}.", f"{spans}{LIST}"))]:
            del values[name]


class _Unreadable(NamedTuple):
    """A value that no task can read."""

    kind: str  # what it is, as in "a list of objects"


def _flat(row: Mapping[str, Any], is_nested: bool, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The columns of a nested row: the name of each, and its value: a text, a list of texts, None or `_Unreadable`."""
    for key, value in row.items():
        name = f"{prefix}{key}"
        if is_nested and ("." in key or key.endswith(LIST)):
            yield name, _Unreadable("a key with a dot or brackets, which no column's name reaches")
        elif _are_spans(value):
            yield name, _Unreadable(SPAN_LIST)
        elif isinstance(value, dict):
            yield from _flat(value, is_nested, f"{name}.") if value else [(name, None)]
        elif is_list(value):
            yield f"{name}{LIST}", list(map(text, value))
        elif isinstance(value, list):
            lists = lists_below(value)
            yield from ((f"{name}.{inner_key}{LIST}", items) for inner_key, items in lists.items())
            if not lists:
                kinds = {kind_of(item).removeprefix("a ").removeprefix("an ") for item in value}
                yield name, _Unreadable(f"a list of {' and '.join(sorted(f'{kind}s' for kind in kinds))}")
        elif value is None or isinstance(value, str):
            yield name, value
        elif isinstance(value, int) and not -INTEGER_LIMIT <= value < INTEGER_LIMIT:
            yield name, _Unreadable("an integer of more than 64 bits")
        elif isinstance(value, float) and not math.isfinite(value):
            yield name, _Unreadable("a number that is not finite")
        else:
            yield name, text(value) if isinstance(value, int | float) else _Unreadable(kind_of(value))


def _are_spans(value: Any) -> bool:
    """Whether the items of a list, or the objects of an object, have the whole numbers with which a span begins and ends, and a text."""
    items = items_of(value)
    members = value.values() if isinstance(value, dict) else items  # `items` has only the objects among them
    if not all(isinstance(member, dict | list) for member in members):
        return False
    leaves = list(chain.from_iterable(map(_leaves, items)))
    words = set(chain.from_iterable(FileColumn(key, []).words for key, leaf in leaves if type(leaf) is int))
    return bool(words & STARTS and words & STOPS) and any(isinstance(leaf, str) for _, leaf in leaves)


def _leaves(item: Any) -> Iterator[tuple[str, Any]]:
    """The texts and numbers of an item, and of what is below it, each with its key, or its place in a list."""
    for key, value in item.items() if isinstance(item, dict) else enumerate(item):
        if isinstance(value, dict) or is_list(value):
            yield from _leaves(value)
        else:
            yield str(key), value


def _is_key_of(name: str, objects: str) -> bool:
    """Whether a column holds a key of each object of a list. An empty list shows none of its keys."""
    return name.endswith(LIST) and name.startswith(f"{objects.removesuffix(LIST)}.")


def _add_column(table: FileTable, name: str, cells: Mapping[int, Any], lines: Sequence[int], labels: list[str]) -> None:
    """Add a column to a table, with its values by the number of the row in the sample, whose rows stand in these lines."""
    present = [cell for cell in cells.values() if cell is not None]
    if unreadable := next((cell for cell in present if isinstance(cell, _Unreadable)), None):
        table.unread[name] = unreadable.kind
    elif len(present) == len(lines):
        texts, lists = ([], present) if isinstance(present[0], list) else (present, [])
        table.columns[name] = FileColumn(name, texts, lists, labels)
    elif present:  # else null in all rows
        line = next(line for number, line in enumerate(lines) if cells.get(number) is None)
        missing = count(len(lines) - len(present), "row")
        table.incomplete[name] = f"{table.path.name}:{line}: column {quoted(name)} has no value, as in {missing}"


def parquet_features(path: Path) -> Any:
    """What a file's metadata says about its columns, if the library datasets wrote it; it is not trusted. Raises InputError as `opened_parquet`."""
    with opened_parquet(path) as file:
        metadata = file.schema_arrow.metadata or {}
    try:
        return json.loads(metadata[b"huggingface"])["info"]["features"]
    except (LookupError, TypeError, ValueError, RecursionError):
        return {}


def labels_of(features: Any, column: str) -> list[str]:
    """The labels that a column's integers are indices of, by the file's metadata; or none."""
    try:
        feature = features[column.removesuffix(LIST)]
        if column.endswith(LIST):
            feature = feature[0] if isinstance(feature, list) else feature["feature"]
        labels = feature["names"]
    except (LookupError, TypeError):
        return []
    return labels if isinstance(labels, list) and all(isinstance(label, str) for label in labels) else []


def _sample(rows: Iterable[tuple[int, Any]]) -> tuple[int, list[tuple[int, Any]]]:
    """The number of rows, and a random sample of at most SAMPLE_ROWS and about SAMPLE_SIZE characters, in their order. Of a smaller file the sample
    has all rows. Each row is equally probable: whenever there are too many, each stays with probability 1/2."""
    chance, share = random.Random(0), 1.0
    kept: list[tuple[int, Any]] = []
    number = size = 0
    for row in rows:
        number += 1
        if chance.random() < share:
            kept.append(row)
            size += _size(row[1])
        while len(kept) > 1 and (len(kept) > SAMPLE_ROWS or size > SAMPLE_SIZE):
            share /= 2
            kept = [earlier for earlier in kept if chance.random() < 0.5] or kept[:1]
            size = sum(_size(values) for _, values in kept)
    return number, kept


def _size(value: Any) -> int:
    """About how many characters a row holds."""
    if isinstance(value, dict | list):
        return sum(map(_size, value.values() if isinstance(value, dict) else value))
    return len(value) if isinstance(value, str) else 8
