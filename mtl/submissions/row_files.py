"""Files of the data's rows, which may have a prediction each: a further key on the line, and what the line had stays as it is."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.data.columns import nullable_value, value_of
from mtl.data.examples import read_examples, row_size, target_cell, target_value
from mtl.data.files import read_bytes, split_lines
from mtl.data.hashes import is_changed
from mtl.data.json_rows import parse_row
from mtl.runs.rows import scored_rows
from mtl.submissions.files import SPLITS
from mtl.tasks.metrics import score
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

PREDICTION = "prediction"
ROWS = "rows"  # the measure that is the number of rows


@dataclass(frozen=True)
class RowFile:
    """The lines of a task's file of rows, without line ends."""

    task: Task  # that the rows are of
    split: str
    name: str  # the path of the file, for messages and for reading its examples
    lines: Sequence[str]  # a JSON object each
    is_changed: bool = False  # whether the suite names another checksum for the file

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The JSON object on each line. Raises InputError that names the first line that is not an object."""
        return [parse_row(self.name, number, line) for number, line in enumerate(self.lines, start=1)]

    @cached_property
    def labels(self) -> list[Any]:
        """The target of each row as it stands in the file; None where it has none."""
        return [_allowed_label(self.task, row) for row in self.rows]

    @property
    def is_labelled(self) -> bool:
        """Whether every row has its target."""
        return None not in self.labels

    @property
    def has_official_size(self) -> bool:
        """Whether the file has the number of rows that the suite names for the split, if it names any for the task."""
        return not self.task.rows or self.task.rows.get(self.split) == len(self.lines)

    @cached_property
    def targets_and_errors(self) -> tuple[np.ndarray, list[InputError]]:
        """The targets that the rows' predictions mean, (rows,), and what is wrong with predictions. The targets are whole if nothing is."""
        kind, targets, errors = target_kind(self.task), list[Target](), list[InputError]()
        for number, row in enumerate(self.rows, start=1):
            try:
                if PREDICTION not in row:
                    raise ValueError(f"no key {PREDICTION!r}")
                targets.append(value_target(self.task, row[PREDICTION], _target_size(self.task, row)))
            except ValueError as error:
                errors.append(InputError(str(error), path=self.name, line=number))
        return np.array(targets, dtype=kind.dtype), errors

    @property
    def sizes(self) -> np.ndarray | None:
        """The number of candidates or of units of each row, int64 (rows,), if targets depend on it and all are known."""
        sizes = [_target_size(self.task, row) for row in self.rows]
        return None if None in sizes else np.array(sizes, dtype=np.int64)

    def with_predictions(self, predictions: Sequence[Any]) -> str:
        """The file's rows with these JSON values as predictions. Raises InputError for a row that has this key already."""
        lines = []
        for number, (line, row, value) in enumerate(zip(self.lines, self.rows, predictions, strict=True), start=1):
            if PREDICTION in row:
                problem = f"has a key {PREDICTION!r} already; take it out of the data"
                raise InputError(problem, path=self.name, line=number)
            start = line.rstrip().removesuffix("}").rstrip() + (", " if row else "")
            lines.append(f"{start}{json.dumps(PREDICTION)}: {json.dumps(value, ensure_ascii=False)}}}\n")
        return "".join(lines)


def read_row_file(task: Task, split: str, path: Path) -> RowFile:
    """The task's data file at this path. Raises InputError if it cannot be read."""
    content = read_bytes(path)
    return RowFile(task, split, str(path), split_lines(content, str(path)), is_changed(path, task.checksums.get(split)))


def data_files(task: Task, data_dir: Path) -> dict[str, RowFile]:
    """The task's files of the splits of a submission, by split, as far as they exist. Raises InputError if one cannot be read."""
    paths = {split: task.path(split, data_dir) for split in SPLITS}
    return {split: read_row_file(task, split, path) for split, path in paths.items() if path and path.is_file()}


def _allowed_label(task: Task, row: dict[str, Any]) -> Any:
    """The row's target as a JSON value; None if it has none, or one that the task does not allow (as -1 in a test file)."""
    kind = target_kind(task)
    try:
        value = target_value(task, {column: nullable_value(row, column) for column in task.target_columns})
        kind.parse(target_cell(kind, value), _target_size(task, row))
    except ValueError:
        return None
    return value if kind.has_type(value) else None


def prediction_values(task: Task, predictions: Sequence[Target], files: Sequence[RowFile]) -> list[Any]:
    """Predictions as JSON values in the form of the labels: that in which these files of the task have the label, or the kind's own."""
    kind = target_kind(task)
    label_of_cell = {target_cell(kind, label): label for file in files for label in file.labels if label is not None}
    return [label_of_cell.get(kind.format(target), kind.to_json(target)) for target in predictions]


def measure(suite: Suite, file: RowFile, predictions: Sequence[Target] | np.ndarray) -> dict[str, float]:
    """The figures of predictions by the suite's measures that the task has, by name; none if the rows are not the official ones or lack targets."""
    if file.is_changed or not file.has_official_size or not file.is_labelled:
        return {}
    task = replace(file.task, breakdown=None, group=None)  # no score needs these columns
    rows = scored_rows(task, read_examples(task, Path(file.name)))
    predicted = np.array(predictions, dtype=target_kind(task).dtype)
    figures: dict[str, float] = {}
    for name, metrics in suite.submission.measures.items():
        first = metrics[0]
        metric = first if first in (task.also or ()) else task.metric
        if first == ROWS:
            figures[name] = len(predicted)
        elif metric in metrics:  # all but the first are substitutes, which count only as the task's own metric
            figures[name] = score(task.measured_by(metric), predicted, rows) * suite.scale / 100
    return figures


def value_target(task: Task, value: Any, candidates: int | None) -> Target:
    """The target that a prediction, a JSON value, means for a row with so many candidates (None: unknown). Raises ValueError, which says why not."""
    kind = target_kind(task)
    if not kind.has_type(value):
        raise ValueError(f"{PREDICTION} {excerpt(value)} must be {kind.types_name}")
    try:
        return kind.parse_prediction(target_cell(kind, value), candidates)
    except ValueError as error:
        raise ValueError(f"{PREDICTION}: {error}") from None


def excerpt(value: Any) -> str:
    """A JSON value in a message, cut after 60 characters."""
    shown = json.dumps(value, ensure_ascii=False)
    shown = shown if shown.isprintable() else json.dumps(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def _target_size(task: Task, row: dict[str, Any]) -> int | None:
    """The number of candidates or of units in a row, if targets depend on it; None if it is not known."""
    try:
        return row_size(task, {column: value_of(row, column) for column in task.text_columns})
    except ValueError:
        return None


def data_remarks(data: Sequence[RowFile], data_dir: Path) -> list[str]:
    """What keeps files that were written from this data from being submitted, one line each; empty if they are official."""
    files = [(f"{file.task.id} {file.split}", file) for file in data]
    names_by_remark = {
        "rows without labels": [name for name, file in files if not file.is_labelled],
        "not the official numbers of rows": [
            f"{name} ({len(file.lines)} of {file.task.rows[file.split]} rows)"
            for name, file in files
            if file.split in file.task.rows and not file.has_official_size
        ],
        "changed, by the checksums of the suite": [
            name for name, file in files if file.is_changed and file.has_official_size
        ],
        "no official splits, but parts of others": [
            f"{name} ({len(file.lines)} rows)"
            for name, file in files
            if file.task.rows and file.split not in file.task.rows
        ],
    }
    remarks = [f"{remark}: {', '.join(names)}" for remark, names in names_by_remark.items() if names]
    if remarks:
        advice = f"before submitting, put the official files in place of those in {data_dir}, with mtl rejoin"
        remarks.append(f"the leaderboard takes official rows only: {advice}")
    return remarks
