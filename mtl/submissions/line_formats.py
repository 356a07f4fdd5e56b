"""Two formats of a zip with test predictions, one on each line: `zip`, and with row numbers `glue` (gluebenchmark.com)."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import replacing
from mtl.base.wording import listed
from mtl.data.examples import read_examples
from mtl.data.files import split_lines
from mtl.runs.folder import FILE
from mtl.submissions.files import MOST_PREDICTIONS, glue_name, read_files
from mtl.submissions.format import Checked, Submitted
from mtl.submissions.forms import HEADER, read_tsv
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


def pack_files(path: Path, contents: Mapping[str, bytes]) -> None:
    """Write files, by name, to a zip without folders. The same files give the same bytes."""
    with replacing(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def write_zip(submitted: Submitted) -> list[str]:
    """Write a seed's zip with the run's files of test predictions. There is nothing that its user should know."""
    files = [file for _, file in submitted.test_files]
    pack_files(submitted.folder.submission(submitted.seed), {file.name: file.read_bytes() for file in files})
    return []


def write_glue(submitted: Submitted) -> list[str]:
    """Write a seed's zip. Returns what its user should know: the leaderboard takes only all tasks together."""
    contents = {}
    for task, path in submitted.test_files:
        _, *lines = split_lines(path.read_bytes(), str(path))
        indexed = "".join(f"{row}\t{line}\n" for row, line in enumerate(lines))
        contents[glue_name(task)] = f"{HEADER}\n{indexed}".encode()
    pack_files(submitted.folder.submission(submitted.seed), contents)
    lacking = [name for name in map(glue_name, submitted.suite.tasks.values()) if name not in contents]
    return [f"the leaderboard asks for these files too: {listed(lacking, most=20)}"] if lacking else []


def glue_problem(suite: Suite) -> str | None:
    """The error in the suite's declaration, as "key: message", or None."""
    names = [glue_name(task) for task in suite.tasks.values()]
    if bad := [name for name in names if "/" in name or names.count(name) > 1]:
        return f"format: the titles of tasks name files, and {bad[0]!r} is none, or names two"
    return None


def check_lines(path: Path, suite: Suite, data_dir: Path, indexed: bool) -> Checked:
    """Compare a submission of test predictions, one on each line, with the suite. The numbers of rows must be those published, or else those of the
    test files in `data_dir`. `indexed`: whether lines have row numbers, and files GLUE's names, not FILE's. Raises InputError as `read_files`."""
    tasks = [task for task in suite.tasks.values() if task.files["test"] is not None]
    task_by_name = {glue_name(task) if indexed else FILE.format(split="test", task=task.id): task for task in tasks}
    example = next(iter(task_by_name), FILE)
    files = read_files(path, task_by_name.__contains__)
    if not files.contents and files.unread:
        expected = f"files such as {example}, with a prediction on each line and in no folder"
        return Checked([f"{path}: {files.unread[0]} is no such file; the leaderboard takes {expected}"])
    problems = [f"{path}/{name}: is missing" for name in task_by_name if name not in files.contents]
    problems += files.foreign_problems(suite, f"test predictions, such as {example},")
    notes = []
    for name, task in task_by_name.items():
        if name not in files.contents:
            continue
        try:
            lines = read_tsv(files.file(name, task, [], MOST_PREDICTIONS), indexed)
        except InputError as error:
            problems.append(str(error))
            continue
        targets, errors = lines.targets(task)
        count, rows = len(lines.values), _test_rows(task, data_dir)
        if rows is not None and rows != count:
            errors.append(lines.error(f"{count} predictions for {rows} test rows", count - 1))
        problems += map(str, errors)
        if not errors and (remark := target_kind(task).remark(targets)):
            notes.append(f"{path}/{name}: {remark}")
    return Checked(problems, notes=[] if problems else notes)


def _test_rows(task: Task, data_dir: Path) -> int | None:
    """The number of rows of the task's test file, as published, or else as in the data folder; None if it is not known."""
    if "test" in task.rows:
        return task.rows["test"]
    path = task.path("test", data_dir)
    if path is None or not path.is_file():
        return None
    return len(read_examples(task, path, False, task.layout("test", data_dir)))
