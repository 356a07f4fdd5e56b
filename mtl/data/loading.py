"""The data of a run, read from the files of its tasks: their rows, indexed by the distinct texts of all tasks."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.data.dataset import Dataset, Split
from mtl.data.examples import Example
from mtl.data.hashes import changed_splits, fingerprints, hash_files
from mtl.data.held_out import held_out_numbers
from mtl.data.present_files import check_present, present_tasks
from mtl.data.sampled import RowSample, take_sample
from mtl.data.splits import CHOOSING, TaskExamples, read_task
from mtl.tasks.suite import Suite
from mtl.tasks.targets import TARGET_KINDS, target_kind
from mtl.tasks.task import Task


def load_dataset(
    suite: Suite,
    tasks: Sequence[Task],
    data_dir: Path,
    share: float,
    scored_lines: Mapping[str, Sequence[int]] | None = None,
    choosing_share: float | None = None,
) -> Dataset:
    """Read these tasks of the suite, and hold out this share of the training rows where a task has no dev file. Raises InputError for files that
    are missing or not valid. `scored_lines` are, by task id, those of the rows to score the task on; None, or a task that is not named: all rows.
    `choosing_share` is the share of the dev rows that choose, where dev rows are scored; None: all choose, and all are scored."""
    check_present(suite, tasks, data_dir)
    parts: list[TaskExamples] = []
    samples: dict[str, RowSample] = {}
    for task in tasks:
        part = read_task(task, data_dir, share)
        if scored_lines and task.id in scored_lines:
            part, samples[task.id] = take_sample(part, scored_lines[task.id], key=f"imported.rows.{task.id}")
        elif choosing_share is not None and "train" in part.rows and task.scored_split == "dev":
            part, samples[task.id] = divide_dev(part, choosing_share)
        parts.append(part)
    files = hash_files(tasks, data_dir)
    marks = fingerprints(suite, tasks, data_dir, files)
    return replace(build_dataset(parts, samples), fingerprints=marks, changed=changed_splits(files))


def divide_dev(part: TaskExamples, share: float) -> tuple[TaskExamples, RowSample]:
    """A task whose dev rows are divided: this share of them chooses and is called CHOOSING, and the others are "dev", on which the task is scored.
    Groups and equal texts stay together, as where rows are held out. Raises InputError if one of the two has no rows."""
    rows = part.rows["dev"]
    choosing = held_out_numbers(part.task, rows, share)
    scored = [number for number in range(len(rows)) if number not in choosing]
    if not scored or not choosing:
        problem = f"task {part.task.id}: too few groups of dev rows to divide them; leave choosing_share out, or the task (tasks=[…])"
        raise InputError(problem, key="choosing_share", value=share)
    divided = {"dev": [rows[number] for number in scored], CHOOSING: [rows[number] for number in sorted(choosing)]}
    sample = RowSample([row.line for row in divided["dev"]], scored, len(rows))
    return replace(part, rows={**part.rows, **divided}), sample


def training_texts(suite: Suite, data_dir: Path, share: float, tasks: Sequence[Task] | None = None) -> list[str]:
    """The distinct texts of the training rows of these tasks, or of all with files, without held-out rows. Raises InputError if there are none."""
    chosen = present_tasks(suite, data_dir) if tasks is None else tasks
    dataset = load_dataset(suite, chosen or list(suite.tasks.values()), data_dir, share)
    if not dataset.trained_tasks:
        problem = f"has no training rows of suite {suite.name}; get the data with: mtl data {suite.name}"
        raise InputError(problem, path=data_dir)
    return [dataset.texts[number] for number in dataset.distinct_texts("train").tolist()]


def build_dataset(parts: Sequence[TaskExamples], samples: Mapping[str, RowSample] | None = None) -> Dataset:
    """Index the rows of all tasks by their distinct texts. `samples` are, by task id, those that were taken of the rows to score the task on."""
    rows = [row for part in parts for examples in part.rows.values() for row in examples]
    index = {text: number for number, text in enumerate(dict.fromkeys(text for row in rows for text in row.texts))}
    held_out = {part.task.id: part.held_out for part in parts if part.held_out}
    dataset = Dataset([part.task for part in parts], list(index), {}, held_out, samples=dict(samples or {}))
    for part in parts:
        task = part.task
        splits = {name: make_split(task, examples, index) for name, examples in part.rows.items()}
        dataset.splits[task.id] = splits
        has_head = "train" in splits and TARGET_KINDS[task.kind].head_type is not None
        if has_head and (answers := target_kind(task).head.answers(splits["train"].targets)):
            dataset.answers[task.id] = answers
        if task.is_scored:
            dataset.described_rows[task.id] = describe_rows(task, part.rows[task.scored_split])
        if task.id in dataset.samples:
            dataset.described_rows[task.id]["lines"] = list(dataset.samples[task.id].lines)
    return dataset


def make_split(task: Task, examples: Sequence[Example], index: Mapping[str, int]) -> Split:
    """The rows of a task as a split, with the index of each text in the dataset."""
    kind = target_kind(task)
    unknown = None if kind.dtype is object else np.nan
    targets = np.array([unknown if row.target is None else row.target for row in examples], dtype=kind.dtype)
    texts = np.array([[index[text] for text in sides] for row in examples for sides in row.inputs], dtype=np.int64)
    names = enumerate(task.further_columns)
    columns = {name: [row.columns[number] for row in examples if row.columns] for number, name in names}
    spans = None
    if task.spans is not None:
        spans = np.array([row.spans for row in examples], dtype=np.int64).reshape(len(examples), len(task.marked), 2)
    numbers: dict[str | None, int] = {None: -1}  # by group: −1 for rows without one, then 0, 1, 2 …
    by_row = [numbers.setdefault(row.group, len(numbers) - 1) for row in examples]
    groups = np.array(by_row, dtype=np.int64) if len(numbers) > 1 else None
    counts = row_sizes(task, examples)
    sizes, units = (None, counts) if task.candidates is None else (counts, None)
    return Split(texts.reshape(-1, task.sides), targets, sizes, columns, groups, spans=spans, units=units)


def row_sizes(task: Task, examples: Sequence[Example]) -> np.ndarray | None:
    """The number of candidates, or of units, of each row, int64 (rows,), if targets depend on it."""
    kind = target_kind(task)
    counts = [kind.size(row.inputs) for row in examples]
    return None if None in counts else np.array(counts, dtype=np.int64)


def describe_rows(task: Task, examples: Sequence[Example]) -> dict[str, Any]:
    """What a run records about the rows that a task is scored on. It does not include the texts.
    "texts": SHA-256 of all texts and spans, equal for tasks on the same rows. "groups": the number of each row's group, in order of first
    occurrence (a row without a group counts as a group); None if no two rows share a group. "candidates": the number of candidates
    in each row of a choice, or of units. "columns": the values of the task's `further_columns`. The last two exist only if the task has them."""
    digest = hashlib.sha256(json.dumps([example.row for example in examples]).encode()).hexdigest()
    keys = [("row", row) if example.group is None else example.group for row, example in enumerate(examples)]
    numbers: dict[Any, int] = {}
    groups = [numbers.setdefault(key, len(numbers)) for key in keys]
    described: dict[str, Any] = {"texts": digest, "groups": groups if len(numbers) < len(examples) else None}
    if (counts := row_sizes(task, examples)) is not None:
        described["candidates"] = counts.tolist()
    if task.further_columns:
        names = enumerate(task.further_columns)
        described["columns"] = {name: [example.columns[number] for example in examples] for number, name in names}
    return described
