"""The rows of one task's predictions that Python code has as a list, an array, a mapping by id or a table, and their cells as plain values."""

import json
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from mtl.base.errors import InputError
from mtl.submissions.lines import ID
from mtl.submissions.row_files import PREDICTION
from mtl.tasks.target_kind import TargetKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

SPLIT = "split"  # the column of a table that names the split of each row
NO_LISTS = (str, bytes, set, frozenset)  # a set has no order


@dataclass(frozen=True)
class ValueRows:
    """Predictions of one task, in the order in which they are given."""

    rows: list[dict[str, Any]]  # cells by column: PREDICTION, and if given ID, SPLIT and columns of the data
    index: list[Any]  # labels of the rows in a Series or a DataFrame; empty: none that say which rows they are
    index_is_count: bool = False  # whether pandas has made the index by itself, which then counts the rows from 0


def value_rows(values: Any, task: Task, key: str) -> ValueRows:
    """The rows of a task's predictions. Raises InputError, which names the key, for values of another form."""
    columns = _columns(values, target_kind(task), key)
    if ID in columns:
        columns[ID] = [plain_id(value, f"{key}, row {number}") for number, value in enumerate(columns[ID], start=1)]
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    index: Any = getattr(values, "index", None)  # of a list, a method
    if ID in columns or not hasattr(index, "tolist"):
        return ValueRows(rows, index=[])
    labels = index.tolist()
    is_count = type(index).__name__ == "RangeIndex" and labels == list(range(len(labels)))
    if is_count and SPLIT not in columns:  # the rows of one split, which the index only counts
        return ValueRows(rows, index=[])
    return ValueRows(rows, labels, is_count)


def _columns(values: Any, kind: TargetKind, key: str) -> dict[str, Iterable[Any]]:
    """The column PREDICTION of the values, and what other columns they have. Raises InputError for values of another form."""
    if hasattr(values, "columns"):
        return _table_columns(values, kind, key)
    if isinstance(values, Mapping):
        has_lists = any(isinstance(value, Sized) and not isinstance(value, str) for value in values.values())
        if kind.has_type([]) or not has_lists:  # the keys of lists are ids only if a prediction is a list
            return {ID: values.keys(), PREDICTION: values.values()}
    elif isinstance(values, Iterable) and isinstance(values, Sized) and not isinstance(values, NO_LISTS):
        return {PREDICTION: values}
    forms = "a list, an array, a table, or a mapping from dev and test to these, or from ids to predictions"
    raise InputError(f"must be {forms}", key=key)


def _table_columns(table: Any, kind: TargetKind, key: str) -> dict[str, Iterable[Any]]:
    """The columns of a table. Predictions are in PREDICTION, in the only one beside ID and SPLIT, or in one for each label (joy, fear, …), 0 or 1."""
    columns: dict[str, Iterable[Any]] = {name: table[name] for name in (ID, SPLIT) if name in table.columns}
    names = [name for name in table.columns if name not in columns]
    if PREDICTION in names:
        columns |= {name: table[name] for name in names if names.count(name) == 1}
        columns[PREDICTION] = table[PREDICTION]
    elif len(names) == 1:
        columns[PREDICTION] = table[names[0]]
    elif kind.has_parts and set(names) == set(kind.labels):
        rows = zip(*(table[name] for name in names), strict=True)
        columns[PREDICTION] = [kind.gather(dict(zip(names, cells, strict=True))) for cells in rows]
    else:
        raise InputError(f"the table has no column {PREDICTION!r}; it has {', '.join(map(str, names))}", key=key)
    return columns


def plain_id(value: Any, key: str) -> Any:
    """An id as a text, a number or a truth value. Raises InputError, which names the key, for anything else."""
    id = _python_value(value)
    if not _fit_json([id]):
        raise InputError(f"{ID} {_shown(value)} must be a text, a number or a truth value", key=key)
    return id


def plain_prediction(value: Any, task: Task, key: str) -> Any:
    """A prediction, not yet checked to be a target, as a text, a number or a truth value, or of a task with lists as a list. Raises InputError."""
    kind = target_kind(task)
    takes_lists = kind.has_type([])
    prediction = _python_value(value)
    if isinstance(prediction, set | frozenset) and not kind.by_unit:  # labels of units have an order
        prediction = sorted(prediction)
    is_list = isinstance(prediction, list)
    if not _fit_json(prediction if is_list and takes_lists else [prediction]):
        lists = ", or a list of these" if takes_lists else ""
        seeds = f"; for several seeds give [{{{task.id!r}: …}}, {{{task.id!r}: …}}]" if is_list else ""
        problem = f"must be a text, a number or a truth value{lists}{seeds}"
        raise InputError(f"{PREDICTION} {_shown(value)} {problem}", key=key)
    return kind.from_python(prediction)


def _python_value(value: Any) -> Any:
    """The value in built-in types of Python: arrays and tensors become numbers or lists, and tuples become lists."""
    built_in = value.tolist() if hasattr(value, "tolist") else value
    return list(built_in) if isinstance(built_in, tuple) else built_in


def _fit_json(values: Sequence[Any]) -> bool:
    """Whether these are texts, numbers and truth values that a JSON file can hold: no NaN, and no half of a surrogate pair."""
    if not all(isinstance(value, str | int | float) for value in values):
        return False
    try:
        json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


def _shown(value: Any) -> str:
    """The beginning of a value as a message has it, in one line."""
    return " ".join(repr(value)[:100].split())
