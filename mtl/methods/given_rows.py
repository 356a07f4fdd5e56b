"""The rows that a caller hands to a trained model, as the lists of texts and spans that it takes, and targets that a caller gives to rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.interface import errors_as_input
from mtl.base.wording import counted
from mtl.data.columns import LIST
from mtl.data.examples import Row, make_example
from mtl.tasks.target_kind import UnitKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

SHOWN = 200  # characters of a row in a message


def as_rows(task: Task, rows: Any) -> list[Row]:
    """A task's rows, in the forms that `mtl.methods.predictor.Predictor.predict` takes, each as a list. Raises InputError for another form."""
    lists: list[Row] = []
    with errors_as_input("rows"):
        if isinstance(rows, str | Mapping):
            raise InputError(f"{_forms(task)}; not a {type(rows).__name__}")
        records = rows.to_dict("records") if hasattr(rows, "columns") else rows  # a DataFrame has columns
        len(records)  # raises TypeError for an iterator, which could be read only once
        for record in records:
            try:
                row = _as_list(task, record)
                make_example(task, row)  # checks it, and raises ValueError for what is no row
                lists.append(row)
            except ValueError as error:
                raise InputError(f"{_forms(task)}; {repr(record)[:SHOWN]} {error}") from None
    return lists


def as_codes(task: Task, rows: Sequence[Row], targets: Sequence[Any], answers: Sequence[str]) -> np.ndarray:
    """The codes of the rows' targets in the form of the task's files, (rows,) or (rows, codes). Raises InputError for targets of another form."""
    if len(targets) != len(rows):
        raise InputError(f"{len(targets)} for {len(rows)} rows", key="targets")
    kind = target_kind(task)
    row_inputs = [make_example(task, row).inputs for row in rows]
    first_inputs = [inputs[0] for inputs in row_inputs]
    with errors_as_input("targets"):
        sizes = map(kind.size, row_inputs)
        cells = [kind.join(target) if isinstance(target, list) else str(kind.from_python(target)) for target in targets]
        parsed = [kind.parse(cell, size) for cell, size in zip(cells, sizes, strict=True)]
        located = [kind.located(target, texts, None) for target, texts in zip(parsed, first_inputs, strict=True)]
        return kind.head.encode(np.array(located, dtype=kind.dtype), answers, [texts[-1] for texts in first_inputs])


def _forms(task: Task) -> str:
    """The forms of rows that the task takes, in words."""
    tokens = "lists of tokens, " if isinstance(target_kind(task), UnitKind) else ""
    alone = f"texts, {tokens}or " if _has_one_text(task) else ""
    return f"task {task.id} takes {alone}examples, each a list of {_list_form(task)}"


def _list_form(task: Task) -> str:
    """What a row of the task is a list of, in words."""
    if task.candidates is not None:
        return "texts and candidates"
    form = f"{counted(len(task.text), 'text')}: {', '.join(task.text)}"
    if task.spans:
        spans = ", ".join(f"{column} in {task.text[side]}" for side, column in task.marked)
        form += f"; then (start, stop) of {counted(len(task.marked), 'span')}: {spans}"
    example = ", ".join(['"…"'] * len(task.text) + ["(0, 4)"] * len(task.marked))
    return f"{form}, as in [{example}]"


def _as_list(task: Task, record: Any) -> Row:
    """A row as a list of its texts and spans; tokens are joined as those of data files. Raises ValueError for another value."""
    kind = target_kind(task)
    values = list(map(_without_array, _values(task, _without_array(record))))
    if isinstance(kind, UnitKind):
        return [kind.join_text(value) if _are_tokens(value) else value for value in values]
    return values


def _values(task: Task, record: Any) -> list[Any]:
    """The texts and spans of a row: of a dictionary, a list, or the one text of the row, which may be a list of tokens. Errors: as in `_as_list`."""
    if isinstance(record, Mapping) and task.candidates is None and not task.marked:
        names = [column if column in record else column.removesuffix(LIST) for column in task.text]
        if lacking := [name for name in names if name not in record]:
            raise ValueError(f"has no column {lacking[0]!r}")
        return [record[name] for name in names]
    if isinstance(record, str) and _has_one_text(task):
        return [record]
    if isinstance(record, str):
        raise ValueError("is a text")
    if not isinstance(record, list | tuple):
        raise ValueError(f"is of type {type(record).__name__}")
    are_tokens = isinstance(target_kind(task), UnitKind) and _has_one_text(task) and len(record) != 1
    return [record] if are_tokens else list(record)


def _has_one_text(task: Task) -> bool:
    """Whether a row of the task has one text and nothing else, so that the text alone may stand for it."""
    return task.candidates is None and len(task.text) + len(task.marked) == 1


def _are_tokens(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(token, str) for token in value)


def _without_array(value: Any) -> Any:
    """An array of NumPy as a list; any other value as it is."""
    return value.tolist() if hasattr(value, "tolist") else value
