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
from mtl.submissions.lines import ID, PredictionLines
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

SPLIT = "split"  # the column of a table that names the split of each row


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
            rows = [{PREDICTION: value} for value in lines.values]
            if lines.ids is not None:
                rows = [{**row, ID: row_id} for row, row_id in zip(rows, lines.ids, strict=True)]
            content = "".join(json.dumps(row) + "\n" for row in rows)
            sums[JSON_LINES.format(split=split, task=id)] = hashlib.sha256(content.encode()).hexdigest()
        return hashlib.sha256("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()).hexdigest()


def values_of_seeds(predictions: Sequence[Any], suite: Suite) -> list[GivenPredictions]:
    """The predictions of each seed.

    Args:
        predictions: by seed, see `mtl.import_predictions`.

    Raises:
        InputError: which names the task and the row, for values that are no predictions.
    """
    seeds = []
    for number, by_task in enumerate(predictions):
        key = "predictions" if len(predictions) == 1 else f"predictions[{number}]"
        lines = {}
        for id, values in by_task.items():
            if id not in suite.tasks:
                known = ", ".join(suite.tasks)
                raise InputError(f"suite {suite.name} has no such task; it has {known}", key=f"{key}.{id}")
            with foreign(f"{key}.{id}"):
                by_split = _by_split(values, suite.tasks[id], f"{key}.{id}")
            for split, rows in by_split.items():
                ids = [row[ID] for row in rows] if ID in rows[0] else None
                lines[id, split] = PredictionLines(f"{key}.{id}.{split}", [row[PREDICTION] for row in rows], ids=ids)
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


def _rows(values: Any, key: str) -> list[dict[str, Any]]:
    """The rows of a list, an array, or a table with the columns prediction, id and split, of which the first is needed."""
    if hasattr(values, "columns"):
        names = [name for name in (PREDICTION, ID, SPLIT) if name in values.columns]
        if PREDICTION not in names:
            raise InputError(f"the table has no column {PREDICTION!r}", key=key)
    elif isinstance(values, Iterable) and isinstance(values, Sized) and not isinstance(values, str | bytes | Mapping):
        names, values = [PREDICTION], {PREDICTION: values}
    else:
        raise InputError("must be a list, an array, a table, or a mapping from dev and test to these", key=key)
    columns = [
        [_plain(value, name, f"{key}, row {row}") for row, value in enumerate(values[name], start=1)] for name in names
    ]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


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
