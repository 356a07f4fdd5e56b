"""The rows that submissions to a leaderboard are scored on, with or without their labels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.data.dataset import describe_rows
from mtl.data.examples import Example, read_examples
from mtl.data.records import has_column
from mtl.data.splits import read_split
from mtl.runs.predictions import scored_rows
from mtl.stats.resampling import RowGroups, row_groups
from mtl.submissions.entry import RowFile, read_row_file
from mtl.submissions.lines import DataRows
from mtl.tasks.suite import Suite
from mtl.tasks.task import ScoredRows, Task


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The gold targets of a task's rows as metrics read them, the groups that resamples draw, and a hash of all that is scored."""

    rows: ScoredRows
    groups: RowGroups
    key: str


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """The rows of one task that a submission predicts: without targets as predictions are put to them, and as JSON objects, unless the data is
    no JSON Lines file; and their labels, if they are at hand."""

    task: Task
    data: DataRows
    file: RowFile | None
    labelled: LabelledRows | None = None


def read_labelled_rows(suite: Suite, gold: Path, split: str) -> dict[str, PredictedRows]:
    """The rows of the tasks that the folder has labels of, by task id. Test files may be called test.tsv, too.

    Raises InputError if there are none, and for files that cannot be read.
    """
    tasks = {}
    for task in suite.tasks.values():
        names = dict.fromkeys([task.files[split], *(["test.tsv"] if split == "test" else [])])
        for path in (gold / task.folder / name for name in names if name):
            if path.is_file() and has_column(path, task.target, task.header):
                file = _row_file(task, split, path)
                if file is None or file.labelled:
                    scored = replace(task, scored=split, breakdown=None)
                    examples = read_split(scored, path, split)
                    tasks[task.id] = _rows(scored, path, examples, file, _labelled(scored, examples))
                    break
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name} with a label in every row", path=gold)
    return tasks


def read_public_rows(suite: Suite, data_dir: Path, split: str) -> dict[str, PredictedRows]:
    """The rows of the tasks that the folder has, by task id; labels are not read. Raises InputError as `read_labelled_rows`."""
    tasks = {}
    for task in suite.tasks.values():
        path = task.path(split, data_dir)
        if path is not None and path.is_file():
            tasks[task.id] = _rows(task, path, read_examples(task, path, targets=False), _row_file(task, split, path))
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name}; set data_dir=", path=data_dir)
    return tasks


def _rows(
    task: Task, path: Path, examples: Sequence[Example], file: RowFile | None, labelled: LabelledRows | None = None
) -> PredictedRows:
    candidates = None if task.candidates is None else np.array([len(example.inputs) for example in examples])
    return PredictedRows(task, DataRows(path, np.full(len(examples), np.nan), candidates), file, labelled)


def _row_file(task: Task, split: str, path: Path) -> RowFile | None:
    return read_row_file(task, split, path) if path.suffix == ".jsonl" else None


def _labelled(task: Task, examples: Sequence[Example]) -> LabelledRows:
    described = describe_rows(task, examples)
    groups = described["groups"]
    # With only one group, groups cannot be resampled, so each row counts as a group.
    apart = groups is None or len(set(groups)) == 1
    numbers = np.unique(np.arange(len(examples)) if apart else np.array(groups), return_inverse=True)[1]
    rows = scored_rows(task, examples)
    assert rows is not None
    set_of_rows = hashlib.sha256(repr((described["texts"], groups)).encode()).hexdigest()
    targets = hashlib.sha256(repr((set_of_rows, rows.targets.tolist(), task.fingerprint())).encode()).hexdigest()
    return LabelledRows(rows, row_groups(set_of_rows, numbers), targets)
