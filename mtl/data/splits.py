"""The rows of each task by split. Where a task has no dev file, a share of its training rows is held out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from mtl.base.errors import InputError
from mtl.data.examples import Example, read_examples
from mtl.data.files import read_bytes
from mtl.data.held_out import grouped_by_source, hold_out
from mtl.tasks.layout import Layout
from mtl.tasks.task import SPLITS, Task

CHOOSING = "choosing"  # the name of the dev rows that choose, where the other dev rows are scored


@dataclass(frozen=True)
class TaskExamples:
    """A task's rows by split, and the lines of the train file held out as dev, if any. A task that another task's head answers has no "train" rows,
    and "dev" rows only if it has a dev file. "test" may be missing; CHOOSING is there if dev is divided (`mtl.data.loading.divide_dev`)."""

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
    stops = dict(zip(starts, [*starts[1:], len(lines) + 1], strict=True))  # by the first line of a row, that after it
    header = lines[: starts[0] - 1]
    contents = {}
    for split in ("train", "dev"):
        rows = [b"".join(lines[row.line - 1 : stops[row.line] - 1]) for row in by_split[split]]
        ended_rows = [row if row.endswith(b"\n") else row + b"\n" for row in rows]
        contents[f"{task.folder or task.id}/{split}{path.suffix}"] = b"".join([*header, *ended_rows])
    expected = [[replace(row, line=0) for row in by_split[split]] for split in ("train", "dev")]
    if _rows_again(task, layout, contents) != expected:
        problem = "its lines are not read as the same rows in files of train and dev"
        raise InputError(f"{problem}; save it as .jsonl in UTF-8, or leave task {task.id} out (tasks=[…])", path=path)
    return contents


def _rows_again(task: Task, layout: Layout, contents: Mapping[str, bytes]) -> list[list[Example]] | None:
    """The rows of each of these files without their lines; None if one is not read."""
    rows_by_file = []
    with TemporaryDirectory() as folder:
        for name, content in contents.items():
            path = Path(folder, Path(name).name)
            path.write_bytes(content)
            try:
                rows_by_file.append([replace(row, line=0) for row in read_split(task, path, "train", layout)])
            except InputError:
                return None
    return rows_by_file


def read_split(task: Task, path: Path, split: str, layout: Layout | None = None) -> list[Example]:
    """All rows of a split's file, with targets and groups; of a test file that is not scored, the texts alone. Errors: as `read_examples`."""
    has_targets = task.has_targets(split)
    rows = read_examples(task, path, has_targets, layout)
    return grouped_by_source(task, rows) if has_targets and task.same_source is not None else rows
