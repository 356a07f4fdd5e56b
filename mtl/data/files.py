"""Text files: their lines, with errors that name file and line."""

import codecs
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.base.untrusted import open_regular, read_errors
from mtl.base.untrusted_lines import open_lines

FILE_LIMIT = 2**31  # bytes of a file that is read as a whole
LINE_LIMIT = 2**26  # bytes of a line of a file that is read line by line
MOST_LINES = 20_000_000  # of a data file
WIDE = re.compile("utf[-_]?(16|32)", re.IGNORECASE)  # encodings whose line feeds have several bytes


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file without their ends. Raises InputError for a file that cannot be read, and with the line that is not UTF-8. A line
    ends with a line feed, or with a carriage return and a line feed; no other character ends one."""
    return split_lines(read_bytes(path), str(path))


def _stored_lines(path: Path, encoding: str | None = None) -> Iterator[bytes]:
    """The lines of a data file with their ends, unpacked if it is packed. Raises InputError for what is no file, what is in the place of data (a
    pointer of Git LFS, a page of HTML), and for more than FILE_LIMIT bytes or MOST_LINES lines, before memory holds them. `encoding`: as declared."""
    with read_errors(path), open_lines(path, LINE_LIMIT) as lines:
        for line in lines:
            if lines.number == 1:
                _check_data(path, line, encoding)
            if lines.offset > FILE_LIMIT or lines.number > MOST_LINES:
                limit = f"{FILE_LIMIT // 2**30} GiB or {MOST_LINES:,} lines"
                raise InputError(f"has more than {limit}; leave out rows that are not needed", path=path)
            yield line


def encoding_by_mark(head: bytes) -> str:
    """The encoding that the start of a file shows: utf-16 or utf-32 by its byte order mark, else utf-8."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"


def data_lines(path: Path, encoding: str | None) -> Iterator[str]:
    """The lines of a data file as text, with their ends (as in `read_lines`), without a byte order mark. Raises InputError."""
    lines = _stored_lines(path, encoding)
    first = next(lines, b"")
    actual_encoding = encoding or encoding_by_mark(first)
    if WIDE.match(actual_encoding):
        content = b"".join([first, *lines])
        yield from re.findall(r"[^\n]*\n|[^\n]+", _decode(content, actual_encoding, path, 1).removeprefix("\ufeff"))
        return
    yield _decode(first.removeprefix(codecs.BOM_UTF8), actual_encoding, path, 1)
    for number, line in enumerate(lines, start=2):
        yield _decode(line, actual_encoding, path, number)


def split_lines(content: bytes, name: str, before: int = 0, most: int = MOST_LINES) -> list[str]:
    """The lines of the content of a UTF-8 file, or of a part of it, without their ends. Raises InputError with the line that is not UTF-8, and for
    more than `most` lines, before they take memory. `before` is the number of lines of the file that precede the content."""
    ends = content.count(b"\n")
    count = ends if not content or content.endswith(b"\n") else ends + 1
    if count > most:
        raise InputError(f"has more than {most:,} lines; leave out those that are not needed", path=name)
    lines = decode_utf8(content, name, before).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def decode_utf8(content: bytes, name: str, before: int = 0) -> str:
    """The text of a UTF-8 file's content, without a byte order mark. The arguments, and the error for a line that is not UTF-8: as `split_lines`."""
    if before == 0:
        content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = before + content.count(b"\n", 0, error.start) + 1
        problem = f"not UTF-8 (byte {content[error.start]:#04x}); save the file as UTF-8"
        raise InputError(problem, path=name, line=line) from None


def read_bytes(path: Path) -> bytes:
    """The content of a file. Raises InputError for what is no file, or cannot be read."""
    with read_errors(path), open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > FILE_LIMIT:
            raise InputError(f"has more than {FILE_LIMIT // 2**30} GiB; leave out rows that are not needed", path=path)
        return file.read()


def _check_data(path: Path, first: bytes, encoding: str | None) -> None:
    """Raise InputError if the first line of a file says that it is something else than data."""
    if first.startswith(b"version https://git-lfs.github.com/spec/"):
        raise InputError("is a pointer of Git LFS, not the data; get it with git lfs pull", path=path)
    if re.match(rb"\s*<(!doctype html|html)", first, re.IGNORECASE):
        raise InputError("is a page of HTML, as of a login or an error, not the data; download it again", path=path)
    is_wide = WIDE.match(encoding or "") or encoding_by_mark(first) != "utf-8"
    if 0 < first.count(b"\0") * 4 < len(first) and not is_wide:  # ASCII text in UTF-16 or UTF-32 has more zero bytes
        raise InputError("is no text; a data file is text, or parquet", path=path)


def _decode(content: bytes, encoding: str, path: Path, line: int) -> str:
    try:
        return content.decode(encoding)
    except UnicodeError as error:
        remedy = "save the file as UTF-8, or say what it is: reading: {encoding: …}"
        byte = f" (byte {error.object[error.start]:#04x})" if isinstance(error, UnicodeDecodeError) else ""
        raise InputError(f"not {encoding.upper()}{byte}; {remedy}", path=path, line=line) from None


def text_lines(files: Sequence[Path], title: str) -> Iterator[str]:
    """The lines of text files, plain or packed, without white space around them; a progress bar has this title. Raises InputError, with the line."""
    for path in files:
        with read_errors(path), open_lines(path) as lines, Progress(f"{title} {path}", path.stat().st_size, "B") as bar:
            for line in lines:
                try:
                    yield line.decode("utf-8-sig" if lines.number == 1 else "utf-8").strip()
                except UnicodeDecodeError:
                    raise InputError("not UTF-8; save the file as UTF-8", path=path, line=lines.number) from None
                if lines.number % 1000 == 0:
                    bar.reach(lines.done)
