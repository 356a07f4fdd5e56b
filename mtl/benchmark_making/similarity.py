"""The similar pairs between two lists of texts: `TextComparison` compares them, and a `PairRule` says which pairs are taken."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from mtl.base.progress import progress
from mtl.benchmark_making.text_units import Units, learned_byte_pairs

DENSE_UNITS = 128  # the most frequent units: as a sparse matrix they cost most of the time
BLOCK = 2**22  # the most pairs that are compared at once, to save memory

Numbers = tuple[np.ndarray, np.ndarray]  # a number for each first text, and one for each second text, int64 (texts,)


class PairRule(NamedTuple):
    """Which texts are a pair, and how many pairs of a first text are taken."""

    equal: Numbers  # only texts with equal numbers are a pair
    unequal: Sequence[Numbers]  # texts with equal numbers in one of these are no pair
    lowest: float  # the smallest similarity of a pair
    most: int | None  # the largest number of pairs of a first text; None: all
    least_first: bool  # whether the least similar pairs come first, and not the most similar ones


class Pairs(NamedTuple):
    """Pairs of texts: the numbers of the first and of the second texts, int64 (pairs,), and their similarities, float64."""

    lefts: np.ndarray
    rights: np.ndarray
    values: np.ndarray

    def at(self, positions: np.ndarray) -> "Pairs":
        """The pairs at these positions, in this order."""
        return Pairs(self.lefts[positions], self.rights[positions], self.values[positions])


class TextComparison:
    """The similarity of each text of one list to each text of another: the share of the first text's byte pairs that the second text has.
    `left` and `right` are float32 (texts, units), 1 for each unit of a text; `sizes` the numbers of units of the first texts, at least 1."""

    def __init__(self, lefts: Sequence[str], rights: Sequence[str], title: str) -> None:
        """Divide the texts into byte pairs, which are learned from both lists. Raises InputError as `learned_byte_pairs`."""
        texts = [*lefts, *rights]
        sets = unit_sets(learned_byte_pairs(texts), texts, title)
        self.left, self.right = sets[: len(lefts)], sets[len(lefts) :]
        self.sizes = np.maximum(np.diff(self.left.indptr), 1)

    def in_turn(self) -> np.ndarray:
        """The similarity of each first text to the second text with the same number, float64 (texts,)."""
        return units_in_common(self.left, self.right) / self.sizes

    def pairs(self, rule: PairRule, check_count: Callable[[int], object], title: str) -> Pairs:
        """The pairs that a rule takes, in the order of the first texts. Of equally similar second texts, the first ones are taken.
        `check_count` gets the number of pairs as it grows, and raises an error where they become too many."""
        parts = [Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        count = 0
        for lefts, rights, values in self._compared(rule.equal, title):
            parts.append(_taken(lefts, rights, values, rule))
            count += len(parts[-1].lefts)
            check_count(count)
        pairs = Pairs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        return pairs.at(np.argsort(pairs.lefts, kind="stable"))

    def _compared(self, equal: Numbers, title: str) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Compare all texts with equal numbers, block by block: some first texts, some second texts, and the similarity of each to each, float64
        (first texts, second texts). Frequent units are counted in dense matrices, and rare ones in sparse matrices."""
        frequency = self.right.getnnz(axis=0)
        frequent = np.argsort(-frequency, kind="stable")[:DENSE_UNITS]
        rare = np.setdiff1d(np.arange(len(frequency)), frequent)
        dense_left, dense_right = self.left[:, frequent].toarray(), self.right[:, frequent].toarray()
        sparse_left, sparse_right = self.left[:, rare], self.right[:, rare]
        last_rights = None
        for lefts, rights in progress(list(_blocks(equal)), title, "blocks"):
            if rights is not last_rights:  # once for all blocks with the same second texts, which follow each other
                last_rights, transposed = rights, sparse_right[rights].T.tocsr()
            common = (sparse_left[lefts] @ transposed).toarray() + dense_left[lefts] @ dense_right[rights].T
            yield lefts, rights, common / self.sizes[lefts, None]


def unit_sets(units: Units, texts: Sequence[str], title: str) -> csr_matrix:
    """A row for each text with 1 for each of its units, float32 (texts, units)."""
    ids: dict[str, int] = {}
    numbers = []
    for text in progress(texts, title, "texts"):
        numbers.append(np.unique([ids.setdefault(unit, len(ids)) for unit in units(text)]))
    flat = np.concatenate([[], *numbers]).astype(np.int32)
    ends = np.cumsum([0, *map(len, numbers)])
    return csr_matrix((np.ones(len(flat), np.float32), flat, ends), shape=(len(texts), max(1, len(ids))))


def units_in_common(lefts: csr_matrix, rights: csr_matrix) -> np.ndarray:
    """The number of units that the texts in the same row of both have in common, float64 (texts,)."""
    return np.asarray(lefts.multiply(rights).sum(axis=1), dtype=np.float64).ravel()


def _blocks(equal: Numbers) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """First texts, and all second texts with the same number: at most BLOCK pairs of them, or one first text."""
    lefts_by_number, rights_by_number = _by_number(equal[0]), _by_number(equal[1])
    for number in sorted(lefts_by_number.keys() & rights_by_number.keys()):
        lefts, rights = lefts_by_number[number], rights_by_number[number]
        size = max(1, BLOCK // len(rights))
        for start in range(0, len(lefts), size):
            yield lefts[start : start + size], rights


def _by_number(numbers: np.ndarray) -> dict[int, np.ndarray]:
    """The texts that have each of these numbers, in their order."""
    order = np.argsort(numbers, kind="stable")
    distinct, starts = np.unique(numbers[order], return_index=True)
    return dict(zip(distinct.tolist(), np.split(order, starts[1:]), strict=False))  # of no texts, one empty part


def _taken(lefts: np.ndarray, rights: np.ndarray, values: np.ndarray, rule: PairRule) -> Pairs:
    """The pairs that a rule takes of a block, as `_compared` yields it, sorted by first text, by the order of the rule, and by second text."""
    is_pair = values >= rule.lowest
    for first, second in rule.unequal:
        is_pair &= first[lefts, None] != second[rights]
    ranks = values if rule.least_first else -values  # the pairs with low ranks come first
    if rule.most is not None and rule.most < len(rights):
        # Leave out most pairs before the rest is sorted: those behind the last one of their row that may be taken.
        last = np.partition(np.where(is_pair, ranks, np.inf), rule.most - 1, axis=1)[:, rule.most - 1, None]
        is_pair &= ranks <= last
    rows, columns = np.nonzero(is_pair)
    pairs = Pairs(lefts[rows], rights[columns], values[rows, columns])
    pairs = pairs.at(np.lexsort((pairs.rights, ranks[rows, columns], pairs.lefts)))
    if rule.most is None:
        return pairs
    first_places = np.searchsorted(pairs.lefts, pairs.lefts)  # where the pairs of the same first text begin
    return pairs.at(np.arange(len(pairs.lefts)) - first_places < rule.most)
