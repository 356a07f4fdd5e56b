"""Text for training a language model: lines of word ids, where the most frequent word has id 0."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.data.text import packed_words, unpacked_words
from mtl.errors import InputError
from mtl.files import replacing

# To get batches of similar length, lines for this many batches are drawn, sorted by length, and split.
POOL = 50


@dataclass(frozen=True)
class Corpus:
    """Lines of tokens, in their original order.

    types: the distinct words, the most frequent first. counts: int64 (types,), the occurrences of each. tokens: int32
    (tokens,), word ids, line after line. starts: int64 (lines + 1,), where each line begins in tokens, and the end.
    """

    types: list[str]
    counts: np.ndarray
    tokens: np.ndarray
    starts: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each line, int64 (lines,)."""
        return np.diff(self.starts)

    def save(self, path: Path) -> None:
        """Write the corpus to one file, atomically."""
        with replacing(path) as partial, partial.open("wb") as file:
            np.savez(file, types=packed_words(self.types), counts=self.counts, tokens=self.tokens, starts=self.starts)

    @classmethod
    def load(cls, path: Path) -> "Corpus":
        """Read a file that `save` wrote."""
        with np.load(path) as file:
            return cls(unpacked_words(file["types"]), file["counts"], file["tokens"], file["starts"])


def build_corpus(lines: Iterable[Sequence[str]], max_length: int) -> Corpus:
    """Build a corpus from tokenized lines. Lines longer than `max_length` tokens are split; empty lines are dropped.

    Raises InputError if there is no word at all.
    """
    ids: dict[str, int] = {}
    tokens = array("i")
    starts = array("q", [0])
    for words in lines:
        for start in range(0, len(words), max_length):
            tokens.extend(ids.setdefault(word, len(ids)) for word in words[start : start + max_length])
            starts.append(len(tokens))
    if not tokens:
        raise InputError("the texts hold no word to train on")
    flat = np.frombuffer(tokens, dtype=np.int32)
    counts = np.bincount(flat, minlength=len(ids))
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    types = list(ids)
    return Corpus([types[i] for i in order], counts[order], rank[flat], np.frombuffer(starts, dtype=np.int64))


def batches(lengths: np.ndarray, lines: np.ndarray, tokens: int, seed: Sequence[int]) -> Iterator[np.ndarray]:
    """Batches of one epoch over these lines, in random order: int64 (lines,), of similar length, about `tokens` tokens each."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(lines)
    pool = np.cumsum(lengths[order]) // (POOL * tokens)
    result: list[np.ndarray] = []
    for pooled in np.split(order, np.flatnonzero(np.diff(pool)) + 1):
        by_length = pooled[np.argsort(lengths[pooled], kind="stable")]
        batch = np.cumsum(lengths[by_length]) // tokens
        result += np.split(by_length, np.flatnonzero(np.diff(batch)) + 1)
    return iter([result[i] for i in rng.permutation(len(result))])
