"""Ablations: the runs that one file lists, made one after another where they are not there yet."""

import itertools
import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mtl.config.load import (
    INDIFFERENT,
    Config,
    data_dir,
    differences,
    find_yaml,
    flatten,
    flatten_config,
    load_config,
    parse_overrides,
    read_config,
    run_dir,
    shipped,
)
from mtl.data.splits import check_present, missing_tasks
from mtl.embedders import obtainable_vectors
from mtl.errors import DivergedError, InputError
from mtl.runs.folder import RunFolder
from mtl.tasks.suite import Suite
from mtl.untrusted import read_yaml

logger = logging.getLogger("mtl")

SECTIONS = ("title", "settings", "grid", "runs")
# What the folder of a plain run tells by itself, and what that follows from.
PLAIN = ("suite", "data_dir", "method", "embeddings", "variant")
# The vectors' path does make a difference between runs, though what lies there is compared by content.
UNNAMED = {*PLAIN, *INDIFFERENT} - {"embeddings.path"}
LONGEST_NAME = 200  # bytes; file systems take 255


@dataclass(frozen=True)
class Run:
    """A run of a sweep. Its folder bears its name."""

    name: str
    config: Config
    suite: Suite

    @property
    def folder(self) -> RunFolder:
        return RunFolder(run_dir(self.config, self.suite))

    @property
    def finished(self) -> bool:
        return self.folder.summary.exists()


@dataclass(frozen=True)
class Sweep:
    """What a sweep file says, settings from the command line included."""

    title: str
    path: Path
    runs: list[Run]

    @property
    def runs_dir(self) -> Path:
        """Where all its runs lie."""
        return Path(self.runs[0].config.runs_dir)


def load_sweep(name: str, overrides: Sequence[str] = (), only: Sequence[str] = ()) -> Sweep:
    """The runs of the sweep file of this name, or at this path.

    overrides: `key=value`, for every run, over what the file says. only: the names of the runs to take; none: all.
    Raises InputError for whatever can be known to be wrong before the first run starts: bad settings, runs of one name,
    missing data and vectors, folders of another configuration.
    """
    path = find_yaml("sweep", name, shipped("configs") / "sweep")
    given = parse_overrides(overrides)
    title, entries = _read(path)
    runs: list[Run] = []
    for number, (label, settings) in enumerate(entries, 1):
        try:
            run = _load(label, settings, given)
        except InputError as error:
            shown = ", ".join(f"{key}={value}" for key, value in settings.items())
            raise InputError(f"{path}: run {label or f'{number} ({shown})'}: {error}") from None
        # Some file systems do not tell upper case from lower case.
        same = [n for n, r in enumerate(runs, 1) if str(r.folder.path).casefold() == str(run.folder.path).casefold()]
        if same:
            raise InputError(
                f"{path}: runs {same[0]} and {number} would share the folder {run.folder.path}; give one another name"
            )
        runs.append(run)
    if len({run.config.runs_dir for run in runs}) > 1:
        raise InputError(f"{path}: runs_dir must be the same for all runs")
    if unknown := set(only) - {run.name for run in runs}:
        known = ", ".join(run.name for run in runs)
        raise InputError(f"--only {min(unknown)}: {path} has no such run; it has {known}")
    sweep = Sweep(title, path, [run for run in runs if not only or run.name in only])
    _check_ready(sweep)
    return sweep


def run_sweep(sweep: Sweep, make: Callable[[Config, Suite], Any]) -> None:
    """Call `make(config, suite)` for each run that is not finished, one after another.

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
            (run_baseline if run.finished else make)(run.config, run.suite)
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


def _load(name: str | None, settings: dict[str, Any], given: dict[str, Any]) -> Run:
    """A run of these settings; those of the command line, `given`, have the last word. Raises InputError."""
    merged = {**settings, **given}
    if "run_dir" in merged:
        raise InputError("run_dir: each run has a folder of its own, by its name; set runs_dir=")
    config, suite = load_config([_override(key, value) for key, value in merged.items()])
    suite.choose(config.tasks)
    folder = run_dir(config, suite)
    name = name or ",".join([folder.name, *_differing(config, settings, given)])
    if len(name.encode()) > LONGEST_NAME:
        raise InputError("its settings are too long for a folder's name; list it under runs: with a name")
    return Run(name, replace(config, run_dir=str(folder.with_name(name))), suite)


def _differing(config: Config, settings: dict[str, Any], given: dict[str, Any]) -> list[str]:
    """The sweep's own settings that `mtl baseline` would not have without them, as "key=value", fit for a folder's name."""
    merged = {**settings, **given}
    plain, _ = load_config([_override(key, merged[key]) for key in PLAIN if key in merged])
    ours, theirs = flatten_config(config), flatten_config(plain)
    keys = [key for key in settings if key not in UNNAMED and key not in given and ours[key] != theirs.get(key)]
    return [f"{key}={_in_a_name(ours[key])}" for key in keys]


def _in_a_name(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(_in_a_name, value))
    text = value if isinstance(value, str) else json.dumps(value)
    return re.sub(r"[^\w.+-]", "-", text)


def _override(key: str, value: Any) -> str:
    """As on the command line; JSON is YAML."""
    return f"{key}={json.dumps(value, ensure_ascii=False)}"


def _check_ready(sweep: Sweep) -> None:
    """Raise InputError if a run's folder is another configuration's, or if its data or its vectors cannot be had."""
    lacking: dict[str, str] = {}
    for run in sweep.runs:
        here = f"{sweep.path}: run {run.name}"
        if run.folder.config.exists() and (keys := differences(read_config(run.folder.config), run.config)):
            raise InputError(
                f"{here}: {run.folder.path} was made with another configuration ({'; '.join(keys)});"
                " set runs_dir=, give the run another name, or remove the folder"
            )
        if run.finished:
            continue
        data = data_dir(run.config, run.suite)
        if not (run.suite.generated and len(missing_tasks(run.suite, data)) == len(run.suite.tasks)):
            try:
                check_present(run.suite, run.suite.choose(run.config.tasks), data)
            except InputError as error:
                raise InputError(f"{here}: {error}") from None
        if run.config.method == "lstm" and run.config.embeddings.name != "random":
            try:
                obtainable_vectors(run.config, run.suite)
            except InputError as error:
                lacking[run.name] = str(error)
    if lacking:
        others = [f"--only {run.name}" for run in sweep.runs if run.name not in lacking]
        raise InputError(
            f"{sweep.path}: {', '.join(lacking)} cannot be made: {'; '.join(dict.fromkeys(lacking.values()))}"
            + (f"; to leave {'it' if len(lacking) == 1 else 'them'} out: {' '.join(others)}" if others else "")
        )
