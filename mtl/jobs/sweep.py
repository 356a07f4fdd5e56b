"""Sweeps: make the runs that one file lists, one after another. Finished runs are not made again."""

import itertools
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mtl.config.files import differences, find_yaml, flatten, flatten_config, shipped
from mtl.config.schema import INDIFFERENT, Config
from mtl.data.fetch import awaits_generation
from mtl.data.splits import check_present
from mtl.errors import DivergedError, InputError
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.untrusted import read_yaml

logger = logging.getLogger("mtl")

SECTIONS = ("title", "settings", "grid", "runs")
# Keys that determine the folder's name of a run without other settings.
PLAIN = ("suite", "data_dir", "method", "embeddings", "variant", "architecture", "preset")
# Keys that are not part of a run's name. The path of vectors or of a transformer is part of it, because runs may differ in it.
UNNAMED = {*PLAIN, *INDIFFERENT} - {"embeddings.path", "transformer.path"}
LONGEST_NAME = 200  # bytes; file systems take 255


@dataclass(frozen=True)
class PlannedRun:
    """A run of a sweep. name: also the name of its folder."""

    name: str
    job: Job

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


def load_sweep(name: str, given: Mapping[str, Any] | None = None, only: Sequence[str] = ()) -> Sweep:
    """The sweep of the file with this name or path.

    given: settings for every run, which replace those of the file. only: the names of the runs to choose; empty: all.
    Raises InputError for every error that can be found before the first run starts: bad settings, runs with the same name,
    missing data or vectors, folders with another configuration.
    """
    path = find_yaml("sweep", name, shipped("configs") / "sweep")
    given = given or {}
    title, entries = _read(path)
    runs: list[PlannedRun] = []
    for number, (label, settings) in enumerate(entries, 1):
        try:
            run = _load(label, settings, given)
        except InputError as error:
            shown = ", ".join(f"{key}={value}" for key, value in settings.items())
            raise InputError(f"{path}: run {label or f'{number} ({shown})'}: {error}") from None
        if run is None:
            continue
        # Some file systems do not distinguish upper and lower case.
        same = [
            n for n, r in enumerate(runs, 1) if str(r.job.folder.path).casefold() == str(run.job.folder.path).casefold()
        ]
        if same:
            raise InputError(
                f"{path}: runs {same[0]} and {number} would share the folder {run.job.folder.path}; give one another name"
            )
        runs.append(run)
    if not runs:
        raise InputError(f"{path}: the suite has no task for any of its runs")
    if len({run.job.config.runs_dir for run in runs}) > 1:
        raise InputError(f"{path}: runs_dir must be the same for all runs")
    if unknown := set(only) - {run.name for run in runs}:
        known = ", ".join(run.name for run in runs)
        raise InputError(f"--only {min(unknown)}: {path} has no such run; it has {known}")
    sweep = Sweep(title, path, [run for run in runs if not only or run.name in only])
    _check_ready(sweep)
    return sweep


def run_sweep(sweep: Sweep, make: Callable[[Job], Any]) -> None:
    """Call `make(job)` for each run that is not finished, one after another.

    Finished runs are checked first, so that a run whose data has changed is found before hours of training.
    Raises InputError and DivergedError as a run does.
    """
    import torch

    from mtl.jobs.baseline import run_baseline

    threads = torch.get_num_threads()
    for number, run in enumerate(sorted(sweep.runs, key=lambda run: not run.finished), start=1):
        logger.info("run %d of %d: %s", number, len(sweep.runs), run.name)
        torch.set_num_threads(threads)  # the last run may have set its own trainer.threads
        try:
            (run_baseline if run.finished else make)(run.job)
        except (InputError, DivergedError) as error:
            raise type(error)(f"{sweep.path}: run {run.name}: {error}") from None


def _read(path: Path) -> tuple[str, list[tuple[str | None, dict[str, Any]]]]:
    """The title of a sweep file, and its runs: each a name or None, and settings by dotted keys. Raises InputError."""
    content = read_yaml(path)
    if unknown := [str(key) for key in content if key not in SECTIONS]:
        raise InputError(f"{path}: unknown key {unknown[0]!r}; a sweep has {', '.join(SECTIONS)}")
    shared = _settings(path, "settings", content.get("settings"))
    grid = _settings(path, "grid", content.get("grid"))
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise InputError(f"{path}: grid: {key}={values}: must be a list of values")
    listed = content.get("runs") or []
    if not isinstance(listed, list):
        raise InputError(f"{path}: runs: must be a list")
    entries: list[tuple[str | None, dict[str, Any]]] = []
    if grid:
        entries += [(None, {**shared, **dict(zip(grid, v, strict=True))}) for v in itertools.product(*grid.values())]
    for number, run in enumerate(listed, 1):
        settings = _settings(path, f"runs: {number}", run)
        name = settings.pop("name", None)
        if name is not None and not re.fullmatch(r"\w[\w.,=+-]*", str(name)):
            raise InputError(
                f"{path}: runs: {number}: name={name}: must be fit for a folder: letters, digits, _ . , = + -"
            )
        entries.append((None if name is None else str(name), {**shared, **settings}))
    if not entries:
        raise InputError(f"{path}: has no runs; list them under runs:, or values of keys under grid:")
    return str(content.get("title") or path.stem), entries


def _settings(path: Path, where: str, value: Any) -> dict[str, Any]:
    """Settings by dotted keys, from dotted or nested keys. Raises InputError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{path}: {where}: must hold keys and values")
    return flatten(value)


def _load(name: str | None, settings: Mapping[str, Any], given: Mapping[str, Any]) -> PlannedRun | None:
    """The run with these settings, or None if its method has no task. given: settings from the command line, which replace them.

    Raises InputError.
    """
    merged = {**settings, **given}
    if "run_dir" in merged:
        raise InputError("run_dir: each run has its own folder, named after the run; set runs_dir=")
    job = load_job(merged)
    folder = job.folder.path
    if job.idle:
        logger.info("left out: %s, since suite %s has no task for it", name or folder.name, job.suite.name)
        return None
    assert job.run_tasks
    name = name or ",".join([folder.name, *_differing(job.config, settings, given)])
    if len(name.encode()) > LONGEST_NAME:
        raise InputError("its settings are too long for a folder's name; list it under runs: with a name")
    return PlannedRun(name, replace(job, config=replace(job.config, run_dir=str(folder.with_name(name)))))


def _differing(config: Config, settings: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """The settings of the sweep file that change the configuration, as "key=value" in a form that a folder's name can have."""
    merged = {**settings, **given}
    plain = load_job({key: merged[key] for key in PLAIN if key in merged}).config
    ours, theirs = flatten_config(config), flatten_config(plain)
    keys = [key for key in settings if key not in UNNAMED and key not in given and ours[key] != theirs.get(key)]
    return [f"{key}={_in_a_name(ours[key])}" for key in keys]


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
            METHODS[job.config.method].check(job.config, job.suite)
        except InputError as error:
            lacking[run.name] = str(error)
    if lacking:
        others = [f"--only {run.name}" for run in sweep.runs if run.name not in lacking]
        raise InputError(
            f"{sweep.path}: {', '.join(lacking)} cannot be made: {'; '.join(dict.fromkeys(lacking.values()))}"
            + (f"; to leave {'it' if len(lacking) == 1 else 'them'} out: {' '.join(others)}" if others else "")
        )
