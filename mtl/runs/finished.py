"""Find the finished runs below a folder, and read the predictions that their scores were computed from."""

import hashlib
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mtl.config.files import read_config
from mtl.config.schema import PAPER
from mtl.data.examples import read_targets
from mtl.embedders import embedder_kind
from mtl.errors import InputError
from mtl.files import read_json
from mtl.methods import FORMER_NAMES, method_name
from mtl.runs.folder import RunFolder
from mtl.runs.predictions import recorded_rows
from mtl.runs.summary import DESCRIPTION, KEYS, NAMES, description
from mtl.tasks.scored import ScoredRows
from mtl.tasks.suite import Suite, load_suite
from mtl.tasks.task import Task

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class Run:
    """A finished run. name: the path of its folder, relative to the folder that was searched, without the suite's folder."""

    name: str
    folder: RunFolder
    summary: Mapping[str, Any]
    suite: Suite

    @property
    def tasks(self) -> list[Task]:
        """The tasks that it has scores for, in the suite's order."""
        return [task for id, task in self.suite.tasks.items() if id in self.summary["tasks"]]

    def split(self, task: Task) -> str:
        """The split that the task is scored on."""
        return str(self.summary["tasks"][task.id]["split"])

    def rows(self, task: Task) -> ScoredRows:
        """The rows that the task is scored on, with their gold targets. Raises InputError for a damaged file."""
        return recorded_rows(task, read_targets(task, self.folder.gold(self.split(task), task.id)), self.folder)

    def predictions(self, task: Task) -> np.ndarray:
        """Each seed's predictions for the rows that the task is scored on, (seeds, rows)."""
        return np.array([self.seed_predictions(task, seed) for seed in self.summary["seeds"]])

    def seed_predictions(self, task: Task, seed: int) -> np.ndarray:
        """One seed's predictions for the rows that the task is scored on, (rows,)."""
        return read_targets(task, self.folder.predictions(seed, self.split(task), task.id))

    def dev_scores(self, task: Task) -> list[float]:
        """Each seed's score × 100 on dev; empty if they are not known, as for a task without dev rows."""
        seeds = self.summary["seeds"]
        if self.split(task) == "dev":
            scores = self.summary["tasks"][task.id]["scores"]
            return [scores[str(seed)] for seed in seeds]
        files = [file for seed in seeds if (file := self.folder.scores(seed)).exists()]
        found = [score for file in files if (score := read_json(file).get("dev_scores", {}).get(task.id)) is not None]
        return found if len(found) == len(seeds) else []

    def rows_key(self, task: Task) -> str:
        """A key that is equal for runs that score the task on the same rows."""
        return self._rows_keys[task.id]

    def recorded_key(self, task: Task) -> str | None:
        """A key that is equal for the same rows in the same groups; None for a run that did not record groups.

        Raises InputError if the record is damaged.
        """
        if task.id not in self._recorded:
            return None
        try:
            recorded = [self._recorded[task.id][key] for key in ("texts", "groups")]
        except (KeyError, TypeError):
            raise self._damaged_record(task) from None
        return hashlib.sha256(repr(tuple(recorded)).encode()).hexdigest()

    def recorded_rows(self, task: Task) -> tuple[str, np.ndarray] | None:
        """The `recorded_key`, and the groups of the rows that the task is scored on.

        Groups are numbers from 0, int64 (rows,). None for a run that did not record them. Raises InputError if the record is damaged.
        """
        if (key := self.recorded_key(task)) is None:
            return None
        recorded = self._recorded[task.id]["groups"]
        try:
            if recorded is not None and not (isinstance(recorded, list) and all(isinstance(g, int) for g in recorded)):
                raise TypeError
            # With only one group, groups cannot be resampled, so each row counts as a group.
            apart = recorded is None or len(set(recorded)) == 1
            names = np.arange(len(self.rows(task).targets)) if apart else np.array(recorded)
            groups = np.unique(names, return_inverse=True)[1]
        except (TypeError, ValueError):
            raise self._damaged_record(task) from None
        return key, groups

    def check(self) -> None:
        """Raise InputError unless every seed has a prediction for each scored row, and each scored row a group."""
        for task in self.tasks:
            rows, split = len(self.rows(task).targets), self.split(task)
            if (recorded := self.recorded_rows(task)) and recorded[1].shape != (rows,):
                raise InputError(
                    f"{self.folder.scored_rows}: {task.id}: {len(recorded[1])} groups for {rows} {split} rows"
                )
            for seed in self.summary["seeds"]:
                file = self.folder.predictions(seed, split, task.id)
                if (found := len(read_targets(task, file))) != rows:
                    raise InputError(f"{file}: {found} predictions for {rows} {split} rows")

    def _damaged_record(self, task: Task) -> InputError:
        return InputError(f"{self.folder.scored_rows}: {task.id}: not rows as mtl baseline records them")

    @cached_property
    def _rows_keys(self) -> dict[str, str]:
        """The `rows_key` of each task."""
        keys, held_out = {}, _by_task(self.folder.held_out)
        for task in self.tasks:
            split = self.split(task)
            paths = [path for name in (split, "train") if (path := task.path(name, Path()))]
            lines = held_out.get(task.id) if split == "dev" else None
            scored = [mark for path in paths if (mark := self.summary["inputs"].get(path.as_posix()))]
            keys[task.id] = hashlib.sha256(repr((scored[0] if scored else None, lines)).encode()).hexdigest()
        return keys

    @cached_property
    def _recorded(self) -> dict[str, Any]:
        if not self.folder.scored_rows.exists():
            return {}
        return _by_task(self.folder.scored_rows)


def _by_task(path: Path) -> dict[str, Any]:
    """The content of a JSON file of values by task. Raises InputError if it has another form."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: not keys and values")
    return content


def find_runs(runs_dir: Path, check: Callable[[Run], None] = Run.check) -> list[Run]:
    """Every finished run in a folder and below, in order of path. Runs that are not finished or damaged are left out with a warning.

    check: raises InputError if the predictions of a run are damaged. Raises InputError if the folder does not exist.
    """
    if not runs_dir.is_dir():
        raise InputError(f"{runs_dir}: no such folder; it must hold run folders, as mtl baseline makes them")
    runs, suites = [], dict[bytes, Suite]()
    for config in sorted(runs_dir.rglob("config.yaml")):
        folder = RunFolder(config.parent)
        where = folder.path.relative_to(runs_dir)
        if not folder.summary.exists():
            logger.warning("%s: not finished, left out", folder.path)
            continue
        try:
            run = _read(folder, where, suites)
            check(run)
            runs.append(run)
        except (InputError, UnicodeDecodeError) as error:
            logger.warning("%s; %s is left out; remove it and run it again", error, folder.path)
    return runs


def _read(folder: RunFolder, where: Path, suites: dict[bytes, Suite]) -> Run:
    """The run in a folder. where: the folder's path relative to the folder that was searched. suites: those that were read before,
    by the content of their files; new ones are added. Raises InputError if the run is damaged.
    """
    summary = read_json(folder.summary)
    if not isinstance(summary, dict) or not set(KEYS) <= set(summary):
        raise InputError(f"{folder.summary}: not a summary of this version of mtl")
    if problem := _problem(summary):
        raise InputError(f"{folder.summary}: {problem}")
    if not set(DESCRIPTION) <= set(summary):
        summary = _completed(summary, folder)
    # Before architectures and presets had names, LSTMs were the paper's.
    summary = {**dict.fromkeys(NAMES, None if summary["variant"] is None else PAPER), **summary}
    parts = where.parts[1:] if len(where.parts) > 1 and where.parts[0] == summary["suite"] else where.parts
    content = folder.suite.read_bytes() if folder.suite.exists() else b""
    if content not in suites:
        suites[content] = load_suite(folder.suite)
    return Run("/".join(parts) or folder.path.resolve().name, folder, summary, suites[content])


def _problem(summary: Mapping[str, Any]) -> str | None:
    """The error in the form of a summary, as "key: message", or None."""
    seeds, tasks = summary["seeds"], summary["tasks"]
    if not (isinstance(seeds, list) and seeds and all(isinstance(seed, int) for seed in seeds)):
        return "seeds: not a list of whole numbers"
    if not (isinstance(tasks, dict) and tasks and all(isinstance(task, dict) for task in tasks.values())):
        return "tasks: not scores by task"
    for id, task in tasks.items():
        further = task.get("also", {})
        if not isinstance(further, dict) or not all(_has_scores(of, seeds) for of in (task, *further.values())):
            return f"tasks.{id}: its scores are not numbers"
        if task.get("split", "dev") not in ("dev", "test"):
            return f"tasks.{id}: split: not dev or test"
    named = [key for key in ("held_out", "config", "inputs", "cost") if not isinstance(summary[key], dict)]
    return f"{named[0]}: not keys and values" if named else None


def _has_scores(of: Any, seeds: Sequence[int]) -> bool:
    """Whether the summary of a metric has a number for each seed, and their median, minimum and maximum."""
    if not isinstance(of, dict) or not isinstance(scores := of.get("scores"), dict):
        return False
    values = [scores.get(str(seed)) for seed in seeds]
    return all(_is_number(value) for value in (*values, *(of.get(key) for key in ("median", "min", "max"))))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _completed(summary: dict[str, Any], folder: RunFolder) -> dict[str, Any]:
    """The summary of a run of an older version, with what it lacks: the method's description, and the split, which was dev."""
    config = read_config(folder.config, lambda name: embedder_kind(name).options)
    tasks = {id: {"split": "dev", **task} for id, task in summary["tasks"].items()}
    method = method_name(FORMER_NAMES.get(config.method, config.method))
    return {**summary, **description(replace(config, method=method)), "tasks": tasks}
