"""Predictions that Python code has as values: lists, arrays and tables by task, as the lines that a file of them would have."""

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
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import TargetKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import SPLIT_OF, Task

SPLIT = "split"  # the column of a table that names the split of each row
INDEX = "label of the index"  # of a row of a Series or a DataFrame; no column has this name
IS_COUNT = "is_count"  # whether the index is the one that pandas makes by itself, which counts the rows from 0
OF_TABLES = (ID, PREDICTION, INDEX, IS_COUNT)  # the names of what rows of tables have beside their further columns

Indices = Mapping[tuple[str, str], Sequence[Any]]
"""The index of the frame that holds the rows of a split, by task id and split."""


@dataclass(frozen=True)
class PredictedValues:
    """The predictions of one seed, as values. `mtl.jobs.imported.PredictedFiles` has the same methods."""

    name: str  # what notes call them
    lines: Mapping[tuple[str, str], PredictionLines]  # by task id and split

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the predictions: that of a folder with these lines as files."""
        sums = {}
        for (id, split), lines in self.lines.items():
            ids = {} if lines.marks.ids is None else {ID: lines.marks.ids}
            columns = {PREDICTION: lines.values, **ids, **lines.marks.columns}
            rows = (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))
            content = "".join(json.dumps(row, default=str) + "\n" for row in rows)
            sums[JSON_LINES.format(split=split, task=id)] = hashlib.sha256(content.encode()).hexdigest()
        return hashlib.sha256("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()).hexdigest()

    def splits(self, suite: Suite) -> set[tuple[str, str]]:
        """The tasks and splits that there are predictions for."""
        return set(self.lines)

    def sources(self, suite: Suite, rows: Rows) -> Mapping[tuple[str, str], PredictionLines]:
        """The predictions by task id and split."""
        return self.lines

    def error(self, problem: str) -> InputError:
        return InputError(problem, key="predictions")


def predicted_values(predictions: Sequence[Any], suite: Suite, indices: Indices) -> list[PredictedValues]:
    """The predictions of each seed, by seed as `mtl.import_predictions` takes them; `indices` are those of the frames that the suite was made of.
    Raises InputError, which names the task and the row, for values that are no predictions."""
    seeds = []
    for number, by_task in enumerate(predictions):
        key = "predictions" if len(predictions) == 1 else f"predictions[{number}]"
        if len(suite.tasks) == 1 and not (isinstance(by_task, Mapping) and suite.tasks.keys() & by_task.keys()):
            by_task = dict.fromkeys(suite.tasks, by_task)
        if not isinstance(by_task, Mapping):
            example = f"as in {{{next(iter(suite.tasks))!r}: predictions}}"
            raise InputError(f"must be a dictionary by task, {example}, or a list of these for seeds", key=key)
        lines = {}
        for id, values in by_task.items():
            task_key = f"{key}.{id}"
            if id not in suite.tasks:
                raise InputError(f"suite {suite.name} has no such task; it has {', '.join(suite.tasks)}", key=task_key)
            with foreign(task_key):
                for split, rows in _by_split(values, suite.tasks[id], task_key).items():
                    ids = _ids(rows, split, indices.get((id, split), []), task_key)
                    columns = [{name: row[name] for name in row if name not in OF_TABLES} for row in rows]
                    marks = row_marks(suite.tasks[id], columns, suite.submission.ids)
                    if ids is not None:
                        marks = RowMarks(marks.columns, ids)
                    predicted = [row[PREDICTION] for row in rows]
                    lines[id, split] = PredictionLines(f"{task_key}.{split}", predicted, marks)
        seeds.append(PredictedValues(f"predictions-{number + 1}", lines))
    return seeds


def _by_split(values: Any, task: Task, key: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of a task by split. Those of a table name their splits, or are of the split that scores the task."""
    by_split: dict[str, list[dict[str, Any]]] = {}
    is_by_split = isinstance(values, Mapping) and any(str(name).lower() in SPLIT_OF for name in values)
    for name, part in (values if is_by_split else {task.scored_split: values}).items():
        part_split = SPLIT_OF.get(str(name).lower(), "")
        if part_split not in SPLITS:
            raise InputError(f"split {name!r} must be {' or '.join(SPLITS)}", key=key)
        wanted = (part_split,) if is_by_split else SPLITS
        rows = _rows(part, task, key)
        for number, row in enumerate(rows, start=1):
            where, named = f"{key}, row {number}", row.pop(SPLIT, part_split)
            if (split := SPLIT_OF.get(str(named).lower())) is None:
                problem = f"column {SPLIT!r} has {named!r}, and not train, dev or test; leave the column out"
                raise InputError(problem, key=where)
            if split in wanted:
                row[PREDICTION] = _plain_prediction(row[PREDICTION], task, where)
                by_split.setdefault(split, []).append(row)
        if rows and not any(split in by_split for split in wanted):
            raise InputError(f"column {SPLIT!r} names no example of {' or '.join(wanted)}", key=key)
    return by_split


def _ids(rows: Sequence[Mapping[str, Any]], split: str, labels: Sequence[Any], key: str) -> list[Any] | None:
    """The ids of the rows of a split; None: they are all rows of the data, in order. `labels` are those of the index of the frame that the suite was
    made of, if it was. Raises InputError for an index that may put the predictions to other rows."""
    if ID in rows[0]:
        return [row[ID] for row in rows]
    index = [row[INDEX] for row in rows if INDEX in row]
    only_counts = bool(index) and rows[0][IS_COUNT] and {*index} != {*labels}
    if not index or index == list(labels) or only_counts:
        return None
    if not labels and all(isinstance(label, str) for label in index):
        return index
    problem = f"the index ({', '.join(map(repr, index[:3]))}, …) is not that of the data's {split} examples, or in another order"
    sorting = ""
    if labels:
        sorting = "predictions.loc[frame.index] puts those of this frame in its order; "
    elif {*index} == {*range(len(index))}:
        sorting = "if it numbers the examples of the data, sort_index().reset_index(drop=True); "
    remedy = f"{sorting}if they are in the order of the data, reset_index(drop=True), and name their split"
    raise InputError(f"{problem}; {remedy}, as in {{{split!r}: …}}; else give a column {ID!r}", key=key)


def _rows(values: Any, task: Task, key: str) -> list[dict[str, Any]]:
    """The rows of a list, an array, a mapping by id, or a table. Predictions are in its column prediction, in its only one beside id and split, or in
    one for each label. Rows without ids have their labels of its index, unless it is the one that pandas makes by itself for the rows of a split."""
    kind, index = target_kind(task), getattr(values, "index", None)
    is_list = isinstance(values, Iterable) and isinstance(values, Sized) and not isinstance(values, str | bytes)
    if hasattr(values, "columns"):
        columns = _table_columns(values, kind, key)
    elif isinstance(values, Mapping) and (kind.has_type([]) or not any(map(_has_items, values.values()))):
        columns = {ID: values.keys(), PREDICTION: values.values()}
    elif is_list and not isinstance(values, Mapping):
        columns = {PREDICTION: values}
    else:
        forms = "a list, an array, a table, or a mapping from dev and test to these, or from ids to predictions"
        raise InputError(f"must be {forms}", key=key)
    if ID in columns:
        columns[ID] = [_plain_id(value, f"{key}, row {row}") for row, value in enumerate(columns[ID], start=1)]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if ID in columns or index is None or not hasattr(index, "tolist"):
        return rows
    labels = index.tolist()
    is_count = type(index).__name__ == "RangeIndex" and labels == [*range(len(rows))]
    if is_count and SPLIT not in columns:
        return rows
    return [{**row, INDEX: label, IS_COUNT: is_count} for row, label in zip(rows, labels, strict=True)]


def _table_columns(table: Any, kind: TargetKind, key: str) -> dict[str, Iterable[Any]]:
    """The columns of a table under the names that `_rows` gives them. Raises InputError unless one, or one for each label, has predictions."""
    columns: dict[str, Iterable[Any]] = {name: table[name] for name in (ID, SPLIT) if name in table.columns}
    names = [name for name in table.columns if name not in columns]
    if PREDICTION in names:
        columns |= {name: table[name] for name in names if names.count(name) == 1}
    if PREDICTION in names or len(names) == 1:
        columns[PREDICTION] = table[PREDICTION if PREDICTION in names else names[0]]
    elif kind.has_parts and {*names} == {*kind.labels}:
        cells = zip(*(table[name] for name in names), strict=True)
        columns[PREDICTION] = [kind.gather(dict(zip(names, row, strict=True))) for row in cells]
    else:
        problem = f"the table has no column {PREDICTION!r}; it has {', '.join(map(str, names))}"
        raise InputError(problem, key=key)
    return columns


def _plain_id(value: Any, key: str) -> Any:
    """An id as a value of Python's own. Raises InputError for one that is no value of a JSON file."""
    plain = _python_value(value)
    if not _are_json_values([plain]):
        raise InputError(f"{ID} {_shown(value)} must be a text, a number or a truth value", key=key)
    return plain


def _plain_prediction(value: Any, task: Task, key: str) -> Any:
    """A prediction as a value of Python's own, or a list of these. Raises InputError for one that is no value of a JSON file."""
    kind, plain = target_kind(task), _python_value(value)
    if isinstance(plain, set | frozenset) and not kind.by_unit:  # labels of units have an order
        plain = sorted(plain)
    takes_lists = kind.has_type([])
    if not _are_json_values(plain if takes_lists and isinstance(plain, list) else [plain]):
        lists = ", or a list of these" if takes_lists else ""
        seeds = f"; for several seeds give [{{{task.id!r}: …}}, {{{task.id!r}: …}}]" if isinstance(plain, list) else ""
        problem = f"{PREDICTION} {_shown(value)} must be a text, a number or a truth value"
        raise InputError(f"{problem}{lists}{seeds}", key=key)
    return kind.from_python(plain)


def _has_items(value: Any) -> bool:
    """Whether a value is no single one, as of a list or an array."""
    return isinstance(value, Sized) and not isinstance(value, str)


def _python_value(value: Any) -> Any:
    """A value of another library, or a tuple, as a value of Python's own."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    return list(plain) if isinstance(plain, tuple) else plain


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
