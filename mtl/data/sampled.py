"""Samples: tasks that are scored on some rows of a split alone, as those that a key file names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.untrusted import Count, read_json
from mtl.base.wording import listed
from mtl.data.splits import TaskExamples
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

MOST_NAMED = 3  # lines in one message; the others are counted
REMEDY = "name the key.json that mtl annotate wrote"


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


def read_key(setting: Any, suite: Suite, data_dir: Path) -> Key:
    """The content of the key file that the setting `rows` names, which is not trusted. Raises InputError, which names the file and the key, if it is
    damaged or not of this suite, if a task is scored on another split, and if a data file is not the one that the sample was drawn from."""
    if not isinstance(setting, str | Path):
        raise InputError("must be the path of the key.json that mtl annotate wrote", key="rows", value=setting)
    path = Path(setting)
    if not path.exists():
        raise InputError(f"no such file; {REMEDY}", path=path)
    content = read_json(path, Key, REMEDY)
    if content["suite"] != suite.name:
        raise InputError(f"is of suite {content['suite']}, not of {suite.name}; set suite=", path=path, key="suite")
    for id, task_key in content["tasks"].items():
        if id not in suite.tasks:
            raise InputError(f"suite {suite.name} has no such task; {REMEDY}", path=path, key=f"tasks.{id}")
        _check_task_key(task_key, suite.tasks[id], path, data_dir)
    return content


def _check_task_key(task_key: TaskKey, task: Task, path: Path, data_dir: Path) -> None:
    """Raise InputError, as `read_key` with this path does, for the sample of a task that is not one of the rows that the task is scored on."""
    if task_key["split"] != task.scored_split:
        problem = f"{task_key['split']} rows, but the task is scored on {task.scored_split}; draw another sample"
        raise InputError(problem, path=path, key=f"tasks.{task.id}.split")
    file = scored_file(task, data_dir)
    if not file.is_file():
        raise InputError("no such file; the sample is of its rows; set data_dir=", path=file)
    if sha256(file) != task_key["sha256"]:
        problem = f"{file} is not the file that the sample was drawn from; set data_dir=, or draw another sample"
        raise InputError(problem, path=path, key=f"tasks.{task.id}.sha256")


def take_sample(part: TaskExamples, lines: Sequence[int], **where: Any) -> tuple[TaskExamples, RowSample]:
    """A task with those scored rows alone that stand on these lines of their file. Raises InputError, located by `where`, for wrong lines."""
    split = part.task.scored_split
    wanted = set(lines)
    positions = [position for position, row in enumerate(part.rows[split]) if row.line in wanted]
    rows = [part.rows[split][position] for position in positions]
    if unknown := sorted(wanted - {row.line for row in rows}):
        raise InputError(f"has lines without a {split} row: {listed([*map(str, unknown)], MOST_NAMED)}", **where)
    if not rows or len(wanted) < len(lines):
        raise InputError("must name at least one line, and none twice", **where)
    sample = RowSample([row.line for row in rows], positions, len(part.rows[split]))
    return replace(part, rows={**part.rows, split: rows}), sample


def sample_text(samples: Mapping[str, RowSample], splits: Mapping[str, str]) -> str:
    """The samples of splits, both by task id, in words, as in "cbd 50 of 1000 dev rows"."""
    return "; ".join(f"{id} {len(sample.lines)} of {sample.whole} {splits[id]} rows" for id, sample in samples.items())
