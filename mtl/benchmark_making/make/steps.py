"""Steps on the rows and columns of tables.

Rows are chosen, repeated and joined by keep, duplicates, sample, top, explode, stack and shuffle; columns are made by entities, only_item, map, set
and number.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.typed import AT_LEAST_ONE, PART
from mtl.benchmark_making.make.table import TAGS, TOKENS, SourceRow, Table, Work
from mtl.benchmark_making.similarity import near_duplicates
from mtl.data.columns import LIST

TYPES, ENTITIES = f"types{LIST}", f"entities{LIST}"
OUTSIDE = ("O", "_", "-", "")  # tags of a token in no entity
PREFIXED = re.compile("([BIESLU])-(.*)", re.DOTALL)  # any other tag is a type alone, as if its prefix were I
Range = list[float | None]


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


@dataclass
class Keep:
    """Keep rows by a column's values, or by the length of its text.

    Args:
        column: the column that is looked at.
        values: keep rows with one of these values; of a column of lists, rows with at least one of them.
        words: keep rows whose text has so many words, from the smallest to the largest number. Words stand between white space and have a
            letter or a digit.
    """

    column: str
    values: list[str] | None = None
    words: Range | None = None

    def check(self) -> None:
        if (self.values is None) == (self.words is None):
            raise InputError("give either values or words", key="values")
        check_range("words", self.words)

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column, lists=self.values is not None)

        def reason(row: SourceRow) -> str | None:
            """Why a row is dropped, or None."""
            if self.values is not None:
                items = row.items(self.column)
                return None if set(items) & set(self.values) else f"{self.column} is {', '.join(items)!r}"
            # Punctuation alone is no word.
            size = sum(any(map(str.isalnum, part)) for part in row.cell(self.column).split())
            return None if is_within(size, self.words) else f"{self.column} has {size} words"

        return table.with_rows(work.chosen(table.rows, map(reason, table.rows)))


@dataclass
class Duplicates:
    """Of rows with the same texts, or nearly the same, keep the first.

    Args:
        columns: rows are the same if the texts of all these columns are, but for case and white space.
        near: also drop rows whose sets of character 5-grams have at least this share in common (Jaccard).
    """

    columns: list[str]
    near: Annotated[float, PART] | None = None

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "columns", *self.columns, lists=False)
        first: dict[str, int] = {}  # by text, the number of the first row with it
        reasons: list[str | None] = [None] * len(table.rows)
        for number, row in enumerate(table.rows):
            text = "\n".join(" ".join(row.cell(column).casefold().split()) for column in self.columns)
            if (earlier := first.setdefault(text, number)) != number:
                reasons[number] = f"the same as {table.rows[earlier].where}"
        if self.near is not None:
            numbers = list(first.values())  # of the rows with different texts
            for i, k, similarity in near_duplicates(list(first), self.near):
                earlier, later = numbers[i], numbers[k]
                if reasons[earlier] is None and reasons[later] is None:
                    reasons[later] = f"{similarity:.2f} like {table.rows[earlier].where}"
        return table.with_rows(work.chosen(table.rows, reasons))


@dataclass
class SampleRows:
    """Draw some of the rows of a class, or of all rows, at random.

    Args:
        number: how many rows are drawn.
        column: the column of `values`. Without both, rows are drawn from all.
        values: rows with one of these values in `column` are drawn from; all others are kept.
    """

    number: Annotated[int, AT_LEAST_ONE]
    column: str | None = None
    values: list[str] | None = None

    def check(self) -> None:
        if (self.column is None) != (self.values is None):
            raise InputError("is given together with values", key="column")

    def run(self, work: Work, table: Table) -> Table:
        column, values = self.column, set(self.values or ())
        if column is not None:
            work.check_columns(table, "column", column)
        pool = [number for number, row in enumerate(table.rows) if column is None or values & set(row.items(column))]
        if self.number > len(pool):
            raise work.error(f"table {table.name} has {len(pool)} such rows; ask for at most that", "number")
        undrawn = set(work.shuffled(pool)[self.number :])
        reasons = ["not drawn" if number in undrawn else None for number in range(len(table.rows))]
        return table.with_rows(work.chosen(table.rows, reasons))


@dataclass
class Top:
    """Keep the rows with the highest numbers of each group.

    Args:
        group: rows with the same value here are ranked together.
        by: the column of numbers that they are ranked by.
        most: how many rows of a group are kept; of equal ones, the first in the table.
        at_least: drop rows with smaller numbers, before they are ranked.
    """

    group: str
    by: str
    most: Annotated[int, AT_LEAST_ONE]
    at_least: float | None = None

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "group", self.group, lists=False)
        work.check_columns(table, "by", self.by, lists=False)
        groups = defaultdict[str, list[tuple[float, int]]](list)
        reasons: list[str | None] = [None] * len(table.rows)
        for number, row in enumerate(table.rows):
            value = row.number(self.by)
            if self.at_least is not None and value < self.at_least:
                reasons[number] = f"{self.by} is {value:.4g}, less than {self.at_least:g}"
            else:
                groups[row.cell(self.group)].append((-value, number))
        for ranked in groups.values():
            for _, number in sorted(ranked)[self.most :]:
                reasons[number] = f"not one of the {self.most} highest of its group"
        return table.with_rows(work.chosen(table.rows, reasons))


@dataclass
class Explode:
    """Make a row of each item of a list, as of each summary of an article. The other lists of the row are left out.

    Args:
        column: a column of lists, whose name ends in [].
        item: the new column, with one item of the list in each row.
    """

    column: str
    item: str

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column)
        if not self.column.endswith(LIST):
            raise work.error(f"{self.column!r} is no column of lists; its name would end in {LIST}", "column")
        columns = [name for name in table.columns if not name.endswith(LIST)]
        count = sum(len(row.items(self.column)) for row in table.rows)
        origins = max((len(row.origins) for row in table.rows), default=0)
        work.added = work.added_with(count, len(columns) + 1 + origins, "column", table.width * len(table.rows))
        rows = []
        for row in table.rows:
            items = row.items(self.column)
            if not items:
                work.drop(row, f"no item in {self.column}")
            common = {name: row.values.get(name) for name in columns}
            rows += [SourceRow({**common, self.item: item}, row.origins) for item in items]
        return Table(table.name, list(dict.fromkeys([*columns, self.item])), rows)


@dataclass
class Stack:
    """Put the rows of several tables into one, in the order of the tables."""

    def run(self, work: Work, *tables: Table) -> Table:
        columns = dict.fromkeys(column for table in tables for column in table.columns)
        counts, width = [len(table.rows) for table in tables], max(table.width for table in tables)
        work.added = work.added_with(sum(counts), width, before=max(counts) * width)
        return Table(tables[0].name, list(columns), [row for table in tables for row in table.rows])


@dataclass
class Shuffle:
    """Put the rows into a random order."""

    def run(self, work: Work, table: Table) -> Table:
        return table.with_rows(table.rows[number] for number in work.shuffled(range(len(table.rows))))


@dataclass
class Entities:
    """Read the entities from the tags of tokens: the columns types[], each type once, and entities[], their texts in lower case.

    A tag of tags[] is B-TYPE, I-TYPE or O (also with the E, S, L and U of IOBES and BILOU), or TYPE or O.
    """

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "table", TOKENS, TAGS)
        rows = []
        for row in table.rows:
            tokens, tags = row.items(TOKENS), row.items(TAGS)
            if len(tokens) != len(tags):
                raise row.error(f"{len(tokens)} tokens and {len(tags)} tags; each token has one")
            spans = list(_spans(tags))
            types = list(dict.fromkeys(kind for kind, _, _ in spans))
            texts = list(dict.fromkeys(" ".join(tokens[start:stop]).casefold() for _, start, stop in spans))
            rows.append(row.with_values(**{TYPES: types, ENTITIES: texts}))
        return table.with_rows(rows, TYPES, ENTITIES)


def _spans(tags: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The entities of a sentence: type, first token, and the token after the last."""
    start, entity = 0, ""
    for number, tag in enumerate([*tags, "O"]):
        match = PREFIXED.fullmatch(tag)
        prefix, kind = match.groups() if match else ("I", "" if tag in OUTSIDE else tag)
        if entity and (kind != entity or prefix in ("B", "S", "U")):
            yield entity, start, number
            entity = ""
        if kind and not entity:
            start, entity = number, kind


@dataclass
class OnlyItem:
    """Take the only type of entity in a sentence, of types[], as the column label; drop rows with more types.

    Args:
        none: the label where there is no type.
    """

    none: str

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "table", TYPES)
        rows = []
        for row in table.rows:
            types = list(dict.fromkeys(row.items(TYPES)))
            if len(types) > 1:
                work.drop(row, f"{TYPES} has {len(types)} items: {', '.join(types)}")
            else:
                rows.append(row.with_values(label=types[0] if types else self.none))
        return table.with_rows(rows, "label")


@dataclass
class Map:
    """Rename or merge the values of a column.

    Args:
        column: the column whose values are replaced.
        values: by old value, the new one; several old values may have the same new one.
        others: what happens to rows with another value: error, keep (unchanged) or drop.
        into: the column that gets the new values; `column` itself without it.
    """

    column: str
    values: dict[str, str] = field(default_factory=dict)
    others: Literal["error", "keep", "drop"] = "error"
    into: str | None = None

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column, lists=False)
        into, rows = self.into or self.column, []
        for row in table.rows:
            old = row.cell(self.column)
            if old in self.values or self.others == "keep":
                rows.append(row.with_values(**{into: self.values.get(old, old)}))
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
    """Give all rows the same value in a column, as the label of all positive pairs.

    Args:
        values: by column, the value that all rows get.
    """

    values: dict[str, str] = field(default_factory=dict)

    def run(self, work: Work, table: Table) -> Table:
        return table.with_rows((row.with_values(**self.values) for row in table.rows), *self.values)


@dataclass
class Number:
    """Make the mean of several columns of numbers, in exact arithmetic. A number outside the range is an error.

    Args:
        columns: the columns of numbers, as one for each annotator.
        into: the new column, with their mean.
        range: the smallest and the largest number that a column may have.
        decimals: the decimals that the mean is rounded to, half to even.
    """

    columns: list[str]
    into: str
    range: Range | None = None
    decimals: Annotated[int, Meta(ge=0, le=10)] = 10

    def check(self) -> None:
        check_range("range", self.range)

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "columns", *self.columns, lists=False)
        rows = []
        for row in table.rows:
            numbers = {column: row.number(column) for column in self.columns}
            for column, value in numbers.items():
                if not is_within(value, self.range):
                    outside = f"{value:g} in column {column!r} is outside the range"
                    raise row.error(f"{outside} of step {work.number}, number")
            total = sum((Fraction(repr(numbers[column])) for column in self.columns), Fraction(0))
            rows.append(row.with_values(**{self.into: float(round(total / len(self.columns), self.decimals))}))
        return table.with_rows(rows, self.into)
