"""Steps that make columns: of the entities in tagged sentences, of the values of another column, of one value, and of the mean of numbers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from mtl.benchmark_making.make.table import TAGS, TOKENS, Range, Table, Work, check_range, is_within
from mtl.data.columns import LIST

TYPES, ENTITIES = f"types{LIST}", f"entities{LIST}"
OUTSIDE = ("O", "_", "-", "")  # tags of a token in no entity
FIRST = ("B", "S", "U")  # prefixes of the first token of an entity
PREFIXED = re.compile("([BIESLU])-(.*)", re.DOTALL)  # any other tag is a type alone, as if its prefix were I


@dataclass
class Entities:
    """Read the entities from the tags of tokens: the columns types[], each type once, and entities[], their texts in lower case.
    A tag of tags[] is B-TYPE, I-TYPE or O (also with the E, S, L and U of IOBES and BILOU), or TYPE or O."""

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "table", TOKENS, TAGS)
        rows = []
        for row in table.rows:
            tokens, tags = row.items(TOKENS), row.items(TAGS)
            if len(tokens) != len(tags):
                raise row.error(f"{len(tokens)} tokens and {len(tags)} tags; each token has one")
            entities = list(_entities(tags))
            types = dict.fromkeys(type for type, _ in entities)
            texts = dict.fromkeys(" ".join(tokens[span]).casefold() for _, span in entities)
            rows.append(row.with_values({TYPES: list(types), ENTITIES: list(texts)}))
        return table.with_rows(rows, TYPES, ENTITIES)


def _entities(tags: Sequence[str]) -> Iterator[tuple[str, slice]]:
    """The type and the tokens of each entity. An entity ends where another type, no type, or a prefix of a first token follows."""
    open_type, start = "", 0  # of the entity that the tokens so far have not ended; empty: none
    for number, tag in enumerate([*tags, "O"]):
        match = PREFIXED.fullmatch(tag)
        prefix, type = match.groups() if match else ("I", "" if tag in OUTSIDE else tag)
        if open_type and (type != open_type or prefix in FIRST):
            yield open_type, slice(start, number)
            open_type = ""
        if type and not open_type:
            open_type, start = type, number


@dataclass
class OnlyItem:
    """Take the only type of entity in a sentence, of types[], as the column label; drop rows with more types."""

    none: str  # the label where there is no type

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "table", TYPES)
        rows = []
        for row in table.rows:
            types = list(dict.fromkeys(row.items(TYPES)))
            if len(types) > 1:
                work.drop(row, f"{TYPES} has {len(types)} items: {', '.join(types)}")
            else:
                rows.append(row.with_values({"label": types[0] if types else self.none}))
        return table.with_rows(rows, "label")


@dataclass
class Map:
    """Rename or merge the values of a column."""

    column: str  # the column whose values are replaced
    values: dict[str, str] = field(default_factory=dict)  # by old value, the new one; several may have the same one
    others: Literal["error", "keep", "drop"] = "error"  # for rows with another value; keep leaves them unchanged
    into: str | None = None  # the column that gets the new values; `column` itself without it

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column, lists=False)
        into, rows = self.into or self.column, []
        for row in table.rows:
            old = row.cell(self.column)
            if old in self.values or self.others == "keep":
                rows.append(row.with_values({into: self.values.get(old, old)}))
            elif self.others == "drop":
                work.drop(row, f"{self.column} is {old!r}")
            else:
                problem = f"{self.column} is {old!r}, which step {work.number}, map, does not name"
                raise row.error(f"{problem}; name it, or set others: keep or drop")
        if unused := sorted(set(self.values) - set(table.texts(self.column))):
            raise work.error(f"no row of table {table.name} has {unused[0]!r} in column {self.column!r}", "values")
        return table.with_rows(rows, into)


@dataclass
class Set:
    """Give all rows the same value in a column, as the label of all positive pairs."""

    values: dict[str, str] = field(default_factory=dict)  # by column, the value that all rows get

    def run(self, work: Work, table: Table) -> Table:
        return table.with_rows((row.with_values(self.values) for row in table.rows), *self.values)


@dataclass
class Number:
    """Make the mean of several columns of numbers, in exact arithmetic. A number outside the range is an error."""

    columns: list[str]  # the columns of numbers, as one for each annotator
    into: str  # the new column, with their mean
    range: Range | None = None  # the smallest and the largest number that a column may have
    decimals: Annotated[int, Meta(ge=0, le=10)] = 10  # the decimals that the mean is rounded to, half to even

    def check(self) -> None:
        check_range("range", self.range)

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "columns", *self.columns, lists=False)
        rows = []
        for row in table.rows:
            numbers = {column: row.number(column) for column in self.columns}
            for name, value in numbers.items():
                if not is_within(value, self.range):
                    raise row.error(f"{value:g} in column {name!r} is outside the range of step {work.number}, number")
            # The decimals that are written count, not the binary fraction next to them: 0.1 is 1/10. A column named twice counts twice.
            total = sum((Fraction(repr(numbers[column])) for column in self.columns), Fraction(0))
            rows.append(row.with_values({self.into: float(round(total / len(self.columns), self.decimals))}))
        return table.with_rows(rows, self.into)
