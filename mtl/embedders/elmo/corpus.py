"""Text for a language model: lines as word numbers, the most frequent word first."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.data.text import packed_words, unpacked_words
from mtl.errors import InputError
from mtl.files import replacing

# Lines of like length meet in one batch: a pool of this many batches is drawn, sorted by length, and cut.
POOL = 50


@dataclass(frozen=True)
class Corpus:
    """Lines of tokens, in their order.

    types: the distinct words, the most frequent first. counts: int64 (types,), how often each stands there. tokens: int32,
    the words' numbers, line after line. starts: int64 (lines + 1,).
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
        """Write it as one file, whole or not at all."""
        with replacing(path) as partial, partial.open("wb") as file:
            np.savez(file, types=packed_words(self.types), counts=self.counts, tokens=self.tokens, starts=self.starts)

    @classmethod
    def load(cls, path: Path) -> "Corpus":
        """Read what `save` wrote."""
        with np.load(path) as file:
            return cls(unpacked_words(file["types"]), file["counts"], file["tokens"], file["starts"])


def build_corpus(lines: Iterable[Sequence[str]], max_length: int) -> Corpus:
    """Count the words of tokenized lines. A line longer than `max_length` tokens becomes several; an empty one, none.

    Raises InputError where there is no word at all.
    """
    numbers: dict[str, int] = {}
    tokens = array("i")
    starts = array("q", [0])
    for words in lines:
        for start in range(0, len(words), max_length):
            tokens.extend(numbers.setdefault(word, len(numbers)) for word in words[start : start + max_length])
            starts.append(len(tokens))
    if not tokens:
        raise InputError("the texts hold no word to train on")
    flat = np.frombuffer(tokens, dtype=np.int32)
    counts = np.bincount(flat, minlength=len(numbers))
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    types = list(numbers)
    return Corpus([types[i] for i in order], counts[order], rank[flat], np.frombuffer(starts, dtype=np.int64))


def batches(lengths: np.ndarray, lines: np.ndarray, tokens: int, seed: Sequence[int]) -> Iterator[np.ndarray]:
    """One pass over these lines in random order, in batches of like length of about so many tokens: int64 (lines,)."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(lines)
    pool = np.cumsum(lengths[order]) // (POOL * tokens)
    made: list[np.ndarray] = []
    for some in np.split(order, np.flatnonzero(np.diff(pool)) + 1):
        by_length = some[np.argsort(lengths[some], kind="stable")]
        batch = np.cumsum(lengths[by_length]) // tokens
        made += np.split(by_length, np.flatnonzero(np.diff(batch)) + 1)
    return iter([made[i] for i in rng.permutation(len(made))])
