"""Lines of UTF-8 text files, and errors that name the file and the line."""

import codecs
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

from mtl.errors import InputError


def read_text(path: Path) -> str:
    """The text of a UTF-8 file. Raises InputError for a file that cannot be read, and with the line that is not UTF-8."""
    return decode(read_bytes(path), str(path))


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file without their ends. Raises InputError as `read_text` does.

    A line ends with a line feed, or with a carriage return and a line feed; no other character ends one.
    """
    return split_lines(read_bytes(path), str(path))


def first_lines(path: Path, count: int) -> list[str]:
    """At most `count` lines from the start of a file, as `read_lines` gives them, without reading the rest."""
    return split_lines(read_bytes(path, count), str(path))


def line_blocks(file: IO[bytes], name: str, size: int) -> Iterator[tuple[list[str], int]]:
    """The lines of a UTF-8 file as `read_lines` gives them, in blocks of at most `size` lines, each with its number of bytes.

    Raises InputError with the line that is not UTF-8.
    """
    done = 0
    while block := list(islice(file, size)):
        content = b"".join(block)
        yield split_lines(content, name, done), len(content)
        done += len(block)


def split_lines(content: bytes, name: str, before: int = 0) -> list[str]:
    """The lines of a UTF-8 file's content without their ends. Raises InputError with the line that is not UTF-8.

    before: how many lines of the file stand before the content.
    """
    lines = decode(content, name, before).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def decode(content: bytes, name: str, before: int = 0) -> str:
    """The text of a UTF-8 file's content, without a byte order mark. before: see `split_lines`. Raises InputError with the line that
    is not UTF-8."""
    if before == 0:
        content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = before + content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}:{line}: not UTF-8 (byte {content[error.start]:#04x}); save the file as UTF-8"
        ) from None


def read_bytes(path: Path, count: int | None = None) -> bytes:
    """The content of a file, or of its first `count` lines. Raises InputError for a file that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read() if count is None else b"".join(islice(file, count))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
