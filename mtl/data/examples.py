"""The rows of a task's files as texts and targets."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.data.lines import read_lines
from mtl.data.records import Record, Value, is_typed, read_records, text
from mtl.errors import InputError
from mtl.tasks.kind import Target, TargetKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_CANDIDATES = 1000  # of one row; a model reads all of them at once


@dataclass(frozen=True)
class Example:
    """One row. line: its line in the file; a header is line 1.

    inputs: its model inputs, each one text or two. A row has one input; in a choice, it has one for each candidate.
    target: None if it is not known. group: the value in the task's group column. columns: the values in the task's `columns`.
    """

    line: int
    inputs: tuple[tuple[str, ...], ...]
    target: Target | None = None
    group: str | None = None
    columns: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The row's texts, as `mtl.runs.predictor.Predictor.predict` takes them. For a choice, these are the text that all inputs
        share, if the task has one, and then the candidates."""
        first = self.inputs[0]
        return first if len(self.inputs) == 1 else (*first[:-1], *(texts[-1] for texts in self.inputs))


def make_inputs(task: Task, texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The model inputs of a row with these texts (`Example.texts`)."""
    if task.candidates is None:
        return (tuple(texts),)
    shared = tuple(texts[: len(task.text)])
    return tuple((*shared, candidate) for candidate in texts[len(task.text) :])


def read_examples(task: Task, path: Path, targets: bool = True) -> list[Example]:
    """All rows of a task's file. targets: whether to read targets, groups and further columns, or only the texts.

    Raises InputError as `mtl.data.records.read_records` does, and for a target that is not valid, with its line.
    """
    further = [task.target, *([task.group] if task.group else []), *(task.columns or [])] if targets else []
    records = read_records(path, [*task.text_columns, *further])
    kind, typed = target_kind(task), is_typed(path)
    return [_example(task, kind, path, record, targets, typed) for record in records]


def read_texts(task: Task, path: Path) -> list[tuple[str, ...]]:
    """The texts of each row (`Example.texts`) of a file with or without targets. Raises InputError as `read_examples` does."""
    return [example.texts for example in read_examples(task, path, targets=False)]


def read_targets(task: Task, path: Path) -> np.ndarray:
    """The targets (rows,) in a file of one column with a header, as `mtl.runs.submission.write_predictions` writes it.

    Raises InputError for a target that is not valid, with its line.
    """
    kind, values = target_kind(task), []
    for number, cell in enumerate(read_lines(path)[1:], start=2):
        try:
            values.append(kind.parse(cell))
        except ValueError as error:
            raise InputError(f"{path}:{number}: {error}") from None
    return np.array(values, dtype=kind.dtype)


def _example(task: Task, kind: TargetKind, path: Path, record: Record, targets: bool, typed: bool) -> Example:
    columns = task.text_columns
    count = len(columns)
    inputs = make_inputs(task, _texts(columns, path, record))
    if not 0 < len(inputs) <= MOST_CANDIDATES:
        problem = f"has {len(inputs)} candidates; a row must have 1 to {MOST_CANDIDATES}"
        raise InputError(f"{path}:{record.line}: column {columns[-1]!r}: {problem}")
    if not targets:
        return Example(record.line, inputs)
    try:
        cell = _target_cell(kind, record.values[count], typed)
        target = kind.parse(cell, None if task.candidates is None else len(inputs))
    except ValueError as error:
        raise InputError(f"{path}:{record.line}: column {task.target!r}: {error}") from None
    names = [*([task.group] if task.group else []), *(task.columns or [])]
    further = [_text(path, record, name, count + 1 + place) for place, name in enumerate(names)]
    group = further.pop(0) if task.group else None
    return Example(record.line, inputs, target, group, tuple(further))


def _target_cell(kind: TargetKind, value: Value, typed: bool) -> str:
    """The cell for a target. typed: whether the file's values have types. Raises ValueError for a value of another type."""
    if typed and not kind.has_type(value):
        raise ValueError(f"target {json.dumps(value, ensure_ascii=False)} must be {kind.types_name}")
    return text(value)


def _texts(columns: Sequence[str], path: Path, record: Record) -> list[str]:
    """The row's texts. Each candidate in a list of candidates is one text."""
    texts: list[str] = []
    for place, column in enumerate(columns):
        value = record.values[place]
        texts += value if isinstance(value, list) else [_text(path, record, column, place)]
    return texts


def _text(path: Path, record: Record, column: str, place: int) -> str:
    value = record.values[place]
    if isinstance(value, str):
        return value
    try:
        return text(value)
    except ValueError as error:
        raise InputError(f"{path}:{record.line}: column {column!r}: {error}") from None
