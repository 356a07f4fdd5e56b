"""Finished runs, found below a folder, with the predictions that their scores were computed on."""

import hashlib
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mtl.data.reader import read_targets
from mtl.errors import InputError
from mtl.report.resampling import DevRows
from mtl.runs.folder import RunFolder, read_json
from mtl.runs.summary import KEYS
from mtl.tasks.suite import Suite, Task, load_suite

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class Run:
    """A finished run. name: its folder, seen from where it was looked for, without the suite's own folder."""

    name: str
    folder: RunFolder
    summary: Mapping[str, Any]
    suite: Suite

    @property
    def tasks(self) -> list[Task]:
        """The tasks it has scores of, in the suite's order."""
        return [task for id, task in self.suite.tasks.items() if id in self.summary["tasks"]]

    def gold(self, task: Task) -> np.ndarray:
        """The targets of the task's dev rows, (rows,): label indices or numbers."""
        return np.array(read_targets(task, self.folder.gold(task.id)))

    def predictions(self, task: Task) -> np.ndarray:
        """Each seed's predictions on dev, (seeds, rows): label indices or numbers."""
        files = [self.folder.predictions(seed, "dev", task.id) for seed in self.summary["seeds"]]
        return np.array([read_targets(task, file) for file in files])

    def rows_key(self, task: Task) -> str:
        """The same for runs whose dev rows of the task are the same."""
        split = "dev" if task.files["dev"] is not None else "train"
        path = task.path(split, Path())
        assert path is not None
        lines = self._held_out.get(task.id)
        return hashlib.sha256(repr((self.summary["inputs"].get(path.as_posix()), lines)).encode()).hexdigest()

    def dev_rows(self, task: Task) -> DevRows | None:
        """The groups of the task's dev rows; None of a run that did not record them. Raises InputError if they are damaged."""
        if task.id not in self._dev_rows:
            return None
        try:
            texts, recorded = (self._dev_rows[task.id][key] for key in ("texts", "groups"))
            if recorded is not None and not (isinstance(recorded, list) and all(isinstance(g, int) for g in recorded)):
                raise TypeError
            # One group alone says nothing about others; its rows are then drawn one by one.
            apart = recorded is None or len(set(recorded)) == 1
            names = np.arange(len(self.gold(task))) if apart else np.array(recorded)
            groups = np.unique(names, return_inverse=True)[1]
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{self.folder.dev_rows}: {task.id}: not dev rows as mtl baseline records them") from None
        return DevRows(hashlib.sha256(repr((texts, recorded)).encode()).hexdigest(), groups)

    def check(self) -> None:
        """Raise InputError unless the scores are numbers, and every seed has a prediction and a group for each dev row."""
        for task in self.tasks:
            scores = self.summary["tasks"][task.id]
            numbers = [scores.get(key) for key in ("median", "min", "max")]
            if not all(isinstance(number, int | float) and math.isfinite(number) for number in numbers):
                raise InputError(f"{self.folder.summary}: tasks.{task.id}: its scores are not numbers")
            rows = len(self.gold(task))
            if (dev_rows := self.dev_rows(task)) and dev_rows.groups.shape != (rows,):
                raise InputError(
                    f"{self.folder.dev_rows}: {task.id}: {len(dev_rows.groups)} groups for {rows} dev rows"
                )
            for seed in self.summary["seeds"]:
                file = self.folder.predictions(seed, "dev", task.id)
                if (found := len(read_targets(task, file))) != rows:
                    raise InputError(f"{file}: {found} predictions for {rows} dev rows")

    @cached_property
    def _held_out(self) -> dict[str, list[int]]:
        held_out: dict[str, list[int]] = read_json(self.folder.held_out)
        return held_out

    @cached_property
    def _dev_rows(self) -> dict[str, dict[str, Any]]:
        if not self.folder.dev_rows.exists():
            return {}
        dev_rows: dict[str, dict[str, Any]] = read_json(self.folder.dev_rows)
        return dev_rows


def find_runs(runs_dir: Path) -> list[Run]:
    """Every finished run in a folder and below, by name; one that is not finished or damaged is named in a warning.

    Raises InputError where there is no such folder, or no finished run in it.
    """
    if not runs_dir.is_dir():
        raise InputError(f"{runs_dir}: no such folder; it must hold run folders, as mtl baseline makes them")
    runs = []
    for config in sorted(runs_dir.rglob("config.yaml")):
        folder = RunFolder(config.parent)
        where = folder.path.relative_to(runs_dir)
        if not folder.summary.exists():
            logger.warning("%s: not finished, left out", folder.path)
            continue
        try:
            runs.append(_read(folder, where))
        except (InputError, UnicodeDecodeError) as error:
            logger.warning("%s; %s is left out; remove it and run it again", error, folder.path)
    if not runs:
        raise InputError(f"{runs_dir}: holds no finished run; make one with mtl baseline")
    return runs


def _read(folder: RunFolder, where: Path) -> Run:
    """The run in a folder. where: its path from where it was looked for. Raises InputError if it is damaged."""
    summary = read_json(folder.summary)
    if not isinstance(summary, dict) or not set(KEYS) <= set(summary):
        raise InputError(f"{folder.summary}: not a summary of this version of mtl")
    parts = where.parts[1:] if len(where.parts) > 1 and where.parts[0] == summary["suite"] else where.parts
    run = Run("/".join(parts) or folder.path.resolve().name, folder, summary, load_suite(folder.suite))
    run.check()
    return run
