"""Where each word stands in a file of vectors, so that many small reads need not search the file.

The hashes of a word's character n-grams, by which fastText finds their vectors.
"""

import os
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import numpy as np

from mtl.base.errors import InputError

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # the fields of `mtl.embedders.vectors.WordVectors`


class OpenVectors(Protocol):
    """A file of vectors whose words are indexed.

    shape: how many vectors the file has, of words and of n-grams, and the size of a vector.
    """

    @property
    def shape(self) -> tuple[int, int]: ...

    def read(self, words: Sequence[bytes]) -> Arrays:
        """The fields of WordVectors for distinct words. Raises InputError if the file has changed since it was indexed."""


class FileVersion(NamedTuple):
    """What tells that a file's content has changed."""

    size: int  # bytes
    changed: int  # the time of its last change, in nanoseconds

    @classmethod
    def of(cls, file: IO[Any]) -> "FileVersion":
        """The version of an open file."""
        status = os.fstat(file.fileno())
        return cls(status.st_size, status.st_mtime_ns)

    def check(self, path: Path, file: IO[Any]) -> None:
        """Raise InputError if the file at `path`, open now, has another version."""
        if FileVersion.of(file) != self:
            raise InputError("has changed while it was read; run the command again", path=path)


class WordIndex(NamedTuple):
    """The words of a file, sorted by their hashes: 20 bytes for each word."""

    hashes: np.ndarray  # int64 (words,), ascending
    rows: np.ndarray  # int32 (words,): the word is the row-th of the file
    offsets: np.ndarray  # int64 (words,), in the file, in bytes

    @classmethod
    def of(cls, entries: Iterable[tuple[bytes, int]]) -> "WordIndex":
        """The index of words, each with its offset, in the order of the file."""
        hashes, offsets = array("q"), array("q")
        for word, offset in entries:
            hashes.append(hash(word))
            offsets.append(offset)
        by_row = np.array(hashes, dtype=np.int64)
        order = np.argsort(by_row, kind="stable")
        return cls(by_row[order], order.astype(np.int32), np.array(offsets, dtype=np.int64)[order])

    def candidates(self, words: Sequence[bytes]) -> list[tuple[int, int, int]]:
        """Where these words may stand: (offset, row, position in `words`), in the order of the file.

        The reader must compare the words: different words may have the same hash.
        """
        wanted = np.fromiter(map(hash, words), dtype=np.int64, count=len(words))
        firsts = np.searchsorted(self.hashes, wanted, side="left")
        ends = np.searchsorted(self.hashes, wanted, side="right")
        return sorted(
            (int(self.offsets[place]), int(self.rows[place]), position)
            for position in np.flatnonzero(ends > firsts).tolist()
            for place in range(firsts[position], ends[position])
        )


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[np.ndarray, np.ndarray]:
    """Hash the character n-grams of every `<word>`, of minn to maxn characters, as fastText does.

    Returns the hash of each n-gram (uint32) and the index of its word in `words` (int64), in no particular order. A character
    is a byte and the UTF-8 continuation bytes after it. The hash is FNV-1a over bytes that are sign-extended to 32 bits,
    because fastText reads them as C's signed char. If minn is 1, single characters are n-grams, except `<` and `>`.
    """
    text = np.frombuffer(b"".join(b"<" + word + b">" for word in words), dtype=np.int8)
    lengths = np.fromiter((len(word) + 2 for word in words), dtype=np.int64, count=len(words))
    signed = text.astype(np.int32).view(np.uint32)
    begins = np.flatnonzero((text.view(np.uint8) & 0xC0) != 0x80)  # of the characters
    sizes = np.diff(begins, append=len(text))
    owners = np.repeat(np.arange(len(words)), lengths)[begins]
    is_edge = np.ones(len(begins), dtype=bool)
    is_edge[1:-1] = (owners[1:-1] != owners[:-2]) | (owners[1:-1] != owners[2:])

    all_hashes, all_owners = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.int64)]
    firsts = np.arange(len(begins))  # the first character of each n-gram that still fits its word
    hashes = np.full(len(begins), 2166136261, dtype=np.uint32)
    for n in range(1, maxn + 1):
        fits = firsts + n - 1 < len(begins)
        fits[fits] = owners[firsts[fits] + n - 1] == owners[firsts[fits]]
        firsts, hashes = firsts[fits], hashes[fits]
        if not len(firsts):
            break
        lasts = firsts + n - 1
        for byte in range(int(sizes[lasts].max())):
            longer = np.flatnonzero(sizes[lasts] > byte)
            hashes[longer] = (hashes[longer] ^ signed[begins[lasts[longer]] + byte]) * np.uint32(16777619)
        if n >= minn:
            kept = ~is_edge[firsts] if n == 1 else slice(None)
            all_hashes.append(hashes[kept].copy())
            all_owners.append(owners[firsts[kept]])
    return np.concatenate(all_hashes), np.concatenate(all_owners)


def ngram_sums(table: np.ndarray, rows: np.ndarray, owners: np.ndarray, words: int) -> np.ndarray:
    """The sum of the vectors of each word's n-grams, float32 (words, dim).

    table: (n-grams, dim). rows, owners: for each n-gram of a word, its row in the table and the word's index.
    """
    from scipy.sparse import csr_array

    ones = np.ones(len(rows), dtype=np.float32)
    sums: np.ndarray = csr_array((ones, (owners, rows)), shape=(words, len(table))) @ table
    return sums
