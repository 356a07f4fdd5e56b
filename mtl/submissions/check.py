"""Check a submission of rows: whether it has the data's rows, complete, in order and unchanged, each with a valid prediction, and a right entry."""

import json
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.submissions.entry import Figures, read_template
from mtl.submissions.entry_check import entry_problems
from mtl.submissions.files import read_submission, rows_name
from mtl.submissions.format import Checked
from mtl.submissions.row_files import PREDICTION, RowFile, data_files, data_remarks, excerpt, measure
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind

MOST_PROBLEMS = 10  # of one file that are listed


def check_rows(path: Path, suite: Suite, data_dir: Path) -> Checked:
    """Compare a submission with a data folder. Raises InputError if that has no file of the suite, and for files that cannot be read."""
    data = {task.id: data_files(task, data_dir) for task in suite.tasks.values()}
    if not any(data.values()):
        raise InputError(f"has no files of suite {suite.name} to compare with; set data_dir=", path=data_dir)
    files = read_submission(path, suite)
    if not files.contents:
        example = rows_name(next(iter(suite.tasks.values())), "test")
        return Checked([f"{path}: has neither an entry, NAME.json, nor a file such as {example}"])
    problem = "begins with a byte order mark; save the file as UTF-8 without one"
    problems = [f"{path}/{name}:1: {problem}" for name, text in files.contents.items() if text.startswith(BOM_UTF8)]
    notes: list[str] = []
    figures: Figures = {}  # of all tasks that the submission has; empty for one with problems
    for task in suite.tasks.values():
        task_data = data[task.id]
        row_files = {split: RowFile(task, split, file.name, file.lines) for split, file in files.of_rows(task).items()}
        if not row_files:
            continue
        figures[task.id] = {}
        missing = [split for split in task_data if split not in row_files]
        task_problems = [f"{path}/{rows_name(task, split)}: is missing" for split in missing]
        for split, file in row_files.items():
            task_problems += _file_problems(file, task_data.get(split), data_dir)
        problems += task_problems
        if not task_problems:
            for split, file in row_files.items():
                targets, _ = file.targets_and_errors
                figures[task.id][split] = measure(suite, task_data[split], targets)
                if remark := target_kind(task).remark(targets):
                    notes.append(f"{file.name}: {remark}")
    problems += entry_problems(files, suite, read_template(suite, data_dir), figures)
    problems += files.foreign_problems(suite, "a submission")
    compared_files = [file for id in figures for file in data[id].values()]
    return Checked(problems, data_remarks(compared_files, data_dir), notes)


def _file_problems(file: RowFile, data_file: RowFile | None, data_dir: Path) -> list[str]:
    """The problems of a submission's file beside the data's, in order of lines: the first MOST_PROBLEMS, and if several follow, how many."""
    if data_file is None:
        return [f"{file.name}: {data_dir} has no {file.split} file of the task to compare with"]
    try:
        _, errors = file.targets_and_errors
    except InputError as error:  # a line is no row
        return [str(error)]
    problems = [(error.line or 1, error.message) for error in errors] + _row_problems(file, data_file)
    listed = [f"{file.name}:{number}: {problem}" for number, problem in sorted(problems)]
    further = len(listed) - MOST_PROBLEMS
    if further <= 1:
        return listed
    return [*listed[:MOST_PROBLEMS], f"{file.name}: {further} further problems of this kind or another"]


def _row_problems(file: RowFile, data_file: RowFile) -> list[tuple[int, str]]:
    """The line and the message of the first row that is not the data's row on this line, or else of another number of rows."""
    rule = f"the rows must be all those of {data_file.name}, in their order (mtl rejoin puts predictions to them)"
    for number, (row, data_row) in enumerate(zip(file.rows, data_file.rows, strict=False), start=1):
        without_prediction = {key: value for key, value in row.items() if key != PREDICTION}
        if (difference := _difference(without_prediction, data_row)) is not None:
            return [(number, f"{difference}; {rule}")]
    count, expected = len(file.rows), len(data_file.rows)
    return [] if count == expected else [(min(count, expected) + 1, f"{count} rows for {expected}; {rule}")]


def _difference(row: dict[str, Any], data_row: dict[str, Any], outer: str = "") -> str | None:
    """Which key differs, and how; None if none does. Equal values have one type: 3 is not 3.0. The order of keys does not count."""
    for key in dict.fromkeys([*data_row, *row]):
        name = f"{outer}{key}"
        if key not in row:
            return f"key {name!r} of the data's row is missing"
        if key not in data_row:
            return f"key {name!r} is not in the data's row"
        value, expected = row[key], data_row[key]
        if isinstance(value, dict) and isinstance(expected, dict):
            if (difference := _difference(value, expected, f"{name}.")) is not None:
                return difference
        elif json.dumps(value, sort_keys=True) != json.dumps(expected, sort_keys=True):
            return f"key {name!r} is {excerpt(value)}, and in the data's row {excerpt(expected)}"
    return None
