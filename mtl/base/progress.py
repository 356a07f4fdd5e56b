"""Progress of a long operation on standard error: a bar on a terminal and in a notebook, otherwise a log line from time to time."""

import logging
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from types import TracebackType
from typing import Any, TypeVar

from tqdm import tqdm

from mtl.base.files import format_bytes
from mtl.base.terminal import one_line

BAR_AFTER = 1.0  # seconds until a bar appears, so that short operations show none
FIRST_LINE = 5.0  # seconds until the first line, if there is no terminal
LINE_EVERY = 30.0  # seconds between two lines

logger = logging.getLogger("mtl")

Item = TypeVar("Item")

_hidden: ContextVar[bool] = ContextVar("hidden", default=False)
_prefix: ContextVar[str] = ContextVar("prefix", default="")


def log_to_standard_error(prefix: str = "") -> None:
    """Let the program's log lines appear on standard error.

    Args:
        prefix: before each line and each bar, where several processes write.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(f"{prefix.replace('%', '%%')}%(message)s"))
    logging.basicConfig(handlers=[handler])
    _prefix.set(prefix)


class _Lines(logging.Formatter):
    """Shows a message of mtl in one line."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        message = super().formatMessage(record)
        return one_line(message) if record.name == logger.name else message


def prefixed(title: str) -> str:
    """The title of a bar, or of a line that is not logged, with the prefix of this process."""
    return f"{_prefix.get()}{title}"


@contextmanager
def hidden_progress() -> Iterator[None]:
    """Within the block, a new `Progress` shows nothing: its operation is a part of one that is shown."""
    before = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(before)


def _bar_class() -> "type[tqdm[Any]] | None":
    """The class of bars on standard error; None if it shows none: it is neither a terminal nor the output of a notebook's cell."""
    if sys.stderr.isatty():
        return tqdm
    if not type(sys.stderr).__module__.startswith("ipykernel."):
        return None
    if find_spec("ipywidgets") is None:
        return tqdm  # as text
    from tqdm.notebook import tqdm as widget

    return widget


class Progress:
    """A context manager that shows how much of a long operation is done and how long the rest will take.

    >>> with Progress("reading a.txt", 5_000_000, "B") as shown:
    ...     shown.advance(1_000_000)
    ...     shown.reach(5_000_000)

    On a terminal and in a notebook it shows a bar, which disappears at the end. Otherwise it logs lines to the logger "mtl", such as
    "reading a.txt · 1.2 GB of 7.2 GB (17%) · 3 min 05 s left": the first after FIRST_LINE seconds, then one every LINE_EVERY
    seconds, and a last one at the end. Shorter operations log nothing. Lines appear only when `advance`, `reach` or `note` is called.
    """

    def __init__(self, title: str, total: int | None, unit: str, done: int = 0) -> None:
        """
        Args:
            title: such as "tokenizing".
            total: units of the whole operation; None: unknown.
            unit: a plural, or "B" for bytes.
            done: units already done, when an interrupted operation continues.
        """
        self.title = title
        self.total = total
        self.unit = unit
        self.done = done
        self._begin = time.monotonic()
        self._first = done
        self._next_line = self._begin + FIRST_LINE
        self._has_lines = False
        self._bar: tqdm[Any] | None = None
        self._is_hidden = _hidden.get()
        if not self._is_hidden and (bar := _bar_class()) is not None:
            self._bar = bar(
                desc=prefixed(title),
                total=total,
                initial=done,
                unit="B" if unit == "B" else f" {unit}",
                unit_scale=unit == "B",
                delay=BAR_AFTER,
                leave=False,
                dynamic_ncols=True,
            )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._has_lines and error is None:
            seconds = time.monotonic() - self._begin
            logger.info("%s · finished: %s in %s", self.title, self._amount(self.done), format_duration(seconds))

    def advance(self, amount: int = 1) -> None:
        """Count `amount` more units as done."""
        self.reach(self.done + amount)

    def reach(self, done: int) -> None:
        """Set the number of units done so far."""
        if self._bar is not None:
            self._bar.update(done - self.done)
        self.done = done
        if self._bar is None and time.monotonic() >= self._next_line:
            self._write_line()

    def note(self, text: str) -> None:
        """Show a short text, such as a score: after the bar, or immediately as a line."""
        if self._bar is not None:
            self._bar.set_postfix_str(text)
        else:
            self._write_line(text)

    def _write_line(self, note: str = "") -> None:
        if self._is_hidden:
            return
        self._has_lines = True
        self._next_line = time.monotonic() + LINE_EVERY
        logger.info("%s", " · ".join(filter(None, [self.title, self._amount_done(), note, self._time()])))

    def _amount_done(self) -> str:
        if not self.total:
            return self._amount(self.done)
        done = format_bytes(self.done) if self.unit == "B" else f"{self.done:,}"
        return f"{done} of {self._amount(self.total)} ({self.done / self.total:.0%})"

    def _time(self) -> str:
        seconds = time.monotonic() - self._begin
        done = self.done - self._first
        if not self.total or done <= 0:
            return f"{format_duration(seconds)} so far"
        return f"{format_duration(seconds / done * max(0, self.total - self.done))} left"

    def _amount(self, amount: int) -> str:
        return format_bytes(amount) if self.unit == "B" else f"{amount:,} {self.unit}"


def progress(items: Collection[Item], title: str, unit: str) -> Iterator[Item]:
    """Yield the items and show the progress with `Progress`.

    >>> for text in progress(["a", "b"], "tokenizing", "texts"):
    ...     pass
    """
    with Progress(title, len(items), unit) as bar:
        for item in items:
            yield item
            bar.advance()


def format_duration(seconds: float) -> str:
    """Seconds with units: 42 s, 3 min 05 s, 2 h 10 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
