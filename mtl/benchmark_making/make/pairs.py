"""Steps about two texts: pairs, similarity and cut."""

import operator
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.typed import AT_LEAST_ONE
from mtl.benchmark_making.make.table import SourceRow, Table, Work
from mtl.benchmark_making.similarity import (
    Pairs,
    SimilarityOptions,
    TextComparison,
    Units,
    joined,
    most_similar,
    sentences,
    units_of,
    whole_size,
    within_groups,
)

MOST_SENTENCES = 100  # of a text that is cut

Sides = Sequence[np.ndarray]  # of the first and of the second table, one number a row


@dataclass(kw_only=True)
class PairRows(SimilarityOptions):
    """Make pairs of a row of the first table and a row of the second.

    A pair has the columns of both. Where both have a column of one name, that of the second row is called other_NAME.

    Args:
        texts: the columns of the first and of the second table that are compared.
        groups: the columns of both tables that say which group a row is in, as the article of a summary.
        scope: within (pairs of rows of one group) or across (of two groups).
        same: a column of both tables, as split: only rows with the same value are compared, each value for itself.
        order: most_similar or least_similar; which rows of the second table are taken for a row of the first. Across groups, only
            most_similar.
        most: how many rows of the second table are taken for each row of the first; within groups, all by default.
        at_least: the smallest similarity of a pair (τ).
        at_most: the largest similarity of a pair.
        one_per_groups: of all pairs of the same two groups, in either order, keep the most similar one.
        into: the new column with the similarity.
    """

    texts: list[str]
    groups: list[str]
    scope: Literal["within", "across"]
    same: str | None = None
    order: Literal["most_similar", "least_similar"] = "most_similar"
    most: Annotated[int, AT_LEAST_ONE] | None = None
    at_least: float | None = None
    at_most: float | None = None
    one_per_groups: bool = False
    into: str = "similarity"

    def check(self) -> None:
        for name in ("texts", "groups"):
            if len(getattr(self, name)) != 2:
                raise InputError("names two columns, one of each table", key=name)
        if self.scope == "across" and (self.most is None or self.order != "most_similar"):
            raise InputError("pairs across groups need most: N and order: most_similar", key="scope")
        if self.scope == "within" and self.one_per_groups:
            raise InputError("is for scope: across", key="one_per_groups")

    def run(self, work: Work, first: Table, second: Table) -> Table:
        for table, text, group in zip((first, second), self.texts, self.groups, strict=True):
            work.check_columns(table, "texts", text, lists=False)
            work.check_columns(table, "groups", group, lists=False)
        tables = first, second
        same = [[""] * len(table.rows) for table in tables]
        if self.same is not None:
            for table in tables:
                work.check_columns(table, "same", self.same, lists=False)
            same = [table.texts(self.same) for table in tables]
        ids = dict[tuple[str, str], int]()
        groups = [
            np.array([ids.setdefault(name, len(ids)) for name in zip(own, table.texts(group), strict=True)])
            for own, table, group in zip(same, tables, self.groups, strict=True)
        ]
        columns = {name: f"other_{name}" if name in first.columns else name for name in second.columns}
        names = [*first.columns, *columns.values(), self.into]
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise work.error(f"a pair would have two columns {twice[0]!r}; rename that one before", "into")
        width, known = first.width + second.width + 1, 0
        parts: list[Pairs] = []
        for block in _blocks(*same):
            parts.append(_found(work, width, known, self, tables, groups, block))
            known += len(parts[-1].lefts)
        work.added = work.claim(known, width)
        found = joined(parts)
        rows = []
        for left, right, value in zip(*map(np.ndarray.tolist, found), strict=True):
            one, other = first.rows[left], second.rows[right]
            further = {new: other.values.get(old) for old, new in columns.items()}
            rows.append(SourceRow({**one.values, **further, self.into: value}, (*one.origins, *other.origins)))
        if self.one_per_groups:
            rows = work.chosen(rows, _repeated(found, groups))
        for table, used in ((first, found.lefts), (second, found.rights)):
            for number in sorted(set(range(len(table.rows))) - set(used.tolist())):
                work.drop(table.rows[number], "in no pair")
        work.facts |= {"pairs": len(rows), "similarity": _range([row.number(self.into) for row in rows])}
        return Table(first.name, names, rows)


def _blocks(first: Sequence[str], second: Sequence[str]) -> Iterator[Sides]:
    """The numbers of the rows of both tables that have one value of the column `same`, by these values of all rows."""
    ours, theirs = (defaultdict[str, list[int]](list) for _ in range(2))
    for numbers, values in ((ours, first), (theirs, second)):
        for number, value in enumerate(values):
            numbers[value].append(number)
    for value, own in ours.items():
        if value in theirs:
            yield np.array(own), np.array(theirs[value])


def _found(
    work: Work, width: int, known: int, options: PairRows, tables: tuple[Table, Table], groups: Sides, block: Sides
) -> Pairs:
    """The pairs among some rows. Raises InputError for too many.

    Args:
        width: the values of a pair.
        known: the number of pairs of other rows.
        block: the numbers of the rows in both tables.
    """
    title = f"step {work.number}, pairs"
    same = tables[0] is tables[1] and options.texts[0] == options.texts[1]

    def check(count: int) -> None:
        work.claim(known + (count // 2 if same else count), width, "most")

    sides = zip(tables, options.texts, block, strict=True)
    lefts, rights = (
        [table.rows[number].cell(column) for number in numbers.tolist()] for table, column, numbers in sides
    )
    own_groups = groups[0][block[0]], groups[1][block[1]]
    comparison = TextComparison(lefts, rights, options, title)
    low = -np.inf if options.at_least is None else options.at_least
    high = np.inf if options.at_most is None else options.at_most
    if options.scope == "across":
        found = most_similar(comparison, own_groups, options.most or 1, low, high, check, title)
    else:
        least = options.order == "least_similar"
        found = within_groups(comparison, own_groups, options.most, least, low, high, check, same)
    if same:  # a pair may stand there twice, the second time the other way round
        _, first = np.unique(np.sort(np.stack([found.lefts, found.rights]), axis=0), axis=1, return_index=True)
        found = Pairs(*(each[np.sort(first)] for each in found))
    return Pairs(block[0][found.lefts], block[1][found.rights], found.values)


def _repeated(found: Pairs, groups: Sides) -> list[str | None]:
    """Why a pair is dropped: a more similar pair, or an earlier one that is as similar, has the same two groups."""
    ours, theirs = groups[0][found.lefts], groups[1][found.rights]
    both = list(zip(np.minimum(ours, theirs).tolist(), np.maximum(ours, theirs).tolist(), strict=True))
    best: dict[tuple[int, int], int] = {}
    for number in np.argsort(-found.values, kind="stable").tolist():
        best.setdefault(both[number], number)
    reason = "a more similar pair has the same two groups"
    return [None if best[pair] == number else reason for number, pair in enumerate(both)]


def _range(values: Sequence[float]) -> dict[str, float]:
    """The smallest, the middle and the largest value, for the provenance."""
    return {"min": min(values), "median": float(median(values)), "max": max(values)} if values else {}


@dataclass(kw_only=True)
class Similarity(SimilarityOptions):
    """Compute the similarity of two texts of each row, as of a question and a possible answer.

    Args:
        columns: the columns of the first and of the second text.
        into: the new column.
    """

    columns: list[str]
    into: str = "similarity"

    def check(self) -> None:
        if len(self.columns) != 2:
            raise InputError("names two columns", key="columns")

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "columns", *self.columns, lists=False)
        lefts, rights = (table.texts(column) for column in self.columns)
        comparison = TextComparison(lefts, rights, self, f"step {work.number}, similarity")
        every = np.arange(len(table.rows))
        values = comparison.pairs(every, every).tolist()
        work.facts["similarity"] = _range(values)
        rows = [row.with_values(**{self.into: value}) for row, value in zip(table.rows, values, strict=True)]
        return table.with_rows(rows, self.into)


@dataclass(kw_only=True)
class Cut(SimilarityOptions):
    """Cut each text to its run of sentences that is most similar to another text of the row, after the penalty for each sentence.

    Of equally similar runs, it is the first of the shortest.

    Args:
        column: the column of texts that are cut.
        like: the column of the texts that they are compared with.
        most: sentences that a cut text has at most.
    """

    penalty: Annotated[float, Meta(ge=1, le=10)] = 1.2
    column: str
    like: str
    most: Annotated[int, Meta(ge=1, le=MOST_SENTENCES)] = 10

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column, lists=False)
        work.check_columns(table, "like", self.like, lists=False)
        units = units_of([*table.texts(self.like), *table.texts(self.column)], self)
        rows = []
        before: list[int] = []
        after: list[int] = []
        for row in table.rows:
            text = row.cell(self.column)
            short = _best_run(sentences(text), set(units(row.cell(self.like))), units, self)
            before.append(len(text.split()))
            after.append(len(short.split()))
            rows.append(row.with_values(**{self.column: short}))
        work.facts["words"] = {"median_before": median(before or [0]), "median_after": median(after or [0])}
        return table.with_rows(rows)


def _best_run(parts: Sequence[str], wanted: set[str], units: Units, options: Cut) -> str:
    own = [set(units(part)) for part in parts]
    divisors = list(accumulate([options.penalty] * min(options.most, len(parts)), operator.mul))
    best, value = (0, 1), (-1.0, 0)
    for start in range(len(parts)):
        run = set[str]()
        for size, divisor in enumerate(divisors[: len(parts) - start], start=1):
            run |= own[start + size - 1]
            shared = len(wanted & run)
            whole = whole_size(options.measure, len(wanted), len(run), shared)
            reached = shared / max(1, whole) / divisor, -size
            if reached > value:
                best, value = (start, start + size), reached
            if shared == len(wanted):  # no longer run has more
                break
    return " ".join(parts[slice(*best)])
