"""The interface of the formats of vector files, what they return, and an index of the words of a file, for many small reads of it."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np


@dataclass(frozen=True)
class WordVectors:
    """Vectors of words, in the order of the words."""

    vectors: np.ndarray  # float32 (words, dim), zeros for words without a vector
    in_file: np.ndarray  # bool (words,), whether the word itself is in the file
    from_ngrams: np.ndarray  # bool (words,), whether it is not, and its vector comes from its character n-grams

    @property
    def has_vector(self) -> np.ndarray:
        """Which words have a vector, bool (words,)."""
        return self.in_file | self.from_ngrams

    @property
    def dim(self) -> int:
        return self.vectors.shape[1]


class OpenVectors(Protocol):
    """A file of vectors whose words are indexed once, for several calls of `read`: 20 bytes in memory for each word."""

    def __init__(self, path: Path) -> None:
        """Index the file. Raises InputError if it is damaged."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many vectors the file has, of words and of n-grams, and the size of a vector."""

    @staticmethod
    def blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
        """All words, UTF-8 encoded, with their vectors, float32 (words, dim), in blocks of at most so many bytes. Raises InputError."""

    def read(self, words: Sequence[bytes]) -> WordVectors:
        """The vectors of words, which are distinct and UTF-8 encoded."""


def first_vectors(count: int, dim: int, rows: Iterable[tuple[int, np.ndarray | list[float]]]) -> WordVectors:
    """The vectors of `count` words, from positions of words and their vectors; the first vector of a word counts."""
    vectors, in_file = np.zeros((count, dim), dtype=np.float32), np.zeros(count, dtype=bool)
    for position, vector in rows:
        if not in_file[position]:
            vectors[position], in_file[position] = vector, True
    return WordVectors(vectors, in_file, from_ngrams=np.zeros(count, dtype=bool))


class WordIndex(NamedTuple):
    """The words of a file, sorted by their hashes: 20 bytes for each word."""

    hashes: np.ndarray  # int64 (words,), ascending
    rows: np.ndarray  # int32 (words,): the word is the row-th of the file
    offsets: np.ndarray  # int64 (words,), in the file, in bytes

    @classmethod
    def build(cls, entries: Iterable[tuple[bytes, int]]) -> "WordIndex":
        """The index of words, each with its offset, in the order of the file."""
        hashes, offsets = array("q"), array("q")
        for word, offset in entries:
            hashes.append(hash(word))
            offsets.append(offset)
        by_row = np.array(hashes, dtype=np.int64)
        order = np.argsort(by_row, kind="stable")
        return cls(by_row[order], order.astype(np.int32), np.array(offsets, dtype=np.int64)[order])

    def candidates(self, words: Sequence[bytes]) -> list[tuple[int, int, int]]:
        """Where these words may stand: (offset, row, position in `words`), in the order of the file. Others may have the same hash: compare them."""
        wanted = np.fromiter(map(hash, words), dtype=np.int64, count=len(words))
        firsts = np.searchsorted(self.hashes, wanted, side="left")
        ends = np.searchsorted(self.hashes, wanted, side="right")
        return sorted(
            (int(self.offsets[entry]), int(self.rows[entry]), position)
            for position in np.flatnonzero(ends > firsts).tolist()
            for entry in range(firsts[position], ends[position])
        )
