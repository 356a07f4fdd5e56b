"""The layout of a fastText `.bin` model: magic number, version, training arguments, the dictionary, and a matrix of rows for words, then n-grams."""

import struct
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from mtl.base.errors import InputError
from mtl.base.progress import Progress

MAGIC = struct.pack("<i", 793712314)
TRUNCATED = "the file ends in the middle of its fastText model; download or copy it again"
QUANTIZED = "a quantized or pruned fastText model (.ftz); give the full model (.bin)"
_VERSIONS = (11, 12)
_SUPERVISED = 3  # fastText's code for a classifier in the field "model"
_ENTRY_TAIL = 10  # bytes after a word in the dictionary: a NUL, its count (int64), its type (int8)
_LONGEST_ENTRY = 1 << 24  # bytes; a longer dictionary entry means that the file is damaged
_CHUNK = 1 << 20  # bytes of the dictionary read at once


class Header(NamedTuple):
    """The sizes that a model's training arguments and its dictionary state."""

    dim: int
    words: int  # in the dictionary; their rows come first in the matrix
    labels: int  # in the dictionary after the words, without rows
    buckets: int  # rows for n-grams, after the rows for words; 0 if the model does not use character n-grams
    minn: int
    maxn: int
    matrix_rows: int  # the least number of rows: words + the buckets of the training arguments


def read_header(path: Path, file: BufferedReader) -> Header:
    """Read the header; the file's position is then at the first word of the dictionary."""
    if file.read(len(MAGIC)) != MAGIC:
        problem = "not a fastText model (maybe written by another program, or before 2017)"
        raise InputError(f"{problem}; give a .bin of fastText 0.1 or newer, or vectors as text (.vec)", path=path)
    (version,) = _take(path, file, "<i")
    if version not in _VERSIONS:
        message = f"fastText model of version {version}; only versions 11 and 12 are supported; give the .vec file"
        raise InputError(message, path=path)
    # fastText's dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate and t.
    dim, _, _, _, _, _, _, kind, buckets, minn, maxn, _, _ = _take(path, file, "<12id")
    size, words, labels, _, pruned = _take(path, file, "<3i2q")
    if dim < 1 or buckets < 0 or words < 0 or labels < 0 or size != words + labels:
        raise _damaged(path, f"its header has dimension {dim}, {buckets} buckets, {words} words in {size} entries")
    if pruned >= 0:
        raise InputError(QUANTIZED, path=path)
    if version == 11 and kind == _SUPERVISED:
        maxn = 0  # these models had no character n-grams, even if their arguments have a maxn
    return Header(dim, words, labels, buckets if maxn > 0 else 0, minn, maxn, words + buckets)


def dictionary_entries(path: Path, file: BufferedReader, header: Header, bar: Progress) -> Iterator[tuple[bytes, int]]:
    """Yield each entry of the dictionary and its offset in the file, in bytes; then move the file's position to the end of the last entry."""
    begin = file.tell()  # offset of the chunk in the file
    chunk, offset = b"", 0  # offset of the next entry in the chunk
    for row in range(header.words + header.labels):
        end = chunk.find(b"\0", offset)
        while end < 0 or end + _ENTRY_TAIL > len(chunk):
            if len(chunk) - offset > _LONGEST_ENTRY:
                raise _damaged(path, f"word {row + 1} of its dictionary does not end")
            if not (following := file.read(_CHUNK)):
                raise InputError(TRUNCATED, path=path)
            begin += offset
            chunk, offset = chunk[offset:] + following, 0
            bar.reach(file.tell())
            end = chunk.find(b"\0")
        yield chunk[offset:end], begin + offset
        offset = end + _ENTRY_TAIL
    file.seek(begin + offset)


def find_matrix(path: Path, file: BufferedReader, header: Header, entries: Iterator[tuple[bytes, int]]) -> int:
    """Read the dictionary's remaining entries, and check that the matrices fit into the file. Returns the offset of the input matrix's first row."""
    for _ in entries:
        pass  # at the end, the file's position is where the input matrix begins
    if _take(path, file, "<?")[0]:
        raise InputError(QUANTIZED, path=path)
    rows, columns = _take(path, file, "<2q")
    if columns != header.dim or rows < header.matrix_rows:
        required = f"{header.matrix_rows} × {header.dim}"
        raise _damaged(path, f"its matrix is {rows} × {columns}, but its header requires {required}")
    start, size = file.tell(), path.stat().st_size
    end = start + rows * columns * 4
    if end <= size:  # the output matrix is not needed, but a file without it is not complete
        file.seek(end)
        _, rows, columns = _take(path, file, "<?2q")
        end = file.tell() + rows * columns * 4
    if end > size:
        raise InputError(f"the file should have {end} bytes but has {size}; download or copy it again", path=path)
    return start


def _take(path: Path, file: BufferedReader, layout: str) -> tuple[int, ...]:
    """Read the next numbers of the file, in this `struct` layout."""
    size = struct.calcsize(layout)
    data = file.read(size)
    if len(data) < size:
        raise InputError(TRUNCATED, path=path)
    return struct.unpack(layout, data)


def _damaged(path: Path, problem: str) -> InputError:
    return InputError(f"{problem}, so this fastText model is damaged; download or copy it again", path=path)
