"""A lock for each seed: only one process writes to a seed's folder, on any machine that shares the file system.

The lock is a file that exists while the seed is trained. It names the process, its host and the time; the process renews its time.
Creating a file that must not exist is atomic on every file system, also where locks of the system (`mtl.files.lock`) do not hold.
"""

import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

logger = logging.getLogger("mtl")

NAME = ".training.json"
RENEW_EVERY = 15.0  # seconds between two renewals
STALE_AFTER = 90.0  # seconds without a renewal after which the process counts as lost
LOST = 75  # the exit status of a process that has lost its lock


@dataclass(frozen=True)
class Holder:
    """The process that trains a seed. token: of this lock alone. since: as in "2026-01-31 12:00:00 UTC"."""

    host: str
    pid: int
    since: str
    token: str

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
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"


def holder(folder: Path) -> Holder | None:
    """The process that trains the seed in this folder, or the lost process that did; None if there is none."""
    return _read(folder / NAME)


def _read(path: Path) -> Holder | None:
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        return Holder(str(content["host"]), int(content["pid"]), str(content["since"]), str(content["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def seed_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a seed's folder within the block. If another process trains the seed, wait until it has ended.

    A process that has not renewed its lock for STALE_AFTER seconds is lost, and its lock is taken over. If it lives all the same, cut
    off for a while, it ends when it finds that its lock was taken.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mine, path = Holder.me(), folder / NAME
    _acquire(path, mine)
    ended = threading.Event()
    renewal = threading.Thread(target=_renew, args=(path, mine, ended), daemon=True)
    renewal.start()
    try:
        yield
    finally:
        ended.set()
        renewal.join()
        if holder(folder) == mine:
            path.unlink(missing_ok=True)


def _acquire(path: Path, mine: Holder) -> None:
    seen: tuple[float, float] | None = None  # the other's last renewal, and when it was first seen
    told = False
    while not _create(path, mine):
        other = holder(path.parent)
        try:
            renewed = path.stat().st_mtime
        except FileNotFoundError:
            continue
        if seen is None or seen[0] != renewed:
            seen = renewed, time.monotonic()
        # Time is measured here: the clocks of machines differ.
        if (other is not None and other.is_dead) or time.monotonic() - seen[1] > STALE_AFTER:
            _remove(path, other)
            continue
        if not told:
            told = True
            logger.info("%s: %s trains this seed; waiting for it", path.parent, other or "another process")
        time.sleep(min(1.0, RENEW_EVERY))


def _create(path: Path, mine: Holder) -> bool:
    """Make the file; return whether it did not exist."""
    try:
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        return False
    with os.fdopen(file, "w", encoding="utf-8") as written:
        json.dump(vars(mine), written)
    return True


def _remove(path: Path, lost: Holder | None) -> None:
    """Remove the lock of a lost process, unless another process has replaced it in the meantime."""
    taken = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        path.rename(taken)
    except FileNotFoundError:
        return
    of = _read(taken)
    taken.unlink(missing_ok=True)
    if of is not None and lost is not None and of.token != lost.token and not _create(path, of):
        logger.warning("%s: two processes have taken over this lock at once", path)


def _renew(path: Path, mine: Holder, ended: threading.Event) -> None:
    """Renew the lock until the block has ended. End the process at once if another process has taken the lock."""
    while not ended.wait(RENEW_EVERY):
        try:
            os.utime(path)
        except FileNotFoundError:
            pass  # the content decides
        except OSError:
            continue  # the file system is away; another process may take over meanwhile
        if holder(path.parent) != mine and not ended.is_set():
            logger.error("%s: another process has taken over this seed; this one ends", path.parent)
            os._exit(LOST)
