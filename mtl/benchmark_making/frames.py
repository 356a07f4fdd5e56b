"""Data in memory as the data files of tasks: DataFrames, Datasets of the library datasets, and dictionaries of columns."""

import math
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mtl.base.errors import InputError, locating
from mtl.base.interface import errors_as_input
from mtl.base.names import is_file_name, text_problem
from mtl.base.untrusted import is_deep
from mtl.benchmark_making.data_files import write_records
from mtl.tasks.task import SPLIT_OF, SPLITS

Frame: TypeAlias = Any
"""The rows of one split: a DataFrame, a Dataset of the library datasets, or a dictionary with a list of values for each column."""
# What tasks= may declare of a task, by the key with which a problem begins.
DECLARED = {"kind": "'kind': …", "text": "'text': […], 'target': …", "target": "'text': […], 'target': …"}


def frames_by_task(frames: Mapping[str, Any], name: str) -> Mapping[str, Mapping[str, Frame]]:
    """The frames by task and split: of one task with this name if the keys are splits, else of several. Raises InputError for bad keys."""
    if not frames:
        raise InputError("must be a dictionary of the splits of one task, or of tasks", key="frames")
    by_task = {name: frames} if _are_splits(frames) else frames
    for key, id in [("name", name), *(("frames", task) for task in by_task)]:
        if not is_file_name(id):
            raise InputError(f"{id!r} names files; use letters, digits, '.', '_' and '-'", key=key)
    return {task: _by_split(of_task, f"frames.{task}") for task, of_task in by_task.items()}


def _are_splits(frames: Any) -> bool:
    """Whether this is a dictionary whose keys are words of different splits, as {"train": …, "validation": …}."""
    if not isinstance(frames, Mapping):
        return False
    splits = {SPLIT_OF.get(str(key).lower()) for key in frames}
    return None not in splits and 0 < len(frames) == len(splits)


def _by_split(frames: Any, key: str) -> dict[str, Frame]:
    """The frames of one task by mtl's names of splits. Raises InputError, with the key, for anything else."""
    if not _are_splits(frames):
        raise InputError(f"must be a dictionary with the keys {', '.join(SPLITS)}", key=key)
    return {SPLIT_OF[str(word).lower()]: frame for word, frame in frames.items()}


def write_frames(by_task: Mapping[str, Mapping[str, Frame]], data_dir: Path) -> None:
    """Write each frame to TASK/SPLIT.jsonl in a folder. Raises InputError, which names the split, the column and the row."""
    for task, by_split in by_task.items():
        (data_dir / task).mkdir(parents=True)
        for split, frame in by_split.items():
            key = f"frames.{task}.{split}"
            with locating(key=key), errors_as_input(key):
                columns = {name: _values(frame, name) for name in _column_names(frame)}
                if len({len(values) for values in columns.values()}) > 1:
                    raise InputError("its columns have different lengths")
            write_records(data_dir / task / f"{split}.jsonl", list(columns), list(zip(*columns.values(), strict=True)))


def problem_of_frames(problem: str, data_dir: Path, task: str | None = None) -> str:
    """A message about data files that were written from frames, in the words of frames, with a remedy. `task`: the one that tasks= may declare."""
    problem = re.sub(r"(\w+)\.jsonl:(\d+)", lambda line: f"{line[1]}, row {int(line[2]) - 1} (from 0)", problem)
    problem = problem.replace(".jsonl", "").replace(f"{data_dir}/", "")
    problem = problem.replace("write one in the files", "write one, as in frame[column].str.strip().str.lower()")
    declared = DECLARED.get(problem.partition(":")[0])
    if '" has no value' in problem:
        return f"{problem}; drop these rows or fill their cells, as in frame.dropna(subset=[column])"
    if task and declared:
        return f"{problem}; declare it: tasks={{{task!r}: {{{declared}}}}}"
    return problem


def _column_names(frame: Frame) -> list[str]:
    """The names of a frame's columns. Raises InputError for other values than different texts that a file can hold."""
    names = list(frame if isinstance(frame, Mapping) else getattr(frame, "columns", ()))
    if not names:  # a Dataset alone lacks `columns`; of a DataFrame, `column_names` may be a column
        names = list(getattr(frame, "column_names", ()))
    if not names:
        raise InputError("must be a DataFrame, a Dataset, or a dictionary of columns")
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise InputError("names of columns must be strings, each once")
    for name in names:
        if problem := text_problem(name):
            raise InputError(f"column {name!r} {problem}")
    return names


def _values(frame: Frame, column: str) -> list[Any]:
    """The values of a data file for the cells of a column. Raises InputError."""
    cells = frame[column]
    if isinstance(cells, str | bytes | Mapping) or not hasattr(cells, "__len__"):
        raise InputError(f"column {column} must be a list, not a {type(cells).__name__}")
    labels = _labels(frame, column)
    return [_value(cell, labels, f"column {column}, row {row}") for row, cell in enumerate(cells)]


def _labels(frame: Frame, column: str) -> dict[float, str]:
    """The labels that the numbers in a column of a Dataset stand for, by number; empty where cells stand for themselves."""
    features = getattr(frame, "features", None)  # of a DataFrame, perhaps a column
    feature = features.get(column) if isinstance(features, Mapping) else None
    items = getattr(feature, "feature", feature)  # in a column of lists, the feature of their items
    return dict(enumerate(getattr(items, "names", None) or ()))


def _value(cell: Any, labels: Mapping[float, str], position: str) -> Any:
    """The value of a data file for a cell: a text, a number, its label if there are labels, a list of these, or None. Raises InputError otherwise."""
    if isinstance(cell, np.datetime64) and isinstance(cell.tolist(), int):
        cell = cell.astype("M8[us]")  # nanoseconds would become an integer
    value = cell.tolist() if hasattr(cell, "tolist") else cell  # of NumPy
    if labels and isinstance(value, int | float):
        value = labels.get(value)  # None for -1, which stands for no label
    is_nan = isinstance(value, float) and math.isnan(value)
    if value is None or is_nan or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple) and not is_deep(list(value)):
        return [_value(item, labels, position) for item in value]
    if isinstance(value, int | float) and abs(value) != math.inf:
        return value
    if isinstance(value, str) and not text_problem(value):
        return value
    shown = f"a value of type {type(value).__name__}" if isinstance(value, list | tuple) else repr(value)[:100]
    raise InputError(f"{position}: {shown} is not a text, a finite number, a truth value or a list")
