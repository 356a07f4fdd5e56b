"""Steps that choose, repeat, join and order the rows of tables."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated

from mtl.base.errors import InputError
from mtl.base.typed import AT_LEAST_ONE, PART
from mtl.benchmark_making.make.table import Range, SourceRow, Table, Work, check_range, is_within
from mtl.benchmark_making.near_duplicates import near_duplicates
from mtl.data.columns import LIST


@dataclass
class Keep:
    """Keep rows by a column's values, or by the length of its text."""

    column: str  # the column that is looked at
    values: list[str] | None = None  # keep rows with one of these values; of lists, rows with at least one of them
    words: Range | None = None  # keep rows with so many words, at least and at most; a word has a letter or a digit

    def check(self) -> None:
        if (self.values is None) == (self.words is None):
            raise InputError("give either values or words", key="values")
        check_range("words", self.words)

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column, lists=self.values is not None)
        return table.with_rows(work.chosen(table.rows, map(self._reason, table.rows)))

    def _reason(self, row: SourceRow) -> str | None:
        """Why a row is dropped, or None if it has one of the values, or as many words as it should. Punctuation alone is no word."""
        if self.values is not None:
            items = row.items(self.column)
            return None if set(items) & set(self.values) else f"{self.column} is {', '.join(items)!r}"
        size = sum(any(map(str.isalnum, part)) for part in row.cell(self.column).split())
        return None if is_within(size, self.words) else f"{self.column} has {size} words"


@dataclass
class Duplicates:
    """Of rows with the same texts, or nearly the same, keep the first."""

    columns: list[str]  # rows are the same if the texts of all these columns are, but for case and white space
    near: Annotated[float, PART] | None = None  # also drop rows with this share of their 5-grams in common (Jaccard)

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "columns", *self.columns, lists=False)
        first: dict[str, int] = {}  # by text, the number of the first row with it
        reasons: list[str | None] = [None] * len(table.rows)
        for number, row in enumerate(table.rows):
            text = "\n".join(" ".join(row.cell(column).casefold().split()) for column in self.columns)
            if (earlier := first.setdefault(text, number)) != number:
                reasons[number] = f"the same as {table.rows[earlier].where}"
        if self.near is not None:
            distinct = list(first.values())  # the numbers of the rows with different texts
            for first_text, second_text, similarity in near_duplicates(list(first), self.near):
                earlier, later = distinct[first_text], distinct[second_text]
                if reasons[earlier] is None and reasons[later] is None:
                    reasons[later] = f"{similarity:.2f} like {table.rows[earlier].where}"
        return table.with_rows(work.chosen(table.rows, reasons))


@dataclass
class SampleRows:
    """Draw some of the rows of a class, or of all rows, at random."""

    number: Annotated[int, AT_LEAST_ONE]  # how many rows are drawn
    column: str | None = None  # the column of `values`. Without both, rows are drawn from all
    values: list[str] | None = None  # rows with one of these values in `column` are drawn from; all others are kept

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
    """Keep the rows with the highest numbers of each group."""

    group: str  # rows with the same value here are ranked together
    by: str  # the column of numbers that they are ranked by
    most: Annotated[int, AT_LEAST_ONE]  # how many rows of a group are kept; of equal ones, the first in the table
    at_least: float | None = None  # drop rows with smaller numbers, before they are ranked

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
    """Make a row of each item of a list, as of each summary of an article. The other lists of the row are left out."""

    column: str  # a column of lists, whose name ends in []
    item: str  # the new column, with one item of the list in each row

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column)
        if not self.column.endswith(LIST):
            raise work.error(f"{self.column!r} is no column of lists; its name would end in {LIST}", "column")
        columns = [name for name in table.columns if not name.endswith(LIST)]
        count = sum(len(row.items(self.column)) for row in table.rows)
        origins = max((len(row.origins) for row in table.rows), default=0)
        work.add(count, len(columns) + 1 + origins, "column", table.width * len(table.rows))
        rows = []
        for row in table.rows:
            if not (items := row.items(self.column)):
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
        work.add(sum(counts), width, before=max(counts) * width)
        return Table(tables[0].name, list(columns), [row for table in tables for row in table.rows])


@dataclass
class Shuffle:
    """Put the rows into a random order."""

    def run(self, work: Work, table: Table) -> Table:
        return table.with_rows(table.rows[number] for number in work.shuffled(range(len(table.rows))))
