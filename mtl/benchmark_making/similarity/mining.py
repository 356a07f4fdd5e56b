"""Search for similar pairs among all pairs of many texts, block by block: memory grows with the number of texts, not of pairs."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from mtl.base.errors import InputError
from mtl.base.progress import progress
from mtl.benchmark_making.similarity.comparison import BLOCK, SimilarityOptions, TextComparison

MOST_COMPARED = 5_000_000_000  # pairs of texts in a search for near duplicates
MOST_NEAR = 5_000_000  # pairs that it finds
FEWER = "ask for a larger share in common, or for longer n-grams"
CHUNK = 512  # second texts whose largest similarity is looked at first


Check = Callable[[int], object]  # of a number of pairs; raises an error if they are too many


class Pairs(NamedTuple):
    """Pairs of texts: the numbers of the first and of the second texts, int64 (pairs,), and their similarities, float64."""

    lefts: np.ndarray
    rights: np.ndarray
    values: np.ndarray


def joined(parts: Sequence[Pairs]) -> Pairs:
    """All pairs of several searches."""
    nothing = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return Pairs(*(np.concatenate(columns) for columns in zip(nothing, *parts, strict=True)))


def most_similar(
    comparison: TextComparison,
    groups: tuple[np.ndarray, np.ndarray],
    most: int,
    low: float,
    high: float,
    check: Check,
    title: str,
) -> Pairs:
    """For each first text, the most similar second texts of other groups, the first of equal ones, with a similarity in these bounds.

    Texts without a common unit are never a pair. Groups are int64, of each text of both sides. `check`: as in `within_groups`.
    """
    order = np.argsort(groups[1], kind="stable")
    begins, ends = (np.searchsorted(groups[1][order], groups[0], side) for side in ("left", "right"))
    every = np.arange(len(groups[1]))
    kept_pairs = []
    count = 0
    for lefts, shared in comparison.blocks(title):
        values = comparison.values(shared, lefts[:, None], every[None, :])
        for row, left in enumerate(lefts):
            values[row, order[begins[left] : ends[left]]] = 0
        values[values > high] = 0
        bounds = np.maximum(_bounds(values, most), low)
        rows, rights = np.nonzero((values >= bounds[:, None]) & (values > 0))
        kept_pairs.append(_first(Pairs(lefts[rows], rights, values[rows, rights]), most))
        count += len(kept_pairs[-1].lefts)
        check(count)
    return joined(kept_pairs)


def _bounds(values: np.ndarray, most: int) -> np.ndarray:
    """For each row a number that at least `most` of its values reach, if there are so many chunks: of the largest values of chunks, the
    one in this place."""
    peaks = np.maximum.reduceat(values, np.arange(0, values.shape[1], CHUNK), axis=1)
    if peaks.shape[1] < most:
        return np.zeros(len(values), values.dtype)
    return np.partition(peaks, peaks.shape[1] - most, axis=1)[:, -most]


def _first(pairs: Pairs, most: int | None, least: bool = False) -> Pairs:
    """For each first text its most similar (or least similar) pairs, at most so many; the first second text of equal ones."""
    order = np.lexsort((pairs.rights, pairs.values if least else -pairs.values, pairs.lefts))
    lefts = pairs.lefts[order]
    place = np.arange(len(lefts)) - np.searchsorted(lefts, lefts)
    return Pairs(*(column[order][place < (most or len(lefts))] for column in pairs))


def within_groups(
    comparison: TextComparison,
    groups: tuple[np.ndarray, np.ndarray],
    most: int | None,
    least: bool,
    low: float,
    high: float,
    check: Check,
    is_one_side: bool = False,
) -> Pairs:
    """By first text, second texts of its own group, with a similarity in these bounds: all, or the most or the least similar.

    A text is no pair with itself where both sides are the same texts. Groups are int64, of each text of both sides. `check` gets the
    number of pairs that are kept, as they become more.
    """
    order = [np.argsort(side, kind="stable") for side in groups]
    kept_pairs = []
    count = 0
    for group in np.intersect1d(*groups):
        ours, theirs = (
            numbers[slice(*(np.searchsorted(side[numbers], group, end) for end in ("left", "right")))]
            for side, numbers in zip(groups, order, strict=True)
        )
        size = max(1, BLOCK // len(theirs))
        for start in range(0, len(ours), size):
            lefts = ours[start : start + size]
            shared = (comparison.left[lefts] @ comparison.right[theirs].T).toarray().astype(np.float64)
            values = comparison.values(shared, lefts[:, None], theirs[None, :])
            if is_one_side:
                values[lefts[:, None] == theirs[None, :]] = np.nan
            rows, columns = np.nonzero((values >= low) & (values <= high))
            kept_pairs.append(_first(Pairs(lefts[rows], theirs[columns], values[rows, columns]), most, least))
            count += len(kept_pairs[-1].lefts)
            check(count)
    return _first(joined(kept_pairs), None, least)


def near_duplicates(texts: Sequence[str], share: float, ngram: int) -> Iterator[tuple[int, int, float]]:
    """All pairs of texts whose sets of character n-grams have at least this Jaccard similarity, exactly: the numbers of both, and it.

    Two such texts have one of their rarest n-grams in common: each text's `prefix`, all but (share × size) − 1 of its n-grams. So only
    texts with a common n-gram in their prefixes are compared (Bayardo et al. 2007, All-Pairs). Pairs come by the later text.
    """
    options = SimilarityOptions(units="characters", measure="jaccard", ngram=ngram)
    comparison = TextComparison(texts, [], options, "n-grams")
    comparison.right, comparison.sizes = comparison.left, (comparison.sizes[0], comparison.sizes[0])
    comparison.penalties = np.ones(len(texts))
    prefix = _prefixes(comparison.left, share)
    compared = int(np.bincount(prefix.indices, minlength=prefix.shape[1])[prefix.indices].sum())
    if compared > MOST_COMPARED:
        raise InputError(
            f"so many texts have rare n-grams in common that {compared:,} comparisons would be needed; {FEWER}"
        )
    transposed = prefix.T.tocsr()
    count = 0
    for start, end in progress(_blocks(prefix), "near duplicates", "blocks"):
        common = (prefix[start:end] @ transposed).tocoo()
        later, earlier = common.row.astype(np.int64) + start, common.col.astype(np.int64)
        kept = earlier < later
        later, earlier = later[kept], earlier[kept]
        values = comparison.pairs(earlier, later)
        near = values >= share
        count += int(near.sum())
        if count > MOST_NEAR:
            raise InputError(f"more than {MOST_NEAR:,} pairs of texts are nearly the same; {FEWER}")
        for number in np.flatnonzero(near)[np.lexsort((earlier[near], later[near]))]:
            yield int(earlier[number]), int(later[number]), float(values[number])


def _blocks(prefix: csr_matrix) -> list[tuple[int, int]]:
    """The first and the last row, plus one, of blocks of rows that have at most BLOCK / 8 other rows in common (or of one row)."""
    frequency = np.bincount(prefix.indices, minlength=prefix.shape[1])
    starts, most = [0], 0
    for number, common in enumerate(np.add.reduceat(frequency[prefix.indices], prefix.indptr[:-1]).tolist()):
        most += common
        if most > BLOCK // 8 and number > starts[-1]:
            starts.append(number)
            most = common
    return list(pairwise([*starts, prefix.shape[0]]))


def _prefixes(sets: csr_matrix, share: float) -> csr_matrix:
    """The rarest units of each text, of which two texts with a Jaccard similarity of `share` have at least one in common."""
    counts = np.bincount(sets.indices, minlength=sets.shape[1])
    rarity = np.empty(len(counts), np.int64)
    rarity[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    ranked = csr_matrix((sets.data, rarity[sets.indices], sets.indptr), shape=sets.shape)
    ranked.sort_indices()
    sizes = np.diff(ranked.indptr)
    lengths = np.array([size - math.ceil(share * size - 1e-6) + 1 for size in range(max(sizes, default=0) + 1)])
    place = np.arange(len(ranked.indices)) - np.repeat(ranked.indptr[:-1], sizes)
    kept = place < np.repeat(lengths[sizes], sizes)
    indptr = np.concatenate([[0], np.cumsum(np.minimum(lengths[sizes], sizes))])
    return csr_matrix((ranked.data[kept], ranked.indices[kept], indptr), shape=sets.shape)
