"""The leaderboard's entry on a system: its empty entry, filled with what is known."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from mtl.data.columns import value_of
from mtl.data.examples import read_examples
from mtl.data.lines import read_bytes
from mtl.runs.formats.row_file import RowFile
from mtl.runs.predictions import scored_rows
from mtl.tasks.kind import Target
from mtl.tasks.metrics import score
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.untrusted import parse_json

FACTS = ("name", "family", "parameters")  # what `fill` may name: of the system, its method and its size
ROWS = "rows"  # the measure that is the number of rows
LEFT_OUT = "left_out"  # the entry's key for the tasks that the submission does not have
TASKS = "tasks"


class Entry(TypedDict, total=False):
    """The keys of an entry that are the same on every leaderboard."""

    tasks: dict[str, dict[str, dict[str, Any] | None]]
    left_out: list[str]


Figures = dict[str, dict[str, dict[str, float]]]
"""By task id, split and name in the entry."""


def file_name(name: str) -> str:
    """The name of the entry's file for a system of this name."""
    return f"{name.replace('/', '-')}.json"


def read_template(suite: Suite, data_dir: Path) -> dict[str, Any] | None:
    """The empty entry; None if the suite names none or its file is not there. Raises InputError for a file of another form."""
    if suite.submission.template is None or not (path := data_dir / suite.submission.template).is_file():
        return None
    return parse_entry(str(path), read_bytes(path))


def parse_entry(path: str, content: bytes) -> dict[str, Any]:
    """The entry in a file with this content. Raises InputError unless it has the form of `Entry`."""
    remedy = "an entry has an object for each task below tasks, and in it one for each split"
    return {**parse_json(content.removeprefix(BOM_UTF8), path, Entry, remedy)}


def measure(suite: Suite, split: str, file: RowFile, predictions: Sequence[Target] | np.ndarray) -> dict[str, float]:
    """The entry's figures for a data file, by name: those of the measures that its task has. None if its rows are not the official
    ones, or lack targets.

    Scores are on the suite's scale: from 0 to 1 if that is 1.
    """
    if not file.labelled or not file.is_official(split):
        return {}
    task = replace(file.task, breakdown=None, group=None)  # no score needs these columns
    rows = scored_rows(task, read_examples(task, Path(file.name)))
    assert rows is not None
    predicted = np.array(predictions, dtype=target_kind(task).dtype)
    figures: dict[str, float] = {}
    for name, metrics in suite.submission.measures.items():
        known = _measured(task, metrics)
        if known == ROWS:
            figures[name] = len(predicted)
        elif known is not None:
            figures[name] = score(task.measured_by(known), predicted, rows) * suite.scale / 100
    return figures


def _measured(task: Task, metrics: Sequence[str]) -> str | None:
    """Which of a measure's metrics stands in the entry of this task: the first that it has, and of those after the first only its own
    `metric`. None if it has none."""
    first, *others = metrics
    if first in (ROWS, task.metric, *(task.also or ())):
        return first
    return task.metric if task.metric in others else None


def fill_entry(entry: Mapping[str, Any], suite: Suite, facts: Mapping[str, Any], figures: Figures) -> dict[str, Any]:
    """The entry with these facts and figures, and under `left_out` the tasks that have no files.

    entry: the empty entry, or an earlier one, whose figures are taken out; without tasks, all figures are kept. figures: for each task
    of the submission its splits, with no figures where none are known.
    """
    filled: dict[str, Any] = {**json.loads(json.dumps(entry)), TASKS: _emptied(entry.get(TASKS, {}))}
    for key, fact in suite.submission.fill.items():
        if facts.get(fact) is not None:
            _put(filled, key.split("."), facts[fact])
    tasks = filled[TASKS]
    for id, splits in figures.items():
        for split, values in splits.items():
            places = tasks.get(id, {}).get(split) or dict.fromkeys(values)
            known = {name: values.get(name, empty) for name, empty in places.items()}
            if known:
                tasks.setdefault(id, {})[split] = known
    filled.pop(LEFT_OUT, None)
    if left_out := [id for id in dict.fromkeys([*suite.tasks, *tasks]) if id not in figures]:
        filled[LEFT_OUT] = left_out
    return filled


def system_name(suite: Suite, entry: Mapping[str, Any]) -> str | None:
    """The system's name in an entry; None if the suite does not say where it stands, or it is no text."""
    for key, fact in suite.submission.fill.items():
        if fact == "name":
            try:
                return str(value_of(entry, key))
            except ValueError:
                return None
    return None


def unfilled(value: Any, key: str = "") -> Iterator[str]:
    """The dotted keys of an entry that are null; only the outer key where everything in it is."""
    if value is None:
        yield key
    elif isinstance(value, dict):
        inner = [list(unfilled(item, f"{key}.{name}".removeprefix("."))) for name, item in value.items()]
        empty = [found == [f"{key}.{name}".removeprefix(".")] for name, found in zip(value, inner, strict=True)]
        yield from [key] if key and value and all(empty) else [name for found in inner for name in found]


def _emptied(value: Any) -> Any:
    """The same objects with null for every other value."""
    return {name: _emptied(item) for name, item in value.items()} if isinstance(value, dict) else None


def _put(entry: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    *outer, last = keys
    for key in outer:
        if not isinstance(entry.setdefault(key, {}), dict):
            entry[key] = {}
        entry = entry[key]
    entry[last] = value
