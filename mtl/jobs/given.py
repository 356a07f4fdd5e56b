"""Predictions that Python code has at hand, as a run: they are written as JSON Lines, and `mtl import` does the rest."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mtl.base.errors import InputError
from mtl.jobs.imports import import_job
from mtl.jobs.job import Job, load_job
from mtl.submissions.entry import PREDICTION, SPLITS
from mtl.submissions.imported import JSON_LINES
from mtl.submissions.lines import ID
from mtl.tasks.task import Task

SPLIT = "split"  # the column of a table that names the split of each row

Line = dict[str, Any]


@contextmanager
def given_job(
    name: str, predictions: Mapping[str, Any] | Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> Iterator[Job]:
    """A job that makes a run of predictions, within the block; errors name a split and a task of them.

    Args:
        name: see `import_job`.
        predictions: see `mtl.import_predictions`.
        settings: as in `import_job`.

    Raises:
        InputError: as `import_job` does, and for values that are no predictions.
    """
    suite = load_job({**_without_extras(settings), "method": "imported"}).suite
    seeds = list(predictions) if isinstance(predictions, Sequence) else [predictions]
    with TemporaryDirectory(prefix="mtl-import-") as folder:
        paths = []
        for number, by_task in enumerate(seeds, start=1):
            paths.append(Path(folder, f"predictions-{number}"))
            paths[-1].mkdir()
            if not isinstance(by_task, Mapping):
                raise InputError("must be a mapping from task ids, or a list with one for each seed", key="predictions")
            if unknown := [id for id in by_task if id not in suite.tasks]:
                known = ", ".join(suite.tasks)
                raise InputError(
                    f"suite {suite.name} has no such task; it has {known}", key=f"predictions.{unknown[0]}"
                )
            for id, given in by_task.items():
                task = suite.tasks[id]
                for split, lines in _by_split(task, given).items():
                    text = "".join(json.dumps(line) + "\n" for line in lines)
                    (paths[-1] / JSON_LINES.format(split=split, task=id)).write_text(text, encoding="utf-8")
        try:
            yield import_job(name, paths, settings)
        except InputError as error:
            if error.path is None or not Path(error.path).is_relative_to(folder):
                raise
            raise error.located(path=Path(error.path).relative_to(folder)) from None


def _without_extras(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that every run has."""
    return {key: value for key, value in settings.items() if key not in ("seed", "system", "labels")}


def _by_split(task: Task, given: Any) -> dict[str, list[Line]]:
    """The lines of a task's files of predictions, by split."""
    parts = given if isinstance(given, Mapping) else {None: given}
    lines: dict[str, list[Line]] = {}
    for split, values in parts.items():
        for line in _lines(task, values):
            own = line.pop(SPLIT, split or task.scored_split)
            if own not in SPLITS or own != (split or own):
                expected = " or ".join(SPLITS) if split is None or split not in SPLITS else split
                raise InputError(f"split {own!r} must be {expected}", key=f"predictions.{task.id}")
            lines.setdefault(own, []).append(line)
    return lines


def _lines(task: Task, values: Any) -> list[Line]:
    """The lines for a list, an array, or a table with the columns prediction, id and split, of which the first is needed."""
    key = f"predictions.{task.id}"
    if hasattr(values, "columns"):
        names = [name for name in (PREDICTION, ID, SPLIT) if name in values.columns]
        if PREDICTION not in names:
            raise InputError(f"the table has no column {PREDICTION!r}", key=key)
    elif isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping):
        names, values = [PREDICTION], {PREDICTION: values}
    else:
        raise InputError("must be a list, an array, a table, or a mapping from dev and test to these", key=key)
    rows = zip(*([_plain(value) for value in values[name]] for name in names), strict=True)
    lines = [dict(zip(names, row, strict=True)) for row in rows]
    for number, line in enumerate(lines, start=1):
        for name, value in line.items():
            if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
                raise InputError(
                    f"{name} {value!r} must be a text, a number or a truth value", key=f"{key}, row {number}"
                )
    return lines


def _plain(value: Any) -> Any:
    """A value of an array or a table as one of Python's own."""
    return value.item() if getattr(value, "shape", None) == () else value
