"""The rows of predictions in a list, an array, a mapping or a table of Python code, with values as a JSON file has them."""

import json
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

from mtl.base.errors import InputError
from mtl.submissions.lines import ID
from mtl.submissions.row_files import PREDICTION
from mtl.tasks.target_kind import TargetKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

SPLIT = "split"  # the column of a table that names the split of each row
INDEX = "label of the index"  # of a row of a Series or a DataFrame; no column has this name
IS_COUNT = "index is a count"  # likewise: whether pandas made the index by itself, which then counts the rows from 0
NO_LISTS = (str, bytes, set, frozenset)  # a set has no order


def value_rows(values: Any, task: Task, key: str) -> list[dict[str, Any]]:
    """The rows of a list, an array, a mapping by id, or a table. Without ids, they have what an index says, unless it counts one split's rows."""
    columns = _columns(values, target_kind(task), key)
    index: Any = getattr(values, "index", None)  # of a list, a method
    if ID in columns:
        columns[ID] = [_plain_id(value, f"{key}, row {row}") for row, value in enumerate(columns[ID], start=1)]
    elif hasattr(index, "tolist"):
        labels = index.tolist()
        is_count = type(index).__name__ == "RangeIndex" and labels == [*range(len(labels))]
        if SPLIT in columns or not is_count:
            columns |= {INDEX: labels, IS_COUNT: [is_count] * len(labels)}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _columns(values: Any, kind: TargetKind, key: str) -> dict[str, Iterable[Any]]:
    """The columns that `value_rows` finds in the values, by name. Raises InputError for values of another form."""
    if hasattr(values, "columns"):
        return _table_columns(values, kind, key)
    if isinstance(values, Mapping):
        has_lists = any(isinstance(value, Sized) and not isinstance(value, str) for value in values.values())
        if kind.has_type([]) or not has_lists:
            return {ID: values.keys(), PREDICTION: values.values()}
    elif isinstance(values, Iterable) and isinstance(values, Sized) and not isinstance(values, NO_LISTS):
        return {PREDICTION: values}
    forms = "a list, an array, a table, or a mapping from dev and test to these, or from ids to predictions"
    raise InputError(f"must be {forms}", key=key)


def _table_columns(table: Any, kind: TargetKind, key: str) -> dict[str, Iterable[Any]]:
    """The columns of a table. Its column prediction, or its only one beside id and split, or one for each label, has predictions; else InputError."""
    columns: dict[str, Iterable[Any]] = {name: table[name] for name in (ID, SPLIT) if name in table.columns}
    names = [name for name in table.columns if name not in columns]
    if PREDICTION in names:
        columns |= {name: table[name] for name in names if names.count(name) == 1}
        columns[PREDICTION] = table[PREDICTION]
    elif len(names) == 1:
        columns[PREDICTION] = table[names[0]]
    elif kind.has_parts and {*names} == {*kind.labels}:
        cells = zip(*(table[name] for name in names), strict=True)
        columns[PREDICTION] = [kind.gather(dict(zip(names, row, strict=True))) for row in cells]
    else:
        raise InputError(f"the table has no column {PREDICTION!r}; it has {', '.join(map(str, names))}", key=key)
    return columns


def _plain_id(value: Any, key: str) -> Any:
    """An id as a value of Python's own. Raises InputError for one that is no value of a JSON file."""
    own_value = _python_value(value)
    if not _are_json_values([own_value]):
        raise InputError(f"{ID} {_shown(value)} must be a text, a number or a truth value", key=key)
    return own_value


def plain_prediction(value: Any, task: Task, key: str) -> Any:
    """A prediction as a value of Python's own, or a list of these. Raises InputError for one that is no value of a JSON file."""
    kind, own_value = target_kind(task), _python_value(value)
    if isinstance(own_value, set | frozenset) and not kind.by_unit:  # labels of units have an order
        own_value = sorted(own_value)
    takes_lists, is_list = kind.has_type([]), isinstance(own_value, list)
    if not _are_json_values(own_value if takes_lists and is_list else [own_value]):
        lists = ", or a list of these" if takes_lists else ""
        seeds = f"; for several seeds give [{{{task.id!r}: …}}, {{{task.id!r}: …}}]" if is_list else ""
        problem = f"{PREDICTION} {_shown(value)} must be a text, a number or a truth value"
        raise InputError(f"{problem}{lists}{seeds}", key=key)
    return kind.from_python(own_value)


def _python_value(value: Any) -> Any:
    """A value of another library, or a tuple, as a value of Python's own."""
    own_value = value.tolist() if hasattr(value, "tolist") else value
    return list(own_value) if isinstance(own_value, tuple) else own_value


def _are_json_values(values: Sequence[Any]) -> bool:
    """Whether these are texts, numbers and truth values that a JSON file can hold: no NaN, and no half of a surrogate pair."""
    if not all(isinstance(value, str | int | float) for value in values):
        return False
    try:
        json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


def _shown(value: Any) -> str:
    """A value as a message has it, in one line."""
    return " ".join(repr(value)[:100].split())
