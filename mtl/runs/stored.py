"""What lies in a folder of runs: finished, unfinished, running and damaged ones, as their small files say."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.locks import is_held
from mtl.base.terminal import one_line
from mtl.base.untrusted import check_plain_folder
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.wording import MISSING, counted, format_bytes
from mtl.runs.finished import read_suite
from mtl.runs.folder import LOCK, RunFolder
from mtl.runs.records import read_summary
from mtl.runs.table import average_marks
from mtl.tasks.suite import Suite

FINISHED, UNFINISHED, RUNNING, DAMAGED = "finished", "unfinished", "running", "damaged"
MARKS = {"*": "tasks of the average are missing", "†": "other data than published"}
ALIGNMENTS = "<<<>>><"  # of the columns of `_table`, as `format` takes them


@dataclass(frozen=True)
class StoredRun:
    """A run as it lies on disk."""

    folder: Path
    state: str
    changed: float  # when the last one of its files changed, in seconds since 1970; 0 if it is unknown
    size: int  # bytes on disk
    suite: str = ""  # its name; empty if it is unknown
    done: int = 0  # the number of finished seeds
    asked: int | None = None  # the number of all its seeds; None if it is unknown
    average: str = ""  # as it is shown, with its marks; empty if there is none
    problem: str = ""  # what is damaged; empty if nothing is


def stored_runs(runs_dir: Path) -> list[StoredRun]:
    """The runs in a folder and below, in order of path. Raises InputError if the folder does not exist."""
    if not runs_dir.is_dir():
        raise InputError("no such folder; it must hold run folders, as mtl baseline makes them", path=runs_dir)
    suites: dict[bytes, Suite] = {}
    return [_stored(RunFolder(path), suites) for path in sorted(run_folders(runs_dir))]


def run_folders(folder: Path) -> Iterator[Path]:
    """The folders of runs in a folder and below: those that have a configuration, or a lock that a process holds, and those that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        is_run = "config.yaml" in names or (LOCK in names and is_held(folder / LOCK))
    except FileNotFoundError:  # it has been removed meanwhile
        return
    except PermissionError:
        is_run = True  # perhaps; nobody can tell
    if is_run:
        yield folder
        return
    for name, is_folder in names.items():
        if is_folder and not name.startswith("."):
            yield from run_folders(folder / name)


def _stored(folder: RunFolder, suites: dict[bytes, Suite]) -> StoredRun:
    """The run in a folder; `StoredRun.problem` says what of it cannot be read."""
    run = StoredRun(folder.path, DAMAGED, *_changed_and_size(folder.path))
    try:
        is_running = is_held(folder.path / LOCK)  # asked first: a run writes its summary before it releases its lock
        ended = FINISHED if folder.summary.exists() else UNFINISHED
        done = len(list(folder.path.glob("seed-*/scores.json")))
        run = replace(run, state=RUNNING if is_running else ended, done=done)
        check_plain_folder(folder.path)
        if folder.summary.exists():
            return _with_scores(run, folder, suites)
        return _with_settings(run, folder) if folder.config.exists() else run
    except (InputError, OSError, UnicodeDecodeError) as error:
        return replace(run, state=RUNNING if run.state == RUNNING else DAMAGED, problem=str(error))


def _with_scores(run: StoredRun, folder: RunFolder, suites: dict[bytes, Suite]) -> StoredRun:
    """The run with what its summary says."""
    summary, suite = read_summary(folder.summary), read_suite(folder, suites)
    seeds, average = len(summary["seeds"]), summary["average"]
    shown = "" if average is None else f"{suite.shown.show(average)}{average_marks(summary, suite)}"
    return replace(run, suite=summary["suite"], done=seeds, asked=seeds, average=shown)


def _with_settings(run: StoredRun, folder: RunFolder) -> StoredRun:
    """The run with what its configuration says."""
    begun = read_yaml(folder.config)
    asked = begun.get("seeds")
    if not isinstance(asked, list):
        raise InputError("must be a list", path=folder.config, key="seeds")
    return replace(run, suite=Path(str(begun.get("suite"))).stem, asked=len(asked))


def _changed_and_size(folder: Path) -> tuple[float, int]:
    """`StoredRun.changed` and `StoredRun.size` of the files below a folder, without those that links lead to."""
    changed, size = 0.0, 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError, PermissionError):  # a run that trains removes files; some nobody may read
                status = Path(path, name).lstat()
                if not name.startswith(LOCK):  # whoever looks whether it is held touches it
                    changed = max(changed, status.st_mtime)
                size += status.st_blocks * 512
    with suppress(FileNotFoundError, PermissionError):
        changed = changed or folder.stat().st_mtime
    return changed, size


def runs_text(runs: Sequence[StoredRun]) -> str:
    """A line for each run, one for all of them, and one for the marks of their averages."""
    states = [run.state for run in runs]
    counts = [f"{states.count(state)} {state}" for state in (UNFINISHED, RUNNING, DAMAGED) if state in states]
    of_them = f", of them {', '.join(counts)}" if counts else ""
    total = f"{counted(len(runs), 'run')}{of_them}; {format_bytes(sum(run.size for run in runs))}"
    marks = [f"{mark} {meaning}" for mark, meaning in MARKS.items() if any(mark in run.average for run in runs)]
    return "\n".join(filter(None, [*_table(runs), total, "; ".join(marks)]))


def _table(runs: Sequence[StoredRun]) -> list[str]:
    """A line with titles, and one for each run."""
    rows = [["run", "suite", "seeds", "average", "age", "size", ""]]
    for run in runs:
        seeds = MISSING if run.asked is None else f"{run.done} of {run.asked}"
        suite, average = run.suite or MISSING, run.average or MISSING
        age = format_age(time.time() - run.changed) if run.changed else MISSING
        remark = "" if run.state == FINISHED else ": ".join(filter(None, [run.state, run.problem]))
        cells = (str(run.folder), suite, seeds, average, age, format_bytes(run.size), remark)
        rows.append(list(map(one_line, cells)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    formats = [f"{alignment}{width}" for alignment, width in zip(ALIGNMENTS, widths, strict=True)]
    return ["  ".join(map(format, row, formats)).rstrip() for row in rows]


def format_age(seconds: float) -> str:
    """How long ago: 5 min, 3 h, 12 days."""
    minutes = max(0, round(seconds / 60))
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} days"
