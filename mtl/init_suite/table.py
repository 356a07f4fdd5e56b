"""A data file as columns, and properties of their values."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mtl.data.columns import LIST
from mtl.data.records import Value, column_names, read_records, text
from mtl.errors import InputError
from mtl.init_suite.wording import columns_in_words

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Column:
    """One column of a file, with a value in every row. In a column of lists, `lists` are the values and `texts` is empty."""

    name: str
    texts: list[str]
    lists: list[list[str]] = field(default_factory=list)

    @cached_property
    def counts(self) -> Counter[str]:
        """In how many rows each distinct text occurs."""
        return Counter(self.texts)

    @cached_property
    def numbers(self) -> list[float] | None:
        """The distinct values in ascending order if all are finite numbers, else None."""
        if not self.texts or not all(_NUMBER.fullmatch(value) for value in self.counts):
            return None
        numbers = sorted({float(value) for value in self.counts})
        return numbers if all(map(math.isfinite, numbers)) else None

    @property
    def is_blank(self) -> bool:
        """Whether no row has a value: all are empty, or all are -1, which test sets on the Hub have instead of labels."""
        return not self.lists and (not any(map(str.strip, self.counts)) or set(self.counts) == {"-1"})

    @property
    def several_words(self) -> int:
        """The number of rows whose text has several words."""
        return sum(rows for value, rows in self.counts.items() if " " in value.strip())

    @property
    def words(self) -> list[str]:
        """The words of the column's name in lower case: relatedness_score and relatednessScore are two words each."""
        return name_words(self.name)


@dataclass(frozen=True)
class Table:
    """A file's columns. incomplete: by column, why it cannot be read; often, it has no value in some rows.

    nameless: how many columns are left out because their name is empty, as that of row numbers often is.
    """

    path: Path
    rows: int
    columns: dict[str, Column]
    incomplete: dict[str, str]
    nameless: int = 0

    def has(self, name: str) -> bool:
        """Whether a column has values in all rows."""
        return name in self.columns and not self.columns[name].is_blank

    @property
    def listed(self) -> str:
        """The file's columns, for a message."""
        return f"{self.path.name} has {columns_in_words([*self.columns, *self.incomplete])}"


def name_words(column: str) -> list[str]:
    """The words of a column's last key, in lower case."""
    key = column.removesuffix("[]").rsplit(".", 1)[-1]
    return re.findall(r"[^\W_]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).lower()) or [""]


def read_table(path: Path) -> Table:
    """Read a whole file, without columns whose name is empty. Raises InputError if none of its columns can be read.

    All columns are read together. If that fails, they are read one by one, so that a missing value in one column does not
    prevent reading the others.
    """
    found = column_names(path)
    names = [name for name in dict.fromkeys(found) if name.removesuffix(LIST).rpartition(".")[2].strip()]
    nameless = sum(name not in names for name in found)
    if not names:
        raise InputError(f"{path}: has no columns with a name and texts or numbers")
    try:
        rows = [record.values for record in read_records(path, names)]
        columns = {
            name: _column(name, list(values)) for name, values in zip(names, zip(*rows, strict=True), strict=True)
        }
        return Table(path, len(rows), columns, {}, nameless)
    except InputError as error:
        first = error
    columns, incomplete = {}, {}
    for name in names:
        try:
            columns[name] = _column(name, [record.values[0] for record in read_records(path, [name])])
        except InputError as error:
            incomplete[name] = str(error)
    if not columns:
        raise first
    column = next(iter(columns.values()))
    return Table(path, len(column.texts or column.lists), columns, incomplete, nameless)


def _column(name: str, values: list[Value]) -> Column:
    if isinstance(values[0], list):
        return Column(name, [], [value for value in values if isinstance(value, list)])
    return Column(name, [text(value) for value in values])
