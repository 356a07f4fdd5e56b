"""Read the pretrained vectors of a list of words; the memory depends on the list, not on the size of the file."""

import gzip
import io
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np

from mtl.embedders import fasttext_binary
from mtl.embedders.gensim_file import read_gensim
from mtl.errors import InputError
from mtl.progress import Progress

_GZIP_MAGIC = b"\x1f\x8b"
_PICKLE_MAGIC = b"\x80"  # as in pickles of protocol 2 and newer, which gensim writes
_BUFFER = 1 << 20  # bytes of text read at once
_LINES_PER_UPDATE = 4096  # of the progress bar


@dataclass(frozen=True)
class WordVectors:
    """Vectors of words, in the order of the words.

    vectors: float32 (words, dim), zeros for unknown words. found: bool (words,), whether the word itself is in the file.
    from_ngrams: bool (words,), whether the word is not in the file and its vector comes from its character n-grams.
    """

    vectors: np.ndarray
    found: np.ndarray
    from_ngrams: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """Which words have a vector, bool (words,)."""
        return self.found | self.from_ngrams

    @property
    def dim(self) -> int:
        """The size of a vector."""
        return self.vectors.shape[1]


class VectorFile:
    """A file of pretrained vectors; `read` may be called several times.

    The format follows from the file's content: a fastText model (.bin), text (.vec, and GloVe's .txt without a header),
    gzipped text (.vec.gz), or vectors saved by gensim 4 (.kv). No code from a file is ever run.
    A fastText model, or gensim's copy of one, also gives vectors to words outside its vocabulary.
    The second call of `read` indexes the dictionary of a fastText model, so that later calls take milliseconds. All other files
    are read completely in each call.
    """

    def __init__(self, path: Path) -> None:
        """The file may be missing until `read` is called."""
        self.path = path
        self._calls = 0
        self._indexed: fasttext_binary.IndexedModel | None = None

    def read(self, words: Sequence[str]) -> WordVectors:
        """The vectors of `words`. Raises InputError if the file is missing, damaged or in another format."""
        encoded = [_encode(word) for word in words]
        distinct = list(dict.fromkeys(encoded))
        if not self.path.exists():
            raise InputError(f"{self.path}: no such file; check the path of the vectors")
        if self.path.is_dir():
            raise InputError(f"{self.path}: this is a folder; give the path of a file of vectors")
        self._calls += 1
        try:
            vectors, found, from_ngrams = self._read(distinct)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error}); check the file or download it again") from error
        with np.errstate(
            all="ignore"
        ):  # a row's sum is finite if all its numbers are; it takes less memory than a mask
            not_finite = np.flatnonzero(~np.isfinite(vectors.sum(axis=1)))
        if len(not_finite):
            word = distinct[not_finite[0]].decode("utf-8", "backslashreplace")
            raise InputError(
                f"{self.path}: the vector of '{word}' contains NaN or infinite numbers (not finite); give another file"
            )
        if len(distinct) < len(encoded):
            positions = {word: position for position, word in enumerate(distinct)}
            order = np.fromiter((positions[word] for word in encoded), dtype=np.int64, count=len(encoded))
            vectors, found, from_ngrams = vectors[order], found[order], from_ngrams[order]
        return WordVectors(vectors, found, from_ngrams)

    def _read(self, words: Sequence[bytes]) -> "_Arrays":
        """The fields of WordVectors for distinct words, read with the reader for the file's format."""
        with self.path.open("rb") as file:
            start = file.read(4)
        if not start:
            raise InputError(f"{self.path}: the file is empty; download or copy it again")
        if start.startswith(_PICKLE_MAGIC) or self.path.suffix == ".kv":
            return read_gensim(self.path, words)
        if start == fasttext_binary.MAGIC or self.path.suffix in (".bin", ".ftz"):
            if self._indexed is None and self._calls == 1:
                return fasttext_binary.read_binary(self.path, words)
            self._indexed = self._indexed or fasttext_binary.IndexedModel(self.path)
            return self._indexed.read(words)
        return _read_text(self.path, words)


_Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # the fields of WordVectors


def read_vectors(path: Path, words: Sequence[str]) -> WordVectors:
    """The vectors of `words` from a file, as `VectorFile.read` gives them."""
    return VectorFile(path).read(words)


def _encode(word: str) -> bytes:
    """A word's bytes in UTF-8. Bytes that were not UTF-8 when the word was read are restored."""
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate pair, which no valid file contains
        return word.encode("utf-8", "surrogatepass")


def _read_text(path: Path, words: Sequence[bytes]) -> _Arrays:
    with ExitStack() as stack:
        raw = stack.enter_context(io.BufferedReader(path.open("rb", buffering=0), _BUFFER))
        lines: IO[bytes] = raw
        if raw.peek(2).startswith(_GZIP_MAGIC):
            unzipped = stack.enter_context(gzip.GzipFile(fileobj=raw))
            lines = io.BufferedReader(cast(io.RawIOBase, unzipped), _BUFFER)
        shown = stack.enter_context(Progress(f"reading {path.name}", path.stat().st_size, "B"))
        try:
            return _read_lines(path, lines, words, lambda: shown.reach(raw.tell()))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"{path}: damaged gzip ({error}); download or copy it again") from error


def _read_lines(path: Path, lines: IO[bytes], words: Sequence[bytes], report: Callable[[], object]) -> _Arrays:
    """Read lines `word number number ...`, after an optional first line `count dimension`.

    Only lines that may begin with one of `words` are parsed, so this takes little longer than reading the lines.
    """
    first = lines.readline()
    if first.startswith(fasttext_binary.MAGIC):
        raise InputError(f"{path}: a gzipped fastText model; unpack it first (gunzip) and give the .bin")
    expected, dim, header_lines = _read_header(path, first)
    line = lines.readline() if header_lines else first
    if not line:
        raise InputError(f"{path}: no vectors after the first line; download or copy it again")
    number = 1 + header_lines
    # Always parse the first row: it shows whether the dimension is right before memory is allocated.
    _split_row(path, number, line, dim)

    index = {word: position for position, word in enumerate(words)}
    first_parts = {word.partition(b" ")[0] for word in words}
    vectors = np.zeros((len(words), dim), dtype=np.float32)
    found = np.zeros(len(words), dtype=bool)
    while line:
        if line.partition(b" ")[0] in first_parts:
            word, numbers = _split_row(path, number, line, dim)
            position = index.get(word)
            if position is not None and not found[position]:
                vectors[position] = numbers
                found[position] = True
        if number % _LINES_PER_UPDATE == 0:
            report()
        line = lines.readline()
        number += 1
    rows = number - 1 - header_lines
    if rows < expected:
        raise InputError(f"{path}: line 1 announces {expected} vectors, but only {rows} follow; download it again")
    return vectors, found, np.zeros(len(words), dtype=bool)


def _read_header(path: Path, first: bytes) -> tuple[int, int, int]:
    """The number of vectors to expect at least, their size, and the number of header lines (0 or 1)."""
    cells = first.split()
    if len(cells) == 2 and cells[0].isdigit() and cells[1].isdigit():
        expected, dim, header_lines = int(cells[0]), int(cells[1]), 1
    else:
        expected, dim, header_lines = 0, len(cells) - 1, 0
    if dim < 1:
        raise InputError(f"{path}, line 1: neither 'count dimension' nor a word and its vector; give a .vec file")
    return expected, dim, header_lines


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
