"""Sweeps: make the runs that one file lists, one after another. Finished runs are not made again. A file may also say how to choose among them."""

import itertools
import json
import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mtl.base.errors import BusyError, DivergedError, InputError, UserError, resources_as_input
from mtl.base.settings.layers import find_yaml, flatten, flatten_config, shipped
from mtl.base.settings.schema import INDIFFERENT, PAPER, names_code
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.sweeps.selected import SETTINGS
from mtl.benchmark_making.sweeps.selection import Search, Select, read_select
from mtl.data.fetching.fetch import awaits_generation
from mtl.data.splits import check_present, has_files
from mtl.jobs.engines import Failures
from mtl.jobs.job import Job, load_job, load_run
from mtl.methods import METHODS

logger = logging.getLogger("mtl")

SECTIONS = ("title", "settings", "grid", "runs", "select")
# Keys that determine the name of the folder of a run without other settings.
BASE_KEYS = ("suite", "data_dir", "method", "embeddings", "variant", "architecture", "preset")
# Keys that are not part of a run's name. The path of vectors or of a transformer is part of it, because runs may differ in it.
UNNAMED = {*BASE_KEYS, *INDIFFERENT} - {"embeddings.path", "transformer.path"}
MOST_RUNS = 100_000  # of a grid
LONGEST_NAME = 200  # bytes; file systems take 255
EACH = "each"  # the value of tasks: in a sweep file that makes a run for each task

Make = Callable[[Job], Any]
MakeTogether = Callable[[Sequence[Job]], Any]


@dataclass(frozen=True)
class Sweep:
    """The content of a sweep file, with the settings from the command line. A run and its folder have the same name."""

    title: str
    path: Path
    runs: list[Job]
    search: Search | None = None  # the choice among them

    @property
    def begun(self) -> list[Job]:
        """The runs with the seeds that they will have at the end of the first rung that is not finished; of a file without a choice, all."""
        runs: dict[str, Job] = {}
        for rung in [self.runs] if self.search is None else self.search.rungs():
            runs |= {run.name: run for run in rung}
            if not all(run.is_finished for run in rung):
                break
        return list(runs.values())


def load_sweep(name: str, overrides: Mapping[str, Any] | None = None, only: Sequence[str] = ()) -> Sweep:
    """The sweep of the file with this name or path.

    Args:
        overrides: settings for every run, which replace those of the file.
        only: the names of the runs to choose; empty: all.

    Raises:
        InputError: for every error that can be found before the first run starts: bad settings, runs with the same
            name, missing data or vectors, folders with another configuration.
    """
    path = find_yaml("sweep", name, shipped("configs") / "sweep")
    title, entries, select = _read_sweep_file(path)
    if select is not None and only:
        raise InputError(f"--only {only[0]}: {path} chooses among its runs (select:), and needs all of them")
    within = "" if select is None else f"{path.stem}/{SETTINGS}"
    runs = list(_load_all(path, entries, overrides or {}, within))
    if not runs:
        raise InputError("the suite has no task for any of its runs", path=path)
    numbers: dict[str, int] = {}
    for number, run in enumerate(runs, 1):
        # Some file systems do not distinguish upper and lower case.
        if (first := numbers.setdefault(str(run.folder.path).casefold(), number)) != number:
            shared = f"runs {first} and {number} would share the folder {run.folder.path}; give one another name"
            raise InputError(shared, path=path)
    for key in ("runs_dir", "engine", "seeds_in_parallel"):
        if len({getattr(run.config, key) for run in runs}) > 1:
            raise InputError(f"{key} must be the same for all runs", path=path)
    names = [run.name for run in runs]
    if unknown := set(only) - set(names):
        raise InputError(f"--only {min(unknown)}: {path} has no such run; it has {', '.join(names)}")
    chosen = [run for run in runs if not only or run.name in only]
    _check_ready(path, chosen)
    search = None if select is None else Search(path, select, runs, runs[0].folder.path.parents[1])
    return Sweep(title, path, chosen, search)


def run_sweep(sweep: Sweep, make: Make, make_together: MakeTogether, report: Callable[[], Any]) -> list[str]:
    """Make the runs that are not finished, rung after rung and then the run of the choice if the file has one, then the report.

    Finished runs are checked first, so that a run whose data has changed is found before hours of training. Where a choice is made, a run that
    diverges is not chosen, which is no error.

    Args:
        make: makes one run. Runs are made one after another, unless their seeds run in processes of their own (`Config.runs_apart`).
        make_together: makes all runs at once, if their seeds run in processes of their own.
        report: is called at the end, if any run is finished.

    Returns:
        The names of the runs that other processes are making, and which are left to them.

    Raises:
        InputError, DivergedError: as a run does. The error of a finished run is raised at once, that of another run after all runs
            have ended and the report is written.
    """
    busy: list[str] = []
    search = sweep.search
    try:
        for rung in [sweep.runs] if search is None else search.rungs():
            try:
                _make_runs(sweep.path, rung, make, make_together, busy)
            except DivergedError as error:
                if search is None:
                    raise
                logger.warning("%s; what has diverged is not chosen", error)
            if busy:
                break  # the choice needs all runs
        if search is not None and not busy:
            with _errors_begin_with(str(sweep.path)):
                make(search.job())
    except UserError:
        if any(run.is_finished for run in sweep.runs):
            try:
                with resources_as_input():
                    report()
            except InputError as error:  # an error of the report must not hide that of a run
                logger.error("report: %s", error)
        raise
    if not busy or any(run.is_finished for run in sweep.runs):
        report()
    return busy


def _make_runs(path: Path, runs: Sequence[Job], make: Make, make_together: MakeTogether, busy: list[str]) -> None:
    """Check the finished ones of these runs, and make the others.

    `busy` receives the names of the runs that other processes are making, also when an error of another run is raised.
    """
    from mtl.jobs.baseline import run_baseline

    runs = sorted(runs, key=lambda run: not run.is_finished)
    waiting = [run for run in runs if not run.is_finished]
    for number, run in enumerate(runs[: len(runs) - len(waiting)], start=1):
        logger.info("run %d of %d: %s", number, len(runs), run.name)
        # A run that is busy is checked by another process.
        with suppress(BusyError), _errors_begin_with(f"{path}: run {run.name}"):
            run_baseline(run)
    with _errors_begin_with(str(path)):
        if waiting and waiting[0].config.runs_apart:
            make_together(waiting)
        else:
            _make_in_turn(waiting, make, len(runs), busy)


def _make_in_turn(waiting: Sequence[Job], make: Make, total: int, busy: list[str]) -> None:
    """Make runs one after another. `total` counts the finished ones too; `busy` is as in `_make_runs`."""
    import torch

    threads = torch.get_num_threads()
    failures = Failures(len(waiting))
    for number, run in enumerate(waiting, start=total - len(waiting) + 1):
        logger.info("run %d of %d: %s", number, total, run.name)
        torch.set_num_threads(threads)  # the last run may have set its own trainer.threads
        try:
            with resources_as_input():
                make(run)
        except BusyError:
            logger.info("run %s: busy in another process", run.name)
            busy.append(run.name)
        except UserError as error:
            failures.add(run.name, f"run {run.name}", error)
    failures.check()


@contextmanager
def _errors_begin_with(where: str) -> Iterator[None]:
    """Errors within the block begin with `where`."""
    try:
        yield
    except UserError as error:
        raise type(error)(f"{where}: {error}") from None


class _Entry(NamedTuple):
    """A run of a sweep file."""

    label: str | None  # its name, if the file gives one
    naming: Sequence[str]  # the keys that its name is made from otherwise: those that the file sets for this run alone
    settings: Mapping[str, Any]  # by dotted keys


def _read_sweep_file(path: Path) -> tuple[str, list[_Entry], Select | None]:
    """The title of a sweep file, its runs, and how to choose among them. Raises InputError."""
    content = read_yaml(path)
    if unknown := [str(key) for key in content if key not in SECTIONS]:
        raise InputError(f"unknown key {unknown[0]!r}; a sweep has {', '.join(SECTIONS)}", path=path)
    shared = _settings(path, "settings", content.get("settings"))
    grid = _settings(path, "grid", content.get("grid"))
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise InputError(f"{key}={values}: must be a list of values", path=path, key="grid")
    if (number := math.prod(map(len, grid.values()))) > MOST_RUNS:
        raise InputError(f"has {number:,} runs; a sweep takes at most {MOST_RUNS:,}", path=path, key="grid")
    listed_runs = content.get("runs") or []
    if not isinstance(listed_runs, list):
        raise InputError("must be a list", path=path, key="runs")
    combinations = itertools.product(*grid.values()) if grid else ()
    entries = [_Entry(None, [*grid], {**shared, **dict(zip(grid, values, strict=True))}) for values in combinations]
    for number, run in enumerate(listed_runs, 1):
        run_settings = _settings(path, f"runs: {number}", run)
        label = run_settings.pop("name", None)
        if label is not None and not re.fullmatch(r"\w[\w.,=+-]*", str(label)):
            message = f"{number}: name={label}: must be fit for a folder: letters, digits, _ . , = + -"
            raise InputError(message, path=path, key="runs")
        entries.append(_Entry(None if label is None else str(label), [*run_settings], {**shared, **run_settings}))
    if not entries:
        raise InputError("has no runs; list them under runs:, or values of keys under grid:", path=path)
    return str(content.get("title") or path.stem), entries, read_select(content, path)


def _settings(path: Path, where: str, value: Any) -> dict[str, Any]:
    """Settings by dotted keys, from dotted or nested keys. Raises InputError for anything else."""
    if not isinstance(value, dict | None):
        raise InputError(f"{where}: must hold keys and values", path=path)
    settings = flatten(value or {})
    if named := [key for key, value in settings.items() if names_code(key, value)]:
        raise InputError("only the command line and Python name code that runs", path=path, key=named[0])
    return settings


def _load_all(path: Path, entries: Sequence[_Entry], overrides: Mapping[str, Any], within: str) -> Iterator[Job]:
    """The runs of a sweep file, without those whose method has no task, in a folder `within` that of the suite. An error names the run."""
    for number, (label, naming, settings) in enumerate(entries, 1):
        entry = _Entry(label, [key for key in naming if key not in overrides], {**settings, **overrides})
        try:
            parts = _task_by_task(entry) if settings.get("tasks") == EACH else [entry]
            runs = [(part, _load(part.settings, partial(_with_folder, within, part))) for part in parts]
        except InputError as error:
            name = label or f"{number} ({', '.join(f'{key}={value}' for key, value in settings.items())})"
            raise InputError(f"run {name}: {error}", path=path) from None
        for part, job in runs:
            if is_idle(job):
                tasks = job.config.tasks
                name = part.label or job.folder.path.name + (f", tasks={','.join(tasks)}" if tasks else "")
                reason = f"{job.data_dir} has no files" if tasks else f"suite {job.suite.name} has no task"
                logger.info("left out: %s, since %s for it", name, reason)
                continue
            yield _with_folder(within, part, job)


def _with_folder(within: str, entry: _Entry, job: Job) -> Job:
    """The run with its name, and with the folder of this name."""
    name = entry.label or _name(entry, job)
    if len(name.encode()) > LONGEST_NAME:
        raise InputError("its settings are too long for a folder's name; list it under runs: with a name")
    return replace(job, config=replace(job.config, run_dir=str(job.folder.path.parent / within / name)), name=name)


def _task_by_task(entry: _Entry) -> list[_Entry]:
    """An entry for each trained task and those that its head answers; the entry itself if the method has no task."""
    label = entry.label
    settings = {key: value for key, value in entry.settings.items() if key != "tasks" or value != EACH}
    job = _load(settings)
    if is_idle(job):
        return [_Entry(label, entry.naming, settings)]
    answered: dict[str, list[str]] = {task.id: [] for task in job.run_tasks if task.answered_by is None}
    for task in job.run_tasks:
        answered[task.answered_by or task.id].append(task.id)
    naming = [*(key for key in entry.naming if key != "tasks"), "tasks"]
    return [_Entry(label and f"{label}-{id}", naming, {**settings, "tasks": ids}) for id, ids in answered.items()]


def _load(settings: Mapping[str, Any], placed: Callable[[Job], Job] = lambda job: job) -> Job:
    if "run_dir" in settings:
        raise InputError("each run has its own folder, named after the run; set runs_dir=", key="run_dir")
    job = load_run(settings, placed)
    assert is_idle(job) or job.run_tasks  # raises InputError for tasks that the method does not answer
    return job


def is_idle(job: Job) -> bool:
    """Whether the method has no task: it answers none of the chosen ones, or only tasks that the data lacks (`allow_missing`)."""
    answered = [task for task in job.tasks if task.id not in job.unanswered]
    if job.suite.allow_missing and any(has_files(task, job.data_dir) for task in job.suite.tasks.values()):
        answered = [task for task in answered if has_files(task, job.data_dir)]
    return not answered


def _name(entry: _Entry, job: Job) -> str:
    """The name of a run without a label: that of the method's folder, and the settings of this run that change its configuration.

    It does not depend on the other runs, so that a run keeps its name when others are added to the file.
    """
    settings = entry.settings
    preset = {} if job.config.preset == PAPER else {"preset": job.config.preset}  # the machine may have chosen it
    base = flatten_config(load_job({**preset, **{key: settings[key] for key in BASE_KEYS if key in settings}}).config)
    flat = flatten_config(job.config)
    changed = [key for key in entry.naming if key not in UNNAMED and flat[key] != base.get(key)]
    return ",".join([job.folder.path.name, *(f"{key}={_in_a_name(flat[key])}" for key in changed)])


def _in_a_name(value: Any) -> str:
    """A value as a part of a folder's name."""
    if isinstance(value, list):
        return "+".join(map(_in_a_name, value))
    text = value if isinstance(value, str) else json.dumps(value)
    return re.sub(r"[^\w.+-]", "-", text)


def _check_ready(path: Path, runs: Sequence[Job]) -> None:
    """Raise InputError if the folder of a run has another configuration, or if data or vectors are missing and cannot be made."""
    for run in runs:
        with _errors_begin_with(f"{path}: run {run.name}"):
            run.check_folder()
            if run.is_finished:
                continue
            if not awaits_generation(run.suite, run.data_dir):
                check_present(run.suite, run.run_tasks, run.data_dir)
            try:
                METHODS[run.config.method].find_inputs(run.config, run.suite)
            except InputError as error:
                raise InputError(f"{error}; or name the other runs: --only NAME --only NAME") from None
