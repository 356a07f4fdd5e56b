"""Predictions that Python code has at hand: lists, arrays and tables by task, as the lines that a file of them would have."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mtl.base.errors import InputError
from mtl.base.interface import foreign
from mtl.submissions.entry import PREDICTION
from mtl.submissions.files import JSON_LINES, SPLITS
from mtl.submissions.lines import ID, PredictionLines, keyed
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

SPLIT = "split"  # the column of a table that names the split of each row
INDEX = "index"  # of a Series or a DataFrame

Indices = Mapping[tuple[str, str], Sequence[Any]]
"""The index of the frame that holds the rows of a split, by task id and split."""


@dataclass(frozen=True)
class GivenPredictions:
    """The predictions of one seed.

    Args:
        name: what notes call them.
        lines: by task id and split.
    """

    name: str
    lines: Mapping[tuple[str, str], PredictionLines]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the predictions: that of a folder with these lines as files (`mtl.jobs.imports`)."""
        sums = {}
        for (id, split), lines in self.lines.items():
            rows = [{PREDICTION: lines.values[position]} for position in lines.by_place]
            if lines.ids is not None:
                rows = [{**row, ID: row_id} for row, row_id in zip(rows, lines.ids, strict=True)]
            content = "".join(json.dumps(row) + "\n" for row in rows)
            sums[JSON_LINES.format(split=split, task=id)] = hashlib.sha256(content.encode()).hexdigest()
        return hashlib.sha256("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()).hexdigest()


def values_of_seeds(predictions: Sequence[Any], suite: Suite, indices: Indices) -> list[GivenPredictions]:
    """The predictions of each seed.

    Args:
        predictions: by seed, see `mtl.import_predictions`.
        indices: of the frames that the suite was made of.

    Raises:
        InputError: which names the task and the row, for values that are no predictions.
    """
    seeds = []
    for number, by_task in enumerate(predictions):
        key = "predictions" if len(predictions) == 1 else f"predictions[{number}]"
        if not isinstance(by_task, Mapping):
            if len(suite.tasks) > 1:
                example = f"as in {{{next(iter(suite.tasks))!r}: predictions}}"
                raise InputError(f"must be a dictionary by task, {example}, or a list of these for seeds", key=key)
            by_task = dict.fromkeys(suite.tasks, by_task)
        lines = {}
        for id, values in by_task.items():
            if id not in suite.tasks:
                known = ", ".join(suite.tasks)
                raise InputError(f"suite {suite.name} has no such task; it has {known}", key=f"{key}.{id}")
            with foreign(f"{key}.{id}"):
                by_split = _by_split(values, suite.tasks[id], f"{key}.{id}")
            for split, rows in by_split.items():
                keys: dict[str, Any] = {"ids": [row[ID] for row in rows]} if ID in rows[0] else {}
                if INDEX in rows[0]:
                    keys = _places([row[INDEX] for row in rows], indices.get((id, split)))
                lines[id, split] = PredictionLines(f"{key}.{id}.{split}", [row[PREDICTION] for row in rows], **keys)
        seeds.append(GivenPredictions(f"predictions-{number + 1}", lines))
    return seeds


def _by_split(values: Any, task: Task, key: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of a task by split. Those of a table name their splits, or are of the split that scores the task."""
    by_split: dict[str, list[dict[str, Any]]] = {}
    for split, part in (values if isinstance(values, Mapping) else {None: values}).items():
        if split is not None and split not in SPLITS:
            raise InputError(f"split {split!r} must be {' or '.join(SPLITS)}", key=key)
        for row in _rows(part, key):
            named = row.pop(SPLIT, split or task.scored_split)
            if named not in SPLITS or named != (split or named):
                expected = " or ".join(SPLITS) if split is None else split
                raise InputError(f"split {named!r} must be {expected}", key=key)
            by_split.setdefault(named, []).append(row)
    return by_split


def _places(index: Sequence[Any], of_rows: Sequence[Any] | None) -> dict[str, Any]:
    """What an index says of predictions, as keywords of `PredictionLines`: it has the labels of their rows, if these are known."""
    if of_rows is not None:
        places = {label: place for place, label in enumerate(of_rows)}
        if len(places) == len(of_rows) and len(set(index)) == len(index) and places.keys() >= set(index):
            return {"places": [places[label] for label in index]}  # how many they are is checked with the rows
        if index == of_rows:
            return {}
        if not places.keys().isdisjoint(index):  # numbers would be labels of other rows
            return {"ids": [*map(str, index)], "numbers": (INDEX, [*map(str, index)])}
    return keyed(INDEX, [*map(str, index)])


def _rows(values: Any, key: str) -> list[dict[str, Any]]:
    """The rows of a list, an array, or a table with the columns prediction, id and split, of which the first is needed. Those of a Series or a table
    without ids have their labels of its index, unless it is the one that pandas makes by itself."""
    index = getattr(values, INDEX, None)
    has_labels = index is not None and hasattr(index, "tolist") and ID not in getattr(values, "columns", ())
    labels = index.tolist() if has_labels and index is not None else None
    if labels is not None and type(index).__name__ == "RangeIndex" and labels == [*range(len(labels))]:
        labels = None
    if hasattr(values, "columns"):
        names = [name for name in (PREDICTION, ID, SPLIT) if name in values.columns]
        if PREDICTION not in names:
            raise InputError(f"the table has no column {PREDICTION!r}", key=key)
    elif isinstance(values, Iterable) and isinstance(values, Sized) and not isinstance(values, str | bytes | Mapping):
        names, values = [PREDICTION], {PREDICTION: values}
    else:
        raise InputError("must be a list, an array, a table, or a mapping from dev and test to these", key=key)
    numbered = {name: enumerate(values[name], start=1) for name in names}
    columns = [[_plain(value, name, f"{key}, row {row}") for row, value in numbered[name]] for name in names]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return rows if labels is None else [{**row, INDEX: label} for row, label in zip(rows, labels, strict=True)]


def _plain(value: Any, name: str, key: str) -> str | int | float:
    """A value of a list, an array or a table as one of Python's own. Raises InputError for one that is no value of a JSON file."""
    plain = value.item() if getattr(value, "shape", None) == () else value
    try:
        if not isinstance(plain, str | int | float):
            raise ValueError
        json.dumps(plain, ensure_ascii=False, allow_nan=False).encode()  # refuses half a surrogate pair, too
    except ValueError:
        raise InputError(f"{name} {repr(plain)[:100]} must be a text, a number or a truth value", key=key) from None
    return plain
