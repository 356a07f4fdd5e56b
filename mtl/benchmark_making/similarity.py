"""Similar texts, by shares of common units (`TextComparison`), and near duplicates (`near_duplicates`), both block by block, to save memory."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from mtl.base.errors import InputError
from mtl.base.progress import progress
from mtl.benchmark_making.text_units import Units, learned_byte_pairs, ngrams

DENSE_UNITS = 128  # the most frequent units: as a sparse matrix they cost most of the time
BLOCK = 2**22  # the most pairs that are compared at once
CHECKED = 2**16  # about so many pairs with common rare n-grams have their similarity computed at once
MOST_COMPARED = 5_000_000_000  # pairs of texts in a search for near duplicates
MOST_NEAR = 5_000_000  # pairs that it finds
FEWER = "give fewer texts, or in a recipe a larger near:"  # what to do if there are more

Check = Callable[[int], object]  # of a number of pairs; raises an error if they are too many
Numbers = Sequence[np.ndarray]  # two arrays, int64: a number for each first text, and for each second text


class Pairs(NamedTuple):
    """Pairs of texts: the numbers of the first and of the second texts, int64 (pairs,), and their similarities, float64."""

    lefts: np.ndarray
    rights: np.ndarray
    values: np.ndarray


class TextComparison:
    """The similarity of each text of one list to each text of another, by their byte pairs.

    Attributes:
        left, right: float32 (texts, units), 1 for each unit of a text.
        sizes: the numbers of units of the first texts, at least 1, int64 (texts,)."""

    def __init__(self, lefts: Sequence[str], rights: Sequence[str], title: str) -> None:
        """Divide the texts into byte pairs, which are learned from both lists. Raises InputError as `learned_byte_pairs`."""
        texts = [*lefts, *rights]
        sets = unit_sets(learned_byte_pairs(texts), texts, title)
        self.left, self.right = sets[: len(lefts)], sets[len(lefts) :]
        self.sizes = np.maximum(np.diff(self.left.indptr), 1)

    def in_turn(self) -> np.ndarray:
        """The similarity of each first text to the second text with the same number, float64 (texts,)."""
        return _in_common(self.left, self.right) / self.sizes

    def pairs(
        self, keys: Numbers, apart: Numbers, most: int | None, least_first: bool, low: float, check: Check, title: str
    ) -> Pairs:
        """For each first text, the second texts that are similar enough.

        Args:
            keys: only texts with the same key are a pair.
            apart: texts with the same value are no pair.
            most: the largest number of pairs of a first text, of equally similar texts the first ones; None: all.
            least_first: whether the least similar texts come first, and not the most similar ones.
            low: the smallest similarity of a pair.
            check: gets the number of pairs that are taken, as they become more."""
        parts, taken = [Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))], 0
        for lefts, rights, values in self._similarities(keys, title):
            are_allowed = (values >= low) & (apart[0][lefts, None] != apart[1][rights])
            rows, columns = _best_cells(np.where(are_allowed, -values if least_first else values, -np.inf), most)
            parts.append(_first(Pairs(lefts[rows], rights[columns], values[rows, columns]), most, least_first))
            taken += len(parts[-1].lefts)
            check(taken)
        return _first(Pairs(*map(np.concatenate, zip(*parts, strict=True))), None, least_first)

    def _similarities(self, keys: Numbers, title: str) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Block by block, the numbers of first texts and of second texts with the same key, and the similarity of each to each, (lefts, rights)."""
        frequent = np.argsort(-self.right.getnnz(axis=0), kind="stable")[:DENSE_UNITS]
        rare = np.setdiff1d(np.arange(self.right.shape[1]), frequent)
        dense_left, dense_right = (side[:, frequent].toarray() for side in (self.left, self.right))
        sparse_left, sparse_right = self.left[:, rare], self.right[:, rare]
        last_rights = None
        for lefts, rights in progress(list(_blocks(keys)), title, "blocks"):
            if rights is not last_rights:  # once for all blocks of a key, which come one after another
                last_rights, transposed = rights, sparse_right[rights].T.tocsr()
            common = (sparse_left[lefts] @ transposed).toarray() + dense_left[lefts] @ dense_right[rights].T
            yield lefts, rights, common / self.sizes[lefts, None]


def unit_sets(units: Units, texts: Sequence[str], title: str) -> csr_matrix:
    """A row for each text with 1 for each of its units, float32 (texts, units)."""
    ids = defaultdict[str, int](count().__next__)
    numbers = [np.unique([ids[unit] for unit in units(text)]) for text in progress(texts, title, "texts")]
    flat = np.concatenate([[], *numbers]).astype(np.int32)
    indptr = np.cumsum([0, *map(len, numbers)])
    return csr_matrix((np.ones(len(flat), np.float32), flat, indptr), shape=(len(texts), max(1, len(ids))))


def _in_common(lefts: csr_matrix, rights: csr_matrix) -> np.ndarray:
    """The number of units that texts with the same number have in common, float64 (texts,)."""
    return np.asarray(lefts.multiply(rights).sum(axis=1), dtype=np.float64).ravel()


def _blocks(keys: Numbers) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The numbers of the first and of the second texts that have the same key, in blocks of at most BLOCK pairs (or of one first text)."""
    order = [np.argsort(side, kind="stable") for side in keys]
    ordered = [side[numbers] for side, numbers in zip(keys, order, strict=True)]
    for key in np.intersect1d(keys[0], keys[1]):
        ends = [np.searchsorted(side, [key, key + 1]) for side in ordered]
        lefts, rights = (numbers[start:stop] for numbers, (start, stop) in zip(order, ends, strict=True))
        size = max(1, BLOCK // len(rights))
        yield from ((lefts[start : start + size], rights) for start in range(0, len(lefts), size))


def _best_cells(ranked: np.ndarray, most: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of the finite cells, and of more than `most` cells of a row those that are not below the best `most`."""
    threshold = np.full((len(ranked), 1), np.finfo(float).min)
    if most is not None and most < ranked.shape[1]:
        threshold = np.maximum(threshold, np.partition(ranked, -most, axis=1)[:, -most, None])
    rows, columns = np.nonzero(ranked >= threshold)
    return rows, columns


def _first(pairs: Pairs, most: int | None, least_first: bool) -> Pairs:
    """For each first text its most similar (or least similar) pairs, at most so many; the first second text of equal ones."""
    order = np.lexsort((pairs.rights, pairs.values if least_first else -pairs.values, pairs.lefts))
    lefts = pairs.lefts[order]
    rank = np.arange(len(lefts)) - np.searchsorted(lefts, lefts)
    return Pairs(*(column[order][rank < (most or len(lefts))] for column in pairs))


def near_duplicates(texts: Sequence[str], share: float) -> Iterator[tuple[int, int, float]]:
    """All pairs of texts whose sets of character n-grams have at least this Jaccard similarity, exactly: the numbers of the earlier and the later
    text, and the similarity, in the order of the later text. Only texts with a common n-gram in their prefixes are compared (Bayardo et al.
    2007, All-Pairs). Raises InputError for more than MOST_COMPARED comparisons, and for more than MOST_NEAR pairs."""
    sets = unit_sets(ngrams, texts, "n-grams")
    sizes, prefixes = np.diff(sets.indptr), _prefixes(sets, share)
    compared = int(np.bincount(prefixes.indices, minlength=1)[prefixes.indices].sum())  # n × n for a unit in n prefixes
    if compared > MOST_COMPARED:
        many = f"so many texts have rare n-grams in common that {compared:,} comparisons would be needed"
        raise InputError(f"{many}; {FEWER}")
    transposed = prefixes.T.tocsr()
    step = max(1, BLOCK // max(1, len(texts)))  # texts of a block
    found = 0
    for start in progress(range(0, len(texts), step), "near duplicates", "blocks"):
        common = (prefixes[start : start + step] @ transposed).tocoo()
        later, earlier = common.row.astype(np.int64) + start, common.col.astype(np.int64)
        in_order = np.lexsort((earlier, later))
        compared_once = in_order[earlier[in_order] < later[in_order]]
        for part in np.array_split(compared_once, len(compared_once) // CHECKED + 1):
            lefts, rights = earlier[part], later[part]
            shared = _in_common(sets[lefts], sets[rights])
            values = shared / (sizes[lefts] + sizes[rights] - shared)
            near = values >= share
            found += int(near.sum())
            if found > MOST_NEAR:
                raise InputError(f"more than {MOST_NEAR:,} pairs of texts are nearly the same; {FEWER}")
            yield from zip(lefts[near].tolist(), rights[near].tolist(), values[near].tolist(), strict=True)


def _prefixes(sets: csr_matrix, share: float) -> csr_matrix:
    """The prefix of each set: all but (share × size) − 1 of its units, the rarest ones, one of which similar sets have in common."""
    sizes, frequency = np.diff(sets.indptr), np.bincount(sets.indices, minlength=sets.shape[1])
    rarity = np.argsort(np.argsort(frequency, kind="stable"))
    prefixes = csr_matrix((sets.data, rarity[sets.indices], sets.indptr), shape=sets.shape, copy=True)
    prefixes.sort_indices()
    rank = np.arange(prefixes.nnz) - np.repeat(prefixes.indptr[:-1], sizes)
    last = sizes - np.ceil(share * sizes - 1e-6)  # in a prefix; share × size may come out just above a whole number
    prefixes.data[rank > np.repeat(last, sizes)] = 0
    prefixes.eliminate_zeros()
    return prefixes
