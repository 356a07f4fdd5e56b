"""Read word vectors from text files, plain or packed: a line for each word, with spaces or tabs between its cells, as fastText and GloVe write."""

import math
import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.base.untrusted_lines import OpenLines, open_lines
from mtl.embedders.vector_files.word_index import WordIndex, WordVectors, first_vectors

LARGEST_DIM = 2**16  # numbers of a vector
LINE_LIMIT = 2**22  # bytes of a line: a word and LARGEST_DIM numbers
_LARGEST_NORM = float(np.finfo(np.float32).max)
_LINES_PER_UPDATE = 4096  # of the progress bar

# A line with spaces between its cells, its number, and the offset of its first byte: in the file, or in the unpacked copy of a packed one.
_Row = tuple[bytes, int, int]


def read_text(path: Path, words: Sequence[bytes]) -> WordVectors:
    """The vectors of `words`, which are distinct and UTF-8 encoded. Only lines that may begin with one of `words` are
    parsed, so this takes little longer than reading the lines. Raises InputError if the file is damaged or in another format."""
    positions = {word: position for position, word in enumerate(words)}
    first_parts = {word.partition(b" ")[0] for word in words}
    with _open(path, "reading") as (form, rows):
        parsed = (form.split(line, number) for line, number, _ in rows if line.partition(b" ")[0] in first_parts)
        wanted = ((positions[word], numbers) for word, numbers in parsed if word in positions)
        return first_vectors(len(words), form.dim, wanted)


class IndexedText:
    """An `OpenVectors`. A packed file is unpacked into a temporary file without a name, which exists as long as this object."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unpacked: IO[bytes] | None = None
        with _open(path, "indexing") as (self._form, rows):
            if self._form.is_packed:
                self._unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - it stays open
                rows = _copied(rows, self._unpacked, path)
            self._index = WordIndex.build((line.partition(b" ")[0], offset) for line, _, offset in rows)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._index.rows), self._form.dim

    def read(self, words: Sequence[bytes]) -> WordVectors:
        with self.path.open("rb") as opened:
            try:
                return first_vectors(len(words), self._form.dim, self._rows_of(words, self._unpacked or opened))
            except InputError:
                return read_text(self.path, words)  # counts the lines: the error that it raises names one

    @staticmethod
    def blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
        with _open(path, "searching") as (form, rows):
            size = max(1, block_bytes // (4 * form.dim))
            words, vectors = list[bytes](), np.empty((size, form.dim), dtype=np.float32)
            for line, number, _ in rows:
                word, vectors[len(words)] = form.split(line, number)
                words.append(word)
                if len(words) == size:
                    yield words, vectors
                    words, vectors = [], np.empty((size, form.dim), dtype=np.float32)
            if words:
                yield words, vectors[: len(words)]

    def _rows_of(self, words: Sequence[bytes], file: IO[bytes]) -> Iterator[tuple[int, list[float]]]:
        """The positions and the numbers of these words, as far as the indexed file has them. The index has the first parts of words."""
        for offset, _, position in self._index.candidates([word.partition(b" ")[0] for word in words]):
            file.seek(offset)
            word, numbers = self._form.split(self._form.spaced(file.readline()), None)
            if word == words[position]:
                yield position, numbers


class _Form(NamedTuple):
    """How a file is written."""

    path: Path
    dim: int
    announced: int  # how many vectors the first line announces, or 0
    is_packed: bool
    has_tabs: bool  # between the cells

    def spaced(self, line: bytes) -> bytes:
        """The line with spaces between its cells."""
        return line.replace(b"\t", b" ") if self.has_tabs else line

    def split(self, line: bytes, number: int | None) -> tuple[bytes, list[float]]:
        """The word and the numbers of a row. The word is everything before the last `dim` cells, so it may contain spaces."""
        cells = line.rstrip().rsplit(b" ", self.dim)
        word = cells[0].rstrip(b" ")
        # A row with too many numbers looks like a word with spaces, but such a word ends with a decimal number.
        extra = word.rpartition(b" ")[2]
        if len(cells) != self.dim + 1 or (extra != word and b"." in extra and _is_number(extra)):
            count = line.rstrip().count(b" ")
            message = f"{count} space-separated numbers where {self.dim} are expected; fix or delete this line"
            raise InputError(message, path=self.path, line=number)
        try:
            numbers = [float(cell) for cell in cells[1:]]
        except ValueError as error:
            raise InputError(f"{error}; fix or delete this line", path=self.path, line=number) from error
        if not math.hypot(*numbers) <= _LARGEST_NORM:  # also of NaN
            named = word.decode("utf-8", "backslashreplace")
            message = f"the vector of '{named}' contains NaN or infinite numbers (not finite); fix or delete this line"
            raise InputError(message, path=self.path, line=number)
        return word, numbers


@contextmanager
def _open(path: Path, activity: str) -> Iterator[tuple[_Form, Iterator[_Row]]]:
    """How the file is written, and its rows; a progress bar with the activity follows them."""
    with open_lines(path, LINE_LIMIT) as lines, Progress(f"{activity} {path.name}", path.stat().st_size, "B") as bar:
        form, first_row = _read_start(path, lines)
        yield form, _rows(form, chain([first_row], lines), lines, bar)


def _read_start(path: Path, lines: OpenLines) -> tuple[_Form, bytes]:
    """Read an optional first line `count dimension`, and the first row. Returns the form that they show, and the first row."""
    first_line = lines.readline().removeprefix(BOM_UTF8)
    cells = first_line.split()
    has_header = len(cells) == 2 and cells[0].isdigit() and cells[1].isdigit()
    # int() refuses more than 4,300 digits, and a number of 18 is too large in any case.
    announced, dim = (int(cells[0][:18]), int(cells[1][:18])) if has_header else (0, len(cells) - 1)
    row = lines.readline() if has_header else first_line
    if lines.packing and b"\0" in first_line + row:
        raise InputError("a packed binary file; unpack it first (gunzip, unzip) and give the .bin", path=path)
    if dim < 1 or not (has_header or any(_is_number(cell) for cell in cells[1:])):
        raise InputError("neither 'count dimension' nor a word and its vector; give a .vec file", path=path, line=1)
    if not row:
        raise InputError("no vectors after the first line; download or copy it again", path=path)
    form = _Form(path, dim, announced, lines.packing is not None, has_tabs=row.count(b"\t") >= dim)
    _check_first_row(form, row, has_header, lines.number)
    if dim > LARGEST_DIM:
        raise InputError(f"has vectors of {dim:,} numbers; at most {LARGEST_DIM:,} can be read", path=path)
    return form, row


def _check_first_row(form: _Form, row: bytes, has_header: bool, number: int) -> None:
    """Parse the first row, which shows whether the dimension is right before memory is allocated. Raises InputError if it is not."""
    try:
        form.split(form.spaced(row), number)
    except InputError:
        in_row = form.spaced(row).rstrip().count(b" ")
        if not has_header or in_row == form.dim:
            raise
        problem = f"announces vectors of {form.dim} numbers, but line 2 has {in_row}: correct it, or give another file"
        raise InputError(problem, path=form.path, line=1) from None


def _rows(form: _Form, raw_lines: Iterator[bytes], lines: OpenLines, bar: Progress) -> Iterator[_Row]:
    """The rows in these lines, without blank lines. Raises InputError at the end for a file that announces more vectors than it has."""
    count = 0
    shortest = 2 * form.dim  # a space and a digit for each number; shorter lines could cost more memory than the file
    for raw_line in raw_lines:
        if lines.number % _LINES_PER_UPDATE == 0:
            bar.reach(lines.done)
        if raw_line.isspace():
            continue
        count += 1
        line = form.spaced(raw_line)
        if len(line) < shortest:
            form.split(line, lines.number)
        yield line, lines.number, lines.offset - len(line)
    may_lack = int(raw_line.endswith(b"\n"))  # if the last line is whole, one: some programs count the first line
    if count + may_lack < form.announced:
        message = f"line 1 announces {form.announced} vectors, but only {count} follow; download it again"
        raise InputError(message, path=form.path)


def _copied(rows: Iterator[_Row], file: IO[bytes], path: Path) -> Iterator[_Row]:
    """The rows of a packed file, each as it stands in another file after it is written there."""
    offset = 0
    for line, number, _ in rows:
        try:
            file.write(line)
        except OSError as error:
            reason = f"cannot be unpacked into {tempfile.gettempdir()} ({error.strerror})"
            raise InputError(f"{reason}; unpack it and give that file", path=path) from None
        yield line, number, offset
        offset += len(line)


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
