"""The file of a sweep: the runs that it lists, each with its name and its folder, and whether to choose among them."""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.settings.layers import find_yaml, flatten, shipped
from mtl.base.settings.schema import names_code
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.sweeps.run_entry import EACH, RunEntry, is_idle
from mtl.benchmark_making.sweeps.selected import SETTINGS
from mtl.benchmark_making.sweeps.selection import Search, has_choice
from mtl.data.fetching.fetch import awaits_generation
from mtl.data.splits import check_present
from mtl.jobs.job import Job
from mtl.methods import METHODS

SECTIONS = ("title", "settings", "grid", "runs", "select")
MOST_RUNS = 100_000  # of a grid


@dataclass(frozen=True)
class Sweep:
    """The content of a sweep file, with the settings from the command line. A run and its folder have the same name."""

    title: str
    path: Path
    runs: list[Job]
    search: Search | None = None  # the choice among them


def load_sweep(name: str, overrides: Mapping[str, Any] | None = None, only: Sequence[str] = ()) -> Sweep:
    """The sweep of the file with this name or path, of all its runs or of those that `only` names. `overrides` are settings for every run, which
    replace those of the file. Raises InputError for every error that can be found before the first run starts: bad settings, runs with the same
    name, missing data or vectors, folders with another configuration."""
    path = find_yaml("sweep", name, shipped("configs") / "sweep")
    title, entries, chooses = _read_sweep_file(path)
    if chooses and only:
        raise InputError(f"--only {only[0]}: {path} chooses among its runs (select:), and needs all of them")
    within = f"{path.stem}/{SETTINGS}" if chooses else ""
    runs = list(_load_all(path, entries, overrides or {}, within))
    _check_together(path, runs)
    names = [run.name for run in runs]
    if unknown := set(only) - set(names):
        raise InputError(f"--only {min(unknown)}: {path} has no such run; it has {', '.join(names)}")
    chosen = [run for run in runs if not only or run.name in only]
    _check_ready(path, chosen)
    search = Search(path, runs, runs[0].folder.path.parents[1]) if chooses else None
    return Sweep(title, path, chosen, search)


def _read_sweep_file(path: Path) -> tuple[str, list[RunEntry], bool]:
    """The title of a sweep file, its runs, and whether it chooses among them. Raises InputError."""
    content = read_yaml(path)
    if unknown := [str(key) for key in content if key not in SECTIONS]:
        raise InputError(f"unknown key {unknown[0]!r}; a sweep has {', '.join(SECTIONS)}", path=path)
    shared = _settings(path, "settings", content.get("settings"))
    entries = [*_grid_runs(path, content.get("grid"), shared), *_listed_runs(path, content.get("runs") or [], shared)]
    if not entries:
        raise InputError("has no runs; list them under runs:, or values of keys under grid:", path=path)
    return str(content.get("title") or path.stem), entries, has_choice(content, path)


def _grid_runs(path: Path, section: Any, shared: Mapping[str, Any]) -> Iterator[RunEntry]:
    """A run for each combination of the values of the section `grid`, beside the settings that all runs share."""
    grid = _settings(path, "grid", section)
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise InputError(f"{key}={values}: must be a list of values", path=path, key="grid")
    if (number := math.prod(map(len, grid.values()))) > MOST_RUNS:
        raise InputError(f"has {number:,} runs; a sweep takes at most {MOST_RUNS:,}", path=path, key="grid")
    for values in itertools.product(*grid.values()) if grid else ():
        yield RunEntry(None, [*grid], {**shared, **dict(zip(grid, values, strict=True))})


def _listed_runs(path: Path, section: Any, shared: Mapping[str, Any]) -> Iterator[RunEntry]:
    """The runs of the section `runs`, whose settings replace those that all runs share."""
    if not isinstance(section, list):
        raise InputError("must be a list", path=path, key="runs")
    for number, keys in enumerate(section, 1):
        settings = _settings(path, f"runs: {number}", keys)
        label = settings.pop("name", None)
        if label is not None and not re.fullmatch(r"\w[\w.,=+-]*", str(label)):
            message = f"{number}: name={label}: must be fit for a folder: letters, digits, _ . , = + -"
            raise InputError(message, path=path, key="runs")
        yield RunEntry(None if label is None else str(label), [*settings], {**shared, **settings})


def _settings(path: Path, where: str, value: Any) -> dict[str, Any]:
    """Settings by dotted keys, from dotted or nested keys. Raises InputError for anything else."""
    if not isinstance(value, dict | None):
        raise InputError(f"{where}: must hold keys and values", path=path)
    settings = flatten(value or {})
    if code := [key for key, value in settings.items() if names_code(key, value)]:
        raise InputError("only the command line and Python name code that runs", path=path, key=code[0])
    return settings


def _load_all(path: Path, entries: Sequence[RunEntry], overrides: Mapping[str, Any], within: str) -> Iterator[Job]:
    """The runs of a sweep file, without those whose method has no task, in a folder `within` that of the suite. An error names the run."""
    for number, entry in enumerate(entries, 1):
        naming = [key for key in entry.naming if key not in overrides]  # what all runs share is no part of their names
        overridden = RunEntry(entry.label, naming, {**entry.settings, **overrides})
        by_task = entry.settings.get("tasks") == EACH
        try:
            runs = overridden.runs_by_task(within) if by_task else [overridden.run(within)]
        except InputError as error:
            settings = ", ".join(f"{key}={value}" for key, value in entry.settings.items())
            raise InputError(f"run {entry.label or f'{number} ({settings})'}: {error}", path=path) from None
        for run in runs:
            if is_idle(run):
                reason = f"{run.data_dir} has no files" if run.config.tasks else f"suite {run.suite.name} has no task"
                logger.info("left out: %s, since %s for it", run.name, reason)
            else:
                yield run


def _check_together(path: Path, runs: Sequence[Job]) -> None:
    """Raise InputError for no run, for runs that would share a folder, and for other settings of what the whole sweep has one of."""
    if not runs:
        raise InputError("the suite has no task for any of its runs", path=path)
    numbers: dict[str, int] = {}  # by folder, of its first run
    for number, run in enumerate(runs, 1):
        # Some file systems do not distinguish upper and lower case.
        if (first := numbers.setdefault(str(run.folder.path).casefold(), number)) != number:
            shared = f"runs {first} and {number} would share the folder {run.folder.path}; give one another name"
            raise InputError(shared, path=path)
    for key in ("runs_dir", "engine", "seeds_in_parallel"):
        if len({getattr(run.config, key) for run in runs}) > 1:
            raise InputError(f"{key} must be the same for all runs", path=path)


def _check_ready(path: Path, runs: Sequence[Job]) -> None:
    """Raise InputError if the folder of a run has another configuration, or if data or vectors are missing and cannot be made."""
    for run in runs:
        try:
            run.check_folder()
            if run.is_finished:
                continue
            if not awaits_generation(run.suite, run.data_dir):
                check_present(run.suite, run.run_tasks, run.data_dir)
            try:
                METHODS[run.config.method].find_inputs(run.config, run.suite)
            except InputError as error:
                raise InputError(f"{error}; or name the other runs: --only NAME --only NAME") from None
        except InputError as error:
            raise InputError(f"{path}: run {run.name}: {error}") from None
