"""Locks: only one process at a time does a piece of work, on all machines that share the file system.
`lock` is a lock of the system (flock), which releases it when its process ends. Where a file system has none, it is a named lock: a file that
exists while the lock is held. It names the process, its host and the time, and the process renews its time. Creating a file that must not exist is
atomic on every file system. (Leases of filelock 3 compare the clocks of machines, and the extra `elmo` excludes 4.)"""

import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from errno import ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP
from pathlib import Path
from typing import Annotated, Any

import msgspec
from filelock import FileLock, Timeout

from mtl.base.log import logger

RENEW_EVERY = 15.0  # seconds between two renewals of a named lock
STALE_AFTER = 90.0  # seconds without a renewal after which its process counts as lost
CLOCKS = 300.0  # seconds by which the clocks of this machine and of the file system may differ
LOST = 75  # the exit status of a process whose named lock was taken over
NAMED = ".process"  # the suffix of the named lock in the place of a lock of the system
NO_FLOCK = {ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK}  # the errors of flock on file systems that do not support it


class LockHeld(Exception):
    """Another process holds a lock. The message, if any, says what to do if the lock is stale."""


@contextmanager
def lock(path: Path, message: str | None = None) -> Iterator[None]:
    """Hold the lock of this file within the block. If another process holds it, log the message and wait; without a message, raise LockHeld. Without
    flock, this is a `named_lock`, and a killed process of another machine seems to hold it until it counts as lost."""
    try:
        system_lock = _system_lock(path, timeout=0)
    except LockHeld:
        if message is None:
            raise
        logger.info("%s; waiting for it", message)
        system_lock = _system_lock(path, timeout=-1)
    with system_lock or named_lock(path.with_name(path.name + NAMED), message):
        yield


def is_held(path: Path) -> bool:
    """Whether another process holds the lock of this file (`lock`), which is not made. The answer needs the system's lock for a moment."""
    if running_holder(path.with_name(path.name + NAMED)) is not None:
        return True
    if not path.is_file() or path.is_symlink():
        return False
    try:
        with _system_lock(path, timeout=0) or nullcontext():
            return False
    except LockHeld:
        return True
    except OSError:  # such as a folder of someone else, which only its owner can lock
        return False


@contextmanager
def named_lock(path: Path, message: str | None) -> Iterator[None]:
    """Hold the named lock that this file is, within the block. If another process holds it, log the message and wait. A process that has not renewed
    its lock for STALE_AFTER seconds is lost, and its lock is taken over; if it lives all the same, cut off for a while, it ends when it finds this
    out. Without a message, nothing is waited for: LockHeld is raised, unless the other process is one of this machine that has ended."""
    path.parent.mkdir(parents=True, exist_ok=True)
    holder = Holder.me()
    _acquire(path, holder, message)
    ended = threading.Event()
    renewal = threading.Thread(target=_renew, args=(path, holder, ended), daemon=True)
    renewal.start()
    try:
        yield
    finally:
        ended.set()
        renewal.join()
        if holder_of(path) == holder:
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Holder:
    """The process that holds a named lock."""

    host: str
    pid: Annotated[int, msgspec.Meta(ge=1, lt=2**31)]
    since: str  # as in "2026-01-31 12:00:00 UTC"
    token: str  # what identifies this lock

    @classmethod
    def me(cls) -> "Holder":
        """This process, with a new token."""
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        return cls(socket.gethostname(), os.getpid(), since, uuid.uuid4().hex)

    @property
    def is_dead(self) -> bool:
        """Whether it is a process of this host that has ended."""
        if self.host != socket.gethostname():
            return False
        try:
            os.kill(self.pid, 0)
        except OSError as error:
            return isinstance(error, ProcessLookupError)
        return False

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"


def holder_of(path: Path) -> Holder | None:
    """The process that holds this named lock, or the lost process that did; None if there is none, or if the file is not readable."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (OSError, ValueError):
        return None


def running_holder(path: Path) -> Holder | None:
    """The process that holds this named lock; None if there is none, or if it is lost: it has ended, or has long not renewed the lock."""
    holder = holder_of(path)
    with suppress(OSError):  # it has just released the lock
        if holder and not holder.is_dead and time.time() - path.stat().st_mtime <= STALE_AFTER + CLOCKS:
            return holder
    return None


def _system_lock(path: Path, timeout: float) -> AbstractContextManager[Any] | None:
    """The system's lock of this file, acquired within `timeout` seconds (-1: no limit); None where there is no flock. Raises LockHeld and OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(path, timeout=timeout, fallback_to_soft=False).acquire()
    except Timeout:
        raise LockHeld from None
    except OSError as error:
        if error.errno not in NO_FLOCK:
            blamed = path if path.exists() else path.parent  # the user does not know a lock's file that cannot be made
            raise OSError(error.errno, error.strerror, str(blamed)) from None
        return None


def _acquire(path: Path, me: Holder, message: str | None) -> None:
    """Create the named lock for this process, as soon as no other process holds it."""
    last_seen = None
    changed_at = 0.0  # when the lock was seen to change, by the clock here: the clocks of machines differ
    has_logged = False
    while not _create(path, me):
        seen = _seen_lock(path)
        if seen is None:  # it was released meanwhile
            continue
        if seen != last_seen:
            last_seen, changed_at = seen, time.monotonic()
        rival, is_stale = seen[0], time.monotonic() - changed_at > STALE_AFTER
        if is_stale or (rival and rival.is_dead):
            _remove_lost(path, seen)
            continue
        if message is None:
            who = rival or "another process"
            raise LockHeld(f"; {who} holds it; if no such process runs on any machine, remove {path}")
        if not has_logged:
            has_logged = True
            logger.info("%s (%s); waiting for it", message, rival or "unknown")
        time.sleep(min(1.0, RENEW_EVERY))


def _seen_lock(path: Path) -> tuple[Holder | None, int] | None:
    """Who holds a lock, and when it was renewed, in nanoseconds of the clock of its holder or of the file system; None if it is gone."""
    try:
        return holder_of(path), path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def _create(path: Path, holder: Holder) -> bool:
    """Make the file; return whether it did not exist."""
    try:
        file = path.open("xb")
    except FileExistsError:
        return False
    try:
        with file:
            file.write(msgspec.json.encode(holder))
    except BaseException:  # an empty lock would be that of an unknown process
        path.unlink(missing_ok=True)
        raise
    return True


def _remove_lost(path: Path, lost: tuple[Holder | None, int]) -> None:
    """Remove the lock of a lost process. One that was renewed since it was seen is put back; its process may have missed it, and then ends."""
    taken = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        path.rename(taken)
    except FileNotFoundError:
        return
    if _seen_lock(taken) == lost:
        taken.unlink(missing_ok=True)
    elif _create(path, Holder.me()):  # no third process has it meanwhile
        taken.replace(path)
    else:
        taken.unlink(missing_ok=True)
        logger.warning("%s: two processes have taken over this lock at once", path)


def _renew(path: Path, holder: Holder, ended: threading.Event) -> None:
    """Renew the lock until the block has ended. End the process at once if another process has taken the lock."""
    while not ended.wait(RENEW_EVERY):
        try:
            os.utime(path)
            is_lost = path.read_bytes() != msgspec.json.encode(holder)
        except FileNotFoundError:
            is_lost = True
        except OSError:
            continue  # the file system is away; another process may take over meanwhile
        if is_lost and not ended.is_set():
            logger.error("%s: another process has taken over this lock; this one ends", path)
            os._exit(LOST)
