"""Predictions that Python code has as values by task, as the lines that a file of them would have."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mtl.base.errors import InputError
from mtl.base.interface import foreign
from mtl.jobs.value_rows import INDEX, IS_COUNT, SPLIT, plain_prediction, value_rows
from mtl.submissions.data_rows import Rows
from mtl.submissions.files import JSON_LINES, SPLITS
from mtl.submissions.lines import ID, PredictionLines, RowMarks, row_marks
from mtl.submissions.row_files import PREDICTION
from mtl.tasks.suite import Suite
from mtl.tasks.task import SPLIT_OF, Task

Indices = Mapping[tuple[str, str], Sequence[Any]]  # of the frames that hold the rows, by task id and split
Lines = dict[tuple[str, str], PredictionLines]  # by task id and split
OWN_NAMES = (ID, PREDICTION, INDEX, IS_COUNT)  # in a row: what is no column of the data


@dataclass(frozen=True)
class PredictedValues:
    """The predictions of one seed, as values. `mtl.jobs.predicted_files.PredictedFiles` has the same methods."""

    name: str  # what notes call them
    lines: Lines

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

    def sources(self, suite: Suite, rows: Rows) -> Lines:
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
        names_tasks = isinstance(by_task, Mapping) and suite.tasks.keys() & by_task.keys()
        if len(suite.tasks) == 1 and not names_tasks:
            by_task = dict.fromkeys(suite.tasks, by_task)
        if not isinstance(by_task, Mapping):
            example = f"as in {{{next(iter(suite.tasks))!r}: predictions}}"
            raise InputError(f"must be a dictionary by task, {example}, or a list of these for seeds", key=key)
        lines: Lines = {}
        for id, values in by_task.items():
            if id not in suite.tasks:
                problem = f"suite {suite.name} has no such task; it has {', '.join(suite.tasks)}"
                raise InputError(problem, key=f"{key}.{id}")
            lines |= _task_lines(values, suite, id, indices, f"{key}.{id}")
        seeds.append(PredictedValues(f"predictions-{number + 1}", lines))
    return seeds


def _task_lines(values: Any, suite: Suite, id: str, indices: Indices, key: str) -> Lines:
    """The predictions of one task."""
    task, lines = suite.tasks[id], {}
    with foreign(key):
        for split, rows in _by_split(values, task, key).items():
            ids = _ids(rows, split, indices.get((id, split), []), key)
            cells_beside = [{name: row[name] for name in row if name not in OWN_NAMES} for row in rows]
            marks = row_marks(task, cells_beside, suite.submission.ids)
            marks = marks if ids is None else RowMarks(marks.columns, ids)
            lines[id, split] = PredictionLines(f"{key}.{split}", [row[PREDICTION] for row in rows], marks)
    return lines


def _by_split(values: Any, task: Task, key: str) -> dict[str, list[dict[str, Any]]]:
    """A task's rows by split. Those of a table name their splits, or are of the split that scores the task. Raises InputError for other splits."""
    by_split: dict[str, list[dict[str, Any]]] = {}
    is_by_split = isinstance(values, Mapping) and any(str(name).lower() in SPLIT_OF for name in values)
    parts = values if is_by_split else {task.scored_split: values}
    for name, part in parts.items():
        part_split = SPLIT_OF.get(str(name).lower(), "")
        if part_split not in SPLITS or part_split in by_split:
            raise InputError(f"split {name!r} must be {' or '.join(SPLITS)}, each named once", key=key)
        wanted = (part_split,) if is_by_split else SPLITS
        rows = value_rows(part, task, key)
        for number, row in enumerate(rows, start=1):
            row_key, named = f"{key}, row {number}", row.pop(SPLIT, part_split)
            split = SPLIT_OF.get(str(named).lower())
            if split is None:
                problem = f"column {SPLIT!r} has {named!r}, and not train, dev or test; leave the column out"
                raise InputError(problem, key=row_key)
            if split in wanted:
                row[PREDICTION] = plain_prediction(row[PREDICTION], task, row_key)
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
    if not index or index == list(labels):
        return None
    if rows[0][IS_COUNT] and {*index} != {*labels}:  # a count says nothing where it is not that of the frame
        return None
    if not labels and all(isinstance(label, str) for label in index):
        return index
    problem = f"the index ({', '.join(map(repr, index[:3]))}, …) is not that of the data's {split} examples, or in another order"
    sorting = "predictions.loc[frame.index] puts those of this frame in its order; " if labels else ""
    if not labels and {*index} == {*range(len(index))}:
        sorting = "if it numbers the examples of the data, sort_index().reset_index(drop=True); "
    remedy = f"{sorting}if they are in the order of the data, reset_index(drop=True), and name their split"
    raise InputError(f"{problem}; {remedy}, as in {{{split!r}: …}}; else give a column {ID!r}", key=key)
