"""The displays of events: log lines, or what runs, how far it is, and the last scores of all tasks, drawn in place on a terminal."""

import logging
import math
import sys
import threading
import time

from msgspec import structs
from tqdm import tqdm

from mtl.base.clock import format_duration
from mtl.base.events import Advanced, Detail, Ended, Event, Remark, RunBegun, RunEnded, Scored
from mtl.base.files import counted
from mtl.base.terminal import MISSING, Cell, Screen, screen

logger = logging.getLogger("mtl")

FIRST_LINE = 5.0  # seconds until the first line of an operation, if there is no terminal
LINE_EVERY = 30.0  # seconds between two lines
SHOW_AFTER = 1.0  # seconds until an operation is shown, so that short ones do not flicker
DRAW_EVERY = 0.1  # seconds between two drawings
BAR = 20  # columns
FORECAST_AFTER = 20.0  # seconds of a training
LONG = 3600.0  # seconds of all seeds, from which on they are foretold


class Forecast:
    """Says once how long the training of all seeds takes, as soon as its speed is known, if that is long."""

    def __init__(self) -> None:
        self._runs: list[RunBegun] = []
        self._is_known = False

    def take(self, event: Event) -> None:
        match event:
            case RunBegun():
                self._runs.append(event)
            case Advanced(unit="steps", at_most=True, total=int(total)) if self._runs and not self._is_known:
                done = event.done - event.first
                if event.seconds < FORECAST_AFTER or not done:
                    return
                self._is_known, first = True, self._runs[0]
                seeds = sum(len(run.seeds) - len(run.done) for run in self._runs)
                seconds = event.seconds / done * total * math.ceil(seeds / first.at_once)
                if seconds >= LONG:
                    stage = event.title.rpartition("seed ")[2].partition(" · ")[2]
                    long = f"{stage} of {counted(seeds, 'seed')} takes about {format_duration(seconds)} at this speed"
                    logger.info("%s; faster: %s", long, first.faster)


class Lines:
    """The display without a terminal: log lines of the logger "mtl".

    An operation logs the first line after FIRST_LINE seconds, then one every LINE_EVERY seconds, and a last one at the end; a shorter
    operation logs nothing.
    """

    def __init__(self) -> None:
        # By title and key of an operation that has lines, its seconds at the next one. Several processes have the same keys.
        self._next: dict[tuple[str, int], float] = {}
        self._remarks = set[str]()
        self._forecast = Forecast()

    def show(self, event: Event) -> None:
        self._forecast.take(event)
        match event:
            case Advanced(title=title, key=key, seconds=seconds) if seconds >= self._next.get((title, key), FIRST_LINE):
                self._next[title, key] = seconds + LINE_EVERY
                share = event.share()
                amount = event.amount() + (f" ({share:.0%})" if share is not None else "")
                logger.info("%s", " · ".join(filter(None, [title, amount, event.note, event.time()])))
            case Ended(last=last, failed=failed):
                had_lines = self._next.pop((last.title, last.key), None) is not None
                if not had_lines or failed or last.at_most:  # a training logs its result itself
                    return
                duration = format_duration(last.seconds)
                done = structs.replace(last, total=None).amount()
                logger.info("%s · finished: %s in %s%s", last.title, done, duration, last.note and f" · {last.note}")
            case Detail(text=text):
                logger.info("%s", text)
            case Remark(text=text) if text not in self._remarks:
                self._remarks.add(text)
                logger.info("%s", text)


class Terminal:
    """Draws on the terminal that standard error is, or in a notebook's cell."""

    def __init__(self, on: Screen | Cell = screen) -> None:
        self._screen = on
        self._lock = threading.RLock()
        self._runs: dict[str, RunBegun] = {}
        self._finished: dict[str, set[int]] = {}  # by run, its finished seeds
        self._seeds: dict[tuple[str, int], Scored] = {}  # by run and seed, the last scores of all tasks
        self._operations: dict[tuple[str, int], Advanced] = {}  # by title and key: keys are those of several processes
        self._remarks = set[str]()
        self._begin = 0.0  # of the runs
        self._trained = 0  # seeds since then
        self._last = 0.0  # when the last one of them was finished
        self._drawn = float("-inf")
        self._forecast = Forecast()

    def show(self, event: Event) -> None:
        with self._lock:
            self._forecast.take(event)
            self._take(event)
            now = time.monotonic()
            if now >= self._drawn + DRAW_EVERY or not (self._runs or self._operations):
                self._drawn = now
                self._screen.draw(self.lines(self._screen.size(sys.stderr).columns), sys.stderr)

    def _take(self, event: Event) -> None:
        match event:
            case Advanced():
                self._operations[event.title, event.key] = event
            case Ended(last=last):
                self._operations.pop((last.title, last.key), None)
            case RunBegun(run=run):
                if not self._runs:
                    self._begin, self._trained = time.monotonic(), 0
                    self._seeds.clear()
                    self._finished.clear()
                self._runs[run] = event
                self._finished[run] = set(event.done)
            case RunEnded(run=run):
                self._runs.pop(run, None)
                self._seeds = {key: column for key, column in self._seeds.items() if key[0] != run}
            case Scored(run=run, seed=seed):
                before = self._seeds.get((run, seed), event).scores
                self._seeds[run, seed] = structs.replace(event, scores={**before, **event.scores})
                if event.final and seed not in self._finished.setdefault(run, set()):
                    self._finished[run].add(seed)
                    self._trained, self._last = self._trained + 1, time.monotonic()
            case Remark(text=text) if text not in self._remarks:
                self._remarks.add(text)
                logger.info("%s", text)

    def lines(self, columns: int) -> list[str]:
        """What is drawn on a terminal of this width."""
        shown = [state for state in self._operations.values() if state.at_most or state.seconds >= SHOW_AFTER]
        width = max((len(state.title) for state in shown), default=0)
        head = [self._overview()] if self._runs else []
        return head + [_operation(state, width) for state in shown] + self._table(columns)

    def _overview(self) -> str:
        """The runs, the seeds that are done, and the time that the others are expected to take."""
        asked = sum(len(run.seeds) for run in self._runs.values())
        done = sum(len(self._finished[run]) for run in self._runs)
        first = next(iter(self._runs.values()))
        title = first.title if len(self._runs) == 1 else counted(len(self._runs), "run")
        now = time.monotonic()
        left = ""
        if self._trained:
            expected = (self._last - self._begin) / self._trained * (asked - done)
            left = f", about {format_duration(max(0.0, expected - (now - self._last)))} left"
        return f"{done} of {counted(asked, 'seed')} done · {format_duration(now - self._begin)} so far{left} · {title}"

    def _table(self, columns: int) -> list[str]:
        """The last scores: a row for each task, a column for each seed, as many of the last ones as fit."""
        if not self._seeds:
            return []
        tasks = list(dict.fromkeys(task for seed in self._seeds.values() for task in seed.scores))
        names = [f"{run} {seed}".strip() if run else f"seed {seed}" for run, seed in self._seeds]
        cells = []
        for name, seed in zip(names, self._seeds.values(), strict=True):
            scores = [seed.scores.get(task, MISSING) for task in tasks]
            cells.append([name + ("" if seed.final else " …"), *scores, seed.average or MISSING])
        left = ["scores", *tasks, "average"]
        first, width = max(map(len, left)), max(len(cell) for column in cells for cell in column) + 2
        kept = cells[-max(1, (columns - 1 - first) // width) :]
        rows = zip(left, *kept, strict=True)
        return [name.ljust(first) + "".join(cell.rjust(width) for cell in row) for name, *row in rows]


def _operation(operation: Advanced, width: int) -> str:
    share, ascii = operation.share(), "utf" not in (sys.stderr.encoding or "").lower()
    bar = "" if share is None else tqdm.format_meter(share, 1, 0, ascii=ascii, bar_format=f"{{bar:{BAR}}}")
    facts = " · ".join(filter(None, [operation.amount(), operation.time(), operation.note]))
    return "  ".join(filter(None, [operation.title.ljust(width), bar, facts]))
