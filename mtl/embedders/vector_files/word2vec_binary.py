"""Read word vectors in word2vec's binary format: a line `count dimension`, then each word, a space, and its numbers as float32."""

import mmap
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.base.untrusted import open_regular
from mtl.embedders.vector_files.text import LARGEST_DIM
from mtl.embedders.vector_files.word_index import WordIndex, WordVectors, first_vectors

_HEADER = re.compile(rb"([0-9]{1,18}) ([0-9]{1,18})\r?\n")
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # the bytes of a few numbers nearly always include one of these
_REST_OF_WORD = re.compile(rb"[^\x00-\x20\x7f]{1,200} ")  # what follows the first space of a word with two parts
_USUAL = 1e-15, 1e6  # the absolute values of numbers; bytes read at a wrong offset give numbers outside this range
_LONGEST_WORD = 2**16  # bytes
_FLOAT = 4  # bytes
_ROWS_PER_UPDATE = 4096  # of the progress bar
AGAIN = "download or copy it again"


def is_word2vec_binary(path: Path) -> bool:
    """Whether a file begins as word2vec's binary format does: a line `count dimension`, and then bytes that no text has."""
    with open_regular(path) as file:
        start = file.read(_LONGEST_WORD)
    header = _HEADER.match(start)
    return header is not None and _NO_TEXT.search(start, header.end()) is not None


class IndexedWord2Vec:
    """The vectors of a file in word2vec's binary format, as `OpenVectors` describes its methods."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _open(path) as opened:
            self._dim = opened.dim
            self._index = WordIndex.build(_rows(path, opened, "indexing"))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._index.rows), self._dim

    def read(self, words: Sequence[bytes]) -> WordVectors:
        with _open(self.path) as opened:
            rows = (
                (position, opened.vector(words[position], offset))
                for offset, _, position in self._index.candidates(words)
                if opened.content[offset : offset + len(words[position]) + 1] == words[position] + b" "
            )
            return first_vectors(len(words), self._dim, rows)

    @staticmethod
    def blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
        with _open(path) as opened:
            rows = _rows(path, opened, "searching")
            while block := list(islice(rows, max(1, block_bytes // (_FLOAT * opened.dim)))):
                yield [word for word, _ in block], np.array([opened.vector(*row) for row in block])


class OpenBinary(NamedTuple):
    """An open file and what its first line says."""

    content: mmap.mmap  # the whole file
    words: int  # the number of words
    dim: int  # the size of a vector
    start: int  # the offset of the first word

    def vector(self, word: bytes, offset: int) -> np.ndarray:
        """The numbers of the word that begins at `offset`, float32 (dim,)."""
        start = offset + len(word) + 1
        return np.frombuffer(self.content[start : start + _FLOAT * self.dim], dtype="<f4")


@contextmanager
def _open(path: Path) -> Iterator[OpenBinary]:
    """Within the block, the file is open. Raises InputError if its first line is wrong or the file is too short for it."""
    with open_regular(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        header = _HEADER.match(content[:64])
        if header is None:
            raise InputError(f"does not begin with a line `count dimension`; {AGAIN}", path=path)
        count, dim = int(header[1]), int(header[2])
        if not 1 <= dim <= LARGEST_DIM:
            raise InputError(f"has vectors of {dim:,} numbers; from 1 to {LARGEST_DIM:,} can be read", path=path)
        if not 1 <= count <= len(content) // (_FLOAT * dim):
            message = f"announces {count:,} vectors of {dim:,} numbers, and is too short for them; {AGAIN}"
            raise InputError(message, path=path)
        yield OpenBinary(content, count, dim, header.end())


def _rows(path: Path, opened: OpenBinary, activity: str) -> Iterator[tuple[bytes, int]]:
    """Each word, and where it begins; the progress bar names the activity. Raises InputError where the file ends too early."""
    position, size = opened.start, _FLOAT * opened.dim
    with Progress(f"{activity} {path.name}", len(opened.content), "B") as bar:
        for row in range(opened.words):
            # word2vec's own program ends rows with a line feed, and gensim does not.
            position += opened.content[position : position + 1] == b"\n"
            end = opened.content.find(b" ", position, position + _LONGEST_WORD)
            if end < 0 or end + 1 + size > len(opened.content):
                raise InputError(f"ends, or is damaged, at word {row + 1:,} of {opened.words:,}; {AGAIN}", path=path)
            word = opened.content[position:end]
            if _REST_OF_WORD.match(opened.content, end + 1) and _is_unusual(opened.vector(word, position)):
                remedy = "words with spaces are read from text; write it with gensim's save_word2vec_format(PATH, binary=False)"
                raise InputError(f"word {row + 1:,} of {opened.words:,} holds a space: {remedy}", path=path)
            yield word, position
            position = end + 1 + size
            if row % _ROWS_PER_UPDATE == 0:
                bar.reach(position)


def _is_unusual(vector: np.ndarray) -> bool:
    """Whether a number is outside the usual range or not finite, as where bytes are read at a wrong offset."""
    low, high = _USUAL
    sizes = np.abs(vector)
    return not bool(np.all((sizes == 0) | ((sizes >= low) & (sizes <= high))))
