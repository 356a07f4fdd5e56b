"""How similar two texts are: the share of the first one's units that the second one has, by counts that are the same on every machine.

Pairs are searched among all pairs of many texts, block by block: memory grows with the number of texts, not of pairs.
"""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from mtl.base.errors import InputError
from mtl.base.progress import progress

# Finding the byte pairs of a longer word, such as a text without spaces, would take time that grows with its square.
WORD = re.compile(r"\w{1,200}")
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+")
WORD_END = "▁"  # after the last character of a word
MERGES = 4000  # byte pairs that are learned
MOST_REWRITTEN = 2 * 10**9  # letters that merges may rewrite: about five minutes
DENSE_UNITS = 128  # the most frequent units: as a sparse matrix they cost most of the time
NEAR_NGRAM = 5  # characters of the n-grams of near duplicates
BLOCK = 2**22  # the most pairs that are compared at once
MOST_COMPARED = 5_000_000_000  # pairs of texts in a search for near duplicates
MOST_NEAR = 5_000_000  # pairs that it finds

Units = Callable[[str], list[str]]
Check = Callable[[int], object]  # of a number of pairs; raises an error if they are too many
Numbers = Sequence[np.ndarray]  # of each text of both sides, int64


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return WORD.findall(text.casefold())


def sentences(text: str) -> list[str]:
    """The sentences of a text: each ends with . ! ? or … before white space. At least one."""
    return SENTENCE_END.split(text.strip())


def ngrams(text: str) -> list[str]:
    """The n-grams of a text's characters in lower case, with single spaces between words; a shorter text is one n-gram."""
    plain = " ".join(text.casefold().split())
    return [plain[start : start + NEAR_NGRAM] for start in range(max(1, len(plain) - NEAR_NGRAM + 1))]


def units_of(texts: Sequence[str]) -> Units:
    """The function that divides a text into byte pairs, which are learned from these texts. Raises InputError if that would take too long."""
    counts = Counter(word for text in texts for word in words(text))
    # Each merge of a word rewrites the whole word, and makes it shorter by a symbol at least.
    if sum(len(word) * min(len(word), MERGES) for word in counts) > MOST_REWRITTEN:
        many = f"{len(counts):,} different words of up to {max(map(len, counts))} letters"
        raise InputError(f"{many} are too many for byte pairs; sample the rows first")
    return byte_pairs(learn_merges(counts, MERGES))


def byte_pairs(ranks: dict[tuple[str, str], int]) -> Units:
    """The function that divides a text's words into symbols, by merges with these ranks: byte-pair encoding (Sennrich et al. 2016)."""

    @cache
    def symbols_of(word: str) -> list[str]:
        symbols = _characters(word)
        while pairs := [pair for pair in pairwise(symbols) if pair in ranks]:
            symbols = _merged(symbols, min(pairs, key=ranks.__getitem__))
        return symbols

    return lambda text: [symbol for word in words(text) for symbol in symbols_of(word)]


def learn_merges(counts: Counter[str], merges: int) -> dict[tuple[str, str], int]:
    """The byte pairs of words with these counts, each with its rank, at most so many: the most frequent pair of neighbouring symbols within
    words becomes one symbol, again and again, as long as it occurs twice. Of equally frequent pairs it is the first in the order of code points, so
    that the same words give the same merges."""
    spelled = [(_characters(word), times) for word, times in sorted(counts.items())]
    frequency = Counter[tuple[str, str]]()
    words_with_pair = defaultdict[tuple[str, str], set[int]](set)
    for number, (symbols, times) in enumerate(spelled):
        for pair in pairwise(symbols):
            frequency[pair] += times
            words_with_pair[pair].add(number)
    heap = [(-times, pair) for pair, times in frequency.items()]
    heapq.heapify(heap)
    ranks: dict[tuple[str, str], int] = {}
    while heap and len(ranks) < merges:
        negative, pair = heapq.heappop(heap)
        if -negative != frequency[pair]:
            continue  # an entry from before the pair's frequency changed
        if -negative < 2:
            break
        ranks[pair] = len(ranks)
        changed: set[tuple[str, str]] = set()
        for number in words_with_pair[pair]:
            old, times = spelled[number]
            new = _merged(old, pair)
            for neighbours in pairwise(old):
                frequency[neighbours] -= times
            for neighbours in pairwise(new):
                frequency[neighbours] += times
                words_with_pair[neighbours].add(number)
            changed |= {*pairwise(old), *pairwise(new)}
            spelled[number] = (new, times)
        for neighbours in changed:
            if frequency[neighbours] > 0:
                heapq.heappush(heap, (-frequency[neighbours], neighbours))
    return ranks


def _characters(word: str) -> list[str]:
    """The symbols of a word before any merge."""
    return [*word[:-1], word[-1] + WORD_END]


def _merged(symbols: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """The symbols with each occurrence of the pair as one symbol."""
    merged: list[str] = []
    position = 0
    while position < len(symbols):
        is_pair = tuple(symbols[position : position + 2]) == pair
        merged.append("".join(pair) if is_pair else symbols[position])
        position += 2 if is_pair else 1
    return merged


class Pairs(NamedTuple):
    """Pairs of texts: the numbers of the first and of the second texts, int64 (pairs,), and their similarities, float64."""

    lefts: np.ndarray
    rights: np.ndarray
    values: np.ndarray


class TextComparison:
    """The similarity of each text of one list to each text of another.

    Attributes:
        left, right: float32 (texts, units), 1 for each unit of a text.
        sizes: the numbers of units of the first texts, at least 1, int64 (texts,).
    """

    def __init__(self, lefts: Sequence[str], rights: Sequence[str], title: str) -> None:
        texts = [*lefts, *rights]
        sets = unit_sets(units_of(texts), texts, title)
        self.left, self.right = sets[: len(lefts)], sets[len(lefts) :]
        self.sizes = np.maximum(np.diff(self.left.indptr), 1)

    def in_turn(self) -> np.ndarray:
        """The similarity of each first text to the second text with the same number, float64 (texts,)."""
        return _in_common(self.left, self.right) / self.sizes

    def pairs(
        self, keys: Numbers, apart: Numbers, most: int | None, least: bool, low: float, check: Check, title: str
    ) -> Pairs:
        """For each first text, second texts with at least this similarity: all, or the most or the least similar, the first of equal ones.

        Args:
            keys: only texts with the same key are a pair.
            apart: texts with the same value are no pair.
            check: gets the number of pairs that are kept, as they become more.
        """
        parts = [Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        frequent = np.argsort(-self.right.getnnz(axis=0), kind="stable")[:DENSE_UNITS]
        rare = np.setdiff1d(np.arange(self.right.shape[1]), frequent)
        ours, theirs = (side[:, frequent].toarray() for side in (self.left, self.right))
        left, right = self.left[:, rare], self.right[:, rare]
        kept, last, transposed = 0, None, right
        for lefts, rights in progress(list(_blocks(keys)), title, "blocks"):
            if rights is not last:  # the blocks of a key come one after another
                last, transposed = rights, right[rights].T.tocsr()
            values = ((left[lefts] @ transposed).toarray() + ours[lefts] @ theirs[rights].T) / self.sizes[lefts, None]
            refused = (values < low) | (apart[0][lefts, None] == apart[1][rights])
            ranked = np.where(refused, -np.inf, -values if least else values)
            least_ranked = np.full((len(lefts), 1), np.finfo(float).min)
            if most is not None and most < len(rights):
                least_ranked = np.maximum(least_ranked, np.partition(ranked, -most, axis=1)[:, -most, None])
            rows, columns = np.nonzero(ranked >= least_ranked)
            parts.append(_first(Pairs(lefts[rows], rights[columns], values[rows, columns]), most, least))
            kept += len(parts[-1].lefts)
            check(kept)
        return _first(Pairs(*map(np.concatenate, zip(*parts, strict=True))), None, least)


def unit_sets(units: Units, texts: Sequence[str], title: str) -> csr_matrix:
    """A row for each text with 1 for each of its units, float32 (texts, units)."""
    ids = defaultdict[str, int](count().__next__)
    numbers = [np.unique([ids[unit] for unit in units(text)]) for text in progress(texts, title, "texts")]
    flat = np.concatenate([[], *numbers]).astype(np.int32)
    indptr = np.cumsum([0, *map(len, numbers)])
    return csr_matrix((np.ones(len(flat), np.float32), flat, indptr), shape=(len(texts), max(1, len(ids))))


def _in_common(ours: csr_matrix, theirs: csr_matrix) -> np.ndarray:
    """The number of units that texts with the same number have in common, float64 (texts,)."""
    return np.asarray(ours.multiply(theirs).sum(axis=1), dtype=np.float64).ravel()


def _blocks(keys: Numbers) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The numbers of the texts of both sides that have the same key, in blocks of at most BLOCK pairs (or of one first text)."""
    order = [np.argsort(side, kind="stable") for side in keys]
    for key in np.intersect1d(keys[0], keys[1]):
        ours, theirs = (
            numbers[slice(*(np.searchsorted(side[numbers], key, end) for end in ("left", "right")))]
            for side, numbers in zip(keys, order, strict=True)
        )
        size = max(1, BLOCK // len(theirs))
        yield from ((ours[start : start + size], theirs) for start in range(0, len(ours), size))


def _first(pairs: Pairs, most: int | None, least: bool) -> Pairs:
    """For each first text its most similar (or least similar) pairs, at most so many; the first second text of equal ones."""
    order = np.lexsort((pairs.rights, pairs.values if least else -pairs.values, pairs.lefts))
    lefts = pairs.lefts[order]
    rank = np.arange(len(lefts)) - np.searchsorted(lefts, lefts)
    return Pairs(*(column[order][rank < (most or len(lefts))] for column in pairs))


def near_duplicates(texts: Sequence[str], share: float) -> Iterator[tuple[int, int, float]]:
    """All pairs of texts whose sets of character n-grams have at least this Jaccard similarity, exactly: the numbers of both, and it.

    Two such texts have one of their rarest n-grams in common: each text's `prefix`, all but (share × size) − 1 of its n-grams. So only
    texts with a common n-gram in their prefixes are compared (Bayardo et al. 2007, All-Pairs). Pairs come by the later text.
    """
    sets = unit_sets(ngrams, texts, "n-grams")
    sizes, frequency = np.diff(sets.indptr), np.bincount(sets.indices, minlength=sets.shape[1])
    rarity = np.argsort(np.argsort(frequency, kind="stable"))
    prefix = csr_matrix((sets.data, rarity[sets.indices], sets.indptr), shape=sets.shape, copy=True)
    prefix.sort_indices()
    rank = np.arange(prefix.nnz) - np.repeat(prefix.indptr[:-1], sizes)
    prefix.data[rank > np.repeat(sizes - np.ceil(share * sizes - 1e-6), sizes)] = 0
    prefix.eliminate_zeros()
    compared = int(np.bincount(prefix.indices, minlength=1)[prefix.indices].sum())
    fewer = "give fewer texts, or in a recipe a larger near:"
    if compared > MOST_COMPARED:
        many = f"so many texts have rare n-grams in common that {compared:,} comparisons would be needed"
        raise InputError(f"{many}; {fewer}")
    transposed, step, kept = prefix.T.tocsr(), max(1, BLOCK // max(1, len(texts))), 0
    for start in progress(range(0, len(texts), step), "near duplicates", "blocks"):
        common = (prefix[start : start + step] @ transposed).tocoo()
        later, earlier = common.row.astype(np.int64) + start, common.col.astype(np.int64)
        order = np.lexsort((earlier, later))
        order = order[earlier[order] < later[order]]
        for part in np.array_split(order, len(order) // 2**16 + 1):
            ours, theirs = earlier[part], later[part]
            shared = _in_common(sets[ours], sets[theirs])
            values = shared / (sizes[ours] + sizes[theirs] - shared)
            near = values >= share
            kept += int(near.sum())
            if kept > MOST_NEAR:
                raise InputError(f"more than {MOST_NEAR:,} pairs of texts are nearly the same; {fewer}")
            yield from zip(ours[near].tolist(), theirs[near].tolist(), values[near].tolist(), strict=True)
