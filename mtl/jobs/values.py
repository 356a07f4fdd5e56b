"""Predictions that Python code has as values by task, each a list, an array, a mapping or a table, as the lines that a file would have."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl.base.errors import InputError
from mtl.base.interface import errors_as_input
from mtl.jobs.predicted_files import PredictedValues
from mtl.jobs.value_rows import SPLIT, ValueRows, plain_prediction, value_rows
from mtl.submissions.files import SPLITS
from mtl.submissions.lines import ID, PredictionLines, RowMarks, row_marks
from mtl.submissions.row_files import PREDICTION
from mtl.submissions.row_predictions import Sources
from mtl.tasks.suite import Suite
from mtl.tasks.task import SPLIT_OF, Task

Indices = Mapping[tuple[str, str], Sequence[Any]]  # of the frames that the suite was made of, by task id and split
NO_DATA = (ID, PREDICTION, SPLIT)  # the columns of `ValueRows` that are no columns of the data


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
    names_tasks = isinstance(predictions, Mapping) and any(id in predictions for id in suite.tasks)
    if len(suite.tasks) == 1 and not names_tasks:
        return dict.fromkeys(suite.tasks, predictions)
    if not isinstance(predictions, Mapping):
        example = f"{{{next(iter(suite.tasks))!r}: predictions}}"
        raise InputError(f"must be a dictionary by task, as in {example}, or a list of these for seeds", key=key)
    return predictions


def _task_lines(values: Any, suite: Suite, id: str, indices: Indices, key: str) -> Sources:
    """The predictions of one task, by its id and the split."""
    task = suite.tasks[id]
    lines: dict[tuple[str, str], PredictionLines] = {}
    with errors_as_input(key):
        for split, predicted in _rows_by_split(values, task, key).items():
            ids = _ids(predicted, split, indices.get((id, split), []), key)
            data_cells = [{name: row[name] for name in row if name not in NO_DATA} for row in predicted.rows]
            marks = row_marks(task, data_cells, suite.submission.ids)
            if ids is not None:
                marks = RowMarks(marks.columns, ids)
            lines[id, split] = PredictionLines(f"{key}.{split}", [row[PREDICTION] for row in predicted.rows], marks)
    return lines


def _rows_by_split(values: Any, task: Task, key: str) -> dict[str, ValueRows]:
    """A task's rows by split. Without a mapping from splits, or a column SPLIT, all are of the split that scores it. Raises InputError for others."""
    if not isinstance(values, Mapping) or not any(str(name).lower() in SPLIT_OF for name in values):
        return _wanted_rows(values, task, SPLITS, task.scored_split, key)
    by_split: dict[str, ValueRows] = {}
    for name, split_values in values.items():
        split = SPLIT_OF.get(str(name).lower(), "")
        if split not in SPLITS or split in by_split:
            raise InputError(f"split {name!r} must be {' or '.join(SPLITS)}, each named once", key=key)
        by_split |= _wanted_rows(split_values, task, [split], split, f"{key}.{name}")
    return by_split


def _wanted_rows(values: Any, task: Task, wanted: Sequence[str], default: str, key: str) -> dict[str, ValueRows]:
    """The rows of the wanted splits; without a column SPLIT, all are of the default split. Raises InputError for rows of which none is wanted."""
    predicted = value_rows(values, task, key)
    by_split: dict[str, ValueRows] = {}
    for number, row in enumerate(predicted.rows):
        row_key = f"{key}, row {number + 1}"
        split = SPLIT_OF.get(str(row.get(SPLIT, default)).lower())
        if split is None:
            problem = f"column {SPLIT!r} has {row[SPLIT]!r}, and not train, dev or test; leave the column out"
            raise InputError(problem, key=row_key)
        if split in wanted:
            split_rows = by_split.setdefault(split, ValueRows([], [], predicted.index_is_count))
            split_rows.rows.append({**row, PREDICTION: plain_prediction(row[PREDICTION], task, row_key)})
            if predicted.index:
                split_rows.index.append(predicted.index[number])
    if predicted.rows and not by_split:
        raise InputError(f"column {SPLIT!r} names no example of {' or '.join(wanted)}", key=key)
    return by_split


def _ids(predicted: ValueRows, split: str, frame_index: Sequence[Any], key: str) -> list[Any] | None:
    """The ids of a split, of a column ID or an index of texts; None: the order is the data's, or that of the suite's frame (`frame_index`). Raises
    InputError for an index that may put predictions to other rows."""
    index = predicted.index
    if ID in predicted.rows[0]:
        return [row[ID] for row in predicted.rows]
    if not index or index == list(frame_index):
        return None  # a list has the order of the data, and so has a frame of the suite
    if predicted.index_is_count and set(index) != set(frame_index):
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
