"""Steps about two texts: pairs, similarity and cut."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from omegaconf import MISSING

from mtl.base.errors import InputError
from mtl.benchmark_making.make.table import SourceRow, Table, Work
from mtl.benchmark_making.similarity.comparison import SimilarityOptions, TextComparison, Units, sentences, units_of
from mtl.benchmark_making.similarity.mining import Pairs, joined, most_similar, within_groups
from mtl.settings.bounds import AT_LEAST_ONE, Interval, bounded, one_of

MOST_PAIRS = 10_000_000


@dataclass
class PairOptions(SimilarityOptions):
    """
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

    texts: list[str] = MISSING
    groups: list[str] = MISSING
    scope: str = one_of("within", "across")
    same: str | None = None
    order: str = one_of("most_similar", "least_similar", default="most_similar")
    most: int | None = bounded(AT_LEAST_ONE, None)
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


def pairs(work: Work, options: PairOptions, first: Table, second: Table) -> Table:
    """Make pairs of a row of the first table and a row of the second.

    A pair has the columns of both. Where both have a column of one name, that of the second row is called other_NAME.
    """
    for table, text, group in zip((first, second), options.texts, options.groups, strict=True):
        work.check_columns(table, "texts", text, lists=False)
        work.check_columns(table, "groups", group, lists=False)
    names = [
        list(zip(_same_values(work, options, table), table.texts(group), strict=True))
        for table, group in zip((first, second), options.groups, strict=True)
    ]
    ids = {name: number for number, name in enumerate(dict.fromkeys([*names[0], *names[1]]))}
    groups = (np.array([ids[name] for name in names[0]]), np.array([ids[name] for name in names[1]]))
    mined = joined(
        [_block_pairs(work, options, (first, second), groups, block) for block in _blocks(work, options, first, second)]
    )
    if len(mined.lefts) > MOST_PAIRS:
        raise work.error(f"makes {len(mined.lefts):,} pairs; ask for fewer, at most {MOST_PAIRS:,}", "most")
    columns = {name: f"other_{name}" if name in first.columns else name for name in second.columns}
    rows = [
        _pair(pair, first, second, columns, options.into) for pair in zip(*map(np.ndarray.tolist, mined), strict=True)
    ]
    if options.one_per_groups:
        rows = work.chosen(rows, _repeated(mined, groups))
    for table, used in ((first, mined.lefts), (second, mined.rights)):
        for number in sorted(set(range(len(table.rows))) - set(used.tolist())):
            work.drop(table.rows[number], "in no pair")
    work.facts |= {"pairs": len(rows), "similarity": _range([row.number(options.into) for row in rows])}
    return Table(first.name, [*first.columns, *columns.values(), options.into], rows)


def _blocks(work: Work, options: PairOptions, first: Table, second: Table) -> list[tuple[np.ndarray, np.ndarray]]:
    """The numbers of the rows of both tables that are compared: all with all, or those with one value of the column `same`."""
    ours, theirs = (defaultdict[str, list[int]](list) for _ in range(2))
    for numbers, table in ((ours, first), (theirs, second)):
        for number, value in enumerate(_same_values(work, options, table)):
            numbers[value].append(number)
    return [(np.array(numbers), np.array(theirs[value])) for value, numbers in ours.items() if value in theirs]


def _same_values(work: Work, options: PairOptions, table: Table) -> list[str]:
    """The values of the column `same`; without it, all rows have the same."""
    if options.same is None:
        return [""] * len(table.rows)
    work.check_columns(table, "same", options.same, lists=False)
    return table.texts(options.same)


def _block_pairs(
    work: Work,
    options: PairOptions,
    tables: tuple[Table, Table],
    groups: tuple[np.ndarray, np.ndarray],
    block: tuple[np.ndarray, np.ndarray],
) -> Pairs:
    """The pairs among the rows of a block, which has their numbers in both tables."""
    title = f"step {work.number}, pairs"
    lefts, rights = (
        [table.rows[number].cell(column) for number in numbers.tolist()]
        for table, column, numbers in zip(tables, options.texts, block, strict=True)
    )
    block_groups = (groups[0][block[0]], groups[1][block[1]])
    comparison = TextComparison(lefts, rights, options, title)
    low = -np.inf if options.at_least is None else options.at_least
    high = np.inf if options.at_most is None else options.at_most
    is_one_side = tables[0] is tables[1] and options.texts[0] == options.texts[1]
    if options.scope == "across":
        pairs = most_similar(comparison, block_groups, options.most or 1, low, high, title)
    else:
        least = options.order == "least_similar"
        pairs = within_groups(comparison, block_groups, options.most, least, low, high, is_one_side)
    if is_one_side:  # without pairs that stand there before, the other way round
        both = np.sort(np.stack([pairs.lefts, pairs.rights]), axis=0)
        _, first = np.unique(both, axis=1, return_index=True)
        pairs = Pairs(*(part[np.sort(first)] for part in pairs))
    return Pairs(block[0][pairs.lefts], block[1][pairs.rights], pairs.values)


def _pair(pair: Sequence[float], first: Table, second: Table, columns: dict[str, str], into: str) -> SourceRow:
    left, right = first.rows[int(pair[0])], second.rows[int(pair[1])]
    further = {new: right.values.get(old) for old, new in columns.items()}
    return SourceRow({**left.values, **further, into: pair[2]}, (*left.origins, *right.origins))


def _repeated(mined: Pairs, groups: tuple[np.ndarray, np.ndarray]) -> list[str | None]:
    """Why a pair is dropped: a more similar pair, or an earlier one that is as similar, has the same two groups."""
    ours, theirs = groups[0][mined.lefts], groups[1][mined.rights]
    both = list(zip(np.minimum(ours, theirs).tolist(), np.maximum(ours, theirs).tolist(), strict=True))
    best: dict[tuple[int, int], int] = {}
    for number in np.argsort(-mined.values, kind="stable").tolist():
        best.setdefault(both[number], number)
    return [
        None if best[pair] == number else "a more similar pair has the same two groups"
        for number, pair in enumerate(both)
    ]


def _range(values: Sequence[float]) -> dict[str, float]:
    """The smallest, the middle and the largest value, for the provenance."""
    return {"min": min(values), "median": float(median(values)), "max": max(values)} if values else {}


@dataclass
class Similarity(SimilarityOptions):
    """
    Args:
        columns: the columns of the first and of the second text.
        into: the new column.
    """

    columns: list[str] = MISSING
    into: str = "similarity"

    def check(self) -> None:
        if len(self.columns) != 2:
            raise InputError("names two columns", key="columns")


def similarity(work: Work, options: Similarity, table: Table) -> Table:
    """Compute the similarity of two texts of each row, as of a question and a possible answer."""
    work.check_columns(table, "columns", *options.columns, lists=False)
    lefts, rights = (table.texts(column) for column in options.columns)
    comparison = TextComparison(lefts, rights, options, f"step {work.number}, similarity")
    every = np.arange(len(table.rows))
    values = comparison.pairs(every, every).tolist()
    work.facts["similarity"] = _range(values)
    rows = [row.with_values(**{options.into: value}) for row, value in zip(table.rows, values, strict=True)]
    return table.with_rows(rows, options.into)


@dataclass
class Cut(SimilarityOptions):
    """
    Args:
        column: the column of texts that are cut.
        like: the column of the texts that they are compared with.
        most: sentences that a cut text has at most.
    """

    measure: str = one_of("containment", "dice", "jaccard", default="containment")
    penalty: float = bounded(Interval(1, 10), 1.2)
    column: str = MISSING
    like: str = MISSING
    most: int = bounded(AT_LEAST_ONE, 10)


def cut(work: Work, options: Cut, table: Table) -> Table:
    """Cut each text to its run of sentences that is most similar to another text of the row, after the penalty for each sentence.

    Of equally similar runs, it is the first of the shortest.
    """
    work.check_columns(table, "column", options.column, lists=False)
    work.check_columns(table, "like", options.like, lists=False)
    units = units_of([*table.texts(options.like), *table.texts(options.column)], options)
    rows, before, after = [], list[int](), list[int]()
    for row in table.rows:
        text = row.cell(options.column)
        short = _best_run(sentences(text), set(units(row.cell(options.like))), units, options)
        before.append(len(text.split()))
        after.append(len(short.split()))
        rows.append(row.with_values(**{options.column: short}))
    work.facts["words"] = {"median_before": median(before or [0]), "median_after": median(after or [0])}
    return table.with_rows(rows)


def _best_run(parts: Sequence[str], wanted: set[str], units: Units, options: Cut) -> str:
    part_units = [set(units(part)) for part in parts]
    best, value = (0, 1), -1.0
    penalty = 1.0
    for size in range(1, min(options.most, len(parts)) + 1):
        penalty *= options.penalty
        for start in range(len(parts) - size + 1):
            run = set().union(*part_units[start : start + size])
            shared = len(wanted & run)
            divisor = {
                "containment": len(wanted),
                "dice": (len(wanted) + len(run)) / 2,
                "jaccard": len(wanted) + len(run) - shared,
            }[options.measure]
            similarity = shared / max(1, divisor) / penalty
            if similarity > value:
                best, value = (start, start + size), similarity
    return " ".join(parts[slice(*best)])
