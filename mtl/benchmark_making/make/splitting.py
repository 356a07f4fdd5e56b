"""The step that divides rows into train, dev and test by shares."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise

from scipy.cluster.hierarchy import DisjointSet

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.benchmark_making.make.table import SPLIT, SourceRow, Table, Work
from mtl.tasks.task import SPLITS

REST = "rest"  # the rows that are in no split
MOST_OFF = 0.1  # a split whose number of rows is further off than this share is warned of


@dataclass
class SplitRows:
    """Divide rows at random so that a key stands in one split only. Groups of rows with common keys are assigned one by one, the largest first, each
    to the split where it brings the numbers of rows, in all and of each stratum, nearest to those asked for (Pearson's chi-squared statistic)."""

    shares: dict[str, float]  # by split, its share of the rows; the sum is at most 1, and the rest is dropped
    # columns of texts or lists: rows that share a value of any of them, whichever it is in, are in the same split; a row without a value, or with
    # an empty text, shares none
    keys: list[str] = field(default_factory=list)
    stratify: str | None = None  # a column whose values have the same shares in all splits, as far as the keys allow

    def check(self) -> None:
        shares = self.shares.values()
        if not set(self.shares) <= set(SPLITS) or min(shares, default=0) <= 0 or sum(shares) > 1 + 1e-9:
            wanted = "or of some of them, greater than 0 and together at most 1"
            raise InputError(f"must be shares of {', '.join(SPLITS)}, {wanted}", key="shares")

    def run(self, work: Work, table: Table) -> Table:
        if self.keys:
            work.check_columns(table, "keys", *self.keys)
        if empty := [key for key in self.keys if not any(value for row in table.rows for value in row.items(key))]:
            raise work.error(f"no row of table {table.name} has a value in column {empty[0]!r}", "keys")
        strata = [""] * len(table.rows)
        if self.stratify is not None:
            work.check_columns(table, "stratify", self.stratify, lists=False)
            strata = table.texts(self.stratify)
        asked = self._asked(work, len(table.rows))
        groups = _groups(table.rows, self.keys)
        order = sorted((groups[number] for number in work.shuffled(range(len(groups)))), key=len, reverse=True)
        splits = _assigned(order, strata, asked)
        reached = {name: splits.count(name) for name in asked}
        largest = len(order[0])
        self._check_reached(work, asked, reached, f"the largest of {len(groups)} groups has {largest}")
        work.facts |= {"asked": asked, "reached": reached, "groups": len(groups), "largest_group": largest}
        reasons = ["beyond the rows asked for" if name == REST else None for name in splits]
        divided = [row.with_values({SPLIT: name}) for row, name in zip(table.rows, splits, strict=True)]
        return table.with_rows(work.chosen(divided, reasons), SPLIT)

    def _asked(self, work: Work, total: int) -> dict[str, int]:
        """By split, its number of rows of this total, and that of REST if rows are left. Raises InputError for a share of no row."""
        names = [name for name in SPLITS if name in self.shares]
        ends = [round(share * total) for share in accumulate(self.shares[name] for name in names)]
        asked = {name: end - start for name, (start, end) in zip(names, pairwise([0, *ends]), strict=True)}
        if few := [name for name, rows in asked.items() if rows == 0]:
            raise work.error(f"{total} rows are too few for this share", f"shares.{few[0]}")
        return asked | ({REST: total - ends[-1]} if total > ends[-1] else {})

    def _check_reached(self, work: Work, asked: dict[str, int], reached: dict[str, int], largest_in_words: str) -> None:
        """Raise InputError for a split without rows; warn of far fewer or more rows than were asked for."""
        if unfilled := [name for name in asked if name != REST and not reached[name]]:
            why = f"; {largest_in_words} of {sum(reached.values())} rows" if self.keys else ""
            problem = f"{unfilled[0]} gets no row{why}; ask for other sizes, or for other keys"
            raise work.error(problem, "keys" if self.keys else None)
        for name, rows in asked.items():
            if abs(reached[name] - rows) > MOST_OFF * rows:
                sizes = f"{name} has {reached[name]} rows where {rows} were asked for"
                remedy = "name fewer keys, or divide texts before they are paired (pairs with same: split)"
                logger.warning("step %d, split: %s: %s; %s", work.number, sizes, f"{largest_in_words} rows", remedy)


def _groups(rows: Sequence[SourceRow], keys: Sequence[str]) -> list[list[int]]:
    """The numbers of the rows that stay together, in the order of each group's first row."""
    joined = DisjointSet(range(len(rows)))
    first: dict[str, int] = {}  # by value, the first row that has it
    for number, row in enumerate(rows):
        for value in filter(None, chain.from_iterable(map(row.items, keys))):
            joined.merge(first.setdefault(value, number), number)
    return sorted(sorted(group) for group in joined.subsets())


def _assigned(groups: Sequence[Sequence[int]], strata: Sequence[str], asked: dict[str, int]) -> list[str]:
    """The split of each row, from the numbers of the rows in each group, the stratum of each row, and the number of rows that each split should
    have. A split takes no group that brings it over its number, as long as another one has room for it."""
    totals = Counter(strata)
    goals = {name: {key: asked[name] * totals[key] / len(strata) for key in totals} for name in asked}
    taken = {name: Counter[str]() for name in asked}  # by split and stratum, the number of rows
    splits = [""] * len(strata)
    for group in groups:
        rows = Counter(strata[number] for number in group)
        room = [name for name in asked if taken[name].total() + len(group) <= asked[name]]
        growth = {name: _growth(rows, taken[name], goals[name], asked[name]) for name in room or asked}
        best = min(growth, key=growth.__getitem__)
        taken[best].update(rows)
        for number in group:
            splits[number] = best
    return splits


def _growth(rows: Counter[str], taken: Counter[str], goals: Mapping[str, float], asked: int) -> float:
    """How much the statistic, a sum of (rows - goal)² / goal, grows if a split takes a group, in all and in each stratum of the group's rows."""
    parts = [(rows.total(), taken.total(), float(asked))]
    parts += [(new, taken[stratum], goals[stratum]) for stratum, new in rows.items()]
    return sum(new * (2 * (old - goal) + new) / goal for new, old, goal in parts)  # (old + new - goal)² - (old - goal)²
