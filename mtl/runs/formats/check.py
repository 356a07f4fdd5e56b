"""Check a submission of rows: the data's rows, complete, in order and unchanged, each with a valid prediction, and the entry."""

import codecs
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.data.lines import split_lines
from mtl.errors import InputError
from mtl.runs.formats.compare import file_problems
from mtl.runs.formats.entry import LEFT_OUT, Figures, file_name, measure, parse_entry, read_template, system_name
from mtl.runs.formats.entry_check import content_problems
from mtl.runs.formats.kind import Checked
from mtl.runs.formats.row_file import SPLITS, RowFile, data_files, read_row_file
from mtl.runs.formats.rows import Files, data_remarks
from mtl.runs.predictions import foreign_problems, read_files
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


def read_submission(path: Path, suite: Suite) -> tuple[dict[str, bytes], list[str]]:
    """The content of the files of a submission, a folder or a zip, by their path there: entries and rows of the suite's tasks. And the
    names of all other files, which are not read. Raises InputError as `mtl.runs.predictions.read_files`."""
    rows = {rows_name(task, split) for task in suite.tasks.values() for split in SPLITS}
    return read_files(path, lambda name: name in rows or _is_entry(name))


def rows_name(task: Task, split: str) -> str:
    """The place of a file of rows in a submission."""
    return f"{task.id}/{split}.jsonl"


def submitted_rows(task: Task, found: Mapping[str, bytes], path: Path) -> dict[str, RowFile]:
    """The submission's files of rows of a task, by split. found: the submission's content by name."""
    names = {split: rows_name(task, split) for split in SPLITS}
    return {
        split: RowFile(task, f"{path}/{name}", split_lines(found[name], f"{path}/{name}"))
        for split, name in names.items()
        if name in found
    }


def check_rows(path: Path, suite: Suite, data_dir: Path) -> Checked:
    """Compare a submission with the files of a data folder.

    Raises InputError if the data folder has no file of the suite, and for files that cannot be read.
    """
    data: Files = {}
    for task in suite.tasks.values():
        if paths := data_files(task, data_dir):
            data[task.id] = {split: read_row_file(task, split, file) for split, file in paths.items()}
    if not data:
        raise InputError(f"{data_dir}: has no files of suite {suite.name} to compare with; set data_dir=")
    found, others = read_submission(path, suite)
    problems = _mark_problems(path, found)
    compared = []
    missing = []
    notes = list[str]()
    figures: Figures = {}
    for task in suite.tasks.values():
        files = submitted_rows(task, found, path)
        if not files:
            missing.append(task.id)
            continue
        compared.append(data.get(task.id, {}))
        wrong = _task_problems(path, task, files, compared[-1], data_dir)
        problems += wrong
        predicted = {} if wrong else {split: file.predictions() for split, file in files.items()}
        figures[task.id] = {
            split: measure(suite, split, compared[-1][split], targets) for split, targets in predicted.items()
        }
        kind = target_kind(task)
        notes += [
            f"{files[split].name}: {note}" for split, targets in predicted.items() if (note := kind.remark(targets))
        ]
    problems += _entry_problems(path, suite, found, read_template(suite, data_dir), missing, figures)
    problems += foreign_problems(path, suite, others, "a submission")
    return Checked(problems, data_remarks(compared, data_dir), notes)


def _mark_problems(path: Path, found: Mapping[str, bytes]) -> list[str]:
    """The files that begin with a byte order mark, which readers of JSON refuse."""
    return [
        f"{path}/{name}:1: begins with a byte order mark; save the file as UTF-8 without one"
        for name, content in found.items()
        if content.startswith(codecs.BOM_UTF8)
    ]


def _task_problems(
    path: Path, task: Task, files: Mapping[str, RowFile], data: Mapping[str, RowFile], data_dir: Path
) -> list[str]:
    """What is wrong with a task's files. files, data: of the submission and of the data folder, by split."""
    problems = [f"{path}/{rows_name(task, split)}: is missing" for split in data if split not in files]
    for split, file in files.items():
        if split in data:
            problems += [f"{file.name}{problem}" for problem in file_problems(file, data[split])]
        else:
            problems.append(f"{file.name}: {data_dir} has no {split} file of the task to compare with")
    return problems


def read_entry(path: Path, found: Mapping[str, bytes]) -> tuple[str, dict[str, Any]]:
    """The name of the submission's entry and its content. Raises InputError unless there is exactly one, and it is an entry."""
    names = [name for name in found if _is_entry(name)]
    if len(names) != 1:
        what = f"{len(names)} files ({', '.join(names)})" if names else "no file"
        raise InputError(f"{path}: {what} of the form NAME.json; one is expected, the leaderboard's entry")
    return names[0], parse_entry(f"{path}/{names[0]}", found[names[0]])


def _is_entry(name: str) -> bool:
    return "/" not in name and name.endswith(".json")


def _entry_problems(
    path: Path,
    suite: Suite,
    found: Mapping[str, bytes],
    template: Mapping[str, Any] | None,
    missing: Sequence[str],
    figures: Figures,
) -> list[str]:
    """What is wrong with the submission's entry, and the missing tasks that it does not say are left out.

    template: the empty entry, if it is at hand. missing: the tasks that have no files. figures: of the tasks that have.
    """
    try:
        name, entry = read_entry(path, found)
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
