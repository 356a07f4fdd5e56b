"""Encode the lines of a file or of standard input, block by block, into a file of vectors."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import flush, naming
from mtl.base.folders import staging
from mtl.base.progress import Progress, hidden_progress
from mtl.data.columns import parquet_errors
from mtl.data.text import BLOCK
from mtl.vectors.encoders.encoder import SentenceEncoder
from mtl.vectors.lines import line_blocks

STANDARD_INPUT = Path("-")

Write = Callable[[Sequence[str], np.ndarray], None]


def encode_file(encoder: SentenceEncoder, source: Path, out: Path) -> None:
    """Write the vector of each line of a UTF-8 text file ("-" is standard input). Memory does not depend on the number of lines.

    The suffix of `out` says its form: .npy: float32 (lines, dim); .parquet: the columns text and vector. Raises InputError for another
    suffix, and for a file that cannot be read.
    """
    check_vectors_file(out)
    dim = encoder.description.dim
    with (
        _open(source) as (file, name, size),
        _new_file(out) as partial,
        WRITERS[out.suffix](partial, out, dim) as write,
        Progress(f"encoding {name}", size, "B") as bar,
    ):
        for texts, read in line_blocks(file, name, BLOCK):
            with hidden_progress():
                vectors = encoder.encode(texts)
            write(texts, vectors)
            bar.advance(read)


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path; move the file there to `path` when the block ends without an exception. What a killed process left is removed."""
    with staging(path, path.parent) as stage, naming(path, stage / path.name):
        yield stage / path.name
        flush(stage)
        (stage / path.name).replace(path)


def check_vectors_file(out: Path) -> None:
    """Raise InputError for a file of vectors whose suffix names no form, and for one below a file."""
    if out.suffix not in WRITERS:
        raise InputError(f"the name must end in {' or '.join(WRITERS)}", path=out)
    if files := [path for path in out.parents if path.is_file()]:
        raise InputError(f"{files[0]} is a file; name a folder", path=out)


@contextmanager
def _open(source: Path) -> Iterator[tuple[IO[bytes], str, int | None]]:
    """The file, its name in messages, and its size in bytes if it is known."""
    if source == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file of texts, or give texts to standard input")
        yield sys.stdin.buffer, "standard input", None
        return
    try:
        file = source.open("rb")
    except FileNotFoundError:
        raise InputError("no such file", path=source) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=source) from None
    with file:
        yield file, str(source), source.stat().st_size or None


@contextmanager
def _npy(path: Path, name: Path, dim: int) -> Iterator[Write]:
    """A function that appends vectors to a new file of a NumPy array."""
    rows = 0

    def write_header(count: int) -> None:
        """The header has the same length for any number of rows: NumPy leaves space for it to grow."""
        header = {"descr": "<f4", "fortran_order": False, "shape": (count, dim)}
        np.lib.format.write_array_header_1_0(file, header)

    def write(texts: Sequence[str], vectors: np.ndarray) -> None:
        nonlocal rows
        file.write(np.ascontiguousarray(vectors, dtype="<f4").data)
        rows += len(vectors)

    with path.open("wb") as file:
        write_header(0)
        begin = file.tell()
        yield write
        file.seek(0)
        write_header(rows)
        assert file.tell() == begin


@contextmanager
def _parquet(path: Path, name: Path, dim: int) -> Iterator[Write]:
    """A function that appends texts and their vectors, float32 (texts, dim), to a new parquet file with the columns text
    and vector. Raises InputError, with this name, where it cannot be written."""
    with parquet_errors(name, "cannot be written", "write .npy") as (pyarrow, parquet):
        column = pyarrow.list_(pyarrow.float32(), dim)
        schema = pyarrow.schema([("text", pyarrow.string()), ("vector", column)])
        with parquet.ParquetWriter(path, schema) as writer:

            def write(texts: Sequence[str], vectors: np.ndarray) -> None:
                numbers = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), dim)
                writer.write_table(pyarrow.table([pyarrow.array(texts, pyarrow.string()), numbers], schema=schema))

            yield write


# By the suffix of the file that is written: a writer for the path to write to, the file's name in messages, and the vectors' size.
WRITERS: Mapping[str, Callable[[Path, Path, int], AbstractContextManager[Write]]] = {
    ".npy": _npy,
    ".parquet": _parquet,
}
