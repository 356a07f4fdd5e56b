"""How similar two texts are: the share of units that both have. Units are counted, so that every machine gets the same similarities."""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

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
