"""Check a submission of rows: the data's rows, complete, in order and unchanged, each with a valid prediction, and the entry."""

import codecs
import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.data.columns import value_of
from mtl.data.files import split_lines
from mtl.submissions.entry import (
    LEFT_OUT,
    PREDICTION,
    ROWS,
    TASKS,
    Figures,
    RowFile,
    data_files,
    file_name,
    measure,
    parse_entry,
    read_template,
    show,
    system_name,
)
from mtl.submissions.files import SPLITS, foreign_problems, is_entry, read_files, rows_name
from mtl.submissions.format import Checked
from mtl.submissions.rows import data_remarks
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_PROBLEMS = 10  # of one file that are listed
TOLERANCE = 0.005
"""How far a figure may be from the one that the predictions give, on a scale from 0 to 1: entries may be rounded."""

LARGEST = 1e15  # that a figure may be

Template = Mapping[str, Any] | None
"""The empty entry, if it is at hand."""


def read_submission(path: Path, suite: Suite) -> tuple[dict[str, bytes], list[str]]:
    """The content of the files of a submission, a folder or a zip, by their path there: entries and rows of the suite's tasks. And the
    names of all other files, which are not read. Raises InputError as `mtl.submissions.files.read_files`."""
    rows = {rows_name(task, split) for task in suite.tasks.values() for split in SPLITS}
    return read_files(path, lambda name: name in rows or is_entry(name))


def submitted_rows(task: Task, contents: Mapping[str, bytes], path: Path) -> dict[str, RowFile]:
    """The submission's files of rows of a task, by split.

    Args:
        contents: the submission's content by name.
    """
    names = {split: rows_name(task, split) for split in SPLITS}
    return {
        split: RowFile(task, f"{path}/{name}", split_lines(contents[name], f"{path}/{name}"))
        for split, name in names.items()
        if name in contents
    }


def check_rows(path: Path, suite: Suite, data_dir: Path) -> Checked:
    """Compare a submission with the files of a data folder.

    Raises InputError if the data folder has no file of the suite, and for files that cannot be read.
    """
    data = {task.id: files for task in suite.tasks.values() if (files := data_files(task, data_dir))}
    if not data:
        raise InputError(f"has no files of suite {suite.name} to compare with; set data_dir=", path=data_dir)
    contents, others = read_submission(path, suite)
    problems = [
        f"{path}/{name}:1: begins with a byte order mark; save the file as UTF-8 without one"
        for name, content in contents.items()
        if content.startswith(codecs.BOM_UTF8)
    ]
    compared = []
    missing = []
    notes = list[str]()
    figures: Figures = {}
    for task in suite.tasks.values():
        files = submitted_rows(task, contents, path)
        if not files:
            missing.append(task.id)
            continue
        compared.append(data.get(task.id, {}))
        wrong = _task_problems(path, task, files, compared[-1], data_dir)
        problems += wrong
        predicted = {} if wrong else {split: file.predictions for split, file in files.items()}
        figures[task.id] = {
            split: measure(suite, split, compared[-1][split], targets) for split, targets in predicted.items()
        }
        kind = target_kind(task)
        notes += [
            f"{files[split].name}: {note}"
            for split, targets in predicted.items()
            if (note := kind.cells.remark(targets))
        ]
    problems += _entry_problems(path, suite, contents, read_template(suite, data_dir), missing, figures)
    problems += foreign_problems(path, suite, others, "a submission")
    return Checked(problems, data_remarks(compared, data_dir), notes)


def _task_problems(
    path: Path, task: Task, files: Mapping[str, RowFile], data: Mapping[str, RowFile], data_dir: Path
) -> list[str]:
    """What is wrong with a task's files. files, data: of the submission and of the data folder, by split."""
    problems = [f"{path}/{rows_name(task, split)}: is missing" for split in data if split not in files]
    for split, file in files.items():
        if split in data:
            problems += file_problems(file, data[split])
        else:
            problems.append(f"{file.name}: {data_dir} has no {split} file of the task to compare with")
    return problems


def read_entry(path: Path, contents: Mapping[str, bytes]) -> tuple[str, dict[str, Any]]:
    """The name of the submission's entry and its content. Raises InputError unless there is exactly one, and it is an entry."""
    names = [name for name in contents if is_entry(name)]
    if len(names) != 1:
        what = f"{len(names)} files ({', '.join(names)})" if names else "no file"
        raise InputError(f"{what} of the form NAME.json; one is expected, the leaderboard's entry", path=path)
    return names[0], parse_entry(f"{path}/{names[0]}", contents[names[0]])


def _entry_problems(
    path: Path,
    suite: Suite,
    contents: Mapping[str, bytes],
    template: Mapping[str, Any] | None,
    missing: Sequence[str],
    figures: Figures,
) -> list[str]:
    """What is wrong with the submission's entry, and the missing tasks that it does not say are left out.

    template: the empty entry, if it is at hand. missing: the tasks that have no files. figures: of the tasks that have.
    """
    try:
        name, entry = read_entry(path, contents)
    except InputError as error:
        return [str(error)]
    called = system_name(suite, entry)
    problems = []
    if called is not None and file_name(called) != name:
        problems.append(f"{path}/{name}: is the entry of {called!r}; its name must be {file_name(called)}")
    left_out = entry.get(LEFT_OUT, [])
    problems += [
        f"{path}/{id}: the task is missing, and the entry does not say so under {LEFT_OUT}"
        for id in missing
        if id not in left_out
    ]
    content = content_problems(suite, entry, template, list(figures), figures)
    return [*problems, *(f"{path}/{name}: {problem}" for problem in content)]


def file_problems(file: RowFile, data: RowFile) -> list[str]:
    """The problems of a submission's file, in order of lines; after the first 10, their number.

    Rows are the same if their values are, of equal type: 3 is not 3.0. The order of keys and white space do not count.
    """
    try:
        problems = [(error.line or 1, error.message) for error in file.read[1]]
    except InputError as error:  # a line is no row
        return [str(error)]
    problems += _row_problems(file.rows, data)
    listed = [f"{file.name}:{number}: {problem}" for number, problem in sorted(problems)]
    further = len(listed) - MOST_PROBLEMS
    if further <= 1:
        return listed
    return [*listed[:MOST_PROBLEMS], f"{file.name}: {further} further problems of this kind or another"]


def _row_problems(rows: Sequence[dict[str, Any]], data: RowFile) -> Iterator[tuple[int, str]]:
    """The line and the message of each row that is changed, missing or added, and of the first that is not in order."""
    plain = [{key: row[key] for key in row if key != PREDICTION} for row in rows]
    free = defaultdict[str, deque[int]](deque)  # each row of the data is taken once
    for index, data_row in enumerate(data.rows):
        free[_canonical(data_row)].append(index)
    positions = [free[key].popleft() if free[key] else None for key in map(_canonical, plain)]
    left = set(range(len(data.rows))) - set(positions)
    furthest = expected = -1
    in_order = True
    for number, position in enumerate(positions, start=1):
        expected += 1
        if position is None and expected in left:  # stands where that row should stand
            left.remove(expected)
            yield number, _difference(plain[number - 1], data.rows[expected])
            continue
        if position is None:
            expected -= 1
            yield number, f"is none of the rows of {data.name}, or stands here once more"
            continue
        if position < furthest and in_order:
            in_order = False
            yield number, f"row {position + 1} of {data.name} stands here; the rows must be in the order of that file"
        furthest, expected = max(furthest, position), position
    for position in sorted(left):
        yield position + 1, f"row {position + 1} of {data.name} is missing"


def _canonical(row: dict[str, Any]) -> str:
    """Equal for rows with the same values of the same types, whatever the order of their keys."""
    return json.dumps(row, sort_keys=True)


def _difference(row: dict[str, Any], data: dict[str, Any], outer: str = "") -> str:
    """Which key differs, and how."""
    for key in dict.fromkeys([*data, *row]):
        name = f"{outer}{key}"
        if key not in row:
            return f"key {name!r} of the data's row is missing"
        if key not in data:
            return f"key {name!r} is not in the data's row"
        one, other = row[key], data[key]
        if isinstance(one, dict) and isinstance(other, dict) and _canonical(one) != _canonical(other):
            return _difference(one, other, f"{name}.")
        if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
            return f"key {name!r} is {show(one)}, and in the data's row {show(other)}"
    raise AssertionError("the rows are the same")


def content_problems(
    suite: Suite, entry: Mapping[str, Any], template: Template, submitted: Sequence[str], figures: Figures
) -> list[str]:
    """The problems, as "key: message". What the empty entry has is never one, except that the system needs a name.

    Args:
        submitted: the ids of the tasks that the submission has.
        figures: those that its predictions give.
    """
    return [
        *_name_problems(suite, entry),
        *_key_problems(suite, entry, template),
        *_left_out_problems(suite, entry, template, submitted),
        *_missing_problems(entry, template, submitted),
        *_figure_problems(suite, entry, template, figures),
    ]


def _knows_all(suite: Suite, template: Template) -> bool:
    """Whether the tasks and figures that an entry may have are known: not where the suite's template is not at hand."""
    return template is not None or suite.submission.template is None


def _name_problems(suite: Suite, entry: Mapping[str, Any]) -> Iterator[str]:
    for key, fact in suite.submission.fill.items():
        if fact == "name":
            try:
                name = value_of(entry, key)
            except ValueError:
                name = None
            if not isinstance(name, str):
                yield f"{key}: must be the system's name"


def _key_problems(suite: Suite, entry: Mapping[str, Any], template: Template) -> Iterator[str]:
    """Keys outside of the tasks that the empty entry does not have, and objects where it has none or the reverse."""
    if template is None:
        return
    keys = {**template, **dict.fromkeys(key.split(".")[0] for key in suite.submission.fill if "." not in key)}
    for key, value in entry.items():
        if key in (TASKS, LEFT_OUT):
            continue
        if key not in keys:
            yield f"{key}: unknown key; the template has {', '.join(template)}"
        elif isinstance(value, dict) != isinstance(keys[key], dict):
            yield f"{key}: must be {'an object' if isinstance(keys[key], dict) else 'a single value'}"
        elif isinstance(value, dict):
            filled = {name.removeprefix(f"{key}.") for name in suite.submission.fill}
            yield from (f"{key}.{name}: unknown key" for name in value if name not in {*keys[key], *filled})


def _left_out_problems(
    suite: Suite, entry: Mapping[str, Any], template: Template, submitted: Sequence[str]
) -> Iterator[str]:
    keys = {*suite.tasks, *(template or {}).get(TASKS, {})}
    for id in entry.get(LEFT_OUT, []):
        if id in submitted:
            yield f"{LEFT_OUT}: {id} is not left out: the submission has its files"
        elif id not in keys and _knows_all(suite, template):
            yield f"{LEFT_OUT}: suite {suite.name} has no task {id}"


def _missing_problems(entry: Mapping[str, Any], template: Template, submitted: Sequence[str]) -> Iterator[str]:
    """What the empty entry has of the submitted tasks, and this entry has not."""
    tasks = entry.get(TASKS, {})
    for id, splits in (template or {}).get(TASKS, {}).items():
        if id not in submitted:
            continue
        if id not in tasks:
            yield f"{TASKS}.{id}: is missing, though the submission has the task's files"
            continue
        for split, figures in splits.items():
            here = tasks[id].get(split)
            if not isinstance(here, dict):
                yield f"{TASKS}.{id}.{split}: is missing, or no object"
            else:
                yield from (f"{TASKS}.{id}.{split}.{name}: is missing" for name in figures or () if name not in here)


def _figure_problems(suite: Suite, entry: Mapping[str, Any], template: Template, figures: Figures) -> Iterator[str]:
    """Tasks, splits and figures that are unknown, are no numbers, or are not those that the predictions give."""
    given = (template or {}).get(TASKS, {})
    for id, splits in entry.get(TASKS, {}).items():
        if id not in given and id not in suite.tasks:
            if _knows_all(suite, template):
                yield f"{TASKS}.{id}: unknown task"
            continue
        for split, block in splits.items():
            place = f"{TASKS}.{id}.{split}"
            if split not in SPLITS:
                yield f"{place}: unknown split, expected {' or '.join(SPLITS)}"
            elif isinstance(block, dict):
                known = {*suite.submission.measures, *(given.get(id, {}).get(split) or ())}
                known |= set() if _knows_all(suite, template) else set(block)
                right = figures.get(id, {}).get(split, {})
                for name, value in block.items():
                    if problem := _figure_problem(suite, name, value, known, right):
                        yield f"{place}.{name}: {problem}"


def _figure_problem(suite: Suite, name: str, value: Any, known: set[str], right: Mapping[str, float]) -> str | None:
    """What is wrong with one figure. known: the names that figures may have. right: those that the predictions give, by name."""
    if name not in known:
        return "unknown key"
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        return f"{show(value)} must be a number or null"
    within = 0 if suite.submission.measures.get(name) == [ROWS] else TOLERANCE * suite.scale
    if name in right and not abs(value - right[name]) <= within:
        return f"is {value}, but the predictions give {right[name]:.6g}"
    return None
