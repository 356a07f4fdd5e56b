"""Read word vectors from text files, plain or packed: a line for each word, with spaces or tabs between its cells, as fastText and GloVe write."""

import math
import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.base.untrusted_lines import OpenLines, open_lines
from mtl.embedders.vector_files.word_index import Arrays, WordIndex, first_vectors

LARGEST_DIM = 2**16  # numbers of a vector
LINE_LIMIT = 2**22  # bytes of a line: a word and LARGEST_DIM numbers
_LARGEST_NORM = float(np.finfo(np.float32).max)
_LINES_PER_UPDATE = 4096  # of the progress bar


def read_text(path: Path, words: Sequence[bytes]) -> Arrays:
    """The vectors of `words`, which are distinct and UTF-8 encoded: the fields of `WordVectors`. Only lines that may begin with one of `words` are
    parsed, so this takes little longer than reading the lines. Raises InputError if the file is damaged or in another format."""
    positions = {word: position for position, word in enumerate(words)}
    first_parts = {word.partition(b" ")[0] for word in words}
    with _open(path, "reading") as (start, lines):
        possible = ((number, line) for number, line in lines if line.partition(b" ")[0] in first_parts)
        rows = (_split_row(path, number, line, start.dim) for number, line in possible)
        wanted = ((positions[word], numbers) for word, numbers in rows if word in positions)
        return first_vectors(len(words), start.dim, wanted)


class IndexedText:
    """An `OpenVectors`. A packed file is unpacked into a temporary file without a name, which exists as long as this object."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unpacked: IO[bytes] | None = None
        with _open(path, "indexing") as (self._start, lines):
            if self._start.packed:
                self._unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - it stays open
            # A word may have spaces; the index has what stands before the first one.
            self._index = WordIndex.build((row.partition(b" ")[0], offset) for row, offset in self._rows(lines))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._index.rows), self._start.dim

    def read(self, words: Sequence[bytes]) -> Arrays:
        with self.path.open("rb") as packed:
            try:
                return first_vectors(len(words), self._start.dim, self._wanted(self._unpacked or packed, words))
            except InputError:
                return read_text(self.path, words)  # raises it with the number of the line

    @staticmethod
    def blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
        with _open(path, "searching") as (start, lines):
            size = max(1, block_bytes // (4 * start.dim))
            while first := next(lines, None):
                words, vectors = list[bytes](), np.empty((size, start.dim), dtype=np.float32)
                for number, line in islice(chain([first], lines), size):
                    word, vectors[len(words)] = _split_row(path, number, line, start.dim)
                    words.append(word)
                yield words, vectors[: len(words)]

    def _wanted(self, file: IO[bytes], words: Sequence[bytes]) -> Iterator[tuple[int, list[float]]]:
        for offset, _, position in self._index.candidates([word.partition(b" ")[0] for word in words]):
            file.seek(offset)
            line = file.readline().replace(b"\t", b" ") if self._start.has_tabs else file.readline()
            word, numbers = _split_row(self.path, None, line, self._start.dim)
            if word == words[position]:
                yield position, numbers

    def _rows(self, lines: Iterator[tuple[int, bytes]]) -> Iterator[tuple[bytes, int]]:
        """Each row and its offset in the file that `read` reads."""
        offset = 0 if self._unpacked else self._start.offset
        for _, line in lines:
            if self._unpacked:
                try:
                    self._unpacked.write(line)
                except OSError as error:
                    reason = f"cannot be unpacked into {tempfile.gettempdir()} ({error.strerror})"
                    raise InputError(f"{reason}; unpack it and give that file", path=self.path) from None
            if not line.isspace():
                yield line, offset
            offset += len(line)


class _Start(NamedTuple):
    """How a file begins."""

    expected: int  # how many vectors it announces, or 0
    dim: int
    line: bytes  # its first row
    offset: int  # of the first row in the file, in bytes, if it is not packed
    packed: bool
    has_tabs: bool  # between the cells


@contextmanager
def _open(path: Path, activity: str) -> Iterator[tuple[_Start, Iterator[tuple[int, bytes]]]]:
    """How the file begins, and the lines of `_numbered`; a progress bar with the activity follows them."""
    with open_lines(path, LINE_LIMIT) as lines, Progress(f"{activity} {path.name}", path.stat().st_size, "B") as bar:
        start = _read_start(path, lines)
        yield start, _numbered(path, start, lines, bar)


def _numbered(path: Path, start: _Start, lines: OpenLines, bar: Progress) -> Iterator[tuple[int, bytes]]:
    """The lines from the first row on, with their numbers. Raises InputError at the end for a file that announces more vectors than it has."""
    rows = 0
    for raw_line in chain([start.line], lines):
        line = raw_line.replace(b"\t", b" ") if start.has_tabs else raw_line
        if not line.isspace():
            rows += 1
            # A space and a digit for each number; shorter lines could cost more memory than the file.
            if len(line) < 2 * start.dim:
                _split_row(path, lines.number, line, start.dim)
        yield lines.number, line
        if lines.number % _LINES_PER_UPDATE == 0:
            bar.reach(lines.done)
    may_lack = 1 if line.endswith(b"\n") else 0  # one, if the last line is whole: some programs count the first line
    if rows + may_lack < start.expected:
        message = f"line 1 announces {start.expected} vectors, but only {rows} follow; download it again"
        raise InputError(message, path=path)


def _read_start(path: Path, lines: OpenLines) -> _Start:
    """Read an optional first line `count dimension`, and the first row."""
    head = lines.readline().removeprefix(BOM_UTF8)
    cells = head.split()
    has_header = len(cells) == 2 and cells[0].isdigit() and cells[1].isdigit()
    # int() refuses more than 4,300 digits, and a number of 18 is too large in any case.
    expected, dim = (int(cells[0][:18]), int(cells[1][:18])) if has_header else (0, len(cells) - 1)
    row = lines.readline() if has_header else head
    if lines.packing and b"\0" in head + row:
        raise InputError("a packed binary file; unpack it first (gunzip, unzip) and give the .bin", path=path)
    if dim < 1 or not (has_header or any(map(_is_number, cells[1:]))):
        raise InputError("neither 'count dimension' nor a word and its vector; give a .vec file", path=path, line=1)
    if not row:
        raise InputError("no vectors after the first line; download or copy it again", path=path)
    has_tabs = row.count(b"\t") >= dim
    line = row.replace(b"\t", b" ") if has_tabs else row
    # Always parse the first row: it shows whether the dimension is right before memory is allocated.
    try:
        _split_row(path, lines.number, line, dim)
    except InputError:
        in_row = line.rstrip().count(b" ")
        if has_header and dim != in_row:
            problem = f"announces vectors of {dim} numbers, but line 2 has {in_row}: correct it, or give another file"
            raise InputError(problem, path=path, line=1) from None
        raise
    if dim > LARGEST_DIM:
        raise InputError(f"has vectors of {dim:,} numbers; at most {LARGEST_DIM:,} can be read", path=path)
    return _Start(expected, dim, line, lines.offset - len(line), bool(lines.packing), has_tabs)


def _split_row(path: Path, number: int | None, line: bytes, dim: int) -> tuple[bytes, list[float]]:
    """The word and the numbers of a row. The word is everything before the last `dim` cells, so it may contain spaces."""
    cells = line.rstrip().rsplit(b" ", dim)
    word = cells[0].rstrip(b" ")
    # A row with too many numbers looks like a word with spaces, but such a word ends with a decimal number.
    _, _, extra = word.rpartition(b" ")
    if len(cells) != dim + 1 or (extra != word and b"." in extra and _is_number(extra)):
        count = line.rstrip().count(b" ")
        message = f"{count} space-separated numbers where {dim} are expected; fix or delete this line"
        raise InputError(message, path=path, line=number)
    try:
        numbers = [float(cell) for cell in cells[1:]]
    except ValueError as error:
        raise InputError(f"{error}; fix or delete this line", path=path, line=number) from error
    if not math.hypot(*numbers) <= _LARGEST_NORM:  # also of NaN
        named = word.decode("utf-8", "backslashreplace")
        message = f"the vector of '{named}' contains NaN or infinite numbers (not finite); fix or delete this line"
        raise InputError(message, path=path, line=number)
    return word, numbers


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
