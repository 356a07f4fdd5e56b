"""What a text is divided into: words, sentences, character n-grams and byte pairs, the same ones on every machine."""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

from mtl.base.errors import InputError

WORD = re.compile(r"\w{1,200}")  # the byte pairs of a text without spaces would take time that grows with its square
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+")
WORD_END = "▁"  # after the last character of a word
MERGES = 4000  # byte pairs that are learned
MOST_REWRITTEN = 2 * 10**9  # letters that merges may rewrite: about five minutes
NGRAM_SIZE = 5  # characters

Units = Callable[[str], list[str]]
Pair = tuple[str, str]  # neighbouring symbols of a word


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return WORD.findall(text.casefold())


def sentences(text: str) -> list[str]:
    """The sentences of a text: each ends with . ! ? or … before white space. At least one."""
    return SENTENCE_END.split(text.strip())


def ngrams(text: str) -> list[str]:
    """The n-grams of a text's characters in lower case, with single spaces between words; a shorter text is one n-gram."""
    plain = " ".join(text.casefold().split())
    return [plain[start : start + NGRAM_SIZE] for start in range(max(1, len(plain) - NGRAM_SIZE + 1))]


def learned_byte_pairs(texts: Sequence[str]) -> Units:
    """The function that divides a text into byte pairs, which are learned from these texts. Raises InputError if that would take too long."""
    counts = Counter(word for text in texts for word in words(text))
    # Each merge of a word rewrites the whole word, and makes it shorter by a symbol at least.
    if sum(len(word) * min(len(word), MERGES) for word in counts) > MOST_REWRITTEN:
        many = f"{len(counts):,} different words of up to {max(map(len, counts))} letters"
        raise InputError(f"{many} are too many for byte pairs; sample the rows first")
    return byte_pairs(learn_merges(counts, MERGES))


def byte_pairs(ranks: dict[Pair, int]) -> Units:
    """The function that divides a text's words into symbols, by merges with these ranks: byte-pair encoding (Sennrich et al. 2016)."""

    @cache
    def symbols_of(word: str) -> list[str]:
        symbols = _characters(word)
        while pairs := [pair for pair in pairwise(symbols) if pair in ranks]:
            symbols = _merged(symbols, min(pairs, key=ranks.__getitem__))
        return symbols

    return lambda text: [symbol for word in words(text) for symbol in symbols_of(word)]


def learn_merges(counts: Counter[str], most: int) -> dict[Pair, int]:
    """Learn byte pairs from words with these counts: `most` times, the most frequent pair of neighbouring symbols within words becomes one symbol, as
    long as it occurs twice. Of equally frequent pairs the first by code points is merged. Returns the merged pairs, each with its rank."""
    spellings = [(_characters(word), times) for word, times in sorted(counts.items())]
    frequency = Counter[Pair]()
    words_with_pair = defaultdict[Pair, set[int]](set)  # their numbers; a word may have lost the pair since
    for number, (symbols, times) in enumerate(spellings):
        for pair in pairwise(symbols):
            frequency[pair] += times
            words_with_pair[pair].add(number)
    heap = [(-times, pair) for pair, times in frequency.items()]
    heapq.heapify(heap)
    ranks: dict[Pair, int] = {}
    while heap and len(ranks) < most:
        negative, best = heapq.heappop(heap)
        if -negative != frequency[best]:
            continue  # an entry from before the pair's frequency changed
        if frequency[best] < 2:
            break
        ranks[best] = len(ranks)
        changed: set[Pair] = set()
        for number in words_with_pair[best]:
            before, times = spellings[number]
            after = _merged(before, best)
            for pair in pairwise(before):
                frequency[pair] -= times
            for pair in pairwise(after):
                frequency[pair] += times
                words_with_pair[pair].add(number)
            changed |= {*pairwise(before), *pairwise(after)}
            spellings[number] = (after, times)
        for pair in changed:
            if frequency[pair] > 0:
                heapq.heappush(heap, (-frequency[pair], pair))
    return ranks


def _characters(word: str) -> list[str]:
    """The symbols of a word before any merge."""
    return [*word[:-1], word[-1] + WORD_END]


def _merged(symbols: Sequence[str], pair: Pair) -> list[str]:
    """The symbols with each occurrence of the pair as one symbol."""
    merged: list[str] = []
    position = 0
    while position < len(symbols):
        is_pair = tuple(symbols[position : position + 2]) == pair
        merged.append("".join(pair) if is_pair else symbols[position])
        position += 2 if is_pair else 1
    return merged
