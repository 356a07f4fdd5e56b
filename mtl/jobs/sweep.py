"""Ablations: the runs that one file lists, made one after another where they are not there yet."""

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
from mtl.data.splits import check_present, missing_tasks
from mtl.errors import DivergedError, InputError
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.untrusted import read_yaml

logger = logging.getLogger("mtl")

SECTIONS = ("title", "settings", "grid", "runs")
# What the folder of a plain run is named after, and what that depends on.
PLAIN = ("suite", "data_dir", "method", "embeddings", "variant")
# Runs may differ in the vectors' path, though what the file holds is compared by content.
UNNAMED = {*PLAIN, *INDIFFERENT} - {"embeddings.path"}
LONGEST_NAME = 200  # bytes; file systems take 255


@dataclass(frozen=True)
class PlannedRun:
    """A run of a sweep. Its folder has its name."""

    name: str
    job: Job

    @property
    def finished(self) -> bool:
        return self.job.folder.summary.exists()


@dataclass(frozen=True)
class Sweep:
    """What a sweep file says, settings from the command line included."""

    title: str
    path: Path
    runs: list[PlannedRun]

    @property
    def runs_dir(self) -> Path:
        """Where all its runs lie."""
        return Path(self.runs[0].job.config.runs_dir)


def load_sweep(name: str, given: Mapping[str, Any] | None = None, only: Sequence[str] = ()) -> Sweep:
    """The runs of the sweep file of this name, or at this path.

    given: settings for every run, which replace those of the file. only: the names of the runs to take; none: all.
    Raises InputError for whatever can be known to be wrong before the first run starts: bad settings, runs of one name,
    missing data and vectors, folders of another configuration.
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
        # Some file systems do not tell upper case from lower case.
        same = [
            n for n, r in enumerate(runs, 1) if str(r.job.folder.path).casefold() == str(run.job.folder.path).casefold()
        ]
        if same:
            raise InputError(
                f"{path}: runs {same[0]} and {number} would share the folder {run.job.folder.path}; give one another name"
            )
        runs.append(run)
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

    The finished ones come first, with a line each: one whose data has changed since is found before hours of training.
    Raises InputError and DivergedError as a run does.
    """
    import torch

    from mtl.jobs.baseline import run_baseline

    threads = torch.get_num_threads()
    for number, run in enumerate(sorted(sweep.runs, key=lambda run: not run.finished), start=1):
        logger.info("run %d of %d: %s", number, len(sweep.runs), run.name)
        torch.set_num_threads(threads)  # a run's own trainer.threads is not the next one's
        try:
            (run_baseline if run.finished else make)(run.job)
        except (InputError, DivergedError) as error:
            raise type(error)(f"{sweep.path}: run {run.name}: {error}") from None


def _read(path: Path) -> tuple[str, list[tuple[str | None, dict[str, Any]]]]:
    """The title of a sweep file, and its runs: a name, if it has one, and settings by dotted keys. Raises InputError."""
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
    """Keys and values, dotted or nested, by dotted keys. Raises InputError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{path}: {where}: must hold keys and values")
    return flatten(value)


def _load(name: str | None, settings: Mapping[str, Any], given: Mapping[str, Any]) -> PlannedRun:
    """A run of these settings; those of the command line, `given`, have the last word. Raises InputError."""
    merged = {**settings, **given}
    if "run_dir" in merged:
        raise InputError("run_dir: each run has a folder of its own, by its name; set runs_dir=")
    job = load_job(merged)
    folder = job.folder.path
    assert job.tasks
    name = name or ",".join([folder.name, *_differing(job.config, settings, given)])
    if len(name.encode()) > LONGEST_NAME:
        raise InputError("its settings are too long for a folder's name; list it under runs: with a name")
    return PlannedRun(name, replace(job, config=replace(job.config, run_dir=str(folder.with_name(name)))))


def _differing(config: Config, settings: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """The sweep's own settings that `mtl baseline` would not have without them, as "key=value", fit for a folder's name."""
    merged = {**settings, **given}
    plain = load_job({key: merged[key] for key in PLAIN if key in merged}).config
    ours, theirs = flatten_config(config), flatten_config(plain)
    keys = [key for key in settings if key not in UNNAMED and key not in given and ours[key] != theirs.get(key)]
    return [f"{key}={_in_a_name(ours[key])}" for key in keys]


def _in_a_name(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(_in_a_name, value))
    text = value if isinstance(value, str) else json.dumps(value)
    return re.sub(r"[^\w.+-]", "-", text)


def _check_ready(sweep: Sweep) -> None:
    """Raise InputError if a run's folder is another configuration's, or if its data or its vectors cannot be had."""
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
        if not (job.suite.generated and len(missing_tasks(job.suite, job.data_dir)) == len(job.suite.tasks)):
            try:
                check_present(job.suite, job.tasks, job.data_dir)
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
