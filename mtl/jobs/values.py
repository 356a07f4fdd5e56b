"""Predictions that Python code has as values by task, each a list, an array, a mapping or a table, as the lines that a file would have."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mtl.base.errors import InputError
from mtl.base.interface import foreign
from mtl.submissions.data_rows import Rows
from mtl.submissions.files import JSON_LINES, SPLITS
from mtl.submissions.lines import ID, PredictionLines, RowMarks, row_marks
from mtl.submissions.row_files import PREDICTION
from mtl.submissions.row_predictions import Sources
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import TargetKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import SPLIT_OF, Task

Indices = Mapping[tuple[str, str], Sequence[Any]]  # of the frames that the suite was made of, by task id and split
RowsBySplit = dict[str, list[dict[str, Any]]]
SPLIT = "split"  # the column of a table that names the split of each row
INDEX = "label of the index"  # of a row of a Series or a DataFrame; no column has this name
IS_COUNT = "index is a count"  # likewise: whether pandas made the index by itself, which then counts the rows from 0
NO_DATA = (ID, PREDICTION, SPLIT, INDEX, IS_COUNT)  # the keys of a row that are no columns of the data
NO_LISTS = (str, bytes, set, frozenset)  # a set has no order


@dataclass(frozen=True)
class PredictedValues:
    """The predictions of one seed, as values. `mtl.jobs.predicted_files.PredictedFiles` has the same methods."""

    name: str  # what notes call them
    lines: Sources

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the predictions: that of a folder with these lines as files."""
        sums = {}
        for (id, split), lines in self.lines.items():
            ids = {} if lines.marks.ids is None else {ID: lines.marks.ids}
            columns = {PREDICTION: lines.values, **ids, **lines.marks.columns}
            rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
            content = "".join(json.dumps(row, default=str) + "\n" for row in rows)
            sums[JSON_LINES.format(split=split, task=id)] = hashlib.sha256(content.encode()).hexdigest()
        return hashlib.sha256("".join(f"{sums[file]}  {file}\n" for file in sorted(sums)).encode()).hexdigest()

    def splits(self, suite: Suite) -> set[tuple[str, str]]:
        """The tasks and splits that there are predictions for."""
        return set(self.lines)

    def sources(self, suite: Suite, rows: Rows) -> Sources:
        return self.lines

    def error(self, problem: str) -> InputError:
        return InputError(problem, key="predictions")


def predicted_values(predictions: Sequence[Any], suite: Suite, indices: Indices) -> list[PredictedValues]:
    """The predictions of each seed, as `mtl.import_predictions` takes them. Raises InputError, which names the task and the row, for other values."""
    seeds = []
    for number, seed_predictions in enumerate(predictions):
        key = "predictions" if len(predictions) == 1 else f"predictions[{number}]"
        lines: dict[tuple[str, str], PredictionLines] = {}
        for id, values in _by_task(seed_predictions, suite, key).items():
            task_key = f"{key}.{id}"
            if id not in suite.tasks:
                raise InputError(f"suite {suite.name} has no such task; it has {', '.join(suite.tasks)}", key=task_key)
            lines |= _task_lines(values, suite, id, indices, task_key)
        seeds.append(PredictedValues(f"predictions-{number + 1}", lines))
    return seeds


def _by_task(predictions: Any, suite: Suite, key: str) -> Mapping[str, Any]:
    """The predictions of a seed by task id. Those for a suite of one task need not name it."""
    names_tasks = isinstance(predictions, Mapping) and suite.tasks.keys() & predictions.keys()
    if len(suite.tasks) == 1 and not names_tasks:
        return dict.fromkeys(suite.tasks, predictions)
    if not isinstance(predictions, Mapping):
        example = f"{{{next(iter(suite.tasks))!r}: predictions}}"
        raise InputError(f"must be a dictionary by task, as in {example}, or a list of these for seeds", key=key)
    return predictions


def _task_lines(values: Any, suite: Suite, id: str, indices: Indices, key: str) -> Sources:
    """The predictions of one task."""
    task, lines = suite.tasks[id], {}
    with foreign(key):
        for split, rows in _by_split(values, task, key).items():
            ids = _ids(rows, split, indices.get((id, split), []), key)
            cells_beside = [{name: row[name] for name in row if name not in NO_DATA} for row in rows]
            marks = row_marks(task, cells_beside, suite.submission.ids)
            if ids is not None:
                marks = RowMarks(marks.columns, ids)
            lines[id, split] = PredictionLines(f"{key}.{split}", [row[PREDICTION] for row in rows], marks)
    return lines


def _by_split(values: Any, task: Task, key: str) -> RowsBySplit:
    """A task's rows by split. Values that do not name splits are of the split that scores the task. Raises InputError for other splits."""
    if not isinstance(values, Mapping) or not any(str(name).lower() in SPLIT_OF for name in values):
        return _wanted_rows(values, task, task.scored_split, SPLITS, key)
    by_split: RowsBySplit = {}
    for name, part in values.items():
        split = SPLIT_OF.get(str(name).lower(), "")
        if split not in SPLITS or split in by_split:
            raise InputError(f"split {name!r} must be {' or '.join(SPLITS)}, each named once", key=key)
        by_split |= _wanted_rows(part, task, split, (split,), f"{key}.{name}")
    return by_split


def _wanted_rows(values: Any, task: Task, unnamed_split: str, wanted: Sequence[str], key: str) -> RowsBySplit:
    """The rows of the wanted splits. A row that names no split is of `unnamed_split`. Raises InputError for rows of which none is wanted."""
    by_split: RowsBySplit = {}
    rows = value_rows(values, task, key)
    for number, row in enumerate(rows, start=1):
        row_key = f"{key}, row {number}"
        name = row.get(SPLIT, unnamed_split)
        split = SPLIT_OF.get(str(name).lower())
        if split is None:
            problem = f"column {SPLIT!r} has {name!r}, and not train, dev or test; leave the column out"
            raise InputError(problem, key=row_key)
        if split in wanted:
            by_split.setdefault(split, []).append({**row, PREDICTION: plain_prediction(row[PREDICTION], task, row_key)})
    if rows and not by_split:
        raise InputError(f"column {SPLIT!r} names no example of {' or '.join(wanted)}", key=key)
    return by_split


def _ids(rows: Sequence[Mapping[str, Any]], split: str, frame_index: Sequence[Any], key: str) -> list[Any] | None:
    """The ids of the rows of a split; None: they are all rows of the data, in order. `frame_index` is that of the frame that the suite was made of,
    if it was. Raises InputError for an index that may put the predictions to other rows."""
    if ID in rows[0]:
        return [row[ID] for row in rows]
    index = [row[INDEX] for row in rows if INDEX in row]
    if not index or index == list(frame_index):
        return None
    if rows[0][IS_COUNT] and set(index) != set(frame_index):
        return None  # a count of other rows says nothing
    if not frame_index and all(isinstance(label, str) for label in index):
        return index
    raise _index_error(index, split, frame_index, key)


def _index_error(index: Sequence[Any], split: str, frame_index: Sequence[Any], key: str) -> InputError:
    """The error for an index that may put predictions to other rows of a split, with a remedy."""
    problem = f"the index ({', '.join(map(repr, index[:3]))}, …) is not that of the data's {split} examples, or in another order"
    remedy = "if they are in the order of the data, reset_index(drop=True), and name their split"
    if frame_index:
        remedy = f"predictions.loc[frame.index] puts those of this frame in its order; {remedy}"
    elif set(index) == set(range(len(index))):
        remedy = f"if it numbers the examples of the data, sort_index().reset_index(drop=True); {remedy}"
    return InputError(f"{problem}; {remedy}, as in {{{split!r}: …}}; else give a column {ID!r}", key=key)


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
        problem = f"must be a text, a number or a truth value{lists}{seeds}"
        raise InputError(f"{PREDICTION} {_shown(value)} {problem}", key=key)
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
