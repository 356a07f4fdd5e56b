"""Check a submission of rows: whether it has the data's rows, complete, in order and unchanged, each with a valid prediction, and a right entry."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.data.files import split_lines
from mtl.submissions.entry import Figures, measure, read_template
from mtl.submissions.entry_problems import entry_problems
from mtl.submissions.files import MOST_PREDICTIONS, foreign_problems, read_submission, row_contents, rows_name
from mtl.submissions.format import Checked
from mtl.submissions.row_files import PREDICTION, RowFile, data_files, data_remarks, show
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_PROBLEMS = 10  # of one file that are listed


def check_rows(path: Path, suite: Suite, data_dir: Path) -> Checked:
    """Compare a submission with a data folder. Raises InputError if that has no file of the suite, and for files that cannot be read."""
    data_by_task = {task.id: data_files(task, data_dir) for task in suite.tasks.values()}
    if not any(data_by_task.values()):
        raise InputError(f"has no files of suite {suite.name} to compare with; set data_dir=", path=data_dir)
    contents, foreign = read_submission(path, suite)
    if not contents:
        example = rows_name(next(iter(suite.tasks.values())), "test")
        return Checked([f"{path}: has neither an entry, NAME.json, nor a file such as {example}"])
    problem = "begins with a byte order mark; save the file as UTF-8 without one"
    problems = [f"{path}/{name}:1: {problem}" for name, content in contents.items() if content.startswith(BOM_UTF8)]
    notes: list[str] = []
    compared: list[Mapping[str, RowFile]] = []  # the data of the tasks that the submission has
    figures: Figures = {}
    for task in suite.tasks.values():
        files = {
            split: RowFile(task, split, name, split_lines(content, name, most=MOST_PREDICTIONS))
            for split, name, content in row_contents(path, contents, task)
        }
        if not files:
            continue
        expected = data_by_task[task.id]
        compared.append(expected)
        figures[task.id] = {}
        if task_problems := _compare_task(path, task, files, expected, data_dir):
            problems += task_problems
            continue
        for split, file in files.items():
            predictions, _ = file.targets_and_errors
            figures[task.id][split] = measure(suite, expected[split], predictions)
            if remark := target_kind(task).remark(predictions):
                notes.append(f"{file.name}: {remark}")
    problems += entry_problems(path, contents, suite, read_template(suite, data_dir), figures)
    problems += foreign_problems(path, suite, foreign, "a submission")
    return Checked(problems, data_remarks(compared, data_dir), notes)


def _compare_task(
    path: Path, task: Task, files: Mapping[str, RowFile], expected: Mapping[str, RowFile], data_dir: Path
) -> list[str]:
    """The problems of a task's files in the submission at `path`, beside the files of the data folder that are expected; both by split."""
    problems = [f"{path}/{rows_name(task, split)}: is missing" for split in expected if split not in files]
    for split, file in files.items():
        if split in expected:
            problems += file_problems(file, expected[split])
        else:
            problems.append(f"{file.name}: {data_dir} has no {split} file of the task to compare with")
    return problems


def file_problems(file: RowFile, data: RowFile) -> list[str]:
    """The problems of a submission's file, in order of lines; of more than 11, the first 10 and how many follow. Rows are the same if their values
    are, of equal type: 3 is not 3.0. The order of keys and white space do not count."""
    try:
        _, errors = file.targets_and_errors
    except InputError as error:  # a line is no row
        return [str(error)]
    problems = [(error.line or 1, error.message) for error in errors]
    problems += _row_problems(file.rows, data)
    listed = [f"{file.name}:{number}: {problem}" for number, problem in sorted(problems)]
    further = len(listed) - MOST_PROBLEMS
    if further <= 1:
        return listed
    return [*listed[:MOST_PROBLEMS], f"{file.name}: {further} further problems of this kind or another"]


def _row_problems(rows: Sequence[dict[str, Any]], data: RowFile) -> Iterator[tuple[int, str]]:
    """The line and the message of the first row that is not the data's row on this line, or else of another number of rows."""
    rule = f"the rows must be all those of {data.name}, in their order (mtl rejoin puts predictions to them)"
    for number, (row, data_row) in enumerate(zip(rows, data.rows, strict=False), start=1):
        without_prediction = {key: value for key, value in row.items() if key != PREDICTION}
        if _canonical(without_prediction) != _canonical(data_row):
            yield number, f"{_difference(without_prediction, data_row)}; {rule}"
            return
    if len(rows) != len(data.rows):
        yield min(len(rows), len(data.rows)) + 1, f"{len(rows)} rows for {len(data.rows)}; {rule}"


def _canonical(value: Any) -> str:
    """Equal for the same values of the same types, whatever the order of keys."""
    return json.dumps(value, sort_keys=True)


def _difference(row: dict[str, Any], data: dict[str, Any], outer: str = "") -> str:
    """Which key differs, and how."""
    for key in dict.fromkeys([*data, *row]):
        name = f"{outer}{key}"
        if key not in row:
            return f"key {name!r} of the data's row is missing"
        if key not in data:
            return f"key {name!r} is not in the data's row"
        value, expected = row[key], data[key]
        if _canonical(value) != _canonical(expected):
            if isinstance(value, dict) and isinstance(expected, dict):
                return _difference(value, expected, f"{name}.")
            return f"key {name!r} is {show(value)}, and in the data's row {show(expected)}"
    raise AssertionError("the rows are the same")
