"""Reads chosen words' vectors from a fastText `.bin` model without loading the model.

The file holds, in this order and little-endian: magic and version, the training arguments, the dictionary
(words in row order), and the input matrix: one row for each word, then one for each n-gram bucket. The official
models hold gigabytes of such rows, so the dictionary is streamed and only the blocks of the matrix with wanted rows
are read, all into one buffer. The matrix is not memory-mapped: touched pages would count as resident memory.
"""

import os
import struct
from array import array
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from mtl.errors import InputError
from mtl.progress import Progress

MAGIC = struct.pack("<i", 793712314)

_VERSIONS = (11, 12)
_SUPERVISED = 3  # fastText's number for a classifier, among its kinds of model
_END_OF_SENTENCE = b"</s>"  # fastText's own token, which has no n-grams
_ENTRY_TAIL = 10  # bytes after a word in the dictionary: a NUL, its count (int64), its type (int8)
_LONGEST_ENTRY = 1 << 24  # bytes; a dictionary entry longer than this is garbage

_CHUNK = 1 << 20  # bytes of the dictionary read at once
_BLOCK = 1 << 22  # bytes of the matrix read at once
_GAP = 1 << 17  # bytes; shorter stretches without a wanted row are read through, as seeking would cost more
_BLOCK_PAIRS = 1 << 13  # (row, word) pairs summed at once, which bounds the temporary sums
_HASHED_WORDS = 1 << 13  # words whose n-grams are hashed at once, which bounds the temporary arrays


class _Header(NamedTuple):
    dim: int
    words: int  # in the dictionary; their rows come first in the matrix
    labels: int  # in the dictionary after the words, without rows
    buckets: int  # rows for n-grams, after the rows for words; 0 where the model does not use character n-grams
    minn: int
    maxn: int
    matrix_rows: int  # at least: words + every bucket that the arguments name


_Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def read_binary(path: Path, words: Sequence[bytes]) -> _Arrays:
    """The vectors of `words` as fastText's `get_word_vector` gives them, from a `.bin` model.

    `words` are distinct and UTF-8 encoded. Returns the vectors (float32, len(words) × dimension, zeros where
    unknown) and two masks (bool, len(words)): the word is in the dictionary; it is not, but has n-grams. The
    labels of a classifier are not words. Raises InputError when the file is not a whole, unquantized model.
    """
    with path.open("rb") as file, Progress(f"reading {path.name}", path.stat().st_size, "B") as shown:
        header = _read_header(path, file)
        rows = _find_words(path, file, header, words, shown)
        start = _enter_matrix(path, file, header)
        return _vectors(file, header, start, words, rows, shown)


class IndexedModel:
    """The same for a model that is asked again and again: its dictionary is read once.

    Of the dictionary it keeps 20 bytes a word: a hash of the word, the row of its vector and its place in the file.
    """

    def __init__(self, path: Path) -> None:
        """Raises InputError as `read_binary`."""
        self.path = path
        with path.open("rb") as file, Progress(f"indexing {path.name}", None, "B") as shown:
            self._header = _read_header(path, file)
            self._index = _index(path, file, self._header, shown)
            self._start = _enter_matrix(path, file, self._header)
            self._version = _version(file)

    def read(self, words: Sequence[bytes]) -> _Arrays:
        """As `read_binary`. Raises InputError when the file has changed since its dictionary was read."""
        with self.path.open("rb") as file, Progress(f"reading {self.path.name}", self._version[0], "B") as shown:
            if _version(file) != self._version:
                raise InputError(f"{self.path}: has changed while it was read; give the command again")
            rows = self._index.rows_of(file, words)
            return _vectors(file, self._header, self._start, words, rows, shown)


def _vectors(
    file: BufferedReader, header: _Header, start: int, words: Sequence[bytes], rows: np.ndarray, shown: Progress
) -> _Arrays:
    """What `read_binary` returns, for words whose rows in the dictionary are known (-1: none)."""
    keys, counts = _pairs(words, rows, header)
    sums = np.zeros((len(words), header.dim), dtype=np.float32)
    _add_rows(file, start, keys, sums, shown)
    # as in fastText, the mean is a product with the inverse
    sums *= (1 / np.maximum(counts, 1)).astype(np.float32)[:, None]
    found = rows >= 0
    return sums, found, ~found & (counts > 0)


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[np.ndarray, np.ndarray]:
    """Hash the character n-grams of every `<word>`, of minn to maxn characters, as fastText does.

    Returns the hashes (uint32) and the index in `words` that each belongs to (int64), one of each per n-gram and
    in no particular order. A character is a byte and the UTF-8 continuation bytes after it. The hash is FNV-1a over
    bytes that are sign-extended to 32 bits, for fastText takes them from C's signed char. `<` and `>` alone are not
    n-grams, though other single characters are when minn is 1.
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


def _take(path: Path, file: BufferedReader, layout: str) -> tuple[int, ...]:
    """Unpack the next bytes of the file, which hold numbers in this `struct` layout."""
    size = struct.calcsize(layout)
    data = file.read(size)
    if len(data) < size:
        raise _truncated(path)
    return struct.unpack(layout, data)


def _truncated(path: Path) -> InputError:
    return InputError(f"{path}: the file ends before the fastText model it holds does; download or copy it again")


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path}: {what}, so this fastText model is damaged; download or copy it again")


def _read_header(path: Path, file: BufferedReader) -> _Header:
    """Read up to the first word of the dictionary."""
    if file.read(len(MAGIC)) != MAGIC:
        raise InputError(
            f"{path}: not a fastText model (one of another tool, or from before 2017); "
            f"give a .bin of fastText 0.1 or newer, or vectors as text (.vec)"
        )
    (version,) = _take(path, file, "<i")
    if version not in _VERSIONS:
        raise InputError(f"{path}: fastText model of version {version}, only 11 and 12 are known; give the .vec file")
    dim, _, _, _, _, _, _, kind, buckets, minn, maxn, _, _ = _take(path, file, "<12id")
    size, words, labels, _, pruned = _take(path, file, "<3i2q")
    if dim < 1 or buckets < 0 or words < 0 or labels < 0 or size != words + labels:
        raise _damaged(path, f"its header says dimension {dim}, {buckets} buckets and {words} of {size} words")
    if pruned >= 0:
        raise _quantized(path)
    if version == 11 and kind == _SUPERVISED:
        maxn = 0  # those models had no n-grams of characters, whatever their arguments say
    return _Header(dim, words, labels, buckets if maxn > 0 else 0, minn, maxn, words + buckets)


def _quantized(path: Path) -> InputError:
    return InputError(f"{path}: a quantized or pruned fastText model (.ftz); give the full model (.bin)")


def _version(file: BufferedReader) -> tuple[int, int]:
    """What changes when the file's content does: its size in bytes and the time of its last change."""
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


class _Index(NamedTuple):
    """The words of a model, sorted by their hash: int64 (words,), int32 (words,), int64 (words,)."""

    hashes: np.ndarray
    rows: np.ndarray
    places: np.ndarray  # of the words in the file, in bytes

    def rows_of(self, file: BufferedReader, words: Sequence[bytes]) -> np.ndarray:
        """Each word's row in the matrix, or -1 (int64)."""
        wanted = np.fromiter(map(hash, words), dtype=np.int64, count=len(words))
        firsts = np.searchsorted(self.hashes, wanted, side="left")
        ends = np.searchsorted(self.hashes, wanted, side="right")
        rows = np.full(len(words), -1, dtype=np.int64)
        for position in np.flatnonzero(ends > firsts).tolist():
            entry = words[position] + b"\0"
            for candidate in range(firsts[position], ends[position]):  # of other words with this hash, hardly ever any
                file.seek(self.places[candidate])
                if file.read(len(entry)) == entry:
                    rows[position] = self.rows[candidate]
        return rows


def _index(path: Path, file: BufferedReader, header: _Header, shown: Progress) -> _Index:
    """Stream the dictionary; the file stands at its end."""
    hashes, places = array("q"), array("q")
    for word, place in _entries(path, file, header, shown):
        hashes.append(hash(word))
        places.append(place)
    by_row = np.array(hashes, dtype=np.int64)[: header.words]
    order = np.argsort(by_row, kind="stable")
    return _Index(by_row[order], order.astype(np.int32), np.array(places, dtype=np.int64)[order])


def _find_words(
    path: Path, file: BufferedReader, header: _Header, words: Sequence[bytes], shown: Progress
) -> np.ndarray:
    """Stream the dictionary. Returns each word's row in the matrix, or -1 (int64); the file stands at its end."""
    index = {word: position for position, word in enumerate(words)}
    rows = np.full(len(words), -1, dtype=np.int64)
    for row, (word, _) in enumerate(_entries(path, file, header, shown)):
        position = index.get(word)
        if position is not None and row < header.words:
            rows[position] = row
    return rows


def _entries(path: Path, file: BufferedReader, header: _Header, shown: Progress) -> Iterator[tuple[bytes, int]]:
    """Each entry of the dictionary and its place in the file, in bytes; at the end the file stands behind the last one."""
    begin = file.tell()  # of the chunk, in the file
    chunk, offset = b"", 0  # offset: where the next entry begins in the chunk
    for row in range(header.words + header.labels):
        end = chunk.find(b"\0", offset)
        while end < 0 or end + _ENTRY_TAIL > len(chunk):
            if len(chunk) - offset > _LONGEST_ENTRY:
                raise _damaged(path, f"word {row + 1} of its dictionary does not end")
            more = file.read(_CHUNK)
            if not more:
                raise _truncated(path)
            begin += offset
            chunk, offset = chunk[offset:] + more, 0
            shown.reach(file.tell())
            end = chunk.find(b"\0")
        yield chunk[offset:end], begin + offset
        offset = end + _ENTRY_TAIL
    file.seek(begin + offset)


def _enter_matrix(path: Path, file: BufferedReader, header: _Header) -> int:
    """Check the matrices' sizes against the file's. Returns the offset of the input matrix's first row, in bytes."""
    (quantized,) = _take(path, file, "<?")
    if quantized:
        raise _quantized(path)
    rows, columns = _take(path, file, "<2q")
    if columns != header.dim or rows < header.matrix_rows:
        raise _damaged(
            path, f"its matrix is {rows} × {columns} where its header asks for {header.matrix_rows} × {header.dim}"
        )
    start, size = file.tell(), path.stat().st_size
    end = start + rows * columns * 4
    if end <= size:  # the output matrix is not needed, but without it the file is not whole
        file.seek(end)
        _, rows, columns = _take(path, file, "<?2q")
        end = file.tell() + rows * columns * 4
    if end > size:
        raise InputError(f"{path}: the file should hold {end} bytes but holds {size}; download or copy it again")
    return start


def _pairs(words: Sequence[bytes], rows: np.ndarray, header: _Header) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of the matrix make up which word.

    Returns row * len(words) + word for each such pair (int64, sorted, so in the file's order; a pair that comes
    twice counts twice), and the number of rows of each word (int64, len(words)).
    """
    found = np.flatnonzero(rows >= 0)
    keys = [rows[found] * len(words) + found]
    counts = (rows >= 0).astype(np.int64)
    for start in range(0, len(words) if header.buckets else 0, _HASHED_WORDS):
        batch = words[start : start + _HASHED_WORDS]
        hashes, owners = ngram_hashes(batch, header.minn, header.maxn)
        if _END_OF_SENTENCE in batch:
            kept = owners != batch.index(_END_OF_SENTENCE)
            hashes, owners = hashes[kept], owners[kept]
        counts[start : start + len(batch)] += np.bincount(owners, minlength=len(batch))
        keys.append((header.words + hashes.astype(np.int64) % header.buckets) * len(words) + owners + start)
    merged = np.concatenate(keys)
    merged.sort()
    return merged, counts


def _add_rows(file: BufferedReader, start: int, keys: np.ndarray, sums: np.ndarray, shown: Progress) -> None:
    """Add to each word's sum (words × dimension) its rows of the matrix that begins at byte `start`."""
    words, dim = sums.shape
    row_bytes = dim * 4
    buffer = np.empty((max(1, _BLOCK // row_bytes), dim), dtype="<f4")
    done = 0
    while done < len(keys):
        first = int(keys[done]) // words
        end = min(done + _BLOCK_PAIRS, int(np.searchsorted(keys, (first + len(buffer)) * words)))
        rows, owners = np.divmod(keys[done:end], words)
        gaps = np.flatnonzero(np.diff(rows) * row_bytes > _GAP)
        if len(gaps):
            rows, owners = rows[: gaps[0] + 1], owners[: gaps[0] + 1]
        block = buffer[: int(rows[-1]) + 1 - first]
        file.seek(start + first * row_bytes)
        if file.readinto(block.data.cast("B")) < block.nbytes:
            raise OSError(f"{file.name} became shorter while it was read")
        present, slots = np.unique(owners, return_inverse=True)
        ones = np.ones(len(rows), dtype=np.float32)
        sums[present] += csr_array((ones, (slots, rows - first)), shape=(len(present), len(block))) @ block
        done += len(rows)
        shown.reach(file.tell())
