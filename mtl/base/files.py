"""Files that appear whole or not at all: each is written beside its place, flushed to disk and moved in. And what writing them needs."""

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, EFBIG, EIO, ENOSPC, EROFS
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError, UserError
from mtl.base.wording import format_bytes

WRITE_ERRORS = {ENOSPC, EDQUOT, EFBIG, EIO, EROFS}  # of a disk that is full, damaged or read-only


@contextmanager
def write_errors_at(path: Path, partial: Path | None = None) -> Iterator[None]:
    """Within the block, the error of a failed write, of any type, becomes an OSError on `path` or below it, not on `partial`, its temporary path."""
    try:
        yield
    except Exception as error:
        if (named := _write_error(error, path, partial or path)) is not None:
            raise named from error
        raise


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; move the file to `path` when the block ends without an exception. The file is flushed to disk
    before the move, so a crash or a SIGKILL at any moment leaves either the old file or the new one. An error of a write is an OSError on `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")  # no process on any machine uses it
    try:
        with write_errors_at(path, partial):
            yield partial
            with partial.open("rb") as written:
                os.fsync(written.fileno())
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def link_or_copy(source: Path, path: Path) -> None:
    """Make `path` the same file as `source`, or where the file system cannot link, a copy. Neither may then be changed in place."""
    with replacing(path) as partial:
        try:
            os.link(source, partial)
        except OSError:
            shutil.copyfile(source, partial)


def flush(folder: Path) -> None:
    """Flush all files below a folder to disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


@contextmanager
def without_empty_folders(folder: Path) -> Iterator[None]:
    """When the block ends, remove the folder and its parents if they did not exist before the block and are empty."""
    absent = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        yield
    finally:
        for parent in absent:
            with suppress(OSError):
                parent.rmdir()


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, atomically, with its line ends unchanged."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def check_space(folder: Path, size: int, remedy: str) -> None:
    """Raise InputError if the folder's disk has less than `size` bytes free. The error names `remedy` as the other way out."""
    free = shutil.disk_usage(folder).free
    if free < size:
        problem = f"needs {format_bytes(size)} of disk space, {format_bytes(size - free)} more than is free"
        raise InputError(f"{problem}; free some space, or {remedy}", path=folder)


def reserve(path: Path) -> None:
    """Allocate the disk blocks of a file that will be written through a memory map, where the system can: there, a full disk kills the process."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_error(error: Exception, path: Path, partial: Path) -> OSError | None:
    """An OSError with the user's path, if this exception is an error of a write or was raised because of one; else None."""
    for cause in _chain(error):
        if isinstance(cause, OSError) and cause.errno is not None:
            number, names = cause.errno, [name for name in (cause.filename, cause.filename2) if name is not None]
        elif match := re.search(r"os error (\d+)", str(cause)):  # as Rust prints it
            number, names = int(match[1]), []
        else:
            continue
        written = [Path(name) for name in names if isinstance(name, str) and Path(name).is_relative_to(partial)]
        is_of_other_file = bool(names) and not written  # as an error of reading is
        if (number in WRITE_ERRORS and not is_of_other_file) or (written and cause is error):
            blamed = path / written[0].relative_to(partial) if written else path
            return OSError(number, os.strerror(number), str(blamed))
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and those that caused it, up to the first UserError: a library may raise its own when a write fails."""
    while error is not None and not isinstance(error, UserError):
        yield error
        error = error.__cause__ or error.__context__
