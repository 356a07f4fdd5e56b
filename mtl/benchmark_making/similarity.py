"""How similar two texts are: the share of units that both have. Units are counted, so that every machine gets the same similarities.

Pairs are searched among all pairs of many texts, block by block: memory grows with the number of texts, not of pairs.
"""

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from msgspec import Meta
from scipy.sparse import csr_matrix

from mtl.base.errors import InputError
from mtl.base.progress import progress

# Finding the byte pairs of a longer word, such as a text without spaces, would take time that grows with its square.
WORD = re.compile(r"\w{1,200}")
NGRAM = Meta(ge=1, le=100)  # all n-grams of a text take as many times its memory
MOST_REWRITTEN = 2 * 10**9  # letters that merges may rewrite: about five minutes
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+")
WORD_END = "▁"  # after the last character of a word
DENSE_UNITS = 128  # the most frequent units: as a sparse matrix they cost most of the time
LARGEST_PENALTY = 1e30  # float32 holds it
BLOCK = 2**23  # the most pairs that are compared at once

Units = Callable[[str], list[str]]


MOST_COMPARED = 5_000_000_000  # pairs of texts in a search for near duplicates
MOST_NEAR = 5_000_000  # pairs that it finds
FEWER = "ask for a larger share in common, or for longer n-grams"
CHUNK = 512  # second texts whose largest similarity is looked at first
Check = Callable[[int], object]  # of a number of pairs; raises an error if they are too many


@dataclass
class SimilarityOptions:
    """How texts are compared.

    Args:
        units: what texts are made of, in lower case: bpe (byte pairs, learned from the texts of the step), words, or characters (n-grams).
        measure: of the sets of units A and B of the first and the second text: containment, |A ∩ B| / |A|; dice, 2 |A ∩ B| / (|A| + |B|);
            jaccard, |A ∩ B| / |A ∪ B|.
        penalty: the similarity is divided by it once for each sentence of the second text (KLEJ, section 3.5: 1.2).
        merges: how many byte pairs are learned.
        ngram: the characters of an n-gram.
    """

    units: Literal["bpe", "words", "characters"] = "bpe"
    measure: Literal["containment", "dice", "jaccard"] = "containment"
    penalty: Annotated[float, Meta(ge=1, le=10)] = 1.0
    merges: Annotated[int, Meta(ge=1, le=100_000)] = 4000
    ngram: Annotated[int, NGRAM] = 3


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return WORD.findall(text.casefold())


def sentences(text: str) -> list[str]:
    """The sentences of a text: each ends with . ! ? or … before white space. At least one."""
    return SENTENCE_END.split(text.strip())


def units_of(texts: Sequence[str], options: SimilarityOptions) -> Units:
    """The function that divides a text into units. Byte pairs are learned from these texts. Raises InputError if that would take too
    long."""
    if options.units == "words":
        return words
    if options.units == "characters":
        return lambda text: ngrams(text, options.ngram)
    counts = Counter(word for text in texts for word in words(text))
    # Each merge of a word rewrites the whole word, and makes it shorter by a symbol at least.
    if sum(len(word) * min(len(word), options.merges) for word in counts) > MOST_REWRITTEN:
        many = f"{len(counts):,} different words of up to {max(map(len, counts))} letters"
        remedy = "set units: characters or words, or sample the rows first"
        raise InputError(f"{many} are too many for byte pairs; {remedy}")
    return BytePairs(counts, options.merges)


def ngrams(text: str, size: int) -> list[str]:
    """The n-grams of a text's characters in lower case, with single spaces between words; a shorter text is one n-gram."""
    plain = " ".join(text.casefold().split())
    return [plain[start : start + size] for start in range(max(1, len(plain) - size + 1))]


class BytePairs:
    """Byte-pair encoding (Sennrich et al. 2016): the most frequent pair of neighbouring symbols within words becomes one symbol, again
    and again. Of equally frequent pairs it is the first in the order of code points, so that the same words give the same merges."""

    def __init__(self, counts: Counter[str], merges: int) -> None:
        """Learn at most `merges` pairs from words with these counts; pairs that occur once are not merged."""
        self.ranks = _learn_merges(counts, merges)
        self._known: dict[str, list[str]] = {}

    def __call__(self, text: str) -> list[str]:
        """The byte pairs of a text's words."""
        return [symbol for word in words(text) for symbol in self._word(word)]

    def _word(self, word: str) -> list[str]:
        if word not in self._known:
            symbols = _characters(word)
            while pairs := [pair for pair in pairwise(symbols) if pair in self.ranks]:
                symbols = _merged(symbols, min(pairs, key=self.ranks.__getitem__))
            self._known[word] = symbols
        return self._known[word]


def _learn_merges(counts: Counter[str], merges: int) -> dict[tuple[str, str], int]:
    """The learned pairs with their ranks; the first one learned has rank 0."""
    spelled = [(_characters(word), count) for word, count in sorted(counts.items())]
    frequency = Counter[tuple[str, str]]()
    words_with_pair = defaultdict[tuple[str, str], set[int]](set)
    for number, (symbols, count) in enumerate(spelled):
        for pair in pairwise(symbols):
            frequency[pair] += count
            words_with_pair[pair].add(number)
    heap = [(-count, pair) for pair, count in frequency.items()]
    heapq.heapify(heap)
    ranks: dict[tuple[str, str], int] = {}
    while heap and len(ranks) < merges:
        count, pair = heapq.heappop(heap)
        if -count != frequency[pair]:
            continue  # an entry from before the pair's frequency changed
        if -count < 2:
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
    place = 0
    while place < len(symbols):
        both = tuple(symbols[place : place + 2]) == pair
        merged.append("".join(pair) if both else symbols[place])
        place += 1 + both
    return merged


def whole_size(measure: str, ours: Any, theirs: Any, shared: Any) -> Any:
    """What the number of shared units is divided by, from the numbers of units of both texts: numbers, or arrays of one shape."""
    return {"containment": ours, "dice": (ours + theirs) / 2, "jaccard": ours + theirs - shared}[measure]


class TextComparison:
    """The similarity of each text of one list to each text of another.

    Attributes:
        measure: see `SimilarityOptions`.
        left, right: float32 (texts, units), 1 for each unit of a text.
        sizes: the numbers of units of the texts of both sides.
        penalties: what the similarities to each text of the second list are divided by, float64 (second texts,).
    """

    def __init__(self, lefts: Sequence[str], rights: Sequence[str], options: SimilarityOptions, title: str) -> None:
        self.measure = options.measure
        texts = [*lefts, *rights]
        units = units_of(texts, options)
        matrix = _sets(units, texts, title)
        self.sizes = (np.diff(matrix.indptr[: len(lefts) + 1]), np.diff(matrix.indptr[len(lefts) :]))
        self.left, self.right = matrix[: len(lefts)], matrix[len(lefts) :]
        counts = [len(sentences(text)) if options.penalty != 1 else 0 for text in rights]
        with np.errstate(over="ignore"):  # products, since machines differ in the last digit of a power
            powers = np.cumprod([1.0, *[options.penalty] * max(counts, default=0)])
        self.penalties = np.minimum(powers, LARGEST_PENALTY)[counts]

    def values(self, shared: np.ndarray, lefts: np.ndarray, rights: np.ndarray) -> np.ndarray:
        """The similarities of pairs, float64, of the shape of `shared`.

        Args:
            shared: the products of the pairs' rows in `left` and `right`.
            lefts, rights: indices of the texts; broadcast against `shared`.
        """
        size = whole_size(self.measure, self.sizes[0][lefts], self.sizes[1][rights], shared)
        return shared / (np.maximum(size, 1) * self.penalties[rights])

    def pairs(self, lefts: np.ndarray, rights: np.ndarray) -> np.ndarray:
        """The similarities of single pairs, float64 (pairs,), by the numbers of their texts, (pairs,) each."""
        values = []
        for start in range(0, len(lefts), 2**16):
            ours, theirs = lefts[start : start + 2**16], rights[start : start + 2**16]
            shared = np.asarray(self.left[ours].multiply(self.right[theirs]).sum(axis=1)).ravel()
            values.append(self.values(shared, ours, theirs))
        return np.concatenate([np.zeros(0), *values])

    def blocks(self, title: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All pairs, in blocks of at most BLOCK: the numbers of the first texts, and `shared` of them and all second texts,
        float32 (texts of the block, second texts)."""
        counts = np.asarray(self.right.getnnz(axis=0))
        frequent = np.sort(np.argsort(-counts, kind="stable")[:DENSE_UNITS])
        rare = np.setdiff1d(np.arange(len(counts)), frequent)
        dense, sparse = self.right[:, frequent].T.toarray(), self.right[:, rare].T.tocsr()
        ours = self.left.shape[0]
        size = max(1, BLOCK // max(1, self.right.shape[0]))
        for start in progress(range(0, ours, size), title, "blocks"):
            rows = self.left[start : start + size]
            shared = rows[:, frequent].toarray() @ dense
            shared += (rows[:, rare] @ sparse).toarray()
            yield np.arange(start, min(start + size, ours)), shared


def _sets(units: Units, texts: Sequence[str], title: str) -> csr_matrix:
    """A row for each text with 1 for each of its units, float32 (texts, units)."""
    ids: dict[str, int] = {}
    indptr = [0]
    indices: list[np.ndarray] = []
    for text in progress(texts, title, "texts"):
        numbers = {ids.setdefault(unit, len(ids)) for unit in units(text)}
        indices.append(np.fromiter(sorted(numbers), np.int32, len(numbers)))
        indptr.append(indptr[-1] + len(numbers))
    flat = np.concatenate([np.zeros(0, np.int32), *indices])
    return csr_matrix((np.ones(len(flat), np.float32), flat, np.array(indptr)), shape=(len(texts), max(1, len(ids))))


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
    every = np.arange(len(groups[1]))
    kept_pairs = []
    count = 0
    for lefts, shared in comparison.blocks(title):
        values = comparison.values(shared, lefts[:, None], every[None, :])
        values[(groups[0][lefts, None] == groups[1]) | (values > high)] = 0
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
        many = f"so many texts have rare n-grams in common that {compared:,} comparisons would be needed"
        raise InputError(f"{many}; {FEWER}")
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
