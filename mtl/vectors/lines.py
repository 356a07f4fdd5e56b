"""The lines of large text files, in blocks."""

from collections.abc import Iterator
from itertools import count, islice
from typing import IO

from mtl.base.errors import InputError
from mtl.data.files import LINE_LIMIT, split_lines


def line_blocks(file: IO[bytes], name: str, size: int) -> Iterator[tuple[list[str], int]]:
    """The lines of a UTF-8 file as `read_lines` gives them, in blocks of at most `size` lines, each with its number of bytes.

    Raises InputError with the line that is not UTF-8, or longer than LINE_LIMIT bytes.
    """
    done = 0
    while block := list(islice(limited_lines(file, name, done), size)):
        content = b"".join(block)
        yield split_lines(content, name, done), len(content)
        done += len(block)


def limited_lines(file: IO[bytes], name: str, before: int = 0) -> Iterator[bytes]:
    """The lines of a file with their ends, after `before` lines that were read already.

    Raises InputError for a line of more than LINE_LIMIT bytes: an unpacked file may be one line that no memory holds.
    """
    for number in count(before + 1):
        if not (line := file.readline(LINE_LIMIT + 1)):
            return
        if len(line) > LINE_LIMIT:
            raise InputError(
                f"the line has more than {LINE_LIMIT // 2**20} MiB; no text is that long", path=name, line=number
            )
        yield line
