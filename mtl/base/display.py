"""The display of a process: it draws events, which operations and runs send it, on a terminal and in a notebook, and writes log lines elsewhere."""

import logging
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import structs

from mtl.base.drawing import Drawing
from mtl.base.events import Advanced, Detail, Ended, Event, Remark, RunBegun, RunEnded
from mtl.base.log import logger
from mtl.base.terminal import Cell, Screen, draws, one_line, screen
from mtl.base.wording import counted, format_duration

FIRST_LINE = 5.0  # seconds until the first line of an operation, if there is no terminal
LINE_EVERY = 30.0  # seconds between two lines of an operation
DRAW_EVERY = 0.1  # seconds between two drawings of what advances; any other event is drawn at once
FORECAST_AFTER = 20.0  # seconds of training after which its speed is known
LONG = 3600.0  # a training of all seeds that takes fewer seconds is not forecast

_receiver: Callable[[Event], None] | None = None  # what takes the events of this process; None: not yet chosen


def set_receiver(receiver: Callable[[Event], None] | None) -> None:
    """Let a function take the events of this process, as one that sends them to another process; None: the display that fits standard error."""
    global _receiver
    _receiver = receiver


def show(event: Event) -> None:
    """Give an event to the receiver of this process, which is by default the display that fits standard error."""
    global _receiver
    if _receiver is None:
        _receiver = _new_display().take
    _receiver(event)


def _new_display() -> "LogDisplay | DrawnDisplay":
    """A display that fits standard error."""
    if draws(sys.stderr):
        return DrawnDisplay(screen)
    in_notebook = type(sys.stderr).__module__.startswith("ipykernel.")
    return DrawnDisplay(Cell()) if in_notebook else LogDisplay()


@contextmanager
def shown_run(run: RunBegun) -> Iterator[None]:
    """Show the run within the block."""
    show(run)
    try:
        yield
    finally:
        show(RunEnded(run.name))


class Notices:
    """The log lines of every display: each remark once, and once for runs how long the training of all seeds takes, as soon as its speed is known."""

    def __init__(self) -> None:
        self._remarks = set[str]()
        self._runs: list[RunBegun] = []
        self._is_speed_known = False

    def take(self, event: Event) -> None:
        """Log what follows from an event."""
        match event:
            case Remark():
                if event.text not in self._remarks:
                    self._remarks.add(event.text)
                    logger.log(event.level, "%s", event.text)
            case RunBegun():
                self._runs.append(event)
            case RunEnded():
                self._runs = [run for run in self._runs if run.name != event.name]
                self._is_speed_known = self._is_speed_known and bool(self._runs)
            case Advanced(unit="steps", at_most=True, total=int(steps)):  # a training, which alone may end earlier
                done = event.done - event.first
                if self._runs and not self._is_speed_known and done and event.seconds >= FORECAST_AFTER:
                    self._is_speed_known = True
                    self._log_forecast(event.title, event.seconds / done * steps)

    def _log_forecast(self, title: str, seconds: float) -> None:
        """Log how long all seeds take, if that is long. One seed takes these seconds; its training has a title as in "seed 1 · stage 1"."""
        seeds = sum(len(run.seeds) - len(run.done) for run in self._runs)
        seconds *= math.ceil(seeds / self._runs[0].at_once)
        if seconds >= LONG:
            stage = title.rpartition("seed ")[2].partition(" · ")[2]  # what comes after the seed
            forecast = f"{stage} of {counted(seeds, 'seed')} takes about {format_duration(seconds)} at this speed"
            logger.warning("%s; faster: %s", forecast, self._runs[0].faster)


class LogDisplay:
    """The display without a terminal: log lines of the logger "mtl". An operation logs its first line after FIRST_LINE seconds, and its end."""

    def __init__(self) -> None:
        self._notices = Notices()
        # By title and key of an operation that has lines, its seconds at the next one. Several processes have the same keys.
        self._next_line: dict[tuple[str, int], float] = {}

    def take(self, event: Event) -> None:
        self._notices.take(event)
        match event:
            case Advanced():
                if event.seconds >= self._next_line.get((event.title, event.key), FIRST_LINE):
                    self._next_line[event.title, event.key] = event.seconds + LINE_EVERY
                    share = event.share()
                    amount = event.amount() if share is None else f"{event.amount()} ({share:.0%})"
                    logger.info("%s", " · ".join(filter(None, [event.title, amount, event.note, event.time()])))
            case Ended(last=last):
                had_lines = self._next_line.pop((last.title, last.key), None) is not None
                if had_lines and not event.failed and not last.at_most:  # a training logs its result itself
                    done = structs.replace(last, total=None).amount()
                    note = f" · {last.note}" if last.note else ""
                    logger.info("%s · finished: %s in %s%s", last.title, done, format_duration(last.seconds), note)
            case Detail():
                logger.info("%s", event.text)


class DrawnDisplay:
    """Draws on the terminal that standard error is, or in a notebook's cell."""

    def __init__(self, surface: Screen | Cell) -> None:
        self._notices = Notices()
        self._surface = surface
        self._lock = threading.RLock()
        self.drawing = Drawing()
        self._last_drawn = float("-inf")  # when the display was last drawn

    def take(self, event: Event) -> None:
        with self._lock:
            self._notices.take(event)
            now = time.monotonic()
            self.drawing.take(event, now)
            if not isinstance(event, Advanced) or now >= self._last_drawn + DRAW_EVERY:
                self._last_drawn = now
                self._surface.draw(self.drawing.lines(self._surface.size(sys.stderr).columns, now), sys.stderr)


def log_to_standard_error(prefix: str = "") -> None:
    """Write log lines to standard error, with a prefix where several processes write, and choose the display anew."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine(f"{prefix.replace('%', '%%')}%(message)s"))
    logging.basicConfig(handlers=[handler])
    set_receiver(None)


class _OneLine(logging.Formatter):
    """Shows a message of mtl in one line."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        message = super().formatMessage(record)
        return one_line(message) if record.name == logger.name else message
