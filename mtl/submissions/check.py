"""Check a submission of rows: whether it has the data's rows, complete, in order and unchanged, each with a valid prediction, and a right entry."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.data.columns import optional_value
from mtl.data.files import split_lines
from mtl.submissions.entry import (
    FACTS,
    LEFT_OUT,
    ROWS,
    TASKS,
    Content,
    Figures,
    file_name,
    fill_entry,
    measure,
    read_entry,
    read_template,
)
from mtl.submissions.files import MOST_PREDICTIONS, SPLITS, SubmissionFiles, read_submission, rows_name
from mtl.submissions.format import Checked
from mtl.submissions.row_files import PREDICTION, RowFile, data_files, data_remarks, show
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_PROBLEMS = 10  # of one file that are listed
TOLERANCE = 0.005  # how far a figure, on a scale from 0 to 1, may be from the predictions': entries may be rounded
LARGEST = 1e15  # that a figure may be


def check_rows(path: Path, suite: Suite, data_dir: Path) -> Checked:
    """Compare a submission with a data folder. Raises InputError if that has no file of the suite, and for files that cannot be read."""
    data_by_task = {task.id: data_files(task, data_dir) for task in suite.tasks.values()}
    if not any(data_by_task.values()):
        raise InputError(f"has no files of suite {suite.name} to compare with; set data_dir=", path=data_dir)
    files = read_submission(path, suite)
    if not files.contents:
        example = rows_name(next(iter(suite.tasks.values())), "test")
        return Checked([f"{path}: has neither an entry, NAME.json, nor a file such as {example}"])
    problem = "begins with a byte order mark; save the file as UTF-8 without one"
    problems = [
        f"{path}/{name}:1: {problem}" for name, content in files.contents.items() if content.startswith(BOM_UTF8)
    ]
    notes: list[str] = []
    compared: list[Mapping[str, RowFile]] = []  # the data of the tasks that the submission has
    figures: Figures = {}
    for task in suite.tasks.values():
        submitted = {
            split: RowFile(task, split, name, split_lines(content, name, most=MOST_PREDICTIONS))
            for split, name, content in files.of_rows(task)
        }
        if not submitted:
            continue
        expected = data_by_task[task.id]
        compared.append(expected)
        figures[task.id] = {}
        if task_problems := _compare_task(path, task, submitted, expected, data_dir):
            problems += task_problems
            continue
        for split, file in submitted.items():
            predictions, _ = file.targets_and_errors
            figures[task.id][split] = measure(suite, expected[split], predictions)
            if remark := target_kind(task).remark(predictions):
                notes.append(f"{file.name}: {remark}")
    problems += _entry_problems(files, suite, read_template(suite, data_dir), figures)
    problems += files.foreign_problems(suite, "a submission")
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


def _entry_problems(files: SubmissionFiles, suite: Suite, template: Content | None, figures: Figures) -> list[str]:
    """What is wrong with the submission's entry: its form, its tasks and its figures; and missing tasks that it does not say are left out."""
    try:
        name, entry = read_entry(files)
    except InputError as error:
        return [str(error)]
    others = [title for title in _system_names(suite, entry).values() if title is not None and file_name(title) != name]
    problems = [
        f"{files.path}/{name}: is the entry of {title!r}; its name must be {file_name(title)}" for title in others
    ]
    absent = [id for id in suite.tasks if id not in figures and id not in entry.get(LEFT_OUT, [])]
    problems += [
        f"{files.path}/{id}: the task is missing, and the entry does not say so under {LEFT_OUT}" for id in absent
    ]
    return [
        *problems,
        *(f"{files.path}/{name}: {problem}" for problem in _content_problems(suite, entry, template, figures)),
    ]


def _content_problems(suite: Suite, entry: Content, template: Content | None, figures: Figures) -> Iterator[str]:
    """What is wrong with an entry, as "key: message". Values of the template may stay, but for the system's name. `template` is the empty entry; None
    if it is not at hand, or the suite has none. `figures` are those that the predictions give, for each task that the submission has."""
    # Where the suite's template is not at hand, other tasks and figures may be right.
    keys_are_known = template is not None or suite.submission.template is None
    unnamed = [key for key, name in _system_names(suite, entry).items() if name is None]
    yield from (f"{key}: must be the system's name" for key in unnamed)
    blocks = dict.fromkeys(SPLITS, dict.fromkeys(suite.submission.measures, 0.0))
    known = fill_entry(template or {}, suite, dict.fromkeys(FACTS, ""), dict.fromkeys(suite.tasks, blocks))
    if keys_are_known:
        checked = [TASKS] if template is None else [key for key in entry if key != LEFT_OUT]
        yield from _unknown({key: entry[key] for key in checked if key in entry}, known)
    for id in entry.get(LEFT_OUT, []):
        if id in figures:
            yield f"{LEFT_OUT}: {id} is not left out: the submission has its files"
        elif keys_are_known and id not in known[TASKS]:
            yield f"{LEFT_OUT}: suite {suite.name} has no task {id}"
    expected = (template or {}).get(TASKS, {})
    tasks = entry.get(TASKS, {})
    yield from _missing(tasks, {id: expected[id] for id in expected if id in figures}, f"{TASKS}.")
    yield from _figure_problems(suite, tasks, figures)


def _system_names(suite: Suite, entry: Content) -> dict[str, str | None]:
    """The system's name in an entry, by each dotted key under which the suite says that it stands; None where no text stands."""
    keys = [key for key, fact in suite.submission.fill.items() if fact == "name"]
    values = {key: optional_value(entry, key) for key in keys}
    return {key: value if isinstance(value, str) else None for key, value in values.items()}


def _unknown(block: Content, known: Content, outer: str = "") -> Iterator[str]:
    """Keys of an entry that it may not have, and objects in place of single values or the reverse."""
    for key, value in block.items():
        name = f"{outer}{key}"
        if key not in known:
            yield f"{name}: unknown key, expected one of {', '.join(known)}"
        elif value is not None and isinstance(value, dict) != isinstance(known[key], dict):
            yield f"{name}: must be {'an object' if isinstance(known[key], dict) else 'a single value'}"
        elif isinstance(value, dict):
            yield from _unknown(value, known[key], f"{name}.")


def _missing(block: Content, expected: Content, outer: str) -> Iterator[str]:
    """The expected keys that the entry lacks."""
    for key, value in expected.items():
        name = f"{outer}{key}"
        if key not in block:
            yield f"{name}: is missing, though the submission has the task's files"
        elif isinstance(value, dict):
            yield from _missing(block[key] if isinstance(block[key], dict) else {}, value, f"{name}.")


def _figure_problems(suite: Suite, tasks: Content, figures: Figures) -> Iterator[str]:
    """Figures that are no numbers, or not those that the predictions give."""
    for id, splits in tasks.items():
        for split, block in splits.items():
            computed = figures.get(id, {}).get(split, {})
            given = {name: value for name, value in (block or {}).items() if value is not None}
            for name, value in given.items():
                key = f"{TASKS}.{id}.{split}.{name}"
                tolerance = 0 if suite.submission.measures.get(name) == [ROWS] else TOLERANCE * suite.scale
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                if not is_number or not -LARGEST <= value <= LARGEST:
                    yield f"{key}: {show(value)} must be a number or null"
                elif name in computed and not abs(value - computed[name]) <= tolerance:  # also if NaN is computed
                    yield f"{key}: is {value}, but the predictions give {computed[name]:.6g}"
