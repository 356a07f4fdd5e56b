"""Encode the lines of a file or of standard input, block by block, into a file of vectors."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import IO

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import replacing
from mtl.base.progress import Progress, hidden_progress
from mtl.data.files import LINE_LIMIT, split_lines
from mtl.data.text import BLOCK
from mtl.vectors.encoders.encoder import SentenceEncoder

STANDARD_INPUT = Path("-")


def encode_file(encoder: SentenceEncoder, source: Path, out: Path) -> None:
    """Write the vector of each line of a UTF-8 text file ("-" is standard input) as a NumPy array, float32 (lines, dim).

    Memory does not depend on the number of lines. Raises InputError for a file that cannot be read.
    """
    dim, rows = encoder.description.dim, 0
    with (
        _open(source) as (file, name, size),
        replacing(out) as partial,
        partial.open("wb") as written,
        Progress(f"encoding {name}", size, "B") as bar,
    ):
        _write_header(written, rows, dim)
        for texts, read in line_blocks(file, name, BLOCK):
            with hidden_progress():
                vectors = encoder.encode(texts)
            written.write(np.ascontiguousarray(vectors, dtype="<f4").data)
            rows += len(vectors)
            bar.advance(read)
        written.seek(0)
        _write_header(written, rows, dim)


def check_vectors_file(out: Path) -> None:
    """Raise InputError for a file of vectors whose suffix is not .npy, and for one below a file."""
    if out.suffix != ".npy":
        raise InputError("the name must end in .npy", path=out)
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


def _write_header(file: IO[bytes], rows: int, dim: int) -> None:
    """The header has the same length for any number of rows: NumPy leaves space for it to grow."""
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
    np.lib.format.write_array_header_1_0(file, header)


def line_blocks(file: IO[bytes], name: str, size: int) -> Iterator[tuple[list[str], int]]:
    """The lines of a UTF-8 file as `read_lines` gives them, in blocks of at most `size` lines, each with its number of bytes.

    Raises InputError with the line that is not UTF-8, or longer than LINE_LIMIT bytes: an unpacked file may be one line that no memory
    holds.
    """

    def limited() -> Iterator[bytes]:
        for number in count(1):
            if not (line := file.readline(LINE_LIMIT + 1)):
                return
            if len(line) > LINE_LIMIT:
                message = f"the line has more than {LINE_LIMIT // 2**20} MiB; no text is that long"
                raise InputError(message, path=name, line=number)
            yield line

    lines, done = limited(), 0
    while block := list(islice(lines, size)):
        content = b"".join(block)
        yield split_lines(content, name, done), len(content)
        done += len(block)
