"""The runs of a sweep, each with its settings, its name and its folder, checked before the first one starts."""

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.settings.layers import check_names_no_code, find_yaml, flatten, flatten_config
from mtl.base.settings.schema import INDIFFERENT, PAPER
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.present_files import check_present, present_splits
from mtl.data.sample import lacks_embedded_data
from mtl.jobs.job import Job, load_job, load_run
from mtl.methods import METHODS

# Keys that determine the name of the folder of a run without other settings.
BASE_KEYS = ("suite", "data_dir", "method", "embeddings", "variant", "architecture", "preset")
# Keys that are not part of a run's name. The path of vectors or of a transformer is part of it, because runs may differ in it.
UNNAMED = {*BASE_KEYS, *INDIFFERENT} - {"embeddings.path", "transformer.path"}
LONGEST_NAME = 200  # bytes; file systems take 255
SECTIONS = ("title", "settings", "grid", "runs")
MOST_RUNS = 100_000  # of a grid
EACH = "each"  # the value of tasks: in a sweep file that makes a run for each task


@dataclass(frozen=True)
class RunEntry:
    """A run of a sweep file, or with `tasks: each` a run for each task."""

    label: str | None  # its name, if the file gives one
    naming: Sequence[str]  # the keys that its name is made from otherwise: those that the file sets for this run alone
    settings: Mapping[str, Any]  # by dotted keys


@dataclass(frozen=True)
class Sweep:
    """The content of a sweep file, with the settings from the command line. A run and its folder have the same name."""

    title: str
    path: Path
    runs: list[Job]


def load_sweep(name: str, overrides: Mapping[str, Any] | None = None, only: Sequence[str] = ()) -> Sweep:
    """The sweep of the file with this name or path, of all its runs or of those that `only` names. `overrides` are settings for every run, which
    replace those of the file. Raises InputError for every error that can be found before the first run starts, such as missing data."""
    path = find_yaml("sweep", name)
    title, entries = read_sweep_file(path)
    runs = list(_load_runs(path, entries, overrides or {}))
    _check_together(path, runs)
    names = [run.name for run in runs]
    if unknown := set(only) - set(names):
        raise InputError(f"--only {min(unknown)}: {path} has no such run; it has {', '.join(names)}")
    chosen = [run for run in runs if not only or run.name in only]
    for run in chosen:
        try:
            _check_run(run)
        except InputError as error:
            raise InputError(f"{path}: run {run.name}: {error}") from None
    return Sweep(title, path, chosen)


def _load_runs(path: Path, entries: Sequence[RunEntry], overrides: Mapping[str, Any]) -> Iterator[Job]:
    """The runs of a sweep file, without those whose method has no task. An error names the run."""
    for number, entry in enumerate(entries, 1):
        naming = [key for key in entry.naming if key not in overrides]  # what all runs share is no part of their names
        overridden = RunEntry(entry.label, naming, {**entry.settings, **overrides})
        try:
            runs = _runs_by_task(overridden) if entry.settings.get("tasks") == EACH else [_run(overridden)]
        except InputError as error:
            settings = ", ".join(f"{key}={value}" for key, value in entry.settings.items())
            raise InputError(f"run {entry.label or f'{number} ({settings})'}: {error}", path=path) from None
        for run in runs:
            if _is_idle(run):
                reason = f"{run.data_dir} has no files" if run.config.tasks else f"suite {run.suite.name} has no task"
                logger.info("left out: %s, since %s for it", run.name, reason)
            else:
                yield run


def _runs_by_task(entry: RunEntry) -> list[Job]:
    """A run for each trained task and those that its head answers; one run if the method has no task."""
    settings = {key: value for key, value in entry.settings.items() if key != "tasks" or value != EACH}
    run_on_all = _run(replace(entry, settings=settings))
    if _is_idle(run_on_all):
        return [run_on_all]
    tasks_by_head: dict[str, list[str]] = {task.id: [] for task in run_on_all.run_tasks if task.answered_by is None}
    for task in run_on_all.run_tasks:
        tasks_by_head[task.answered_by or task.id].append(task.id)
    naming = [*(key for key in entry.naming if key != "tasks"), "tasks"]
    runs = []
    for id, tasks in tasks_by_head.items():
        label = None if entry.label is None else f"{entry.label}-{id}"
        runs.append(_run(RunEntry(label, naming, {**settings, "tasks": tasks})))
    return runs


def _run(entry: RunEntry) -> Job:
    """The run of an entry. Raises InputError for settings that no run or no sweep has."""
    if "run_dir" in entry.settings:
        raise InputError("each run has its own folder, named after the run; set runs_dir=", key="run_dir")
    run = load_run(entry.settings, partial(_with_name, entry))
    if not _is_idle(run):
        run.check_tasks()
    return run


def _with_name(entry: RunEntry, job: Job) -> Job:
    name = entry.label or _name_from_settings(entry, job)
    if len(name.encode()) > LONGEST_NAME:
        raise InputError("its settings are too long for a folder's name; list it under runs: with a name")
    return replace(job, config=replace(job.config, run_dir=str(job.folder.path.parent / name)), name=name)


def _name_from_settings(entry: RunEntry, job: Job) -> str:
    """The method's folder, and those of the run's own settings that change it, as in "random-frozen,encoder.hidden_size=256"."""
    base_settings = {key: entry.settings[key] for key in BASE_KEYS if key in entry.settings}
    if job.config.preset != PAPER and "preset" not in base_settings:  # the machine may have chosen it
        base_settings["preset"] = job.config.preset
    base_config = flatten_config(load_job(base_settings).config)
    config = flatten_config(job.config)
    changed = [key for key in entry.naming if key not in UNNAMED and config[key] != base_config.get(key)]
    return ",".join([job.folder.path.name, *(f"{key}={_folder_text(config[key])}" for key in changed)])


def _folder_text(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(_folder_text, value))
    return re.sub(r"[^\w.+-]", "-", value if isinstance(value, str) else json.dumps(value))


def _is_idle(job: Job) -> bool:
    """Whether the method has no task: it answers none of the chosen ones, or only tasks that the data lacks (`allow_missing`)."""
    answered = [task for task in job.tasks if task.id not in job.unanswered]
    if job.suite.allow_missing and any(present_splits(task, job.data_dir) for task in job.suite.tasks.values()):
        answered = [task for task in answered if present_splits(task, job.data_dir)]
    return not answered


def _check_together(path: Path, runs: Sequence[Job]) -> None:
    """Raise InputError for no run, for runs that would share a folder, and for other settings of what the whole sweep has one of."""
    if not runs:
        raise InputError("the suite has no task for any of its runs", path=path)
    numbers: dict[str, int] = {}  # by folder, of its first run
    for number, run in enumerate(runs, 1):
        # Some file systems do not distinguish upper and lower case.
        if (first := numbers.setdefault(str(run.folder.path).casefold(), number)) != number:
            problem = f"runs {first} and {number} would share the folder {run.folder.path}; give one another name"
            raise InputError(problem, path=path)
    for key in ("runs_dir", "engine", "seeds_in_parallel"):
        if len({getattr(run.config, key) for run in runs}) > 1:
            raise InputError(f"{key} must be the same for all runs", path=path)


def _check_run(run: Job) -> None:
    """Raise InputError if the folder of the run has another configuration, or if data or vectors are missing and cannot be made."""
    run.check_folder()
    if run.is_finished:
        return
    if not lacks_embedded_data(run.suite, run.data_dir):
        check_present(run.suite, run.run_tasks, run.data_dir)
    try:
        METHODS[run.config.method].find_inputs(run.config, run.suite)
    except InputError as error:
        raise InputError(f"{error}; or name the other runs: --only NAME --only NAME") from None


def read_sweep_file(path: Path) -> tuple[str, list[RunEntry]]:
    """The title of a sweep file, and its runs. Raises InputError, which names the section, for another form."""
    content = read_yaml(path)
    if unknown := [str(key) for key in content if key not in SECTIONS]:
        raise InputError(f"unknown key {unknown[0]!r}; a sweep has {', '.join(SECTIONS)}", path=path)
    shared = _settings(path, "settings", content.get("settings"))
    entries = _grid_entries(path, content.get("grid"), shared)
    entries += _listed_entries(path, content.get("runs") or [], shared)
    if not entries:
        raise InputError("has no runs; list them under runs:, or values of keys under grid:", path=path)
    return str(content.get("title") or path.stem), entries


def _grid_entries(path: Path, section: Any, shared: Mapping[str, Any]) -> list[RunEntry]:
    """A run for each combination of the values of the section `grid`, beside the settings that all runs share."""
    grid = _settings(path, "grid", section)
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise InputError(f"{key}={values}: must be a list of values", path=path, key="grid")
    if not grid:
        return []
    if (number := math.prod(len(values) for values in grid.values())) > MOST_RUNS:
        raise InputError(f"has {number:,} runs; a sweep takes at most {MOST_RUNS:,}", path=path, key="grid")
    combinations = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    return [RunEntry(None, list(grid), {**shared, **combination}) for combination in combinations]


def _listed_entries(path: Path, section: Any, shared: Mapping[str, Any]) -> list[RunEntry]:
    """The runs of the section `runs`, whose settings replace those that all runs share."""
    if not isinstance(section, list):
        raise InputError("must be a list", path=path, key="runs")
    entries = []
    for number, keys in enumerate(section, 1):
        settings = _settings(path, f"runs: {number}", keys)
        name = settings.pop("name", None)
        label = None if name is None else str(name)
        if label is not None and not re.fullmatch(r"\w[\w.,=+-]*", label):
            message = f"{number}: name={label}: must be fit for a folder: letters, digits, _ . , = + -"
            raise InputError(message, path=path, key="runs")
        entries.append(RunEntry(label, list(settings), {**shared, **settings}))
    return entries


def _settings(path: Path, where: str, section: Any) -> dict[str, Any]:
    """Settings by dotted keys, from dotted or nested keys. Raises InputError for anything else."""
    if not isinstance(section, dict | None):
        raise InputError(f"{where}: must hold keys and values", path=path)
    settings = flatten(section or {})
    check_names_no_code(path, settings)
    return settings
