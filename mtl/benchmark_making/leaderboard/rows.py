"""The rows that submissions to a leaderboard are scored on, with or without their labels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.data.dataset import describe_rows, row_sizes
from mtl.data.examples import Example, read_examples
from mtl.data.splits import read_split
from mtl.runs.folder import scored_rows
from mtl.stats.resampling import RowGroups, row_groups
from mtl.submissions.entry import labelled_file, layout_of
from mtl.submissions.lines import DataRows
from mtl.tasks.suite import Suite
from mtl.tasks.task import ScoredRows, Task


@dataclass(frozen=True, eq=False)
class TaskRows:
    """The rows of one task that a submission predicts, without targets, in the form in which predictions are checked against them."""

    task: Task
    data: DataRows


@dataclass(frozen=True, eq=False)
class LabelledRows(TaskRows):
    """The rows of one task with their gold targets.

    Args:
        task: the task, scored on the board's split.
        rows: what metrics read of them.
        groups: the groups of rows that resampling draws.
        key: a hash of texts, groups, targets and task.
    """

    rows: ScoredRows
    groups: RowGroups
    key: str


def read_labelled_rows(suite: Suite, gold: Path, split: str) -> dict[str, LabelledRows]:
    """The rows of the tasks with labels in the folder, by task id.

    Args:
        gold: a data folder whose test files have the target column; they may be called test.tsv.

    Raises:
        InputError: if no task has labels, and for files that cannot be read.
    """
    tasks = {}
    for task in suite.tasks.values():
        if (path := labelled_file(task, split, gold)) is not None:
            scored = replace(task, scored="test" if split == "test" else "dev", breakdown=None)
            examples = read_split(scored, path, split, layout_of(task, split, path, gold))
            tasks[task.id] = _labelled(scored, split, path, examples)
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name} with a label in every row", path=gold)
    return tasks


def read_public_rows(suite: Suite, data_dir: Path, split: str) -> dict[str, TaskRows]:
    """The rows of the tasks with a file in the folder, by task id, without labels. Raises InputError as `read_labelled_rows`."""
    tasks = {}
    for task in suite.tasks.values():
        path = task.path(split, data_dir)
        if path is not None and path.is_file():
            examples = read_examples(task, path, False, task.layout(split, data_dir))
            tasks[task.id] = TaskRows(task, _rows(task, split, path, examples))
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name}; set data_dir=", path=data_dir)
    return tasks


def _rows(task: Task, split: str, path: Path, examples: Sequence[Example]) -> DataRows:
    return DataRows(task, split, path, np.full(len(examples), np.nan), row_sizes(task, examples))


def _labelled(task: Task, split: str, path: Path, examples: Sequence[Example]) -> LabelledRows:
    described = describe_rows(task, examples)
    groups = described["groups"]
    # A single group cannot be resampled, so then each row is a group.
    without_groups = groups is None or len(set(groups)) == 1
    numbers = np.unique(np.arange(len(examples)) if without_groups else np.array(groups), return_inverse=True)[1]
    rows = scored_rows(task, examples)
    rows_key = hashlib.sha256(repr((described["texts"], groups)).encode()).hexdigest()
    key = hashlib.sha256(repr((rows_key, rows.targets.tolist(), task.fingerprint())).encode()).hexdigest()
    return LabelledRows(task, _rows(task, split, path, examples), rows, row_groups(rows_key, numbers), key)
