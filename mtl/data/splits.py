"""The rows of each task by split; where a task has no dev file, a share of its training rows is held out."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.data.reader import Example, read_examples
from mtl.errors import InputError
from mtl.suite import SPLITS, Suite, Task


@dataclass(frozen=True)
class TaskExamples:
    """A task's rows by split ("test" may be missing), and the lines of the train file held out as dev, if any."""

    task: Task
    rows: dict[str, list[Example]]
    held_out: list[int]


def read_task(task: Task, data_dir: Path, share: float) -> TaskExamples:
    """Read a task's files. `share` of the training rows is held out where there is no dev file.

    Raises InputError as `mtl.data.reader.read_examples` does.
    """
    rows = {}
    for split in SPLITS:
        if path := task.path(split, data_dir):
            rows[split] = read_examples(task, path, targets=split != "test")
    held_out: list[int] = []
    if "dev" not in rows:
        rows["train"], rows["dev"] = hold_out(rows["train"], share)
        held_out = [example.line for example in rows["dev"]]
        if not rows["train"] or not rows["dev"]:
            raise InputError(
                f"{task.path('train', data_dir)}: too few groups of rows to hold out {share:.0%} for validation"
            )
    return TaskExamples(task, rows, held_out)


def hold_out(examples: Sequence[Example], share: float) -> tuple[list[Example], list[Example]]:
    """Training rows and held-out rows, both in file order.

    Rows of one group stay on one side (the group column's value, or the texts themselves, so that a repeated text
    is never on both). Groups are taken in the order of a hash of their value until the share is reached: the same
    rows for every seed, and nearly the same when rows are added.
    """
    groups: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        groups["\t".join(example.texts) if example.group is None else example.group].append(example)
    wanted = max(1, round(share * len(examples)))
    dev: set[int] = set()
    for key in sorted(groups, key=lambda key: hashlib.sha256(key.encode()).digest()):
        if len(dev) + len(groups[key]) <= wanted or not dev:
            dev.update(example.line for example in groups[key])
    return [e for e in examples if e.line not in dev], [e for e in examples if e.line in dev]


def missing_tasks(suite: Suite, data_dir: Path) -> dict[str, Path]:
    """The suite's tasks of which a file is not there, with the first such file."""
    missing: dict[str, Path] = {}
    for id, task in suite.tasks.items():
        for split in SPLITS:
            path = task.path(split, data_dir)
            if path is not None and not path.is_file():
                missing.setdefault(id, path)
    return missing


def check_present(suite: Suite, tasks: Sequence[Task], data_dir: Path) -> None:
    """Raise InputError unless every file of these tasks is there; says what to do about it."""
    missing = missing_tasks(suite, data_dir)
    wanted = [task.id for task in tasks if task.id in missing]
    if not wanted:
        return
    there = [id for id in suite.tasks if id not in missing]
    remedy = (
        f"fetch it with: mtl data {suite.name}"
        if any(suite.tasks[id].source for id in wanted)
        else "put it there, set data_dir=, or, for no dev or test file, files: {dev: null} in the suite file"
    )
    if there:
        remedy += f"; or run on what is there: tasks=[{','.join(there)}]"
    raise InputError(
        f"{missing[wanted[0]]}: no such file; missing of suite {suite.name}: {', '.join(wanted)}; {remedy}"
    )
