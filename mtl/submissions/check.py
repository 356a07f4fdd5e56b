"""Check a submission of rows: the data's rows, complete, in order and unchanged, each with a valid prediction, and the entry."""

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.data.files import split_lines
from mtl.submissions.entry import (
    FACTS,
    LEFT_OUT,
    ROWS,
    TASKS,
    Figures,
    file_name,
    fill_entry,
    measure,
    parse_entry,
    read_template,
    system_names,
)
from mtl.submissions.files import MOST_PREDICTIONS, SPLITS, foreign_problems, is_entry, read_files, rows_name
from mtl.submissions.format import Checked
from mtl.submissions.row_files import PREDICTION, RowFile, data_files, show
from mtl.submissions.rows import data_remarks
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_PROBLEMS = 10  # of one file that are listed
# How far a figure may be from the one that the predictions give, on a scale from 0 to 1: entries may be rounded.
TOLERANCE = 0.005
LARGEST = 1e15  # that a figure may be

Content = Mapping[str, Any]  # of an entry


def read_submission(path: Path, suite: Suite) -> tuple[dict[str, bytes], list[str]]:
    """The entries and the rows of the suite's tasks in a submission, a folder or a zip, by their path there, and the names of all other
    files, which are not read. Raises InputError as `mtl.submissions.files.read_files` does."""
    rows = {rows_name(task, split) for task in suite.tasks.values() for split in SPLITS}
    return read_files(path, lambda name: name in rows or is_entry(name))


def check_rows(path: Path, suite: Suite, data_dir: Path) -> Checked:
    """Compare a submission with a data folder. Raises InputError if that has no file of the suite, and for files that cannot be read."""
    data = {task.id: files for task in suite.tasks.values() if (files := data_files(task, data_dir))}
    if not data:
        raise InputError(f"has no files of suite {suite.name} to compare with; set data_dir=", path=data_dir)
    contents, foreign = read_submission(path, suite)
    if not contents:
        example = rows_name(next(iter(suite.tasks.values())), "test")
        return Checked([f"{path}: has neither an entry, NAME.json, nor a file such as {example}"])
    problems = [
        f"{path}/{name}:1: begins with a byte order mark; save the file as UTF-8 without one"
        for name, content in contents.items()
        if content.startswith(codecs.BOM_UTF8)
    ]
    compared = []
    notes: list[str] = []
    figures: Figures = {}
    for task in suite.tasks.values():
        names = {split: name for split in SPLITS if (name := rows_name(task, split)) in contents}
        if not names:
            continue
        files = {split: _row_file(task, f"{path}/{name}", contents[name]) for split, name in names.items()}
        expected = data.get(task.id, {})
        compared.append(expected)
        figures[task.id] = {}
        task_problems = [f"{path}/{rows_name(task, split)}: is missing" for split in expected if split not in files]
        for split, file in files.items():
            if split in expected:
                task_problems += file_problems(file, expected[split])
            else:
                task_problems.append(f"{file.name}: {data_dir} has no {split} file of the task to compare with")
        problems += task_problems
        for split, file in files.items() if not task_problems else ():
            predictions = file.predictions
            figures[task.id][split] = measure(suite, split, expected[split], predictions)
            if note := target_kind(task).remark(predictions):
                notes.append(f"{file.name}: {note}")
    problems += _entry_problems(path, suite, contents, read_template(suite, data_dir), figures)
    problems += foreign_problems(path, suite, foreign, "a submission")
    return Checked(problems, data_remarks(compared, data_dir), notes)


def _row_file(task: Task, name: str, content: bytes) -> RowFile:
    """A submission's file of rows with this content."""
    return RowFile(task, name, split_lines(content, name, most=MOST_PREDICTIONS))


def read_entry(path: Path, contents: Mapping[str, bytes]) -> tuple[str, dict[str, Any]]:
    """The name of the submission's entry and its content. Raises InputError unless there is exactly one, and it is an entry."""
    names = [name for name in contents if is_entry(name)]
    if len(names) != 1:
        what = f"{len(names)} files ({', '.join(names)})" if names else "no file"
        raise InputError(f"{what} of the form NAME.json; one is expected, the leaderboard's entry", path=path)
    return names[0], parse_entry(f"{path}/{names[0]}", contents[names[0]])


def _entry_problems(
    path: Path, suite: Suite, contents: Mapping[str, bytes], template: Content | None, figures: Figures
) -> list[str]:
    """What is wrong with the submission's entry, and the missing tasks that it does not say are left out."""
    try:
        name, entry = read_entry(path, contents)
    except InputError as error:
        return [str(error)]
    problems = [
        f"{path}/{name}: is the entry of {system!r}; its name must be {file_name(system)}"
        for system in system_names(suite, entry).values()
        if system is not None and file_name(system) != name
    ]
    problems += [
        f"{path}/{id}: the task is missing, and the entry does not say so under {LEFT_OUT}"
        for id in suite.tasks
        if id not in figures and id not in entry.get(LEFT_OUT, [])
    ]
    return [*problems, *(f"{path}/{name}: {problem}" for problem in content_problems(suite, entry, template, figures))]


def file_problems(file: RowFile, data: RowFile) -> list[str]:
    """The problems of a submission's file, in order of lines; after the first 10, their number. Rows are the same if their values are, of equal
    type: 3 is not 3.0. The order of keys and white space do not count."""
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
        plain = {key: row[key] for key in row if key != PREDICTION}
        if _canonical(plain) != _canonical(data_row):
            yield number, f"{_difference(plain, data_row)}; {rule}"
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


def content_problems(suite: Suite, entry: Content, template: Content | None, figures: Figures) -> Iterator[str]:
    """The problems, as "key: message". What the template, the empty entry, has is never one, except that the system needs a name. The figures are
    those that the predictions give, of each task that the submission has."""
    # Where the suite's template is not at hand, other tasks and figures may be right.
    is_open = template is None and suite.submission.template is not None
    yield from (f"{key}: must be the system's name" for key, name in system_names(suite, entry).items() if name is None)
    blocks = dict.fromkeys(SPLITS, dict.fromkeys(suite.submission.measures, 0.0))
    known = fill_entry(template or {}, suite, dict.fromkeys(FACTS, ""), dict.fromkeys(suite.tasks, blocks))
    if not is_open:
        checked = [TASKS] if template is None else [key for key in entry if key != LEFT_OUT]
        yield from _unknown({key: entry[key] for key in checked if key in entry}, known)
    for id in entry.get(LEFT_OUT, []):
        if id in figures:
            yield f"{LEFT_OUT}: {id} is not left out: the submission has its files"
        elif not (is_open or id in known[TASKS]):
            yield f"{LEFT_OUT}: suite {suite.name} has no task {id}"
    expected = (template or {}).get(TASKS, {})
    tasks = entry.get(TASKS, {})
    yield from _missing(tasks, {id: expected[id] for id in expected if id in figures}, f"{TASKS}.")
    yield from _figure_problems(suite, tasks, figures)


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
    """The expected keys that the entry has not."""
    for key, value in expected.items():
        name = f"{outer}{key}"
        if key not in block:
            yield f"{name}: is missing, though the submission has the task's files"
        elif isinstance(value, dict):
            yield from _missing(block[key] or {}, value, f"{name}.")


def _figure_problems(suite: Suite, tasks: Content, figures: Figures) -> Iterator[str]:
    """Figures that are no numbers, or not those that the predictions give."""
    for id, splits in tasks.items():
        for split, block in splits.items():
            right = figures.get(id, {}).get(split, {})
            for name, value in (block or {}).items():
                key = f"{TASKS}.{id}.{split}.{name}"
                within = 0 if suite.submission.measures.get(name) == [ROWS] else TOLERANCE * suite.scale
                if value is None:
                    continue
                if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
                    yield f"{key}: {show(value)} must be a number or null"
                elif name in right and not abs(value - right[name]) <= within:
                    yield f"{key}: is {value}, but the predictions give {right[name]:.6g}"
