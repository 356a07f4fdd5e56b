"""Read word vectors from text files: a line for each word, as in fastText's .vec files and GloVe's .txt files, plain or gzipped."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.base.untrusted import Lines, open_lines
from mtl.embedders import fasttext_binary
from mtl.embedders.word_index import Arrays, FileVersion, WordIndex

LARGEST_DIM = 2**16  # numbers of a vector
LINE_LIMIT = 2**22  # bytes of a line: a word and LARGEST_DIM numbers
_LINES_PER_UPDATE = 4096  # of the progress bar


def read_text(path: Path, words: Sequence[bytes]) -> Arrays:
    """The vectors of `words`, which are distinct and UTF-8 encoded: the fields of `mtl.embedders.vectors.WordVectors`.

    Raises InputError if the file is damaged or in another format.
    """
    with _opened(path, "reading") as (lines, report):
        return _read_lines(path, lines, words, report)


def text_blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
    """All words with their vectors, in blocks: UTF-8 encoded words, and float32 (words, dim) of at most `block_bytes` bytes.

    Raises InputError as `read_text`.
    """
    with _opened(path, "searching") as (lines, report):
        start = _start(path, lines)
        size = max(1, block_bytes // (4 * start.dim))
        numbered = enumerate(chain([start.line], lines), start=start.number)
        done, words = 0, [b""]
        while words:
            words, vectors = [], np.empty((size, start.dim), dtype=np.float32)
            for number, line in islice(numbered, size):
                word, vectors[len(words)] = _split_row(path, number, line, start.dim)
                words.append(word)
                if number % _LINES_PER_UPDATE == 0:
                    report()
            if words:
                yield words, vectors[: len(words)]
            done += len(words)
        _check_complete(path, start.expected, done)


class IndexedText:
    """A text file whose rows are indexed once, for several calls of `read`: 20 bytes in memory for each row.

    A gzipped file is unpacked into a temporary file without a name, which exists as long as this object.
    """

    def __init__(self, path: Path) -> None:
        """Raises InputError as `read_text`, and if there is no space to unpack the file."""
        self.path = path
        self._unpacked: IO[bytes] | None = None
        with _opened(path, "indexing") as (lines, report), path.open("rb") as file:
            self._version = FileVersion.of(file)
            if lines.zipped:
                self._unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - it stays open
            self._start = _start(path, lines)
            # A word may have spaces; rows are found by what stands before the first one.
            rows = ((row.partition(b" ")[0], offset) for row, offset in self._rows(lines, report))
            self._index = WordIndex.of(rows)
        _check_complete(path, self._start.expected, len(self._index.rows))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and the size of a vector."""
        return len(self._index.rows), self._start.dim

    def read(self, words: Sequence[bytes]) -> Arrays:
        """As `read_text`. Raises InputError if the file has changed since it was indexed."""
        vectors = np.zeros((len(words), self._start.dim), dtype=np.float32)
        found = np.zeros(len(words), dtype=bool)
        with self.path.open("rb") as packed:
            self._version.check(self.path, packed)
            file = self._unpacked or packed
            for offset, row, position in self._index.candidates([word.partition(b" ")[0] for word in words]):
                file.seek(offset)
                word, numbers = _split_row(self.path, self._start.number + row, file.readline(), self._start.dim)
                if word == words[position] and not found[position]:
                    vectors[position], found[position] = numbers, True
        return vectors, found, np.zeros(len(words), dtype=bool)

    def _rows(self, lines: Lines, report: Callable[[], object]) -> Iterator[tuple[bytes, int]]:
        """Each row and its offset in the file that `read` reads."""
        offset = 0 if self._unpacked else lines.offset - len(self._start.line)
        for number, line in enumerate(chain([self._start.line], lines), start=self._start.number):
            if self._unpacked:
                self._unpack(line)
            if _is_row(self.path, number, line, self._start.dim):
                yield line, offset
            offset += len(line)
            if number % _LINES_PER_UPDATE == 0:
                report()

    def _unpack(self, line: bytes) -> None:
        assert self._unpacked is not None
        try:
            self._unpacked.write(line)
        except OSError as error:
            raise InputError(
                f"cannot be unpacked into {tempfile.gettempdir()} ({error.strerror}); unpack it (gunzip) and give that file",
                path=self.path,
            ) from None


@contextmanager
def _opened(path: Path, doing: str) -> Iterator[tuple[Lines, Callable[[], object]]]:
    """The file's lines, and a function that shows how much of the file is read. doing: what the progress bar says."""
    with open_lines(path, LINE_LIMIT) as lines, Progress(f"{doing} {path.name}", path.stat().st_size, "B") as shown:
        yield lines, lambda: shown.reach(lines.done)


class _Start(NamedTuple):
    """How a file begins. expected: how many vectors it announces, or 0. line: its first row. number: that row's line number."""

    expected: int
    dim: int
    line: bytes
    number: int


def _start(path: Path, lines: Lines) -> _Start:
    """Read an optional first line `count dimension`, and the first row."""
    first = lines.readline()
    if first.startswith(fasttext_binary.MAGIC):
        raise InputError("a gzipped fastText model; unpack it first (gunzip) and give the .bin", path=path)
    expected, dim, header_lines = _read_header(path, first)
    line = lines.readline() if header_lines else first
    if not line:
        raise InputError("no vectors after the first line; download or copy it again", path=path)
    number = 1 + header_lines
    # Always parse the first row: it shows whether the dimension is right before memory is allocated.
    _split_row(path, number, line, dim)
    if dim > LARGEST_DIM:
        raise InputError(f"has vectors of {dim:,} numbers; at most {LARGEST_DIM:,} can be read", path=path)
    return _Start(expected, dim, line, number)


def _check_complete(path: Path, expected: int, rows: int) -> None:
    if rows < expected:
        raise InputError(f"line 1 announces {expected} vectors, but only {rows} follow; download it again", path=path)


def _read_lines(path: Path, lines: Lines, words: Sequence[bytes], report: Callable[[], object]) -> Arrays:
    """Read lines `word number number ...`, after an optional first line `count dimension`.

    Only lines that may begin with one of `words` are parsed, so this takes little longer than reading the lines.
    """
    expected, dim, first, start = _start(path, lines)
    rows = 0
    index = {word: position for position, word in enumerate(words)}
    first_parts = {word.partition(b" ")[0] for word in words}
    vectors = np.zeros((len(words), dim), dtype=np.float32)
    found = np.zeros(len(words), dtype=bool)
    for number, line in enumerate(chain([first], lines), start=start):
        rows += _is_row(path, number, line, dim)
        if line.partition(b" ")[0] in first_parts:
            word, numbers = _split_row(path, number, line, dim)
            position = index.get(word)
            if position is not None and not found[position]:
                vectors[position] = numbers
                found[position] = True
        if number % _LINES_PER_UPDATE == 0:
            report()
    _check_complete(path, expected, rows)
    return vectors, found, np.zeros(len(words), dtype=bool)


def _read_header(path: Path, first: bytes) -> tuple[int, int, int]:
    """The number of vectors to expect at least, their size, and the number of header lines (0 or 1)."""
    cells = first.split()
    if len(cells) == 2 and cells[0].isdigit() and cells[1].isdigit():
        # int() refuses more than 4,300 digits, and a number of 18 is too large in any case.
        expected, dim, header_lines = int(cells[0][:18]), int(cells[1][:18]), 1
    else:
        expected, dim, header_lines = 0, len(cells) - 1, 0
    if dim < 1:
        raise InputError(f"{path}, line 1: neither 'count dimension' nor a word and its vector; give a .vec file")
    return expected, dim, header_lines


def _is_row(path: Path, number: int, line: bytes, dim: int) -> bool:
    """Whether a line is not empty. Raises InputError for one that is too short for its numbers: lines could cost more memory than the file."""
    if len(line) >= 2 * dim:  # a space and a digit for each number
        return True
    if not line.isspace():
        _split_row(path, number, line, dim)
    return False


def _split_row(path: Path, number: int, line: bytes, dim: int) -> tuple[bytes, list[float]]:
    """The word and the numbers of a row. The word is everything before the last `dim` cells, so it may contain spaces."""
    cells = line.rstrip().rsplit(b" ", dim)
    word = cells[0].rstrip(b" ")
    # A row with too many numbers looks like a word with spaces, but such a word ends with a decimal number.
    _, _, extra = word.rpartition(b" ")
    if len(cells) != dim + 1 or (extra != word and b"." in extra and _is_number(extra)):
        count = line.rstrip().count(b" ")
        raise InputError(
            f"{path}, line {number}: {count} space-separated numbers where {dim} are expected; fix or delete this line"
        )
    try:
        return word, [float(cell) for cell in cells[1:]]
    except ValueError as error:
        raise InputError(f"{path}, line {number}: {error}; fix or delete this line") from error


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
