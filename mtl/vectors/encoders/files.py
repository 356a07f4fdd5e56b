"""Encode the lines of a file or of standard input, block by block, into a file of vectors."""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import replacing
from mtl.base.progress import Progress
from mtl.base.untrusted_lines import LINE_LIMIT, OpenLines, open_lines
from mtl.data.blocks import BLOCK
from mtl.data.files import split_lines
from mtl.vectors.encoders.encoder import SentenceEncoder

STANDARD_INPUT = Path("-")


def encode_file(encoder: SentenceEncoder, source: Path, out: Path) -> None:
    """Write the vectors of the lines of a text file or of standard input ("-"), block by block, as a NumPy array, float32 (lines, dim)."""
    dim, rows = encoder.description.dim, 0
    is_input = source == STANDARD_INPUT
    name = "standard input" if is_input else str(source)
    size = None if is_input or not source.is_file() else source.stat().st_size
    with replacing(out) as partial, partial.open("wb") as file, Progress(f"encoding {name}", size, "B") as bar:
        _write_header(file, rows, dim)
        lines = _lines(source, bar)
        while block := list(islice(lines, BLOCK)):
            vectors = encoder.encode(split_lines(b"".join(block), name, rows))
            file.write(np.ascontiguousarray(vectors, dtype="<f4").data)
            rows += len(vectors)
        file.seek(0)
        _write_header(file, rows, dim)


def check_vectors_file(out: Path) -> None:
    """Raise InputError for a file of vectors whose suffix is not .npy, and for one below a file."""
    if out.suffix != ".npy":
        raise InputError("the name must end in .npy", path=out)
    if files := [path for path in out.parents if path.is_file()]:
        raise InputError(f"{files[0]} is a file; name a folder", path=out)


def _lines(source: Path, bar: Progress) -> Iterator[bytes]:
    """The lines of a file or of standard input, with their ends; `bar` counts their bytes. Raises InputError for a file that cannot be read."""
    if source == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file of texts, or give texts to standard input")
        for line in OpenLines(Path("standard input"), sys.stdin.buffer, None, LINE_LIMIT):  # type: ignore[arg-type]
            yield line
            bar.advance(len(line))
        return
    try:
        with open_lines(source) as lines:
            for line in lines:
                yield line
                if lines.number % BLOCK == 0:
                    bar.reach(lines.done)
            bar.reach(lines.done)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=source) from None


def _write_header(file: IO[bytes], rows: int, dim: int) -> None:
    """Write NumPy's header, which has the same length for any number of rows: NumPy leaves space for it to grow."""
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)})
