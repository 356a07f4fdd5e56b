"""What units on Ray do in tests. Ray's workers import this module."""

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mtl.base.errors import DivergedError, InputError
from mtl.base.files import write_text


def who(folder: Path, name: str) -> int:
    (folder / name).touch()
    return os.getpid()


def diverge(folder: Path, name: str) -> None:
    raise DivergedError(f"{name}: training diverged")


def fail_at_first(folder: Path, name: str) -> str:
    """Killed at the first call, as if memory had run out."""
    if not (folder / name).exists():
        (folder / name).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def wait_at_first(folder: Path, name: str) -> Any:
    """Never ends at the first call; its node is removed."""
    if not (folder / name).exists():
        write_text(folder / name, _context().get_node_id())  # whole or not at all: the test waits for it
        time.sleep(600)
    return _context().get_node_id()


def doubler(folder: Path) -> Callable[[int], tuple[int, int]]:
    if (folder / "refuses").exists():
        raise InputError("refuses", path=folder)
    return partial(_double, folder)


def _double(folder: Path, number: int) -> tuple[int, int]:
    """Its process, and twice the number. The process that first gets 5 is killed."""
    if number == 5:
        fail_at_first(folder, "five")
    if number < 0:
        raise InputError("is negative", value=number)
    return os.getpid(), 2 * number


def _context() -> Any:
    import ray

    return ray.get_runtime_context()
