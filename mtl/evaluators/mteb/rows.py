"""Whether the local rows of a task can be read, and have its columns: what is wrong is named by file, row and column."""

from pathlib import Path

from datasets import Dataset
from mteb.abstasks import AbsTask

from mtl.data.blocks import BLOCK
from mtl.data.lines import line_blocks
from mtl.data.records import parse_row
from mtl.errors import InputError


class MissingSplit(InputError):
    """A folder of rows lacks a split that its task needs."""


def check_files(folder: Path, split: str) -> None:
    """Raise MissingSplit for a folder without files, and InputError for a line of a .jsonl file that is not a row. split: one that is needed."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        raise MissingSplit(f"{folder}: has no files; put the task's rows there, as in {folder / split}.jsonl")
    for path in files:
        if path.suffix == ".jsonl":
            _check_jsonl(path)


def _check_jsonl(path: Path) -> None:
    number, rows = 0, 0
    with path.open("rb") as file:
        for lines, _ in line_blocks(file, str(path), BLOCK):
            for line in lines:
                number += 1
                if line.strip():  # datasets skips the others
                    parse_row(path, number, line)
                    rows += 1
    if not rows:
        raise InputError(f"{path}: has no rows; write one JSON object a line")


def check_columns(task: AbsTask, rows: Dataset, path: Path) -> None:
    """Raise InputError for rows that lack a column of the task, a value of one, or a number where the task has numbers.

    path: where the rows are, for messages.
    """
    if not isinstance(rows, Dataset):  # those of retrieval have other parts
        return
    columns = _columns(task)
    for column in columns:
        if column not in rows.column_names:
            raise InputError(f"{path}: has no column {column}; it has {', '.join(rows.column_names)}")
        numeric = column == columns[-1] and task.metadata.type in ("PairClassification", "STS")
        for number, value in enumerate(rows[column], 1):
            if value is None:
                raise InputError(f"{path}: row {number}: column {column} has no value; write one, or drop the row")
            if numeric and isinstance(value, str) and not _is_number(value):
                raise InputError(f"{path}: row {number}: column {column}: {value!r} is not a number; write a number")


def _columns(task: AbsTask) -> list[str]:
    """The columns of a task's texts and the one of its targets, after mteb has renamed the hub's; empty for tasks of other forms."""
    if task.metadata.type == "STS":
        return [*task.column_names, "score"]
    names = ("input_column_name", "input1_column_name", "input2_column_name", "label_column_name")
    return [column for name in names if isinstance(column := getattr(task, name, None), str)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
