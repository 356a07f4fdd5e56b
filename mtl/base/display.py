"""The display of a process: it draws events, which operations and runs send it, on a terminal and in a notebook, and writes log lines elsewhere."""

import logging
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import structs
from tqdm import tqdm

from mtl.base.events import Advanced, Detail, Ended, Event, Remark, RunBegun, RunEnded, Scored
from mtl.base.log import logger
from mtl.base.terminal import Cell, Screen, draws, one_line, screen
from mtl.base.wording import MISSING, counted, format_duration

FIRST_LINE = 5.0  # seconds until the first line of an operation, if there is no terminal
LINE_EVERY = 30.0  # seconds between two lines of an operation
SHOW_AFTER = 1.0  # seconds until an operation is shown, so that short ones do not flicker
DRAW_EVERY = 0.1  # seconds between two drawings of what advances; any other event is drawn at once
BAR = 20  # columns of a bar
FORECAST_AFTER = 20.0  # seconds of training after which its speed is known
LONG = 3600.0  # a training of all seeds that takes fewer seconds is not forecast

_display: Callable[[Event], None] | None = None  # what shows the events of this process; None: not yet chosen


def set_display(display: Callable[[Event], None] | None) -> None:
    """Let a function show the events of this process, as one that sends them to another process; None: the display that fits standard error."""
    global _display
    _display = display


def show(event: Event) -> None:
    """Give an event to the display of this process."""
    global _display
    if _display is None:
        _display = _fitting_display().show
    _display(event)


def _fitting_display() -> "Display":
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
    """Write log lines to standard error, with a prefix where several processes write, and choose the display anew."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine(f"{prefix.replace('%', '%%')}%(message)s"))
    logging.basicConfig(handlers=[handler])
    set_display(None)


class _OneLine(logging.Formatter):
    """Shows a message of mtl in one line."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        message = super().formatMessage(record)
        return one_line(message) if record.name == logger.name else message


class Display:
    """What shows events. Each one logs a remark once, and once for runs how long the training of all seeds takes, as soon as its speed is known."""

    def __init__(self) -> None:
        self._remarks = set[str]()
        self._begun: list[RunBegun] = []
        self._speed_is_known = False

    def show(self, event: Event) -> None:
        """Show what an event says."""
        match event:
            case Remark(text=text, level=level) if text not in self._remarks:
                self._remarks.add(text)
                logger.log(level, "%s", text)
            case RunBegun():
                self._begun.append(event)
            case RunEnded(run=name):
                self._begun = [run for run in self._begun if run.run != name]
                self._speed_is_known = self._speed_is_known and bool(self._begun)
            case Advanced(unit="steps", at_most=True, total=int(total)) if self._begun and not self._speed_is_known:
                done = event.done - event.first
                if done and event.seconds >= FORECAST_AFTER:
                    self._speed_is_known = True
                    self._log_forecast(event.title, event.seconds / done * total)

    def _log_forecast(self, title: str, seconds: float) -> None:
        """Log the forecast if it is long, from the title of a seed's training and the seconds that this one training takes."""
        seeds = sum(len(run.seeds) - len(run.done) for run in self._begun)
        first = self._begun[0]
        seconds *= math.ceil(seeds / first.at_once)
        if seconds >= LONG:
            stage = title.rpartition("seed ")[2].partition(" · ")[2]  # the title is as in "seed 1 · stage 1"
            forecast = f"{stage} of {counted(seeds, 'seed')} takes about {format_duration(seconds)} at this speed"
            logger.warning("%s; faster: %s", forecast, first.faster)


class Lines(Display):
    """The display without a terminal: log lines of the logger "mtl". An operation logs its first line after FIRST_LINE seconds, and its end."""

    def __init__(self) -> None:
        super().__init__()
        # By title and key of an operation that has lines, its seconds at the next one. Several processes have the same keys.
        self._next: dict[tuple[str, int], float] = {}

    def show(self, event: Event) -> None:
        super().show(event)
        match event:
            case Advanced(title=title, key=key, seconds=seconds) if seconds >= self._next.get((title, key), FIRST_LINE):
                self._next[title, key] = seconds + LINE_EVERY
                share = event.share()
                amount = event.amount() + (f" ({share:.0%})" if share is not None else "")
                logger.info("%s", " · ".join(filter(None, [title, amount, event.note, event.time()])))
            case Ended(last=last, failed=failed):
                had_lines = self._next.pop((last.title, last.key), None) is not None
                if had_lines and not failed and not last.at_most:  # a training logs its result itself
                    done, duration = structs.replace(last, total=None).amount(), format_duration(last.seconds)
                    note = last.note and f" · {last.note}"
                    logger.info("%s · finished: %s in %s%s", last.title, done, duration, note)
            case Detail(text=text):
                logger.info("%s", text)


class Terminal(Display):
    """Draws on the terminal that standard error is, or in a notebook's cell."""

    def __init__(self, surface: Screen | Cell = screen) -> None:
        super().__init__()
        self._screen = surface
        self._lock = threading.RLock()
        self._runs: dict[str, RunBegun] = {}
        self._finished: dict[str, set[int]] = {}  # by run, its finished seeds
        self._scores: dict[tuple[str, int], Scored] = {}  # by run and seed, the last scores of all tasks
        self._operations: dict[tuple[str, int], Advanced] = {}  # by title and key: keys are those of several processes
        self._first_begin = 0.0  # when the first of the runs began
        self._seeds_finished = 0  # the number of seeds finished since then
        self._last_finish = 0.0  # when the last of these seeds was finished
        self._last_drawn = float("-inf")  # when the display was last drawn

    def show(self, event: Event) -> None:
        with self._lock:
            super().show(event)
            self._take(event)
            now = time.monotonic()
            if not isinstance(event, Advanced) or now >= self._last_drawn + DRAW_EVERY:
                self._last_drawn = now
                self._screen.draw(self.lines(self._screen.size(sys.stderr).columns), sys.stderr)

    def _take(self, event: Event) -> None:
        """Keep what an event changes in the state that is drawn."""
        match event:
            case Advanced():
                self._operations[event.title, event.key] = event
            case Ended(last=last):
                self._operations.pop((last.title, last.key), None)
            case RunBegun(run=run):
                if not self._runs:
                    self._first_begin, self._seeds_finished = time.monotonic(), 0
                    self._scores.clear()
                    self._finished.clear()
                self._runs[run] = event
                self._finished[run] = set(event.done)
            case RunEnded(run=run):
                self._runs.pop(run, None)
                self._scores = {key: scored for key, scored in self._scores.items() if key[0] != run}
            case Scored(run=run, seed=seed):
                before = self._scores[run, seed].scores if (run, seed) in self._scores else {}
                self._scores[run, seed] = structs.replace(event, scores={**before, **event.scores})
                if event.final and seed not in self._finished.setdefault(run, set()):
                    self._finished[run].add(seed)
                    self._seeds_finished, self._last_finish = self._seeds_finished + 1, time.monotonic()

    def lines(self, columns: int) -> list[str]:
        """What is drawn on a terminal of this width."""
        # A training, which alone may end earlier than at its last step, is shown at once.
        drawn = [each for each in self._operations.values() if each.at_most or each.seconds >= SHOW_AFTER]
        width = max((len(each.title) for each in drawn), default=0)
        overview = [self._overview()] if self._runs else []
        return overview + [_operation(each, width) for each in drawn] + self._table(columns)

    def _overview(self) -> str:
        """The runs, the seeds that are done, and the time that the others are expected to take."""
        asked = sum(len(run.seeds) for run in self._runs.values())
        done = sum(len(self._finished[run]) for run in self._runs)
        first = next(iter(self._runs.values()))
        title = first.title if len(self._runs) == 1 else counted(len(self._runs), "run")
        now = time.monotonic()
        left = ""
        if self._seeds_finished:
            expected = (self._last_finish - self._first_begin) / self._seeds_finished * (asked - done)
            left = f", about {format_duration(max(0.0, expected - (now - self._last_finish)))} left"
        return f"{done} of {counted(asked, 'seed')} done · {format_duration(now - self._first_begin)} so far{left} · {title}"

    def _table(self, columns: int) -> list[str]:
        """The last scores: a row for each task, a column for each seed, as many of the last ones as fit."""
        if not self._scores:
            return []
        tasks = list(dict.fromkeys(task for scored in self._scores.values() for task in scored.scores))
        by_seed = []
        for (run, seed), scored in self._scores.items():
            heading = (f"{run} {seed}" if run else f"seed {seed}") + ("" if scored.final else " …")
            by_seed.append([heading, *(scored.scores.get(task, MISSING) for task in tasks), scored.average or MISSING])
        titles = ["scores", *tasks, "average"]
        title_width, cell_width = max(map(len, titles)), max(len(cell) for cells in by_seed for cell in cells) + 2
        fitting = max(1, (columns - 1 - title_width) // cell_width)  # how many seeds have space
        rows = zip(titles, *by_seed[-fitting:], strict=True)
        return [title.ljust(title_width) + "".join(cell.rjust(cell_width) for cell in cells) for title, *cells in rows]


def _operation(operation: Advanced, width: int) -> str:
    """The line of an operation: its title, padded to `width`, its bar and its facts."""
    share = operation.share()
    is_ascii = "utf" not in (sys.stderr.encoding or "").lower()
    bar = "" if share is None else tqdm.format_meter(share, 1, 0, ascii=is_ascii, bar_format=f"{{bar:{BAR}}}")
    facts = " · ".join(filter(None, [operation.amount(), operation.time(), operation.note]))
    return "  ".join(filter(None, [operation.title.ljust(width), bar, facts]))
