"""Data in memory as the data files of tasks: DataFrames, Datasets of the library datasets, and dictionaries of columns."""

import math
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mtl.base.errors import InputError, locating
from mtl.base.interface import foreign
from mtl.base.names import is_file_name, text_problem
from mtl.base.untrusted import is_deep
from mtl.benchmark_making.data_files import write_records
from mtl.tasks.task import SPLIT_OF, SPLITS

Frame: TypeAlias = Any
"""The rows of one split: a DataFrame, a Dataset of the library datasets, or a dictionary with a list of values for each column."""
FramesByTask: TypeAlias = Mapping[str, Mapping[str, Frame]]  # by task id and split
# What tasks= may declare of a task, by the key with which a problem begins.
DECLARED = {"kind": "'kind': …", "text": "'text': […], 'target': …", "target": "'text': […], 'target': …"}


def frames_by_task(frames: Mapping[str, Any], name: str) -> FramesByTask:
    """The frames by task and split, from those of several tasks, or of one, which gets this name. Raises InputError for bad names and no frames."""
    if not frames:
        raise InputError("must be a dictionary of the splits of one task, or of tasks", key="frames")
    one_task = _by_split(frames)
    is_one = set(one_task) <= set(SPLITS)
    by_task = {name: one_task} if is_one else {task: _by_split(by_split) for task, by_split in frames.items()}
    for key, task in [("name", name), *(("frames", task) for task in by_task)]:
        if not is_file_name(task):
            raise InputError(f"{task!r} names files; use letters, digits, '.', '_' and '-'", key=key)
    for task, by_split in by_task.items():
        if not isinstance(by_split, Mapping) or not by_split or not set(by_split) <= set(SPLITS):
            raise InputError(f"must be a dictionary with the keys {', '.join(SPLITS)}", key=f"frames.{task}")
    return by_task


def _by_split(frames: Any) -> Any:
    """The frames by mtl's names of splits, unless two name one split. What is no dictionary stays as it is."""
    if not isinstance(frames, Mapping):
        return frames
    named = {SPLIT_OF.get(str(split).lower(), split): rows for split, rows in frames.items()}
    return named if len(named) == len(frames) else frames


def write_frames(by_task: FramesByTask, data_dir: Path) -> None:
    """Write each frame to TASK/SPLIT.jsonl in a folder. Raises InputError, which names the split, the column and the row."""
    for task, by_split in by_task.items():
        (data_dir / task).mkdir(parents=True)
        for split, rows in by_split.items():
            write_records(data_dir / task / f"{split}.jsonl", *_records(rows, f"frames.{task}.{split}"))


def problem_of_frames(problem: str, data_dir: Path, task: str | None = None) -> str:
    """A message about data files that were written from frames, in the words of frames, with a remedy. `task`: the one that tasks= may declare."""
    problem = re.sub(r"(\w+)\.jsonl:(\d+)", lambda line: f"{line[1]}, row {int(line[2]) - 1} (from 0)", problem)
    problem = problem.replace(".jsonl", "").replace(f"{data_dir}/", "")
    problem = problem.replace("write one in the files", "write one, as in frame[column].str.strip().str.lower()")
    if '" has no value' in problem:
        return f"{problem}; drop these rows or fill their cells, as in frame.dropna(subset=[column])"
    declared = DECLARED.get(problem.partition(":")[0]) if task else None
    return f"{problem}; declare it: tasks={{{task!r}: {{{declared}}}}}" if declared else problem


def _records(rows: Frame, key: str) -> tuple[list[str], list[list[Any]]]:
    """The columns of a frame, and its rows as values of a data file. Raises InputError at the key."""
    with locating(key=key), foreign(key):
        names = _column_names(rows)
        columns = [_values(rows, name) for name in names]
        if len({len(column) for column in columns}) > 1:
            raise InputError("its columns have different lengths")
    return names, [list(row) for row in zip(*columns, strict=True)]


def _column_names(rows: Frame) -> list[str]:
    """The names of a frame's columns. Raises InputError for other values than different texts that a file can hold."""
    # Only a Dataset lacks `columns`; `column_names` may be a column of a DataFrame.
    names = list(rows if isinstance(rows, Mapping) else getattr(rows, "columns", getattr(rows, "column_names", ())))
    if not names:
        raise InputError("must be a DataFrame, a Dataset, or a dictionary of columns")
    if any(not isinstance(name, str) or not name for name in names) or len(set(names)) < len(names):
        raise InputError("names of columns must be strings, each once")
    if odd := next((name for name in names if text_problem(name)), None):
        raise InputError(f"column {odd!r} {text_problem(odd)}")
    return names


def _values(rows: Frame, column: str) -> list[Any]:
    """The values of a data file for the cells of a column, where labels that a Dataset has as numbers stand by name. Raises InputError."""
    cells = rows[column]
    if isinstance(cells, str | bytes | Mapping) or not hasattr(cells, "__len__"):
        raise InputError(f"column {column} must be a list, not a {type(cells).__name__}")
    features = getattr(rows, "features", None)
    feature = features.get(column) if isinstance(features, Mapping) else None  # else it may be a column of a DataFrame
    names = getattr(getattr(feature, "feature", feature), "names", None)  # of a list, those of its items
    labels: dict[float, Any] | None = None if names is None else dict(enumerate(names))
    return [_value(cell, labels, f"column {column}, row {row}") for row, cell in enumerate(cells)]


def _value(cell: Any, labels: Mapping[float, Any] | None, place: str) -> Any:
    """The value of a data file for a cell in this place: a text, a number, a list of these, or None. Where there are labels, a number becomes the one
    that it stands for, or None, as -1 does. Raises InputError for anything else."""
    if isinstance(cell, np.datetime64) and isinstance(cell.tolist(), int):
        cell = cell.astype("M8[us]")  # nanoseconds would become an integer
    value = cell.tolist() if hasattr(cell, "tolist") else cell  # of NumPy
    if labels is not None and isinstance(value, int | float):
        value = labels.get(value)
    is_nan = isinstance(value, float) and math.isnan(value)
    if value is None or is_nan or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    is_number = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    if is_number or (isinstance(value, str) and not text_problem(value)):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple) and not is_deep(list(value)):
        return [_value(item, labels, place) for item in value]
    shown = f"a value of type {type(value).__name__}" if isinstance(value, list | tuple) else repr(value)[:100]
    raise InputError(f"{place}: {shown} is not a text, a finite number, a truth value or a list")
