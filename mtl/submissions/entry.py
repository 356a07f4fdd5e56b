"""The leaderboard's entry on a system, which a submission of rows has beside its files: facts on the system, and figures that predictions give."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from mtl.base.errors import InputError
from mtl.base.settings.layers import merge, nested
from mtl.base.untrusted import inside, parse_json
from mtl.data.examples import read_examples
from mtl.data.files import read_bytes
from mtl.runs.rows import scored_rows
from mtl.submissions.files import SubmissionFiles, is_entry
from mtl.submissions.row_files import RowFile
from mtl.tasks.metrics import score
from mtl.tasks.suite import Suite

FACTS = ("name", "family", "parameters")  # what `fill` may name: of the system, its method and its size
ROWS = "rows"  # the measure that is the number of rows
TASKS, LEFT_OUT = "tasks", "left_out"  # the entry's keys for figures, and for tasks that the submission does not have

Content = Mapping[str, Any]  # of an entry
Figures = dict[str, dict[str, dict[str, float]]]  # of an entry, by task id, split and name of the measure


class EntryKeys(TypedDict, total=False):
    """The keys of an entry that are the same on every leaderboard."""

    tasks: dict[str, dict[str, dict[str, Any] | None]]
    left_out: list[str]


def file_name(name: str) -> str:
    """The name of the entry's file for a system of this name."""
    return f"{name.replace('/', '-')}.json"


def read_template(suite: Suite, data_dir: Path) -> dict[str, Any] | None:
    """The empty entry; None if the suite names none or its file is not there. Raises InputError for a file of another form."""
    name = suite.submission.template
    path = None if name is None else inside(data_dir, name)
    return None if path is None or not path.is_file() else _parse_entry(str(path), read_bytes(path))


def read_entry(files: SubmissionFiles) -> tuple[str, dict[str, Any]]:
    """The name of the submission's entry and its content. Raises InputError unless there is exactly one, and it is an entry."""
    names = [name for name in files.contents if is_entry(name)]
    if len(names) != 1:
        what = f"{len(names)} files ({', '.join(names)})" if names else "no file"
        raise InputError(f"{what} of the form NAME.json; one is expected, the leaderboard's entry", path=files.path)
    return names[0], _parse_entry(f"{files.path}/{names[0]}", files.contents[names[0]])


def _parse_entry(path: str, content: bytes) -> dict[str, Any]:
    """The entry in a file with this content. Raises InputError unless it has the form of `EntryKeys`."""
    remedy = "an entry has an object for each task below tasks, and in it one for each split"
    return {**parse_json(content.removeprefix(BOM_UTF8), path, EntryKeys, remedy)}


def measure(suite: Suite, file: RowFile, predictions: np.ndarray) -> dict[str, float]:
    """The entry's figures for a data file, by name: those of the measures that its task has, on the scale `suite.scale`; none if the rows are
    not the official ones or have no targets. A task that lacks the measure's first metric counts only if its own metric is a substitute."""
    if file.changed or not file.has_official_size or not file.labelled:
        return {}
    task = replace(file.task, breakdown=None, group=None)  # no score needs these columns
    rows = scored_rows(task, read_examples(task, Path(file.name)))
    figures: dict[str, float] = {}
    for name, (first, *substitutes) in suite.submission.measures.items():
        metric = first if first in (task.also or ()) else task.metric
        if first == ROWS:
            figures[name] = len(predictions)
        elif metric in (first, *substitutes):
            figures[name] = score(task.measured_by(metric), predictions, rows) * suite.scale / 100
    return figures


def fill_entry(entry: Content, suite: Suite, facts: Mapping[str, Any], figures: Figures) -> dict[str, Any]:
    """An empty or an earlier entry with these facts (by the names of `FACTS`; None: unknown), these figures in place of all it has, and the tasks
    that have none under `left_out`. A split that the entry has gets the figures that it names, any other split all."""
    filled = {**deepcopy(dict(entry)), TASKS: _without_values(entry.get(TASKS, {}))}
    for key, fact in suite.submission.fill.items():
        if facts.get(fact) is not None:
            merge(filled, nested(key, facts[fact]))
    tasks = filled[TASKS]
    for id, splits in figures.items():
        for split, values in splits.items():
            block = tasks.get(id, {}).get(split) or dict.fromkeys(values)
            if block:
                tasks.setdefault(id, {})[split] = {name: values.get(name, null) for name, null in block.items()}
    filled.pop(LEFT_OUT, None)
    if left_out := [id for id in dict.fromkeys([*suite.tasks, *tasks]) if id not in figures]:
        filled[LEFT_OUT] = left_out
    return filled


def unfilled(value: Any, key: str = "") -> Iterator[str]:
    """The dotted keys of an entry that are null; only the outer key where everything in it is."""
    if value is None:
        yield key
    elif isinstance(value, dict):
        children = {f"{key}.{name}".removeprefix("."): item for name, item in value.items()}
        null_keys = [null_key for name, item in children.items() for null_key in unfilled(item, name)]
        is_all_null = bool(children) and null_keys == [*children]
        yield from [key] if key and is_all_null else null_keys


def _without_values(value: Any) -> Any:
    """The same nested objects, with null in place of every other value."""
    return {name: _without_values(item) for name, item in value.items()} if isinstance(value, dict) else None
