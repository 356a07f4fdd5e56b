"""The display of a process, to which operations and runs send events: the one that fits standard error, unless another is set. A process that trains
a seed for another one sends its events there (`mtl.jobs.engines.processes`)."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mtl.base.displays import Display, Lines, Terminal
from mtl.base.events import Event, RunBegun, RunEnded
from mtl.base.terminal import Cell, draws, one_line

logger = logging.getLogger("mtl")

_display: Callable[[Event], None] | None = None  # what shows the events of this process; None: not yet chosen


def set_display(display: Callable[[Event], None] | None) -> None:
    """Let a function show the events of this process. None stands for the display that fits standard error."""
    global _display
    _display = display


def show(event: Event) -> None:
    """Give an event to the display of this process."""
    global _display
    if _display is None:
        _display = _fitting_display().show
    _display(event)


def _fitting_display() -> Display:
    """The display that fits standard error."""
    if draws(sys.stderr):
        return Terminal()
    return Terminal(Cell()) if type(sys.stderr).__module__.startswith("ipykernel.") else Lines()


@contextmanager
def shown_run(run: RunBegun) -> Iterator[None]:
    """Show the run within the block."""
    show(run)
    try:
        yield
    finally:
        show(RunEnded(run.run))


def log_to_standard_error(prefix: str = "") -> None:
    """Let log lines appear on standard error, with a prefix where several processes write, and progress as it allows."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine(f"{prefix.replace('%', '%%')}%(message)s"))
    logging.basicConfig(handlers=[handler])
    set_display(None)


class _OneLine(logging.Formatter):
    """Shows a message of mtl in one line."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        message = super().formatMessage(record)
        return one_line(message) if record.name == logger.name else message
