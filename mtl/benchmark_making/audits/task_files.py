"""The files of a task, read for an audit: the rows of each file, those that training uses, and findings about files that cannot be read."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mtl.base.errors import InputError
from mtl.benchmark_making.audits.parts import Finding, Part
from mtl.data.held_out import hold_out
from mtl.data.splits import read_split
from mtl.tasks.suite import Suite
from mtl.tasks.task import SPLITS, Task

HELD_OUT = "dev (held out)"  # the split of rows of train that are used as dev


@dataclass(frozen=True)
class TaskFiles:
    """The files of a task that can be read, and findings about those that cannot."""

    task: Task
    as_read: Mapping[str, Part]  # by split
    as_used: Mapping[str, Part]  # by split, the rows that training uses: dev may be held out of train
    findings: list[Finding]

    @property
    def in_report_order(self) -> dict[str, Part]:
        """The files by split, and by HELD_OUT the rows that are held out as dev, in the order of a report."""
        parts = dict(self.as_read)
        if "dev" in self.as_used and "dev" not in self.as_read:
            parts[HELD_OUT] = self.as_used["dev"]
        return {split: parts[split] for split in ("train", "dev", HELD_OUT, "test") if split in parts}


def read_files(suite: Suite, task: Task, data_dir: Path, share: float) -> TaskFiles:
    """Read a task's files, and hold out a share of train if the suite names no dev file. What is missing, unreadable or too little is a finding."""
    paths = {split: path for split in SPLITS if (path := task.path(split, data_dir))}
    absent = [split for split, path in paths.items() if not path.exists()]
    findings = [_missing(suite, task, absent, all_absent=len(absent) == len(paths))] if absent else []
    as_read: dict[str, Part] = {}
    for split, path in paths.items():
        if split in absent:
            continue
        try:
            rows = read_split(task, path, split, task.layout(split, data_dir))
        except InputError as error:
            meaning = "a run would stop here; the audit continues without this file"
            findings.append(Finding("unreadable", task.id, split, 1, located_below(error, data_dir), meaning))
        else:
            as_read[split] = Part(task, split, path.relative_to(data_dir).as_posix(), rows)
    as_used = dict(as_read)
    if task.files["dev"] is None and "train" in as_read:
        train = as_read["train"]
        if parts := _hold_out_dev(train, share):
            as_used |= parts
        else:
            what = f"too few groups of rows to hold out {share:.0%} for validation"
            findings.append(train.new_finding("unreadable", 1, what, "a run would stop here", train.file))
    return TaskFiles(task, as_read, as_used, findings)


def _hold_out_dev(train: Part, share: float) -> dict[str, Part]:
    """This share of the rows of train as dev, and the others as train; no parts if one of them would have no rows."""
    remaining, held_out = hold_out(train.task, train.rows, share)
    parts = {"train": replace(train, rows=remaining), "dev": replace(train, split=HELD_OUT, rows=held_out)}
    return parts if remaining and held_out else {}


def _missing(suite: Suite, task: Task, splits: Sequence[str], all_absent: bool) -> Finding:
    names = ", ".join(f"{task.folder}/{task.files[split]}".lstrip("/") for split in splits)
    why = "its publisher has withdrawn the data; " if task.withdrawn else ""
    consequence = "leaves the task out" if all_absent and suite.allow_missing else "must leave the task out (tasks=)"
    what = f"{'all' if all_absent else 'some'} of its files are missing: {names}"
    return Finding("missing", task.id, "", 1, what, f"{why}a run {consequence}")


def located_below(error: InputError, folder: Path) -> str:
    """The line of an error with its path relative to the data folder."""
    return str(error if error.path is None else error.located(path=os.path.relpath(error.path, folder)))
