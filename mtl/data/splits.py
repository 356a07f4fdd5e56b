"""The rows of each task by split. Where a task has no dev file, a share of its training rows is held out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from mtl.base.errors import InputError
from mtl.data.examples import Example, read_examples
from mtl.data.files import read_bytes
from mtl.data.held_out import grouped_by_source, hold_out
from mtl.tasks.layout import Layout
from mtl.tasks.suite import Suite
from mtl.tasks.task import DEV_OR_TEST, SPLITS, Task

CHOOSING = "choosing"  # the name of the dev rows that choose, where the other dev rows are scored


@dataclass(frozen=True)
class TaskExamples:
    """A task's rows by split, and the lines of the train file held out as dev, if any. A task that another task's head answers has no "train" rows,
    and "dev" rows only if it has a dev file. "test" may be missing; CHOOSING is there if dev is divided (`mtl.data.sampled.divide_dev`)."""

    task: Task
    rows: dict[str, list[Example]]
    held_out: list[int]


def read_task(task: Task, data_dir: Path, share: float) -> TaskExamples:
    """Read a task's files, and hold out a share of the training rows if there is no dev file. Raises InputError as `read_examples`."""
    rows = {}
    for split in SPLITS:
        if path := task.path(split, data_dir):
            rows[split] = read_split(task, path, split, task.layout(split, data_dir))
    held_out: list[int] = []
    if "dev" not in rows and "train" in rows:
        rows["train"], rows["dev"] = hold_out(task, rows["train"], share)
        held_out = [example.line for example in rows["dev"]]
        if not rows["train"] or not rows["dev"]:
            problem = f"too few groups of rows to hold out {share:.0%} for validation"
            raise InputError(problem, path=task.path("train", data_dir))
    return TaskExamples(task, rows, held_out)


def split_files(task: Task, data_dir: Path, share: float) -> dict[str, bytes]:
    """The rows that train and those that serve as dev as the contents of files, by the path of the file. Without a dev file, both are made of the
    lines of the training file. Raises InputError as `read_task`, for a split that is not a single whole file, and for a training file whose lines
    are not read as the same rows in other files, as that of parquet, a packed one or one in UTF-16."""
    paths = {split: path for split in ("train", "dev") if (path := task.path(split, data_dir))}
    for split, path in paths.items():
        layout = task.layout(split, data_dir)
        if layout.part is not None or layout.beside is not None:
            problem = f"{split} of task {task.id} is not the whole file ({task.files[split]}), and --write-splits writes whole files"
            remedy = f"put the rows of {split} into one file, or leave the task out"
            raise InputError(f"{problem}; {remedy} (tasks=[…])", path=path)
    if "dev" in paths or "train" not in paths:
        return {f"{task.folder or task.id}/{task.file(split)}": read_bytes(path) for split, path in paths.items()}
    return _divided_file(task, paths["train"], read_task(task, data_dir, share).rows, task.layout("train", data_dir))


def _divided_file(task: Task, path: Path, by_split: Mapping[str, list[Example]], layout: Layout) -> dict[str, bytes]:
    """The contents of two files by path, with the header of a training file and the lines of either split. Raises InputError as `split_files`."""
    lines = re.findall(rb"[^\n]*\n|[^\n]+", read_bytes(path))
    starts = sorted(row.line for rows in (by_split["train"], by_split["dev"]) for row in rows)
    ends = dict(zip(starts, [*starts[1:], len(lines) + 1], strict=True))
    contents = {}
    for split in ("train", "dev"):
        rows = [b"".join(lines[row.line - 1 : ends[row.line] - 1]) for row in by_split[split]]
        ended_rows = [row if row.endswith(b"\n") else row + b"\n" for row in rows]
        contents[f"{task.folder or task.id}/{split}{path.suffix}"] = b"".join([*lines[: starts[0] - 1], *ended_rows])
    expected = [[replace(row, line=0) for row in by_split[split]] for split in ("train", "dev")]
    if _rows_again(task, layout, contents) != expected:
        problem = "its lines are not read as the same rows in files of train and dev"
        raise InputError(f"{problem}; save it as .jsonl in UTF-8, or leave task {task.id} out (tasks=[…])", path=path)
    return contents


def _rows_again(task: Task, layout: Layout, contents: Mapping[str, bytes]) -> list[list[Example]] | None:
    """The rows of each of these files without their lines; None if one is not read."""
    files = []
    with TemporaryDirectory() as folder:
        for name, content in contents.items():
            path = Path(folder, Path(name).name)
            path.write_bytes(content)
            try:
                files.append([replace(row, line=0) for row in read_split(task, path, "train", layout)])
            except InputError:
                return None
    return files


def read_split(task: Task, path: Path, split: str, layout: Layout | None = None) -> list[Example]:
    """All rows of a split's file, with targets and groups; of a test file that is not scored, the texts alone. Errors: as `read_examples`."""
    has_targets = task.has_targets(split)
    rows = read_examples(task, path, has_targets, layout)
    return grouped_by_source(task, rows) if has_targets and task.same_source is not None else rows


def choose_scored(suite: Suite, data_dir: Path) -> Suite:
    """The suite with each task that is scored on `DEV_OR_TEST` scored on one of them: on dev if the dev file is there. Else it is scored on test
    and has no dev file, so that dev is rows held out of train. Where the suite allows missing files, a task that has others, but not its test
    file, has no test rows. Everything that reads data takes this suite."""
    tasks = {}
    for id, task in suite.tasks.items():
        if task.scored == DEV_OR_TEST:
            dev = task.path("dev", data_dir)
            assert dev is not None
            without_dev = {**task.files, "dev": None}
            task = replace(task, scored="dev") if dev.is_file() else replace(task, scored="test", files=without_dev)
        if suite.allow_missing and task.scored_split != "test" and has_files(task, data_dir):
            test = task.path("test", data_dir)
            if test is not None and not test.is_file():
                task = replace(task, files={**task.files, "test": None})
        tasks[id] = task
    return replace(suite, tasks=tasks)


def has_files(task: Task, data_dir: Path) -> bool:
    """Whether at least one of the task's files is there."""
    return any(path.is_file() for split in SPLITS if (path := task.path(split, data_dir)))


def missing_tasks(suite: Suite, data_dir: Path) -> dict[str, Path]:
    """The ids of the suite's tasks with a missing file, each with the path of the first missing file."""
    missing: dict[str, Path] = {}
    for id, task in suite.tasks.items():
        for split in SPLITS:
            paths = [task.path(split, data_dir), task.layout(split, data_dir).beside]
            if absent := [path for path in paths if path is not None and not path.is_file()]:
                missing.setdefault(id, absent[0])
    return missing


def check_present(suite: Suite, tasks: Sequence[Task], data_dir: Path) -> None:
    """Raise InputError, with advice, unless every file of these tasks exists."""
    missing = missing_tasks(suite, data_dir)
    lacking = [suite.tasks[task.id] for task in tasks if task.id in missing]
    if not lacking:
        return
    if all(task.withdrawn and task.hub is None for task in lacking):
        remedy = "the publisher has withdrawn this data: put it there if you have it"
    elif any(task.source or task.hub for task in lacking):
        remedy = f"fetch it with: mtl data {suite.name}"
    else:
        remedy = "put it there, set data_dir=, or, if the task has no dev or test file, write files: {dev: null} in the suite file"
    if present := [task.id for task in tasks if not {task.id, task.answered_by or task.id} & set(missing)]:
        remedy += f"; or run the tasks that have their files: tasks=[{','.join(present)}]"
    problem = f"no such file; tasks of suite {suite.name} without their files: {', '.join(task.id for task in lacking)}"
    raise InputError(f"{problem}; {remedy}", path=missing[lacking[0].id])


def present_tasks(suite: Suite, data_dir: Path) -> list[Task]:
    """The tasks of the suite that have all their files."""
    missing = missing_tasks(suite, data_dir)
    return [task for id, task in suite.tasks.items() if id not in missing]
