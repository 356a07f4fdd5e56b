"""Steps about two texts: pairs of rows of two tables by their similarity, the similarity of two texts of a row, and one cut to be like the other."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.typed import AT_LEAST_ONE
from mtl.benchmark_making.make.table import SourceRow, Table, Work
from mtl.benchmark_making.similarity import Numbers, PairRule, Pairs, TextComparison
from mtl.benchmark_making.text_units import Units, learned_byte_pairs, sentences

REPEATED = "a pair that is at least as similar has the same two groups"  # why a pair is dropped
SIMILARITY = "similarity"  # the column of the steps pairs and similarity
MOST_SENTENCES = 10  # of a text that is cut
Order = Literal["most_similar", "least_similar"]


@dataclass
class PairRows:
    """Make pairs of a row of the first table and a row of the second.
    A pair has the columns of both, and in the column similarity the share of the first text's units that the second text has. Units are byte pairs
    in lower case, learned from the texts of the step. Where both tables have a column of one name, that of the second row is called other_NAME."""

    texts: list[str]  # the columns of the first and of the second table that are compared
    groups: list[str]  # the columns of both tables that say which group a row is in, as the article of a summary
    scope: Literal["within", "across"]  # within (pairs of rows of one group) or across (of two groups)
    same: str | None = None  # a column of both tables, as split: only rows with the same value are compared
    order: Order = "most_similar"  # of the rows of the second that a row of the first takes; across, only most_similar
    most: Annotated[int, AT_LEAST_ONE] | None = None  # pairs per row of the first table; within groups, all by default
    at_least: float = 0.0  # the smallest similarity of a pair (τ)
    one_per_groups: bool = False  # of all pairs of the same two groups, in either order, keep the most similar one

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
            if self.same is not None:
                work.check_columns(table, "same", self.same, lists=False)
        second_names = _second_names(work, first, second)
        same_columns = [] if self.same is None else [self.same]
        same = _numbered(first, same_columns, second, same_columns)
        # A group is of rows with one value of `same`.
        groups = _numbered(first, [*same_columns, self.groups[0]], second, [*same_columns, self.groups[1]])
        pairs = self._search(work, first, second, same, groups)
        work.add(len(pairs.lefts), first.width + second.width + 1)
        rows = []
        for left, right, value in zip(pairs.lefts.tolist(), pairs.rights.tolist(), pairs.values.tolist(), strict=True):
            first_row, second_row = first.rows[left], second.rows[right]
            second_values = {new: second_row.values.get(old) for old, new in second_names.items()}
            values = {**first_row.values, **second_values, SIMILARITY: value}
            rows.append(SourceRow(values, first_row.origins + second_row.origins))
        if self.one_per_groups:
            rows = work.chosen(rows, _repeated(pairs, groups))
        _drop_unpaired(work, first, second, pairs)
        return first.with_rows(rows, *second_names.values(), SIMILARITY)

    def _search(self, work: Work, first: Table, second: Table, same: Numbers, groups: Numbers) -> Pairs:
        """The pairs, by the numbers of their rows. Raises InputError for too many."""
        is_one_side = first is second and self.texts[0] == self.texts[1]
        times = 2 if is_one_side else 1  # that a pair is found, the second time the other way round
        title, width = f"step {work.number}, pairs", first.width + second.width + 1
        comparison = TextComparison(first.texts(self.texts[0]), second.texts(self.texts[1]), title)
        rule = self._rule(same, groups, is_one_side)
        # A copy of the work counts the pairs on the way, since they are added to the work itself when all are known.
        pairs = comparison.pairs(rule, lambda count: replace(work).add(count // times, width, "most"), title)
        return _without_mirrored(pairs) if is_one_side else pairs

    def _rule(self, same: Numbers, groups: Numbers, is_one_side: bool) -> PairRule:
        """The rule of the search. `is_one_side` says that the rows of one table are compared with themselves, by the same text."""
        rows = np.arange(len(groups[0]))
        unequal = [(rows, rows)] if is_one_side else []  # a row is no pair with itself, but two texts of it are
        if self.scope == "within":
            return PairRule(groups, unequal, self.at_least, self.most, self.order == "least_similar")
        lowest = max(self.at_least, float(np.nextafter(0, 1)))  # texts without a common unit are no pair
        return PairRule(same, [*unequal, groups], lowest, self.most, least_first=False)


def _numbered(first: Table, first_columns: list[str], second: Table, second_columns: list[str]) -> Numbers:
    """A number for each row of both tables: equal numbers for rows with equal texts in these columns, and one number for all rows without columns."""
    numbers: dict[tuple[str, ...], int] = {}
    sides = []
    for table, columns in ((first, first_columns), (second, second_columns)):
        keys = [tuple(row.cell(column) for column in columns) for row in table.rows]
        sides.append(np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64))
    return sides[0], sides[1]


def _second_names(work: Work, first: Table, second: Table) -> dict[str, str]:
    """By column of the second table, its name in the table of pairs. Raises InputError if that table would have two columns of one name."""
    second_names = {name: f"other_{name}" if name in first.columns else name for name in second.columns}
    counts = Counter([*first.columns, *second_names.values(), SIMILARITY])
    if twice := [name for name, count in counts.items() if count > 1]:
        raise work.error(f"a pair would have two columns {twice[0]!r}; rename that one before", "tables")
    return second_names


def _without_mirrored(pairs: Pairs) -> Pairs:
    """The pairs of one side with itself, of which each may stand there twice, the second time the other way round. Only the first one is kept."""
    rows = np.sort(np.stack([pairs.lefts, pairs.rights]), axis=0)
    _, first_places = np.unique(rows, axis=1, return_index=True)
    return pairs.at(np.sort(first_places))


def _repeated(pairs: Pairs, groups: Numbers) -> list[str | None]:
    """For each pair, REPEATED if a more similar one, or an earlier one that is as similar, has the same two groups; else None."""
    two_groups = np.sort(np.stack([groups[0][pairs.lefts], groups[1][pairs.rights]]), axis=0)
    order = np.argsort(-pairs.values, kind="stable")
    _, first_places = np.unique(two_groups[:, order], axis=1, return_index=True)
    best_pairs = set(order[first_places].tolist())
    return [None if pair in best_pairs else REPEATED for pair in range(len(order))]


def _drop_unpaired(work: Work, first: Table, second: Table, pairs: Pairs) -> None:
    """Note as dropped the rows of both tables, which may be the same one, that are in no pair."""
    paired = [(first, pairs.lefts), (second, pairs.rights)]
    if first is second:  # whose rows may stand on either side
        paired = [(first, np.concatenate([pairs.lefts, pairs.rights]))]
    for table, numbers in paired:
        for number in np.setdiff1d(np.arange(len(table.rows)), numbers).tolist():
            work.drop(table.rows[number], "in no pair")


@dataclass
class Similarity:
    """Compute the similarity of two texts of each row, as of a question and a possible answer, into the column similarity."""

    columns: list[str]  # the columns of the first and of the second text

    def check(self) -> None:
        if len(self.columns) != 2:
            raise InputError("names two columns", key="columns")

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "columns", *self.columns, lists=False)
        lefts, rights = (table.texts(column) for column in self.columns)
        values = TextComparison(lefts, rights, f"step {work.number}, similarity").in_turn().tolist()
        rows = [row.with_values({SIMILARITY: value}) for row, value in zip(table.rows, values, strict=True)]
        return table.with_rows(rows, SIMILARITY)


@dataclass
class Cut:
    """Cut each text to its run of at most ten sentences that is most similar to another text of the row, after the penalty for each sentence.
    The similarity is the share of the other text's units that the run has. Of equally similar runs, it is the first of the shortest."""

    column: str  # the column of texts that are cut
    like: str  # the column of the texts that they are compared with
    penalty: Annotated[float, Meta(ge=1, le=10)] = 1.2  # divides the similarity once per sentence (KLEJ, section 3.5)

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column, lists=False)
        work.check_columns(table, "like", self.like, lists=False)
        texts, models = table.texts(self.column), table.texts(self.like)
        units = learned_byte_pairs([*models, *texts])
        rows = []
        for row, text, model in zip(table.rows, texts, models, strict=True):
            best = self._best_run(sentences(text), set(units(model)), units)
            rows.append(row.with_values({self.column: " ".join(best)}))
        return table.with_rows(rows)

    def _best_run(self, parts: Sequence[str], wanted: set[str], units: Units) -> Sequence[str]:
        """The run of these sentences that has most of the wanted units, after the penalty; the first of the shortest of equal ones."""
        wanted_by_part = [wanted.intersection(units(part)) for part in parts]
        best, best_value = parts[:1], -1.0
        for start in range(len(parts)):
            units_of_run = set[str]()
            divisor = 1.0
            for size, units_of_part in enumerate(wanted_by_part[start : start + MOST_SENTENCES], start=1):
                units_of_run |= units_of_part
                divisor *= self.penalty
                value = len(units_of_run) / max(1, len(wanted)) / divisor
                if value > best_value or (value == best_value and size < len(best)):
                    best, best_value = parts[start : start + size], value
        return best
