"""Files of rows in JSON Lines: the rows of a data file with a further key, the prediction. A row's own text stays as it is."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mtl.data.checksums import is_changed
from mtl.data.columns import text, value_of
from mtl.data.lines import read_bytes, split_lines
from mtl.data.records import parse_row
from mtl.errors import InputError
from mtl.tasks.kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

PREDICTION = "prediction"
SPLITS = ("dev", "test")  # of a submission


@dataclass(frozen=True)
class RowFile:
    """The lines of a task's file of rows, without line ends. name: the file's, for messages. changed: whether the suite names another
    checksum for the file."""

    task: Task
    name: str
    lines: Sequence[str]
    changed: bool = False

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The object on each line. Raises InputError with the line of the first that is none."""
        return [parse_row(self.name, number, line) for number, line in enumerate(self.lines, start=1)]

    @cached_property
    def labels(self) -> list[Any]:
        """The target of each row as it stands in the file; None where it has none."""
        return [label_of(self.task, row) for row in self.rows]

    @property
    def labelled(self) -> bool:
        """Whether every row has its target."""
        return None not in self.labels

    def is_official(self, split: str) -> bool:
        """Whether the file has the checksum and the number of rows that the suite names for this split; also if it names none for the
        task."""
        return not self.changed and self.has_official_size(split)

    def has_official_size(self, split: str) -> bool:
        """Whether the file has the number of rows that the suite names for this split; also if it names none for the task."""
        return not self.task.rows or self.task.rows.get(split) == len(self.lines)

    def predictions(self) -> np.ndarray:
        """The targets that the rows' predictions mean, (rows,). Raises InputError for the first prediction that is not valid."""
        targets = []
        for number, row in enumerate(self.rows, start=1):
            try:
                targets.append(prediction_target(self.task, row))
            except ValueError as error:
                raise InputError(f"{self.name}:{number}: {error}") from None
        return np.array(targets, dtype=target_kind(self.task).dtype)

    def with_predictions(self, predictions: Sequence[Any]) -> str:
        """The file's rows with these JSON values as predictions. Raises InputError for a row that has this key already."""
        for number, row in enumerate(self.rows, start=1):
            if PREDICTION in row:
                raise InputError(f"{self.name}:{number}: has a key {PREDICTION!r} already; take it out of the data")
        lines = map(_with_prediction, self.lines, self.rows, predictions)
        return "".join(f"{line}\n" for line in lines)


def read_row_file(task: Task, split: str, path: Path) -> RowFile:
    """The task's data file at this path. Raises InputError if it cannot be read."""
    content = read_bytes(path)
    changed = is_changed(content, task.checksums.get(split))
    return RowFile(task, str(path), split_lines(content, str(path)), changed)


def data_files(task: Task, data_dir: Path) -> dict[str, Path]:
    """The task's files of the splits of a submission, by split, as far as they exist."""
    paths = {split: task.path(split, data_dir) for split in SPLITS}
    return {split: path for split, path in paths.items() if path is not None and path.is_file()}


def label_of(task: Task, row: dict[str, Any]) -> Any:
    """The row's target as a JSON value; None if it has none, or one that the task does not allow (as -1 in a test file)."""
    kind = target_kind(task)
    try:
        value = value_of(row, task.target)
        kind.parse(text(value), _candidates(task, row))
    except ValueError:
        return None
    return value if kind.has_type(value) else None


def prediction_values(task: Task, predictions: Sequence[Target], files: Sequence[RowFile]) -> list[Any]:
    """Predictions as JSON values in the form of the labels: that in which these files of the task have the label, or the kind's own."""
    kind = target_kind(task)
    forms = {text(label): label for file in files for label in file.labels if label is not None}
    return [forms.get(kind.format(target), kind.to_json(target)) for target in predictions]


def prediction_target(task: Task, row: dict[str, Any]) -> Target:
    """The target that a row's prediction means. Raises ValueError that says what is wrong with it."""
    if PREDICTION not in row:
        raise ValueError(f"no key {PREDICTION!r}")
    value, label, kind = row[PREDICTION], label_of(task, row), target_kind(task)
    if not kind.has_type(value):
        raise ValueError(f"{PREDICTION} {show(value)} must be {kind.types_name}")
    if label is not None and _form(value) != _form(label):
        raise ValueError(f"{PREDICTION} {show(value)} has another type than the row's label, {show(label)}")
    try:
        return kind.parse_prediction(text(value), _candidates(task, row))
    except ValueError as error:
        raise ValueError(f"{PREDICTION}: {error}") from None


def show(value: Any) -> str:
    """A JSON value in a message, cut after 60 characters."""
    shown = json.dumps(value, ensure_ascii=False)
    shown = shown if shown.isprintable() else json.dumps(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def _with_prediction(line: str, row: dict[str, Any], value: Any) -> str:
    start = line.rstrip().removesuffix("}").rstrip()
    return f"{start}{', ' if row else ''}{json.dumps(PREDICTION)}: {json.dumps(value, ensure_ascii=False)}}}"


def _form(value: Any) -> tuple[bool, bool]:
    """Equal for two texts, for two truth values, and for two numbers."""
    return isinstance(value, str), isinstance(value, bool)


def _candidates(task: Task, row: dict[str, Any]) -> int | None:
    """The number of candidates in a row of a choice; None if it is not known."""
    if task.candidates is None:
        return None
    try:
        values = [value_of(row, column) for column in task.candidates]
    except ValueError:
        return None
    return sum(len(value) if isinstance(value, list) else 1 for value in values)
