"""Finished runs, found below a folder, with the predictions that their scores were computed on."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mtl.data.reader import read_lines
from mtl.errors import InputError
from mtl.results.run_folder import RunFolder, read_json
from mtl.results.summary import KEYS
from mtl.suite import Suite, Task, load_suite

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
        return _targets(task, self.folder.gold(task.id))

    def predictions(self, task: Task) -> np.ndarray:
        """Each seed's predictions on dev, (seeds, rows): label indices or numbers."""
        files = [self.folder.predictions(seed, "dev", task.id) for seed in self.summary["seeds"]]
        return np.array([_targets(task, file) for file in files])

    def rows_key(self, task: Task) -> str:
        """The same for runs whose dev rows of the task are the same."""
        split = "dev" if task.files["dev"] is not None else "train"
        path = task.path(split, Path())
        assert path is not None
        lines = self._held_out.get(task.id)
        return hashlib.sha256(repr((self.summary["inputs"].get(path.as_posix()), lines)).encode()).hexdigest()

    @cached_property
    def _held_out(self) -> dict[str, list[int]]:
        held_out: dict[str, list[int]] = read_json(self.folder.held_out)
        return held_out


def find_runs(runs_dir: Path) -> list[Run]:
    """Every finished run in a folder and below, by name; what is there and not finished is named in a warning.

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
        summary = read_json(folder.summary)
        if not isinstance(summary, dict) or not set(KEYS) <= set(summary):
            logger.warning("%s: not a summary of this version of mtl, left out; run it again", folder.summary)
            continue
        parts = where.parts[1:] if len(where.parts) > 1 and where.parts[0] == summary["suite"] else where.parts
        runs.append(Run("/".join(parts) or folder.path.resolve().name, folder, summary, load_suite(folder.suite)))
    if not runs:
        raise InputError(f"{runs_dir}: holds no finished run; make one with mtl baseline")
    return runs


def _targets(task: Task, path: Path) -> np.ndarray:
    """The targets in a file of one column with a header. Raises InputError for what is none, with its line."""
    values = []
    for number, cell in enumerate(read_lines(path)[1:], start=2):
        try:
            values.append(task.value(cell))
        except ValueError as error:
            raise InputError(f"{path}:{number}: {error}") from None
    return np.array(values)
