"""Put a submission's predictions to the rows of other files of the same tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import write_json, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.schema import SubmissionConfig
from mtl.base.typed import typed
from mtl.submissions.check import read_entry, read_submission, submitted_rows
from mtl.submissions.entry import RowFile, data_files, file_name, fill_entry, measure
from mtl.submissions.files import rows_name
from mtl.submissions.format import Checked
from mtl.submissions.predictions import joined_predictions
from mtl.submissions.rows import data_remarks
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


@dataclass
class RejoinedTask:
    """A task's data files with the submission's predictions."""

    files: dict[str, RowFile]  # the data files, by split
    # The content of each file to write, by its path in the submission.
    texts: dict[str, str] = field(default_factory=dict)
    figures: dict[str, dict[str, float]] = field(default_factory=dict)  # the entry's figures, by split and name
    problems: list[str] = field(default_factory=list)  # the rows without one prediction, as "file:line: message"


def rejoin(
    path: Path, suite: Suite, tasks: Sequence[Task], data_dir: Path, out: Path, name: str | None = None
) -> Checked:
    """Write to `out` the submission in `path` with the rows of `data_dir`'s files, unless there are problems.

    A row gets the prediction of the row that has the same texts and, if the task has ids (`Submission.ids`), the same id. It may stand in
    another split's file: in a submission, rows of our dev may be in its test file. A file with the same rows in the same order gets their
    predictions one by one. A row without such a prediction, or with several different ones, is a problem.

    Args:
        path: the submission, a zip or a folder.
        data_dir: the folder of the data whose rows are written.
        out: a folder that does not exist, or is empty.
        tasks: those to write, as far as the submission and the data folder have them.
        name: the name of the system; else the entry stays as it is.

    Raises:
        InputError: if `out` exists, for a name that no file can have, and for files that cannot be read.
    """
    try:
        typed(SubmissionConfig, {"header": "task", "name": name})
    except InputError as error:
        raise error.located(key="--name") from None
    check_new_folder(out)
    contents, _ = read_submission(path, suite)
    entry_name, entry = read_entry(path, contents)
    rejoined: dict[str, RejoinedTask] = {}
    lacking: list[str] = []
    for task in tasks:
        if submitted := submitted_rows(task, contents, path):
            if files := data_files(task, data_dir):
                rejoined[task.id] = _rejoined_task(suite, task, submitted, files)
            else:
                lacking.append(task.id)
    if not rejoined:
        raise InputError(f"has no task of suite {suite.name} that {data_dir} has, too", path=path)
    problems = [problem for part in rejoined.values() for problem in part.problems]
    if not problems:
        figures = {id: part.figures for id, part in rejoined.items()}
        entry_name = entry_name if name is None else file_name(name)
        filled = fill_entry(entry, suite, {"name": name}, figures)
        with new_folder(out) as folder:
            for part in rejoined.values():
                for file_path, text in part.texts.items():
                    write_text(folder / file_path, text)
            write_json(folder / entry_name, filled)
    remarks = [f"left out, since {data_dir} has no dev or test file of them: {', '.join(lacking)}"] if lacking else []
    return Checked(problems, remarks + data_remarks([part.files for part in rejoined.values()], data_dir))


def _rejoined_task(
    suite: Suite, task: Task, submitted: Mapping[str, RowFile], files: dict[str, RowFile]
) -> RejoinedTask:
    """A task's data files with the predictions of the submission's files; both are by split."""
    rejoined = RejoinedTask(files)
    for split, file in files.items():
        joined, problems = joined_predictions(suite, split, submitted, file)
        if problems:
            rejoined.problems += [f"{file.name}{problem}" for problem in problems]
        else:
            rejoined.texts[rows_name(task, split)] = file.with_predictions([value for value, _ in joined])
            rejoined.figures[split] = measure(suite, split, file, [target for _, target in joined])
    return rejoined
