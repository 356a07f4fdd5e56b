"""The format `rows`: the leaderboard's entry, and the rows of the data with predictions, of a run or of another submission (`rejoin`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mtl.base.errors import InputError, locating
from mtl.base.files import write_json, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.schema import SubmissionConfig
from mtl.base.typed import typed
from mtl.data.examples import read_targets
from mtl.submissions.data_rows import DataRows
from mtl.submissions.entry import LEFT_OUT, Figures, file_name, fill_entry, measure, read_entry, read_template, unfilled
from mtl.submissions.files import MOST_PREDICTIONS, read_submission, row_contents, rows_name
from mtl.submissions.format import Checked, Submitted
from mtl.submissions.forms import read_json_lines
from mtl.submissions.lines import Order, PredictionLines, RowMarks
from mtl.submissions.row_files import RowFile, data_files, data_remarks, prediction_values
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

Parts = Mapping[str, PredictionLines]  # the predictions that a submission has of a task, by split


def write_rows(run: Submitted) -> list[str]:
    """Write `submission/` in the seed's folder: NAME.json and TASK/dev.jsonl, TASK/test.jsonl. Returns what its user should know. Raises
    InputError if the data has another number of rows than the predictions, or a key `prediction`."""
    suite, folder = run.suite, run.folder.submission_folder(run.seed)
    files: dict[str, dict[str, RowFile]] = {}
    figures: Figures = {}
    for task in run.tasks:
        files[task.id] = data_files(task, run.data_dir)
        figures[task.id] = {}
        for split, file in files[task.id].items():
            path = run.folder.predictions(run.seed, split, task.id)
            targets = read_targets(task, path, predicted=True).tolist()
            if len(targets) != len(file.lines):
                raise InputError(f"{len(targets)} predictions for the {len(file.lines)} rows of {file.name}", path=path)
            values = prediction_values(task, targets, list(files[task.id].values()))
            write_text(folder / rows_name(task, split), file.with_predictions(values))
            figures[task.id][split] = measure(suite, file, targets)
    template = read_template(suite, run.data_dir)
    entry = fill_entry(template or {}, suite, run.facts, figures)
    name = file_name(str(run.facts["name"]))
    write_json(folder / name, entry)
    return data_remarks(list(files.values()), run.data_dir) + _entry_remarks(run, name, entry, template is not None)


def _entry_remarks(run: Submitted, name: str, entry: Mapping[str, Any], has_template: bool) -> list[str]:
    """What the user of a run's entry, the file `name`, should know, one line each. `has_template`: whether an empty entry was filled to make it."""
    remarks, declared = list[str](), run.suite.submission
    if LEFT_OUT in entry:
        remarks.append(f"tasks that are left out, as {name} says under {LEFT_OUT}: {', '.join(entry[LEFT_OUT])}")
    if not has_template and declared.template is not None:
        how = f"; get it with mtl data {run.suite.name}" if declared.template_source else ""
        path = run.data_dir / declared.template
        remarks.append(f"{path}: no such file; {name} has only what is known of the system{how}")
    if keys := list(unfilled(entry)):
        remarks.append(f"{name}: still to be filled in by you: {', '.join(keys)}")
    return remarks


def rejoin(path: Path, suite: Suite, tasks: Sequence[Task], data_dir: Path, out: Path, name: str | None) -> Checked:
    """Write to `out`, a new or empty folder, the submission in `path`, a zip or a folder, with the rows of `data_dir`'s files: those of the
    tasks that both have. If there are problems, nothing is written. `name` is that of the system; None: it stays as it is in the entry. Raises
    InputError for `out` and `name` that cannot be used, and files that cannot be read."""
    with locating(key="--name"):
        typed(SubmissionConfig, {"header": "task", "name": name})  # the name is read as a setting; a header is required
    check_new_folder(out)
    contents, _ = read_submission(path, suite)
    entry_name, entry = read_entry(path, contents)
    data = list[dict[str, RowFile]]()  # the files whose rows are written, by split, for each task
    rejoined: dict[str, _RejoinedTask] = {}  # by task id
    without_files = list[str]()  # the ids of submitted tasks that the data does not have
    for task in tasks:
        submitted = {
            split: read_json_lines(task, content, file, suite.submission.ids, MOST_PREDICTIONS, are_rows=True)
            for split, file, content in row_contents(path, contents, task)
        }
        if not submitted:
            continue
        if files := data_files(task, data_dir):
            data.append(files)
            rejoined[task.id] = _rejoin_task(suite, files, submitted, data_dir)
        else:
            without_files.append(task.id)
    if not data:
        raise InputError(f"has no task of suite {suite.name} that {data_dir} has, too", path=path)
    problems = [problem for parts in rejoined.values() for problem in parts.problems]
    if not problems:
        with new_folder(out) as folder:
            for parts in rejoined.values():
                for file_path, text in parts.texts.items():
                    write_text(folder / file_path, text)
            filled = fill_entry(entry, suite, {"name": name}, {id: parts.figures for id, parts in rejoined.items()})
            write_json(folder / (entry_name if name is None else file_name(name)), filled)
    left_out = f"left out, since {data_dir} has no dev or test file of them: {', '.join(without_files)}"
    remarks = [left_out] if without_files else []
    return Checked(problems, remarks + data_remarks(data, data_dir))


class _RejoinedTask(NamedTuple):
    """What a submission has of a task, put to the rows of the data's files; without the files that have a problem."""

    texts: dict[str, str]  # the content of each file to write, by its path in the submission
    figures: dict[str, dict[str, float]]  # of the entry, by split and name
    problems: list[str]  # why rows of a file do not get a prediction each, one line for a file


def _rejoin_task(suite: Suite, files: Mapping[str, RowFile], submitted: Parts, data_dir: Path) -> _RejoinedTask:
    """Put a task's submitted predictions to the rows of its data files; both are given by split. Raises InputError for a wrong prediction."""
    rejoined = _RejoinedTask({}, {}, [])
    for split, file in files.items():
        try:
            lines, order = _find_predictions(suite, file, submitted, data_dir)
        except InputError as error:
            rejoined.problems.append(str(error))
            continue
        targets, errors = lines.targets(file.task, order, file.sizes)
        if errors:
            raise errors[0]
        rejoined.texts[rows_name(file.task, split)] = file.with_predictions([lines.values[at] for at in order])
        rejoined.figures[split] = measure(suite, file, targets)
    return rejoined


def _find_predictions(suite: Suite, file: RowFile, submitted: Parts, data_dir: Path) -> tuple[PredictionLines, Order]:
    """The predictions for a data file, and the order in which its rows get them: those that the submission has for the file's split. If these do not
    fit, all of the task, because rows of our dev may be in a submission's test file. A row gets the prediction of the row with the same texts and,
    if the task has ids (`Submission.ids`), the same id. Raises InputError for a row without a prediction, or with several different ones."""
    layout = file.task.layout(file.split, data_dir)
    unknown = np.full(len(file.lines), np.nan)  # targets, of which only the number counts
    data = DataRows(file.task, file.split, Path(file.name), layout, unknown)
    ids, parts = suite.submission.ids, list(submitted.values())
    if len(parts) == 1:
        return parts[0], data.order(parts[0], ids)
    own = submitted[file.split]  # a submission has two splits at most
    try:
        return own, data.order(own, ids)
    except InputError:
        joined = _joined(parts)
    return joined, data.order(joined, ids)


def _joined(parts: Sequence[PredictionLines]) -> PredictionLines:
    """All predictions of a task as one list, with the columns that all parts have."""
    names = ", ".join(part.name for part in parts)
    values = [value for part in parts for value in part.values]
    shared = [column for column in parts[0].marks.columns if all(column in part.marks.columns for part in parts)]
    columns = {column: [value for part in parts for value in part.marks.columns[column]] for column in shared}
    return PredictionLines(names, values, RowMarks(columns), are_rows=True)
