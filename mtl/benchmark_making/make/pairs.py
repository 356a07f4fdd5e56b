"""Steps about two texts: pairs, similarity and cut."""

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.typed import AT_LEAST_ONE
from mtl.benchmark_making.make.table import SourceRow, Table, Work
from mtl.benchmark_making.similarity import Numbers, Pairs, TextComparison
from mtl.benchmark_making.text_units import Units, learned_byte_pairs, sentences

SIMILARITY = "similarity"  # the column of the steps pairs and similarity
MOST_SENTENCES = 10  # of a text that is cut


@dataclass
class PairRows:
    """Make pairs of a row of the first table and a row of the second.

    A pair has the columns of both, and in the column similarity the share of the first text's units that the second text has. Units are byte pairs
    in lower case, learned from the texts of the step. Where both tables have a column of one name, that of the second row is called other_NAME.

    Args:
        texts: the columns of the first and of the second table that are compared.
        groups: the columns of both tables that say which group a row is in, as the article of a summary.
        scope: within (pairs of rows of one group) or across (of two groups).
        same: a column of both tables, as split: only rows with the same value are compared.
        order: most_similar or least_similar; which rows of the second table are taken for a row of the first. Across groups, only
            most_similar.
        most: how many rows of the second table are taken for each row of the first; within groups, all by default.
        at_least: the smallest similarity of a pair (τ).
        one_per_groups: of all pairs of the same two groups, in either order, keep the most similar one.
    """

    texts: list[str]
    groups: list[str]
    scope: Literal["within", "across"]
    same: str | None = None
    order: Literal["most_similar", "least_similar"] = "most_similar"
    most: Annotated[int, AT_LEAST_ONE] | None = None
    at_least: float = 0.0
    one_per_groups: bool = False

    def check(self) -> None:
        for name in ("texts", "groups"):
            if len(getattr(self, name)) != 2:
                raise InputError("names two columns, one of each table", key=name)
        if self.scope == "across" and (self.most is None or self.order != "most_similar"):
            raise InputError("pairs across groups need most: N and order: most_similar", key="scope")
        if self.scope == "within" and self.one_per_groups:
            raise InputError("is for scope: across", key="one_per_groups")

    def run(self, work: Work, first: Table, second: Table) -> Table:
        tables, ids, texts = (first, second), dict[tuple[str, ...], int](), list[list[str]]()
        same, groups = list[np.ndarray](), list[np.ndarray]()  # numbers of each row's value of `same`, and of its group
        for table, text, group in zip(tables, self.texts, self.groups, strict=True):
            for option, column in (("texts", text), ("groups", group), ("same", self.same or group)):
                work.check_columns(table, option, column, lists=False)
            texts.append(table.texts(text))
            values = [""] * len(table.rows) if self.same is None else table.texts(self.same)
            named = zip(values, table.texts(group), strict=True)
            same.append(np.array([ids.setdefault((value,), len(ids)) for value in values]))
            groups.append(np.array([ids.setdefault(name, len(ids)) for name in named]))
        columns = {name: f"other_{name}" if name in first.columns else name for name in second.columns}
        names = [*first.columns, *columns.values(), SIMILARITY]
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise work.error(f"a pair would have two columns {twice[0]!r}; rename that one before", "tables")
        pairs = self._search(work, tables, texts, same, groups)
        work.added = work.claim(len(pairs.lefts), first.width + second.width + 1)
        rows = []
        for left, right, value in zip(*map(np.ndarray.tolist, pairs), strict=True):
            one, other = first.rows[left], second.rows[right]
            further = {new: other.values.get(old) for old, new in columns.items()}
            rows.append(SourceRow({**one.values, **further, SIMILARITY: value}, (*one.origins, *other.origins)))
        if self.one_per_groups:
            rows = work.chosen(rows, _repeated(pairs, groups))
        for table, used in ((first, pairs.lefts), (second, pairs.rights)):
            for number in sorted(set(range(len(table.rows))) - set(used.tolist())):
                work.drop(table.rows[number], "in no pair")
        return Table(first.name, names, rows)

    def _search(
        self, work: Work, tables: Sequence[Table], texts: Sequence[list[str]], same: Numbers, groups: Numbers
    ) -> Pairs:
        """The pairs, by the numbers of their rows. Raises InputError for too many."""
        is_one_side = tables[0] is tables[1] and self.texts[0] == self.texts[1]
        title, width = f"step {work.number}, pairs", tables[0].width + tables[1].width + 1

        def check(count: int) -> None:
            work.claim(count // 2 if is_one_side else count, width, "most")

        comparison = TextComparison(texts[0], texts[1], title)
        if self.scope == "across":  # texts without a common unit are no pair
            keys, apart, low = same, groups, max(self.at_least, np.nextafter(0, 1))
        else:
            sizes = [len(side) for side in texts]
            row_or_side = [np.arange(size) if is_one_side else np.full(size, i) for i, size in enumerate(sizes)]
            keys, apart, low = groups, row_or_side, self.at_least
        pairs = comparison.pairs(keys, apart, self.most, self.order == "least_similar", low, check, title)
        if is_one_side:  # a pair may stand there twice, the second time the other way round
            _, first = np.unique(np.sort(np.stack([pairs.lefts, pairs.rights]), axis=0), axis=1, return_index=True)
            pairs = Pairs(*(column[np.sort(first)] for column in pairs))
        return pairs


def _repeated(pairs: Pairs, groups: Numbers) -> list[str | None]:
    """Why a pair is dropped: a more similar pair, or an earlier one that is as similar, has the same two groups."""
    both = np.sort(np.stack([groups[0][pairs.lefts], groups[1][pairs.rights]]), axis=0)
    order = np.argsort(-pairs.values, kind="stable")
    _, best = np.unique(both[:, order], axis=1, return_index=True)
    kept = set(order[best].tolist())
    return [None if number in kept else "a more similar pair has the same two groups" for number in range(len(order))]


@dataclass
class Similarity:
    """Compute the similarity of two texts of each row, as of a question and a possible answer, into the column similarity.

    Args:
        columns: the columns of the first and of the second text.
    """

    columns: list[str]

    def check(self) -> None:
        if len(self.columns) != 2:
            raise InputError("names two columns", key="columns")

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "columns", *self.columns, lists=False)
        lefts, rights = (table.texts(column) for column in self.columns)
        values = TextComparison(lefts, rights, f"step {work.number}, similarity").in_turn().tolist()
        rows = [row.with_values(**{SIMILARITY: value}) for row, value in zip(table.rows, values, strict=True)]
        return table.with_rows(rows, SIMILARITY)


@dataclass
class Cut:
    """Cut each text to its run of at most ten sentences that is most similar to another text of the row, after the penalty for each sentence.

    The similarity is the share of the other text's units that the run has. Of equally similar runs, it is the first of the shortest.

    Args:
        column: the column of texts that are cut.
        like: the column of the texts that they are compared with.
        penalty: the similarity is divided by it once for each sentence of the run (KLEJ, section 3.5: 1.2).
    """

    column: str
    like: str
    penalty: Annotated[float, Meta(ge=1, le=10)] = 1.2

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column, lists=False)
        work.check_columns(table, "like", self.like, lists=False)
        texts, models = table.texts(self.column), table.texts(self.like)
        units = learned_byte_pairs([*models, *texts])
        both = zip(texts, models, strict=True)
        cut = [self._best_run(sentences(text), set(units(model)), units) for text, model in both]
        rows = zip(table.rows, cut, strict=True)
        return table.with_rows(row.with_values(**{self.column: text}) for row, text in rows)

    def _best_run(self, parts: Sequence[str], wanted: set[str], units: Units) -> str:
        """The run of these sentences that has most of the wanted units, after the penalty."""
        units_by_part = [set(units(part)) for part in parts]
        divisors = list(accumulate([self.penalty] * min(MOST_SENTENCES, len(parts)), operator.mul))
        best, value = (0, 1), (-1.0, 0)
        for start in range(len(parts)):
            run = set[str]()
            for size, divisor in enumerate(divisors[: len(parts) - start], start=1):
                run |= units_by_part[start + size - 1]
                shared = len(wanted & run)
                reached = shared / max(1, len(wanted)) / divisor, -size
                if reached > value:
                    best, value = (start, start + size), reached
                if shared == len(wanted):  # no longer run has more
                    break
        return " ".join(parts[slice(*best)])
