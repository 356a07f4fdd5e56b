"""The only rows that a task is scored on: a sample, which a key file names, and dev rows that are divided into those that choose and the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.untrusted import Count, read_json
from mtl.base.wording import listed
from mtl.data.held_out import hold_out
from mtl.data.splits import CHOOSING, TaskExamples
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

MOST_NAMED = 3  # lines in one message; the others are counted


class TaskKey(TypedDict):
    """The sample of one task."""

    split: str  # that scores the task
    file: str  # of the split's rows, relative to the data folder
    sha256: str  # of this file
    whole: Count  # rows of the split
    lines: Annotated[list[Count], Meta(min_length=1)]  # of the sample in the file, ascending; a header is line 1


class Key(TypedDict):
    """The content of key.json: the samples by task id. It has no labels."""

    suite: str
    tasks: Annotated[dict[str, TaskKey], Meta(min_length=1)]


@dataclass(frozen=True)
class RowSample:
    """Those rows of a split that are scored."""

    lines: Sequence[int]  # in the data file
    positions: Sequence[int]  # their numbers among all rows of the split, from 0, in ascending order
    whole: int  # rows of the split


def scored_file(task: Task, data_dir: Path) -> Path:
    """The file of the rows that the task is scored on; where it has no dev file, the training file, whose held-out rows serve as dev."""
    path = task.path(task.scored_split, data_dir) or task.path("train", data_dir)
    assert path is not None
    return path


def read_key(name: Any, suite: Suite, data_dir: Path) -> Key:
    """The content of the key file that the setting `rows` names, which is not trusted. Raises InputError, which names the file and the key, if it is
    damaged or not of this suite, if a task is scored on another split, and if a data file is not the one that the sample was drawn from."""
    if not isinstance(name, str | Path):
        raise InputError("must be the path of the key.json that mtl annotate wrote", key="rows", value=name)
    path, remedy = Path(name), "name the key.json that mtl annotate wrote"
    if not path.exists():
        raise InputError(f"no such file; {remedy}", path=path)
    key = read_json(path, Key, remedy)
    if key["suite"] != suite.name:
        raise InputError(f"is of suite {key['suite']}, not of {suite.name}; set suite=", path=path, key="suite")
    for id, sample in key["tasks"].items():
        if id not in suite.tasks:
            raise InputError(f"suite {suite.name} has no such task; {remedy}", path=path, key=f"tasks.{id}")
        task = suite.tasks[id]
        if sample["split"] != task.scored_split:
            problem = f"{sample['split']} rows, but the task is scored on {task.scored_split}; draw another sample"
            raise InputError(problem, path=path, key=f"tasks.{id}.split")
        file = scored_file(task, data_dir)
        if not file.is_file():
            raise InputError("no such file; the sample is of its rows; set data_dir=", path=file)
        if sha256(file) != sample["sha256"]:
            problem = f"{file} is not the file that the sample was drawn from; set data_dir=, or draw another sample"
            raise InputError(problem, path=path, key=f"tasks.{id}.sha256")
    return key


def take_sample(part: TaskExamples, lines: Sequence[int], **where: Any) -> tuple[TaskExamples, RowSample]:
    """A task of whose scored rows only those on these lines of their file are left. Raises InputError for a line without one, or named twice, with
    the file and the key in `where`, which names the lines."""
    split, wanted = part.task.scored_split, set(lines)
    positions = [number for number, example in enumerate(part.rows[split]) if example.line in wanted]
    rows = [part.rows[split][position] for position in positions]
    if unknown := sorted(wanted - {example.line for example in rows}):
        raise InputError(f"has lines without a {split} row: {listed([*map(str, unknown)], MOST_NAMED)}", **where)
    if not rows or len(wanted) < len(lines):
        raise InputError("must name at least one line, and none twice", **where)
    sample = RowSample([example.line for example in rows], positions, len(part.rows[split]))
    return replace(part, rows={**part.rows, split: rows}), sample


def divide_dev(part: TaskExamples, share: float) -> tuple[TaskExamples, RowSample]:
    """A task whose dev rows are divided: this share of them chooses and is called CHOOSING, and the others are "dev", on which the task is scored.
    Groups and equal texts stay together, as where rows are held out. Raises InputError if one of the two has no rows."""
    rows = part.rows["dev"]
    scored, choosing = hold_out(part.task, rows, share)
    if not scored or not choosing:
        problem = f"task {part.task.id}: too few groups of dev rows to divide them; leave choosing_share out, or the task (tasks=[…])"
        raise InputError(problem, key="choosing_share", value=share)
    scored_ids = set(map(id, scored))
    positions = [number for number, row in enumerate(rows) if id(row) in scored_ids]
    sample = RowSample([row.line for row in scored], positions, len(rows))
    return replace(part, rows={**part.rows, "dev": scored, CHOOSING: choosing}), sample


def sample_text(samples: Mapping[str, RowSample], splits: Mapping[str, str]) -> str:
    """The samples of splits, both by task id, in words, as in "cbd 50 of 1000 dev rows"."""
    return "; ".join(f"{id} {len(sample.lines)} of {sample.whole} {splits[id]} rows" for id, sample in samples.items())
