"""Locks: only one process at a time does a piece of work, on all machines that share the file system.

They are locks of the system (flock), which releases them when their process ends; where a file system has none, named locks
(`mtl.base.named_locks`)."""

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from errno import ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from mtl.base.named_locks import Busy, named_lock, running_holder

logger = logging.getLogger("mtl")

NO_FLOCK = {ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK}  # the errors of flock on file systems that do not support it


def lock(path: Path) -> AbstractContextManager[None]:
    """Hold the lock of this file within the block. Raises Busy if another process holds it. Where there is no flock, the lock of a killed process
    of this machine is taken over, but not that of another machine."""
    return waiting_lock(path, None)


@contextmanager
def waiting_lock(path: Path, message: str | None) -> Iterator[None]:
    """As `lock`; with a message, if another process holds the lock, log it and wait. Where there is no flock, as `named_lock`."""
    try:
        system_lock = _system_lock(path, timeout=0)
    except Busy:
        if message is None:
            raise
        logger.info("%s; waiting for it", message)
        system_lock = _system_lock(path, timeout=-1)
    with system_lock or named_lock(_named_lock_path(path), message):
        yield


def is_held(path: Path) -> bool:
    """Whether another process holds the lock of this file (`lock`). A file that does not exist is not made. The answer needs the system's lock for
    a moment. What another process cannot lock in that moment, it can right after."""
    if running_holder(_named_lock_path(path)) is not None:
        return True
    if not path.is_file() or path.is_symlink():
        return False
    try:
        with _system_lock(path, timeout=0) or nullcontext():
            return False
    except Busy:
        return True
    except OSError:  # such as a folder of someone else, which only its owner can lock
        return False


def _system_lock(path: Path, timeout: float) -> AbstractContextManager[Any] | None:
    """The system's lock of this file, acquired within `timeout` seconds (-1: no limit); None where there is no flock. Raises Busy, and OSError, which
    names the folder if the file cannot be made in it: the user does not know the lock's file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(path, timeout=timeout, fallback_to_soft=False).acquire()
    except Timeout:
        raise Busy from None
    except OSError as error:
        if error.errno not in NO_FLOCK:
            raise OSError(error.errno, error.strerror, str(path if path.exists() else path.parent)) from None
        return None


def _named_lock_path(path: Path) -> Path:
    """The named lock in the place of a lock of the system."""
    return path.with_name(f"{path.name}.process")
