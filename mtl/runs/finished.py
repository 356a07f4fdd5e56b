"""Find the finished runs below a folder, and read the predictions that their scores were computed from."""

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.log import logger
from mtl.base.names import one_spelling, text_problem
from mtl.base.terminal import one_line
from mtl.base.untrusted import AGAIN, check_plain_folder, read_bytes, read_json
from mtl.base.untrusted_yaml import YAML_LIMIT
from mtl.data.examples import read_targets
from mtl.runs.folder import RunFolder
from mtl.runs.records import SeedScores, Summary, read_stage, read_summary
from mtl.runs.rows import RowsRecord, numbered_groups, read_rows_records, read_scored_rows
from mtl.tasks.suite import Suite, load_suite
from mtl.tasks.task import ScoredRows, Task

Finished = TypeVar("Finished")


@dataclass(frozen=True)
class FinishedRun:
    """A finished run: what its folder says of its scores and of the rows that they are on."""

    name: str  # the path of its folder, relative to the folder that was searched, without the suite's folder
    folder: RunFolder
    summary: Summary
    suite: Suite

    @property
    def tasks(self) -> list[Task]:
        """The tasks that it has scores for, in the suite's order."""
        return [task for id, task in self.suite.tasks.items() if id in self.summary["tasks"]]

    def split(self, task: Task) -> str:
        """The split that the task is scored on."""
        return self.summary["tasks"][task.id]["split"]

    def rows(self, task: Task) -> ScoredRows:
        """The rows that the task is scored on, with their gold targets. Raises InputError for a damaged file."""
        return read_scored_rows(task, self.folder.gold(self.split(task), task.id), self.folder.scored_rows)

    def predictions(self, task: Task) -> np.ndarray:
        """Each seed's predictions for the rows that the task is scored on, (seeds, rows)."""
        return np.array([self.seed_predictions(task, seed) for seed in self.summary["seeds"]])

    def seed_predictions(self, task: Task, seed: int, split: str | None = None) -> np.ndarray:
        """One seed's predictions for the rows of a split, (rows,); without one, of the split that the task is scored on."""
        return read_targets(task, self.folder.predictions(seed, split or self.split(task), task.id), predicted=True)

    def curves(self, seed: int) -> Iterator[tuple[str, str | None, list[dict[str, float]]]]:
        """The learning curves of one seed: each stage, pretrain or finetune, its task, None for stage 1, and its validations, with the keys
        step, seconds, dev/average (× 100), in stage 1 dev/TASK, and, after the first step, train/loss."""
        for file in self.folder.stages(seed):
            is_stage_1 = file.parent.parent == self.folder.seed(seed)
            points = read_stage(file)["curve"]
            yield ("pretrain", None, points) if is_stage_1 else ("finetune", file.parent.name, points)

    def dev_scores(self, task: Task) -> list[float]:
        """Each seed's score × 100 on dev; empty if they are not known, as for a task without dev rows."""
        seeds = self.summary["seeds"]
        if self.split(task) == "dev":
            return [self.summary["tasks"][task.id]["scores"][str(seed)] for seed in seeds]
        files = [file for seed in seeds if (file := self.folder.scores(seed)).exists()]
        by_seed = [read_json(file, SeedScores)["dev_scores"].get(task.id) for file in files]
        recorded = [score for score in by_seed if score is not None]
        return recorded if len(recorded) == len(seeds) else []

    def rows_key(self, task: Task) -> str:
        """A key that is equal for runs that score the task on the same rows: the same texts and targets in the same order."""
        texts, targets = self._recorded[task.id]["texts"], sha256(self.folder.gold(self.split(task), task.id))
        return hashlib.sha256(repr((texts, targets)).encode()).hexdigest()

    def examples_key(self, task: Task) -> str:
        """A key that is equal for runs that score the task on the same rows in the same groups: only these are resampled alike."""
        groups_key, _ = self.numbered_groups(task)
        return f"{self.rows_key(task)} {groups_key}"

    def numbered_groups(self, task: Task) -> tuple[str, np.ndarray]:
        """As `mtl.runs.rows.numbered_groups`, of the rows that the task is scored on."""
        recorded = self._recorded[task.id]
        return numbered_groups(recorded["texts"], recorded["groups"], len(self.rows(task).targets))

    @property
    def samples(self) -> list[str]:
        """The ids of the tasks that it is scored on with a sample of their rows."""
        return [id for id, recorded in self._recorded.items() if "lines" in recorded]

    def check(self) -> None:
        """Raise InputError unless every seed has a prediction for each scored row, and each scored row a group."""
        for task in self.tasks:
            scored, split = self.rows(task), self.split(task)
            _, group_numbers = self.numbered_groups(task)
            rows, groups = len(scored.targets), len(group_numbers)
            if groups != rows:
                raise InputError(f"{task.id}: {groups} groups for {rows} {split} rows", path=self.folder.scored_rows)
            for seed in self.summary["seeds"]:
                file = self.folder.predictions(seed, split, task.id)
                predicted = read_targets(task, file, scored.candidates, predicted=True)
                if len(predicted) != rows:
                    raise InputError(f"{len(predicted)} predictions for {rows} {split} rows", path=file)

    def check_records(self) -> None:
        """Raise InputError if a file beside the predictions is damaged: scores of seeds, learning curves, scored rows."""
        for seed in self.summary["seeds"]:
            if (scores := self.folder.scores(seed)).exists():
                read_json(scores, SeedScores)
            for stage in self.folder.stages(seed):
                read_stage(stage)
        if unknown := [task for task in self.summary["tasks"] if task not in self.suite.tasks]:
            raise InputError(f"{unknown[0]!r} is not one of {self.folder.suite}", path=self.folder.summary, key="tasks")
        if lacking := [task for task in self.summary["tasks"] if task not in self._recorded]:
            raise InputError(f"has no rows of {lacking[0]}; {AGAIN}", path=self.folder.scored_rows)

    @cached_property
    def _recorded(self) -> dict[str, RowsRecord]:
        return read_rows_records(self.folder.scored_rows)


def open_run(path: Path) -> FinishedRun:
    """The finished run in a folder, which gives it its name. Raises InputError if there is none, or if one of its files is damaged."""
    if not path.is_dir():
        raise InputError("no such folder", path=path)
    if not (path / "config.yaml").exists():
        raise InputError("not a run's folder: it has no config.yaml", path=path)
    if not (path / "summary.json").exists():
        raise InputError("this run is not finished; give its command again", path=path)
    run = _read_run(RunFolder(path), Path(path.resolve().name), suites={})
    run.check()
    return run


def find_runs(runs_dir: Path, check: Callable[[FinishedRun], None] = FinishedRun.check) -> list[FinishedRun]:
    """Every finished run in a folder and below, in order of path, but those for which `check` raises InputError. Errors: as `find_finished`."""
    suites: dict[bytes, Suite] = {}
    paths: dict[str, Path] = {}

    def read_checked(path: Path) -> FinishedRun:
        run = _read_run(RunFolder(path), path.relative_to(runs_dir), suites)
        check(run)
        first = paths.setdefault(one_spelling(str(path)), path)
        if first != path:
            raise InputError(f"has the name of {first} but for the spelling of its accents; rename it", path=path)
        return run

    return find_finished(runs_dir, "config.yaml", read_checked)


def find_finished(runs_dir: Path, first_file: str, read_folder: Callable[[Path], Finished]) -> list[Finished]:
    """What is finished in a folder and below, in order of path; what is not, or damaged, is left out with a warning.
    Such a folder begins with the file `first_file`; summary.json comes last. Raises InputError for no folder; `read_folder` for a damaged one."""
    if not runs_dir.is_dir():
        raise InputError("no such folder; it must hold run folders, as mtl baseline makes them", path=runs_dir)

    def leave_out(error: OSError) -> None:
        logger.warning("%s: %s; it is left out", error.filename, error.strerror)

    finished = []
    for folder in sorted(Path(path) for path, _, names in os.walk(runs_dir, onerror=leave_out) if first_file in names):
        try:
            if (folder / "summary.json").exists():
                finished.append(read_folder(folder))
            else:
                logger.warning("%s: not finished, left out", folder)
        except (InputError, UnicodeDecodeError) as error:
            logger.warning("%s; %s is left out", error, one_line(str(folder)))
        except OSError as error:
            logger.warning("%s: %s; %s is left out", error.filename or folder, error.strerror, folder)
    return finished


def read_suite(folder: RunFolder, suites: dict[bytes, Suite]) -> Suite:
    """The suite of a run, from those that were read before, by their files' content; a new one is added. Raises InputError as `load_suite`."""
    content = read_bytes(folder.suite, YAML_LIMIT) if folder.suite.exists() else b""
    if content not in suites:
        suites[content] = load_suite(folder.suite)
    return suites[content]


def _read_run(folder: RunFolder, path: Path, suites: dict[bytes, Suite]) -> FinishedRun:
    """The run in a folder. `path` is the folder's path from the one that was searched. Raises InputError if the run cannot be read."""
    if problem := text_problem(str(folder.path)):
        raise InputError(problem, path=folder.path)
    check_plain_folder(folder.path)
    folder.read_inputs()
    summary = read_summary(folder.summary)
    parts = path.parts[1:] if len(path.parts) > 1 and path.parts[0] == summary["suite"] else path.parts
    name = one_spelling("/".join(parts) or folder.path.resolve().name)
    run = FinishedRun(name, folder, summary, read_suite(folder, suites))
    run.check_records()
    return run
