"""Predictions that another system made, as a method: its runs stand in tables, reports, tests and submissions as those that mtl trained."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import mtl
from mtl.base.clock import now
from mtl.base.errors import InputError
from mtl.data.dataset import Split
from mtl.data.files import sha256, split_lines
from mtl.methods.imported import check
from mtl.methods.method import BuildRequest, Predictions
from mtl.runs.predictions import FILE, file_problems, read_files, read_targets_of_lines
from mtl.submissions.check import file_problems as row_problems
from mtl.submissions.check import is_entry, rows_name, submitted_rows
from mtl.submissions.entry import SPLITS, data_files, prediction_target, read_row_file
from mtl.submissions.rejoin import joined_rows
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

UNKNOWN = "not stated"


def predicted_tasks(path: Path, suite: Suite) -> dict[str, set[str]]:
    """By task id, the splits that a zip or a folder has predictions for. No file is read but the list of the zip.

    Raises:
        InputError: for a file that is none of the suite's, and if there are no predictions.
    """
    places = prediction_names(suite)
    _, others = read_files(path, lambda name: False)
    splits: dict[str, set[str]] = {}
    for name in others:
        if name in places:
            id, split = places[name]
            splits.setdefault(id, set()).add(split)
        elif not is_entry(name):
            raise InputError(
                f"is no file of predictions of suite {suite.name}; such files are called {FILE.format(split='dev', task='TASK')}"
                " or TASK/dev.jsonl, for dev or test, and TASK is one of " + ", ".join(suite.tasks),
                path=f"{path}/{name}",
            )
    if not splits:
        raise InputError(f"has no predictions of suite {suite.name}", path=path)
    return splits


def prediction_names(suite: Suite) -> dict[str, tuple[str, str]]:
    """The names that files of predictions may have, each with the task's id and the split."""
    return {name: place for place, names in _names(suite).items() for name in names}


def _names(suite: Suite) -> dict[tuple[str, str], tuple[str, str]]:
    """By task id and split, the names that a file of predictions may have."""
    return {
        (task.id, split): (FILE.format(split=split, task=task.id), rows_name(task, split))
        for task in suite.tasks.values()
        for split in SPLITS
    }


class Imported:
    """`mtl.methods.method.Method` of predictions in files: for each seed a zip or a folder, in the forms that mtl writes."""

    def __init__(self, request: BuildRequest) -> None:
        """Reads all predictions, so that nothing is written if a file is wrong. Raises InputError."""
        config, system = request.config, request.config.imported
        check(config, request.suite)
        self.suite, self.data_dir, self.dataset, self.system = request.suite, request.data_dir, request.dataset, system
        paths = dict(zip(config.seeds, map(Path, system.predictions), strict=True))
        self._predictions = {seed: self._read(path) for seed, path in paths.items()}
        self.fingerprints = {f"predictions of seed {seed}": _fingerprint(path) for seed, path in paths.items()}
        files = "; ".join(
            f"{path} ({self.fingerprints[f'predictions of seed {seed}']})" for seed, path in paths.items()
        )
        about = {"training text": system.text, "link": system.link, "licence": system.license}
        self.facts: dict[str, Any] = {
            "notes": [
                f"Imported on {now():%Y-%m-%d}, not trained by mtl, from predictions with these SHA-256 sums: {files}.",
                "; ".join(f"{what}: {value or UNKNOWN}" for what, value in about.items()) + ".",
            ],
            "machine": [system.hardware or UNKNOWN],
            "versions": [{"mtl": mtl.__version__}],
        }

    def save(self, folder: Path) -> None:
        """Write nothing: there is no model."""

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.tasks:
            yield task, self._predictions[seed][task.id]

    def shared(self, seed: int) -> None:
        """Nothing."""

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """What is said of the system; None where nothing is."""
        return {
            "parameters": self.system.parameters,
            "parameters_without_embeddings": None,
            "pretrain_seconds": None,
            "finetune_seconds": self.system.seconds,
            "peak_memory": None,
            "sentences_per_second": None,
        }

    def _read(self, path: Path) -> dict[str, Predictions]:
        """The predictions in a zip or a folder for the rows of the dataset, by task."""
        names = _names(self.suite)
        wanted = {name for task in self.dataset.tasks for split in SPLITS for name in names[task.id, split]}
        contents, _ = read_files(path, wanted.__contains__)
        predicted: dict[str, Predictions] = {}
        for task in self.dataset.tasks:
            rows = self._from_rows(task, contents, path)
            for split, data in self.dataset.splits[task.id].items():
                name = names[task.id, split][0] if split != "train" else ""
                if name in contents:
                    rows[split] = _from_lines(task, contents[name], f"{path}/{name}", data)
            if task.scored_split not in rows:
                raise InputError(
                    f"has no predictions of task {task.id} for {task.scored_split}, which scores it; name other tasks with tasks=",
                    path=path,
                )
            predicted[task.id] = rows
        return predicted

    def _from_rows(self, task: Task, contents: Mapping[str, bytes], path: Path) -> Predictions:
        """The predictions in files of rows. A file with other rows too, as where the data here is a part of the official one, gives those
        of the rows that are here."""
        ours, predicted = submitted_rows(task, contents, path), dict[str, np.ndarray]()
        for split, file in data_files(task, self.data_dir).items():
            if split not in ours:
                continue
            data = read_row_file(task, split, file)
            rows, problems = ours[split].rows, []
            if len(rows) == len(data.rows):
                problems = row_problems(ours[split], data)
            else:
                rows, problems = joined_rows(self.suite, split, {split: ours[split]}, data)
            if problems:
                raise InputError(f"{ours[split].name}{problems[0]}")
            targets = [prediction_target(task, row) for row in rows]
            predicted[split] = np.array(targets, dtype=target_kind(task).cells.dtype)
        return predicted


def _from_lines(task: Task, content: bytes, name: str, split: Split) -> np.ndarray:
    """The predictions in a file with one on each line, (rows,)."""
    lines = split_lines(content, name)
    if problems := file_problems(task, lines, len(split.targets), split.sizes):
        raise InputError(f"{name}{problems[0].replace(' test rows', ' rows')}")
    return read_targets_of_lines(task, lines)


def _fingerprint(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of the files in a folder."""
    if path.is_file():
        return sha256(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    listed = "".join(f"{sha256(file)}  {file.relative_to(path).as_posix()}\n" for file in files)
    return hashlib.sha256(listed.encode()).hexdigest()
