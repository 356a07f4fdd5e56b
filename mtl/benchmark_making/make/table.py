"""Tables of rows that know where they come from, and the work of a step on them: what it draws, drops and adds, and checks of its options."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.data.columns import LIST, Value, printable_names, text

MOST_VALUES = 20_000_000  # that the steps of a recipe add to those of its sources: about 4 GB of memory
SPLIT = "split"  # the column that says which split a row is in
TOKENS, TAGS = f"tokens{LIST}", f"tags{LIST}"  # the columns of the sentences of a token file

Values = dict[str, Value | None]
Range = list[float | None]  # the smallest and the largest number; null: no limit


class Origin(NamedTuple):
    """A row of a source: the path of its file below the data folder, and its line, or its number in a parquet file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class SourceRow:
    """The values of a row by column, which are never changed in place, and the rows of sources that it is made of: one, or two for a pair."""

    values: Values
    origins: tuple[Origin, ...]

    @property
    def where(self) -> str:
        """The places that the row comes from, as in `a.tsv:3 and b.tsv:5`."""
        return " and ".join(map(str, self.origins))

    def with_values(self, values: Mapping[str, Value | None]) -> "SourceRow":
        """The same row with these values, by column, new or in place of others."""
        return replace(self, values={**self.values, **values})

    def cell(self, column: str) -> str:
        """The value of a column as text. Raises InputError, which names the source's line, for no value and for a list."""
        value = self.values.get(column)
        if value is None or isinstance(value, list):
            what = "nothing" if value is None else "a list"
            raise self.error(f"{what} stands in column {column!r}, where a text is expected")
        return text(value)

    def items(self, column: str) -> list[str]:
        """The texts of a column of lists, or the one text of another column; no value is an empty list."""
        value = self.values.get(column)
        if value is None:
            return []
        return value if isinstance(value, list) else [text(value)]

    def number(self, column: str) -> float:
        """The value of a column as a number. Raises InputError, which names the source's line, for anything else."""
        cell = self.cell(column)
        with suppress(ValueError):
            if isfinite(number := float(cell)):
                return number
        raise self.error(f"{cell!r} in column {column!r} is not a number; correct it, or drop the row before")

    def error(self, message: str) -> InputError:
        """An error at the first row of a source that this row is made of."""
        first = self.origins[0]
        return InputError(message, path=first.file, line=first.line)


@dataclass(frozen=True)
class Table:
    """Rows, in their order, with the names of their columns. A row may lack the value of a column."""

    name: str
    columns: list[str]
    rows: list[SourceRow]

    @property
    def width(self) -> int:
        """The most values and origins that a row has."""
        return max((len(row.values) + len(row.origins) for row in self.rows), default=0)

    def with_rows(self, rows: Iterable[SourceRow], *new: str) -> "Table":
        """The table with these rows in place of its own, and with the columns that are new in them."""
        return Table(self.name, list(dict.fromkeys([*self.columns, *new])), list(rows))

    def texts(self, column: str) -> list[str]:
        return [row.cell(column) for row in self.rows]


class Dropped(NamedTuple):
    row: SourceRow
    reason: str  # why a step dropped the row


@dataclass
class Work:
    """One step at work: it draws rows, says which rows it drops, and notes what a reader of the provenance should know."""

    path: Path  # of the recipe
    number: int  # of the step in it, from 1
    name: str
    seed: int  # of the recipe
    added: int = 0  # the values that this step and those before have added to the sources
    dropped: list[Dropped] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)  # for the provenance

    def drop(self, row: SourceRow, reason: str) -> None:
        self.dropped.append(Dropped(row, reason))

    def add(self, rows: int, values: int, option: str | None = None, before: int = 0) -> None:
        """Count what the step adds: so many rows, each of so many values, in place of `before` values. Raises InputError for too many."""
        self.added += max(0, rows * values - before)
        if self.added > MOST_VALUES:
            most = f"all steps may add {MOST_VALUES:,} values to those of the sources: ask for fewer rows or columns"
            raise self.error(f"makes {rows:,} rows of {values:,} values; {most}", option)

    def chosen(self, rows: Sequence[SourceRow], reasons: Iterable[str | None]) -> list[SourceRow]:
        """The rows without a reason to drop them; the others are noted as dropped."""
        judged = list(zip(rows, reasons, strict=True))
        self.dropped += [Dropped(row, reason) for row, reason in judged if reason is not None]
        return [row for row, reason in judged if reason is None]

    def shuffled(self, numbers: Iterable[int]) -> list[int]:
        """These numbers in an order that depends on the recipe's seed and the step's place alone: that of hashes, computed alike everywhere."""
        return sorted(numbers, key=lambda n: hashlib.sha256(f"{self.seed} {self.number} {n}".encode()).digest())

    def error(self, message: str, option: str | None = None) -> InputError:
        """An error in the step, or in one of its options."""
        key = f"steps.{self.number}.{self.name}" + (f".{option}" if option else "")
        return InputError(message, path=self.path, key=key)

    def check_columns(self, table: Table, option: str, *columns: str, lists: bool = True) -> None:
        """Raise InputError unless the table has these columns, which an option names: at least one, and without `lists`, none of lists."""
        if not columns:
            raise self.error("names at least one column", option)
        for column in columns:
            if column not in table.columns:
                known = printable_names(table.columns)
                raise self.error(f"table {table.name} has no column {column!r}; it has {known}", option)
            if column.endswith(LIST) and not lists:
                raise self.error(f"{column!r} is a column of lists; name one of texts or numbers", option)


def check_range(name: str, ends: Range | None) -> None:
    """Raise InputError unless this is a lower and an upper end, either of which may be null."""
    if ends is None:
        return
    numbers = [end for end in ends if end is not None]
    if len(ends) != 2 or numbers != sorted(numbers):
        raise InputError("must be the smallest and the largest, as in [3, 50] or [3, null]", key=name, value=ends)


def is_within(value: float, ends: Range | None) -> bool:
    """Whether a number lies between two ends, either of which may be null."""
    low, high = ends or (None, None)
    return (low is None or value >= low) and (high is None or value <= high)
