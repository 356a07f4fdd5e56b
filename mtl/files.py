"""Files that are there whole or not at all: written beside their place, then moved in."""

import errno
import hashlib
import json
import logging
import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from mtl.errors import InputError

logger = logging.getLogger("mtl")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a name beside `path` to write to; move it to `path` when the block ends well.

    The file is flushed to disk before the move, so a crash or a SIGKILL at any moment leaves either the old
    file or the whole new one. When the block raises, the partial file is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


class Busy(Exception):
    """Another process holds a lock. The message says what to do if none does."""


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold the lock of this file. It is released when the process ends, however it ends. Raises Busy if it is taken."""
    held = _acquire(path, timeout=0)
    try:
        yield
    finally:
        held.release()


@contextmanager
def waiting_lock(path: Path, busy: str) -> Iterator[None]:
    """Hold a lock as `lock` does; while another process holds it, say `busy` and wait."""
    try:
        held = _acquire(path, timeout=0)
    except Busy as error:
        logger.info("%s; waiting for it%s", busy, error)
        held = _acquire(path, timeout=-1)
    try:
        yield
    finally:
        held.release()


# What flock says on file systems that do not have it.
NO_FLOCK = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK}


def _acquire(path: Path, timeout: float) -> BaseFileLock:
    """The lock of this file, acquired within `timeout` seconds (0: at once; -1: whenever it is free). Raises Busy.

    Where the file system has no flock, a second file that names the process and its machine is the lock. One that a
    killed process left is removed, if that process ran on this machine.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        native = FileLock(path, timeout=timeout, fallback_to_soft=False)
        native.acquire()
        return native
    except Timeout:
        raise Busy from None
    except OSError as error:
        if error.errno not in NO_FLOCK:
            raise
    named = SoftFileLock(path.with_name(f"{path.name}.process"), timeout=1 if timeout == 0 else timeout)
    try:
        named.acquire()  # not at once: the first attempt only removes what a killed process left
    except Timeout:
        raise Busy(f"; if none is running, on another machine either, remove {named.lock_file}") from None
    return named


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, atomically, with line ends as they stand in `text`."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file of a run. Raises InputError if it is not one."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; is {path.parent} a run folder?") from None
    except ValueError as error:
        raise InputError(
            f"{path}: not JSON: {error}; restore it, or remove the run's folder and run it again"
        ) from None


def check_space(folder: Path, size: int, remedy: str) -> None:
    """Raise InputError, with what to do about it, where the folder's disk has no room for `size` bytes more."""
    free = shutil.disk_usage(folder).free
    if free < size:
        raise InputError(f"{folder}: {in_words(size)} are needed and {in_words(free)} free; make room, or {remedy}")


def reserve(path: Path) -> None:
    """Claim the disk's room for a file that will be written through memory; else a full disk would kill the process.

    Raises OSError where there is no room. Does nothing where the system has no call for it.
    """
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def in_words(size: int) -> str:
    """A number of bytes: 3 MB, 1.2 GB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{math.ceil(size / 1e6)} MB"


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
