"""What a terminal shows of the runs and operations of a process: an overview, a line for each operation, and a table of the last scores."""

import sys

from msgspec import structs
from tqdm import tqdm

from mtl.base.events import Advanced, Ended, Event, RunBegun, RunEnded, Scored
from mtl.base.wording import MISSING, counted, format_duration

SHOW_AFTER = 1.0  # seconds until an operation is shown, so that short ones do not flicker
BAR = 20  # columns of a bar


class Drawing:
    """The state that is drawn, which events change. Times are seconds of a clock that runs steadily (`time.monotonic`)."""

    def __init__(self) -> None:
        self._operations: dict[tuple[str, int], Advanced] = {}  # by title and key: keys are those of several processes
        self._runs: dict[str, RunBegun] = {}
        self._finished: dict[str, set[int]] = {}  # by run, its finished seeds
        self._scores: dict[tuple[str, int], Scored] = {}  # by run and seed, the last scores of all tasks
        self._first_begin = 0.0  # when the first of the runs began
        self._finish_times: list[float] = []  # when seeds were finished since then

    def take(self, event: Event, now: float) -> None:
        """Keep what an event changes."""
        match event:
            case Advanced():
                self._operations[event.title, event.key] = event
            case Ended(last=last):
                self._operations.pop((last.title, last.key), None)
            case RunBegun(name=name):
                if not self._runs:
                    self._first_begin = now
                    self._finish_times.clear()
                    self._scores.clear()
                    self._finished.clear()
                self._runs[name] = event
                self._finished[name] = set(event.done)
            case RunEnded(name=name):
                self._runs.pop(name, None)
                self._scores = {key: scored for key, scored in self._scores.items() if scored.run != name}
            case Scored():
                self._take_scores(event, now)

    def _take_scores(self, scored: Scored, now: float) -> None:
        """Keep the scores of a seed beside those that it had on other tasks."""
        key = scored.run, scored.seed
        before = self._scores[key].scores if key in self._scores else {}
        self._scores[key] = structs.replace(scored, scores={**before, **scored.scores})
        finished = self._finished.setdefault(scored.run, set())
        if scored.final and scored.seed not in finished:
            finished.add(scored.seed)
            self._finish_times.append(now)

    def lines(self, columns: int, now: float) -> list[str]:
        """The lines to draw on a terminal of this width."""
        # A training, which alone may end earlier than at its last step, is shown at once.
        shown = [state for state in self._operations.values() if state.at_most or state.seconds >= SHOW_AFTER]
        title_width = max((len(operation.title) for operation in shown), default=0)
        overview = [self._overview(now)] if self._runs else []
        return [*overview, *(_operation_line(operation, title_width) for operation in shown), *self._table(columns)]

    def _overview(self, now: float) -> str:
        """The runs, the seeds that are done, and the time that the others are expected to take."""
        asked = sum(len(run.seeds) for run in self._runs.values())
        done = sum(len(self._finished[run]) for run in self._runs)
        so_far = f"{done} of {counted(asked, 'seed')} done · {format_duration(now - self._first_begin)} so far"
        if self._finish_times:
            last_finish = self._finish_times[-1]
            seconds_per_seed = (last_finish - self._first_begin) / len(self._finish_times)
            left = seconds_per_seed * (asked - done) - (now - last_finish)
            so_far += f", about {format_duration(max(0.0, left))} left"
        titles = [run.title for run in self._runs.values()]
        return f"{so_far} · {titles[0] if len(titles) == 1 else counted(len(titles), 'run')}"

    def _table(self, columns: int) -> list[str]:
        """The last scores: a row for each task, a column for each seed, as many of the last ones as fit."""
        if not self._scores:
            return []
        tasks = list(dict.fromkeys(task for scored in self._scores.values() for task in scored.scores))
        titles = ["scores", *tasks, "average"]
        cells_by_seed = []
        for scored in self._scores.values():
            seed = f"{scored.run} {scored.seed}" if scored.run else f"seed {scored.seed}"
            heading = seed if scored.final else f"{seed} …"
            cells = [scored.scores.get(task, MISSING) for task in tasks]
            cells_by_seed.append([heading, *cells, scored.average or MISSING])
        title_width = max(map(len, titles))
        cell_width = max(len(cell) for cells in cells_by_seed for cell in cells) + 2
        fitting = max(1, (columns - 1 - title_width) // cell_width)  # how many seeds have space
        rows = zip(titles, *cells_by_seed[-fitting:], strict=True)
        return [title.ljust(title_width) + "".join(cell.rjust(cell_width) for cell in cells) for title, *cells in rows]


def _operation_line(operation: Advanced, title_width: int) -> str:
    """The line of an operation: its title, its bar and its facts, as in "reading  ████████  6 of 10 rows · 1 s left"."""
    share = operation.share()
    is_ascii = "utf" not in (sys.stderr.encoding or "").lower()
    bar = "" if share is None else tqdm.format_meter(share, 1, 0, ascii=is_ascii, bar_format=f"{{bar:{BAR}}}")
    facts = " · ".join(filter(None, [operation.amount(), operation.time(), operation.note]))
    return "  ".join(filter(None, [operation.title.ljust(title_width), bar, facts]))
