"""Sweeps: make the runs that one file lists, one after another. Finished runs are not made again."""

import itertools
import json
import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mtl.base.errors import BusyError, InputError, UserError, resources_as_input
from mtl.base.files import listed
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.fetching.fetch import awaits_generation
from mtl.data.splits import check_present
from mtl.jobs.engines.engine import Failures
from mtl.jobs.job import Job, NamedRun, load_job
from mtl.methods import METHODS
from mtl.settings.layers import differences, find_yaml, flatten, flatten_config, shipped
from mtl.settings.schema import INDIFFERENT

logger = logging.getLogger("mtl")

SECTIONS = ("title", "settings", "grid", "runs")
# Keys that determine the folder's name of a run without other settings.
PLAIN = ("suite", "data_dir", "method", "embeddings", "variant", "architecture", "preset")
# Keys that are not part of a run's name. The path of vectors or of a transformer is part of it, because runs may differ in it.
UNNAMED = {*PLAIN, *INDIFFERENT} - {"embeddings.path", "transformer.path"}
MOST_RUNS = 100_000  # of a grid
LONGEST_NAME = 200  # bytes; file systems take 255
MOST_NAMED = 3  # runs in one error; the others are counted
EACH = "each"  # as tasks of a run in a sweep file: a run for each task


@dataclass(frozen=True)
class PlannedRun(NamedRun):
    """A run of a sweep. Its name is also that of its folder."""

    @property
    def finished(self) -> bool:
        return self.job.folder.summary.exists()


@dataclass(frozen=True)
class Sweep:
    """The content of a sweep file, with the settings from the command line."""

    title: str
    path: Path
    runs: list[PlannedRun]

    @property
    def runs_dir(self) -> Path:
        """The folder that has all its runs."""
        return Path(self.runs[0].job.config.runs_dir)


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
    title, entries = _read(path)
    runs = list(_load_all(path, entries, overrides or {}))
    if not runs:
        raise InputError("the suite has no task for any of its runs", path=path)
    numbers: dict[str, int] = {}
    for number, run in enumerate(runs, 1):
        folder = run.job.folder.path
        # Some file systems do not distinguish upper and lower case.
        if (first := numbers.setdefault(str(folder).casefold(), number)) != number:
            message = f"runs {first} and {number} would share the folder {folder}; give one another name"
            raise InputError(message, path=path)
    for key in ("runs_dir", "engine", "seeds_in_parallel"):
        if len({getattr(run.job.config, key) for run in runs}) > 1:
            raise InputError(f"{key} must be the same for all runs", path=path)
    if unknown := set(only) - {run.name for run in runs}:
        names_known = ", ".join(run.name for run in runs)
        raise InputError(f"--only {min(unknown)}: {path} has no such run; it has {names_known}")
    sweep = Sweep(title, path, [run for run in runs if not only or run.name in only])
    _check_ready(sweep)
    return sweep


def run_sweep(
    sweep: Sweep,
    make: Callable[[Job], Any],
    make_together: Callable[[Sequence[NamedRun]], Any],
    report: Callable[[], Any],
) -> list[str]:
    """Make the runs that are not finished: one after another by `make`, or all at once by `make_together` if their seeds run in processes
    of their own (`Config.runs_apart`). Then call `report`, if any run is finished. Returns the names of the runs that were left to other processes,
    which are at work on them.

    Finished runs are checked first, so that a run whose data has changed is found before hours of training. Raises InputError and
    DivergedError as a run does: of a finished run at once; of another run when all others have ended, and after the report if any run is
    finished.
    """
    from mtl.jobs.baseline import run_baseline

    runs = sorted(sweep.runs, key=lambda run: not run.finished)
    waiting = [run for run in runs if not run.finished]
    for number, run in enumerate(runs[: len(runs) - len(waiting)], start=1):
        logger.info("run %d of %d: %s", number, len(runs), run.name)
        with suppress(BusyError), _named(f"{sweep.path}: run {run.name}"):  # then another process checks it
            run_baseline(run.job)
    busy = list[str]()
    try:
        with _named(str(sweep.path)):
            if waiting and waiting[0].job.config.runs_apart:
                make_together(waiting)
            else:
                busy = _make_in_turn(waiting, make, len(runs))
    except UserError:
        if any(run.finished for run in runs):
            try:
                with resources_as_input():
                    report()
            except InputError as error:  # which must not hide the error of a run
                logger.error("report: %s", error)
        raise
    if not busy or any(run.finished for run in runs):
        report()
    return busy


def _make_in_turn(waiting: Sequence[PlannedRun], make: Callable[[Job], Any], runs: int) -> list[str]:
    """Make runs one after another, and return the names of those that other processes are at work on. `runs` counts the finished ones too."""
    import torch

    threads, busy = torch.get_num_threads(), list[str]()
    failures = Failures(len(waiting))
    for number, run in enumerate(waiting, start=runs - len(waiting) + 1):
        logger.info("run %d of %d: %s", number, runs, run.name)
        torch.set_num_threads(threads)  # the last run may have set its own trainer.threads
        try:
            with resources_as_input():
                make(run.job)
        except BusyError:
            logger.info("run %s: busy in another process", run.name)
            busy.append(run.name)
        except UserError as error:
            failures.add(run.name, f"run {run.name}", error)
    failures.check()
    return busy


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Errors within the block name where they are."""
    try:
        yield
    except UserError as error:
        raise type(error)(f"{where}: {error}") from None


@dataclass(frozen=True)
class _Entry:
    """A run as the file lists it: its name or None, and by dotted keys the settings of all runs and those of this one."""

    label: str | None
    shared: Mapping[str, Any]
    settings: Mapping[str, Any]


def _read(path: Path) -> tuple[str, list[_Entry]]:
    """The title of a sweep file, and its runs: each a name or None, and settings by dotted keys. Raises InputError."""
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
    listed = content.get("runs") or []
    if not isinstance(listed, list):
        raise InputError("must be a list", path=path, key="runs")
    entries: list[_Entry] = []
    if grid:
        entries += [_Entry(None, shared, dict(zip(grid, v, strict=True))) for v in itertools.product(*grid.values())]
    for number, run in enumerate(listed, 1):
        settings = _settings(path, f"runs: {number}", run)
        name = settings.pop("name", None)
        if name is not None and not re.fullmatch(r"\w[\w.,=+-]*", str(name)):
            message = f"{number}: name={name}: must be fit for a folder: letters, digits, _ . , = + -"
            raise InputError(message, path=path, key="runs")
        entries.append(_Entry(None if name is None else str(name), shared, settings))
    if not entries:
        raise InputError("has no runs; list them under runs:, or values of keys under grid:", path=path)
    return str(content.get("title") or path.stem), entries


def _settings(path: Path, where: str, value: Any) -> dict[str, Any]:
    """Settings by dotted keys, from dotted or nested keys. Raises InputError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{where}: must hold keys and values", path=path)
    return flatten(value)


def _load_all(path: Path, entries: Sequence[_Entry], overrides: Mapping[str, Any]) -> Iterator[PlannedRun]:
    """The runs of a sweep file, without those whose method has no task. An error names the run, unless it is one of `overrides` alone."""
    for number, listed_entry in enumerate(entries, 1):
        try:
            entries_of_tasks = _task_by_task(listed_entry, overrides)
            runs = [(entry, rest, _load({**entry.shared, **entry.settings}, rest)) for entry, rest in entries_of_tasks]
        except InputError as error:
            if str(error) == _error_of(overrides):
                raise
            settings = {**listed_entry.shared, **listed_entry.settings}
            listed_settings = ", ".join(f"{key}={value}" for key, value in settings.items())
            name = listed_entry.label or f"{number} ({listed_settings})"
            raise InputError(f"run {name}: {error}", path=path) from None
        for entry, rest, job in runs:
            if job.idle:
                tasks = job.config.tasks
                name = entry.label or job.folder.path.name + (f", tasks={','.join(tasks)}" if tasks else "")
                reason = f"{job.data_dir} has no files" if tasks else f"suite {job.suite.name} has no task"
                logger.info("left out: %s, since %s for it", name, reason)
            else:
                name = _name(path, number, entry, job, rest)
                folder = str(job.folder.path.with_name(name))
                yield PlannedRun(name, replace(job, config=replace(job.config, run_dir=folder)))


def _task_by_task(entry: _Entry, overrides: Mapping[str, Any]) -> list[tuple[_Entry, Mapping[str, Any]]]:
    """The entry, or where its tasks are `each`, one for each trained task and those that its head answers; beside each, its overrides."""
    if {**entry.shared, **entry.settings}.get("tasks") != EACH:
        return [(entry, overrides)]
    parts = (entry.shared, entry.settings)
    shared, settings = ({key: value for key, value in part.items() if key != "tasks"} for part in parts)
    job = _load({**shared, **settings}, overrides)
    if job.idle:
        return [(_Entry(entry.label, shared, settings), overrides)]
    rest = {key: value for key, value in overrides.items() if key != "tasks"}
    trained = [task for task in job.run_tasks if task.answered_by is None]
    answered = {
        task.id: [
            answered_task.id
            for answered_task in job.run_tasks
            if task.id in (answered_task.id, answered_task.answered_by)
        ]
        for task in trained
    }
    return [
        (_Entry(entry.label and f"{entry.label}-{task}", shared, {**settings, "tasks": ids}), rest)
        for task, ids in answered.items()
    ]


def _load(settings: Mapping[str, Any], overrides: Mapping[str, Any]) -> Job:
    merged = {**settings, **overrides}
    if "run_dir" in merged:
        raise InputError("each run has its own folder, named after the run; set runs_dir=", key="run_dir")
    job = load_job(merged)
    assert job.idle or job.run_tasks  # raises InputError for tasks that the method does not answer
    return job


def _error_of(overrides: Mapping[str, Any]) -> str | None:
    """The error that a run with only these settings has, if it has any."""
    try:
        _load({}, overrides)
    except InputError as error:
        return str(error)
    return None


def _name(path: Path, number: int, entry: _Entry, job: Job, overrides: Mapping[str, Any]) -> str:
    """What the file calls a run, or else the name of its method's folder with those of its settings that change its configuration.

    It does not depend on the other runs, so that an edited file renames none. Raises InputError for a name that no folder can have.
    """
    name = entry.label
    if name is None:
        merged = {**entry.shared, **entry.settings, **overrides}
        plain = flatten_config(load_job({key: merged[key] for key in PLAIN if key in merged}).config)
        flat, named = (
            flatten_config(job.config),
            [key for key in entry.settings if key not in UNNAMED | overrides.keys()],
        )
        changed = [f"{key}={_in_a_name(flat[key])}" for key in named if flat[key] != plain.get(key)]
        name = ",".join([job.folder.path.name, *changed])
    if len(name.encode()) > LONGEST_NAME:
        message = f"run {number}: its settings are too long for a folder's name; list it under runs: with a name"
        raise InputError(message, path=path)
    return name


def _in_a_name(value: Any) -> str:
    """A value in a form that a folder's name can have."""
    if isinstance(value, list):
        return "+".join(map(_in_a_name, value))
    text = value if isinstance(value, str) else json.dumps(value)
    return re.sub(r"[^\w.+-]", "-", text)


def _check_ready(sweep: Sweep) -> None:
    """Raise InputError if a run's folder has another configuration, or if its data or its vectors cannot be found or made."""
    lacking: dict[str, str] = {}
    for run in sweep.runs:
        here, job = f"{sweep.path}: run {run.name}", run.job
        folder = job.folder
        if folder.config.exists() and (keys := differences(folder.config, job.config)):
            raise InputError(
                f"{here}: {folder.path} was made with another configuration ({'; '.join(keys)});"
                " set runs_dir=, give the run another name, or remove the folder"
            )
        if run.finished:
            continue
        if not awaits_generation(job.suite, job.data_dir):
            try:
                check_present(job.suite, job.run_tasks, job.data_dir)
            except InputError as error:
                raise InputError(f"{here}: {error}") from None
        try:
            METHODS[job.config.method].find_inputs(job.config, job.suite)
        except InputError as error:
            lacking[run.name] = str(error)
    if lacking:
        remedies = [f"--only {run.name}" for run in sweep.runs if run.name not in lacking]
        problem = f"{listed(list(lacking), MOST_NAMED)} cannot be made: {'; '.join(dict.fromkeys(lacking.values()))}"
        advice = f"; to leave {'it' if len(lacking) == 1 else 'them'} out: {' '.join(remedies)}" if remedies else ""
        raise InputError(f"{sweep.path}: {problem}{advice}")
