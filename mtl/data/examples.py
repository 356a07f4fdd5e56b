"""The rows of a task's files as texts and targets."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.data.columns import text
from mtl.data.files import read_lines
from mtl.data.forms import form_of
from mtl.data.marked_spans import Span, check_words, make_spans, parse_span, words_columns
from mtl.data.records import OBJECTS, Value, read_records
from mtl.tasks.layout import Layout
from mtl.tasks.target_kind import Target, TargetKind, UnitKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task, span_ends

# A row as a user gives it: its texts (`Example.texts`), and the (start, stop) of each span, in the order of `Task.marked`.
Row = Sequence[str | Sequence[int]]

MOST_CANDIDATES = 1000  # of one row; a model reads all of them at once


@dataclass(frozen=True)
class Example:
    """One row. It has one input; in a choice, it has one for each candidate."""

    line: int  # in the file; a header is line 1
    inputs: tuple[tuple[str, ...], ...]  # the model's, each one text or two
    target: Target | None = None  # None if it is not known
    group: str | None = None  # the value in the task's group column
    columns: tuple[str, ...] = ()  # the values in the task's `further_columns`
    spans: tuple[Span, ...] = ()  # marked in the row's texts, in the order of `Task.marked`

    @property
    def texts(self) -> tuple[str, ...]:
        """The row's texts. For a choice, these are the text that all inputs share, if the task has one, and then the candidates."""
        first = self.inputs[0]
        return first if len(self.inputs) == 1 else (*first[:-1], *(texts[-1] for texts in self.inputs))

    @property
    def row(self) -> Row:
        """The row as `mtl.methods.predictor.Predictor.predict` takes it; `make_example` reads it."""
        return (*self.texts, *self.spans)


def make_inputs(task: Task, texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The model inputs of a row with these texts (`Example.texts`). Raises ValueError for a row without any units where each has a target."""
    if task.candidates is None:
        if target_kind(task).size([texts]) == 0:
            raise ValueError(f"column {task.text[-1]!r}: no token; leave the row out")
        return (tuple(texts),)
    return tuple((*texts[: len(task.text)], candidate) for candidate in texts[len(task.text) :])


def row_texts(task: Task, values: Mapping[str, Any]) -> list[str]:
    """The texts of a row (`Example.texts`), from its values by column. Raises ValueError for a value that is no text."""
    kind, texts = target_kind(task), list[str]()
    for column in task.text_columns:
        value = values[column]
        if not isinstance(value, list):
            texts.append(_text(values, column))
        elif isinstance(kind, UnitKind):
            texts.append(kind.join_text(value))
        else:  # each candidate in a list of candidates is one text
            texts += value
    return texts


def row_size(task: Task, values: Mapping[str, Any]) -> int | None:
    """The number of candidates or of units of a row, if targets depend on it. Arguments and errors: as in `row_texts`."""
    return target_kind(task).size(make_inputs(task, row_texts(task, values)))


def make_example(task: Task, row: Row) -> Example:
    """A row without a target. Raises ValueError that says what is wrong with it."""
    first_span = len(row) - len(task.marked)
    parts, ends = row[:first_span], row[first_span:]
    has_all_parts = len(parts) == len(task.text) if task.candidates is None else len(parts) > len(task.text)
    if not has_all_parts:
        raise ValueError("has another number of parts")
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        raise ValueError("has something else than a text where a text is expected")
    inputs = make_inputs(task, texts)
    return Example(0, inputs, spans=make_spans(task, inputs[0], ends))


def read_examples(task: Task, path: Path, targets: bool = True, layout: Layout | None = None) -> list[Example]:
    """All rows of a task's file, with targets, groups and further columns, or only with texts and spans. `layout` says how the file is read; None:
    as any file with rows of the task. A span must mark what stands in the column `text` beside it, if there is one: `pronoun.text` beside
    `pronoun.location`. Raises InputError as `mtl.data.records.read_records` does, and for a span or a target that is not valid, with its line."""
    layout = layout or task.plain_layout
    words, columns = words_columns(task, path, layout), task.read_columns(targets)
    kind = target_kind(task)
    typed = form_of(path, layout) in OBJECTS and layout.beside is None
    examples = []
    nullable = task.target_columns if len(task.target_columns) > 1 else []
    for record in read_records(path, columns, list(words), layout, nullable):
        values = dict(zip([*columns, *words], record.values, strict=True))
        try:
            example = _example(task, kind, record.line, values, targets, typed)
            marked_words = {column: values[name] for name, column in words.items()}
            check_words(task, example.inputs[0], example.spans, marked_words)
        except ValueError as error:
            raise InputError(str(error), path=path, line=record.line) from None
        examples.append(example)
    return examples


def read_targets(task: Task, path: Path, sizes: np.ndarray | None = None, predicted: bool = False) -> np.ndarray:
    """The targets (rows,), or predictions (`TargetKind.parse_prediction`), in a file as `mtl.submissions.format.write_predictions` writes it. `sizes`
    are the numbers of the rows' candidates or units, (rows,), if known. Raises InputError for a target that is not valid, with its line."""
    kind, values = target_kind(task), []
    parse = kind.parse_prediction if predicted else kind.parse
    row_sizes = chain([] if sizes is None else sizes.tolist(), repeat(None))
    for number, (line, size) in enumerate(zip(read_lines(path)[1:], row_sizes, strict=False), start=2):
        try:
            values.append(parse(kind.line_cell(line), size))
        except ValueError as error:
            raise InputError(str(error), path=path, line=number) from None
    return np.array(values, dtype=kind.dtype)


def _example(task: Task, kind: TargetKind, line: int, values: Mapping[str, Any], targets: bool, typed: bool) -> Example:
    """The row on this line of its file, from its values by column. Raises ValueError that says what is wrong with them."""
    inputs = make_inputs(task, row_texts(task, values))
    if not 0 < len(inputs) <= MOST_CANDIDATES:
        problem = f"has {len(inputs)} candidates; a row must have 1 to {MOST_CANDIDATES}"
        raise ValueError(f"column {task.text_columns[-1]!r}: {problem}")
    marked = [(side, name, [values[end] for end in span_ends(name)]) for side, name in task.marked]
    spans = make_spans(task, inputs[0], [parse_span(name, inputs[0][side], ends, typed) for side, name, ends in marked])
    if not targets:
        return Example(line, inputs, spans=spans)
    try:
        value = target_value(task, values)
        if typed and not kind.has_type(value):
            raise ValueError(f"target {json.dumps(value, ensure_ascii=False)} must be {kind.types_name}")
        target = kind.parse(target_cell(kind, value), kind.size(inputs))
        target = kind.located(target, inputs[0], None if task.starts is None else _cells(values[task.starts]))
    except ValueError as error:
        raise ValueError(f"column {task.target!r}: {error}") from None
    group = _text(values, task.group) if task.group else None
    return Example(line, inputs, target, group, tuple(_text(values, name) for name in task.further_columns), spans)


def _cells(value: Value) -> list[str]:
    """The texts of a list, or of a single value."""
    return list(map(text, value)) if isinstance(value, list) else [text(value)]


def target_value(task: Task, values: Mapping[str, Any]) -> Value:
    """The target of a row, from its values by column. Raises ValueError for values of several columns that are no target."""
    if len(task.target_columns) == 1:
        return values[task.target]
    return target_kind(task).gather({name: values[name] for name in task.target_columns})


def target_cell(kind: TargetKind, value: Value) -> str:
    """A target of a file with types as its cell. Raises ValueError for a value that no cell holds."""
    return kind.join([text(item) for item in value]) if isinstance(value, list) else text(value)


def _text(values: Mapping[str, Any], column: str) -> str:
    """The text of a row in a column. Raises ValueError, which names the column, for a value that is no text."""
    try:
        return text(values[column])
    except ValueError as error:
        raise ValueError(f"column {column!r}: {error}") from None
