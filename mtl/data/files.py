"""Data files as lines of UTF-8, with errors that name file and line, and their hashes beside the checksums of the suite."""

import codecs
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.untrusted import inside, open_lines, open_regular, read_errors
from mtl.tasks.task import FOLDERS, NUMBERED, SPLITS, Task

FILE_LIMIT = 2**31  # bytes of a file that is read as a whole
LINE_LIMIT = 2**26  # bytes of a line of a file that is read line by line
MOST_LINES = 20_000_000  # of a data file
WIDE = re.compile("utf[-_]?(16|32)", re.IGNORECASE)  # encodings whose line feeds have several bytes
GIT = "git:"  # before a checksum that is the id of a git blob


def numbered(path: Path) -> list[Path]:
    """The files that differ from this one in their number alone, in the order of their numbers. Raises InputError if one is missing."""
    try:
        names = numbered_alike(path.name, [file.name for file in path.parent.iterdir()])
        return [inside(path.parent, name) for name in names]
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read in parts: {error}", path=path) from None


def numbered_alike(name: str, names: Iterable[str]) -> list[str]:
    """Those names that differ from this one in the number before the suffix alone, as train-00000-of-00003.parquet, part-0.jsonl, in the
    order of their numbers; they may also differ in a hash of 16 digits after it. Raises ValueError if a number is missing, or stands twice."""
    number = re.search(r"(\d+)(-of-(\d+))?(-[0-9a-f]{16})?((\.[A-Za-z]+)?(\.(gz|bz2|xz|zst))?)$", name)
    if number is None:
        raise ValueError("its name has no number")
    digest = "-[0-9a-f]{16}" if number[4] else ""
    pattern = rf"{re.escape(name[: number.start()])}(\d+){number[2] or ''}{digest}{re.escape(number[5])}"
    found = sorted((int(match[1]), each) for each in names if (match := re.fullmatch(pattern, each)))
    numbers = [number for number, _ in found]
    count = len(found)
    if not found or count != int(number[3] or count) or numbers not in ([*range(count)], [*range(1, count + 1)]):
        shown = ", ".join(map(str, numbers[:20]))
        raise ValueError(f"its parts have the numbers {shown}; one is missing, or stands twice")
    return [each for _, each in found]


def part_files(path: Path, part: str | None) -> list[Path]:
    """The files that a part of this one means: itself, those of other numbers (`numbered`), or those of its suffix in its folder and the folders
    beside it. Raises InputError as `numbered`, for files outside these folders, and for folders without such a file."""
    if part == NUMBERED:
        return numbered(path)
    if (folders := FOLDERS.fullmatch(part or "")) is None:
        return [path]
    root = path.parent.parent
    listed = folders[1].split(",") if folders[1] else sorted(each.name for each in root.iterdir() if each.is_dir())
    files = [sorted(root.glob(f"{escape(name)}/*{path.suffix}")) for name in listed]
    if folders[1] and (empty := [name for name, found in zip(listed, files, strict=True) if not found]):
        raise InputError(f"no {path.suffix} file in folder {empty[0]}", path=root)
    return [inside(root, f"{file.parent.name}/{file.name}") for found in files for file in found]


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file without their ends. Raises InputError for a file that cannot be read, and with the line that is not UTF-8. A line
    ends with a line feed, or with a carriage return and a line feed; no other character ends one."""
    return split_lines(read_bytes(path), str(path))


def unpacked_lines(path: Path, member: str | None = None) -> Iterator[bytes]:
    """The lines of a data file with their ends, unpacked if it is packed. Raises InputError for what is no file, what is in the place of data (a
    pointer of Git LFS, a page of HTML), and for more than FILE_LIMIT bytes or MOST_LINES lines, before memory holds them."""
    with read_errors(path), open_lines(path, LINE_LIMIT, member) as lines:
        for line in lines:
            if lines.number == 1:
                _check_data(path, line)
            if lines.offset > FILE_LIMIT or lines.number > MOST_LINES:
                limit = f"{FILE_LIMIT // 2**30} GiB or {MOST_LINES:,} lines"
                raise InputError(f"has more than {limit}; leave out rows that are not needed", path=path)
            yield line


def _check_data(path: Path, first: bytes) -> None:
    """Raise InputError if the first line of a file says that it is something else than data."""
    if first.startswith(b"version https://git-lfs.github.com/spec/"):
        raise InputError("is a pointer of Git LFS, not the data; get it with git lfs pull", path=path)
    if re.match(rb"\s*<(!doctype html|html)", first, re.IGNORECASE):
        raise InputError("is a page of HTML, as of a login or an error, not the data; download it again", path=path)
    if b"\0" in first and declared_encoding(first) == "utf-8" and first.count(b"\0") * 4 < len(first):
        raise InputError("is no text; a data file is text, or parquet", path=path)


def declared_encoding(head: bytes) -> str:
    """The encoding that the start of a file shows: utf-16 or utf-32 by its byte order mark, else utf-8."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"


def data_lines(path: Path, member: str | None, encoding: str | None) -> Iterator[str]:
    """The lines of a data file as text, with their ends and without a byte order mark. Raises InputError, also with the line that is not text. A
    line ends with a line feed, or with a carriage return and a line feed; no other character ends one."""
    lines = unpacked_lines(path, member)
    first = next(lines, b"")
    encoding = encoding or declared_encoding(first)
    if WIDE.match(encoding):
        content = b"".join([first, *lines])
        yield from re.findall(r"[^\n]*\n|[^\n]+", _decoded(content, encoding, path, 1).removeprefix("\ufeff"))
        return
    yield _decoded(first.removeprefix(codecs.BOM_UTF8), encoding, path, 1)
    for number, line in enumerate(lines, start=2):
        yield _decoded(line, encoding, path, number)


def _decoded(content: bytes, encoding: str, path: Path, line: int) -> str:
    try:
        return content.decode(encoding)
    except UnicodeError as error:
        remedy = "save the file as UTF-8, or say what it is: reading: {encoding: …}"
        byte = f" (byte {error.object[error.start]:#04x})" if isinstance(error, UnicodeDecodeError) else ""
        raise InputError(f"not {encoding.upper()}{byte}; {remedy}", path=path, line=line) from None


def split_lines(content: bytes, name: str, before: int = 0, most: int = MOST_LINES) -> list[str]:
    """The lines of a UTF-8 file's content, which `before` lines precede, without their ends. Raises InputError with the line that is not UTF-8,
    and for more than `most` lines, before they take memory."""
    if content.count(b"\n") > most or (content.count(b"\n") == most and not content.endswith(b"\n")):
        raise InputError(f"has more than {most:,} lines; leave out those that are not needed", path=name)
    lines = decode(content, name, before).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def decode(content: bytes, name: str, before: int = 0) -> str:
    """The text of a UTF-8 file's content, without a byte order mark. The rest is as in `split_lines`."""
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
            problem = f"has more than {FILE_LIMIT // 2**30} GiB; leave out rows that are not needed"
            raise InputError(problem, path=path)
        return file.read()


@dataclass(frozen=True)
class HashedFile:
    """A data file."""

    task: str  # its id
    split: str
    name: str  # its path in the data folder
    sha256: str
    changed: bool  # whether the suite names another checksum for it


def hash_files(tasks: Sequence[Task], data_dir: Path) -> list[HashedFile]:
    """Those files of the tasks that exist."""
    hashed = []
    for task in tasks:
        for split in SPLITS:
            first, layout = task.path(split, data_dir), task.layout(split, data_dir)
            parts = part_files(first, layout.part) if first and first.is_file() else []
            if first and layout.has_folders and parts:  # one hash of many files
                marks = "".join(f"{path.relative_to(data_dir).as_posix()} {sha256(path)}\n" for path in parts)
                mark = hashlib.sha256(marks.encode()).hexdigest()
                hashed.append(HashedFile(task.id, split, first.relative_to(data_dir).as_posix(), mark, False))
                continue
            for path in filter(None, (*parts, layout.beside)):
                if path.is_file():
                    changed = path == first and is_changed(path, task.checksums.get(split))
                    name = path.relative_to(data_dir).as_posix()
                    hashed.append(HashedFile(task.id, split, name, sha256(path), changed))
    return hashed


def changed_splits(files: Sequence[HashedFile]) -> dict[str, list[str]]:
    """The splits of each task whose files are changed, by task id; tasks without any are left out."""
    changed: dict[str, list[str]] = {}
    for file in files:
        if file.changed:
            changed.setdefault(file.task, []).append(file.split)
    return changed


def is_changed(path: Path, checksum: str | None) -> bool:
    """Whether a file has another checksum than this one; False if none is named."""
    if checksum is None:
        return False
    return checksum != (GIT + git_blob_id(path) if checksum.startswith(GIT) else f"sha256:{sha256(path)}")


def git_blob_id(path: Path) -> str:
    """The id that git gives a file's content, as `git hash-object` prints it: 40 hexadecimal digits. It is the SHA-1 of the word "blob", a space,
    the size, a zero byte, and the content (Pro Git, section 10.2)."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: digest).hexdigest()
