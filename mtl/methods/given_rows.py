"""The rows that a caller hands to a trained model, as the lists of texts and spans that it takes."""

from collections.abc import Mapping
from typing import Any

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
        if hasattr(rows, "columns"):  # a DataFrame
            rows = rows.to_dict("records")
        len(rows)  # raises TypeError for an iterator, which could be read only once
        for row in rows:
            try:
                parts = _as_list(task, row)
                make_example(task, parts)  # checks them, and raises ValueError for what is no row
                lists.append(parts)
            except ValueError as error:
                raise InputError(f"{_forms(task)}; {repr(row)[:SHOWN]} {error}") from None
    return lists


def _forms(task: Task) -> str:
    """The forms of rows that the task takes, in words."""
    tokens = "lists of tokens, " if target_kind(task).by_unit else ""
    alone = f"texts, {tokens}or " if _has_one_text(task) else ""
    return f"task {task.id} takes {alone}examples, each a list of {_parts(task)}"


def _has_one_text(task: Task) -> bool:
    """Whether a row of the task has one text and nothing else, so that the text alone may stand for it."""
    return task.candidates is None and len(task.text) + len(task.marked) == 1


def _parts(task: Task) -> str:
    """What a row of the task is a list of, in words."""
    if task.candidates is not None:
        return "texts and candidates"
    form = f"{counted(len(task.text), 'text')}: {', '.join(task.text)}"
    if task.spans:
        spans = ", ".join(f"{column} in {task.text[side]}" for side, column in task.marked)
        form += f"; then (start, stop) of {counted(len(task.marked), 'span')}: {spans}"
    example = ", ".join(['"…"'] * len(task.text) + ["(0, 4)"] * len(task.marked))
    return f"{form}, as in [{example}]"


def _as_list(task: Task, row: Any) -> Row:
    """A row as a list of its texts and spans; tokens are joined as those of data files. Raises ValueError for another value."""
    row, kind = _without_array(row), target_kind(task)
    if isinstance(row, Mapping) and task.candidates is None and not task.marked:
        names = [column if column in row else column.removesuffix(LIST) for column in task.text]
        if lacking := [name for name in names if name not in row]:
            raise ValueError(f"has no column {lacking[0]!r}")
        parts = [row[name] for name in names]
    elif isinstance(row, str) and _has_one_text(task):
        parts = [row]
    elif not isinstance(row, list | tuple):
        raise ValueError("is a text" if isinstance(row, str) else f"is of type {type(row).__name__}")
    elif kind.by_unit and _has_one_text(task) and len(row) != 1:
        parts = [row]  # the tokens of the text
    else:
        parts = list(row)
    parts = list(map(_without_array, parts))
    return [kind.join_text(part) if isinstance(kind, UnitKind) and _are_tokens(part) else part for part in parts]


def _are_tokens(part: Any) -> bool:
    return isinstance(part, list | tuple) and all(isinstance(token, str) for token in part)


def _without_array(value: Any) -> Any:
    """An array of NumPy as a list; any other value as it is."""
    return value.tolist() if hasattr(value, "tolist") else value
