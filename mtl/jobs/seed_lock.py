"""A lock for each seed: only one process writes to a seed's folder, on any machine that shares the file system.

It is a named lock (`mtl.locks`) on every file system, because the system's locks do not hold on all of them between machines, and because
it tells other programs which process trains the seed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mtl.locks import Holder, holder_of, named_lock

NAME = ".training.json"


def holder(folder: Path) -> Holder | None:
    """The process that trains the seed in this folder, or the lost process that did; None if there is none."""
    return holder_of(folder / NAME)


@contextmanager
def seed_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a seed's folder within the block. If another process trains the seed, wait until it has ended or is lost."""
    with named_lock(folder / NAME, f"{folder}: another process trains this seed"):
        yield
