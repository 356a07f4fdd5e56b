"""Write a submission of rows, the data's rows with predictions and the leaderboard's entry: of a run, or of another submission (`rejoin`)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError, locating
from mtl.base.files import write_json, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.schema import SubmissionConfig
from mtl.base.typed import typed
from mtl.data.examples import read_targets
from mtl.submissions.data_rows import DataRows, prediction_order
from mtl.submissions.entry import LEFT_OUT, Content, file_name, fill_entry, read_entry, read_template, unfilled
from mtl.submissions.files import read_submission, rows_name
from mtl.submissions.format import Checked, Submitted
from mtl.submissions.forms import read_json_lines
from mtl.submissions.lines import Order, PredictionLines, RowMarks
from mtl.submissions.row_files import RowFile, data_files, data_remarks, measure, prediction_values
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

Predicted = Mapping[str, Sequence["PredictedFile"]]  # the files of a submission by task id
Parts = Mapping[str, PredictionLines]  # the predictions that a submission has of a task, by split


@dataclass(frozen=True)
class PredictedFile:
    """A data file whose rows have predictions."""

    data: RowFile
    text: str  # the rows with their predictions
    figures: dict[str, float]  # that the entry has of it, by name


def write_rows(run: Submitted) -> list[str]:
    """Write `submission/` in the seed's folder: NAME.json, and TASK/dev.jsonl and TASK/test.jsonl for each task. Returns what its user should know.
    Raises InputError, and writes nothing, if the data has another number of rows than the predictions, or a key `prediction`."""
    data = {task.id: data_files(task, run.data_dir) for task in run.tasks}
    predicted = {id: [_file_of_run(run, file, files) for file in files.values()] for id, files in data.items()}
    template = read_template(run.suite, run.data_dir)
    name = file_name(str(run.facts["name"]))
    entry = _write(run.folder.submission_folder(run.seed), predicted, name, template or {}, run.suite, run.facts)
    return data_remarks(list(data.values()), run.data_dir) + _entry_remarks(run, name, entry, template is not None)


def _file_of_run(run: Submitted, file: RowFile, files: Mapping[str, RowFile]) -> PredictedFile:
    """A data file with the run's predictions, in the form of the labels in all `files` of the task."""
    path = run.folder.predictions(run.seed, file.split, file.task.id)
    targets = read_targets(file.task, path, predicted=True).tolist()
    if len(targets) != len(file.lines):
        raise InputError(f"{len(targets)} predictions for the {len(file.lines)} rows of {file.name}", path=path)
    values = prediction_values(file.task, targets, list(files.values()))
    return PredictedFile(file, file.with_predictions(values), measure(run.suite, file, targets))


def _write(folder: Path, predicted: Predicted, name: str, entry: Content, suite: Suite, facts: Content) -> Content:
    """Write a submission, and return its entry, the file `name`: `entry` with these facts and the figures of the predicted files."""
    for files in predicted.values():
        for file in files:
            write_text(folder / rows_name(file.data.task, file.data.split), file.text)
    figures = {id: {file.data.split: file.figures for file in files} for id, files in predicted.items()}
    filled = fill_entry(entry, suite, facts, figures)
    write_json(folder / name, filled)
    return filled


def _entry_remarks(run: Submitted, name: str, entry: Content, has_template: bool) -> list[str]:
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
    """Write the submission in a zip or a folder to `out`, a new folder, with the rows of `data_dir`, for tasks that both have; if there are problems,
    nothing is written. `name` is that of the system; None: as the entry has it. Raises InputError for a bad `out` or `name`, and for bad files."""
    with locating(key="--name"):
        typed(SubmissionConfig, {"header": "task", "name": name})  # the name is read as a setting; a header is required
    check_new_folder(out)
    files = read_submission(path, suite)
    entry_name, entry = read_entry(files)
    data = list[Mapping[str, RowFile]]()  # of each task that both have, by split
    predicted: dict[str, list[PredictedFile]] = {}
    problems, without_data = list[str](), list[str]()
    for task in tasks:
        parts = {split: read_json_lines(file) for split, file in files.of_rows(task, suite.submission.ids).items()}
        row_files = data_files(task, data_dir) if parts else {}
        if parts and not row_files:
            without_data.append(task.id)
        if row_files:
            data.append(row_files)
            predicted[task.id] = []
        for file in row_files.values():
            rejoined = _rejoin_file(suite, file, parts, data_dir)
            if isinstance(rejoined, PredictedFile):
                predicted[task.id].append(rejoined)
            else:
                problems.append(rejoined)
    if not data:
        raise InputError(f"has no task of suite {suite.name} that {data_dir} has, too", path=path)
    if not problems:
        with new_folder(out) as folder:
            _write(folder, predicted, entry_name if name is None else file_name(name), entry, suite, {"name": name})
    left_out = f"left out, since {data_dir} has no dev or test file of them: {', '.join(without_data)}"
    return Checked(problems, ([left_out] if without_data else []) + data_remarks(data, data_dir))


def _rejoin_file(suite: Suite, file: RowFile, parts: Parts, data_dir: Path) -> PredictedFile | str:
    """A data file with the submitted predictions, or the problem if rows have none, or several different ones. Raises InputError for a wrong one."""
    try:
        lines, order = _find_predictions(suite, file, parts, data_dir)
    except InputError as error:
        return str(error)
    targets, errors = lines.targets(file.task, order, file.sizes)
    if errors:
        raise errors[0]
    text = file.with_predictions([lines.values[position] for position in order])
    return PredictedFile(file, text, measure(suite, file, targets))


def _find_predictions(suite: Suite, file: RowFile, parts: Parts, data_dir: Path) -> tuple[PredictionLines, Order]:
    """The predictions for a data file, and the order in which its rows get them. Those that the submission has for the file's split are taken if they
    fit, else all of the task: rows of our dev may be in a submission's test file. Raises InputError as `prediction_order` does."""
    layout, ids = file.task.layout(file.split, data_dir), suite.submission.ids
    unknown = np.full(len(file.lines), np.nan)  # the order does not depend on targets
    rows = DataRows(file.task, file.split, Path(file.name), layout, unknown)
    if len(parts) > 1:  # then there are both splits
        with suppress(InputError):
            return parts[file.split], prediction_order(rows, parts[file.split], ids)
    lines = _joined(list(parts.values()))
    return lines, prediction_order(rows, lines, ids)


def _joined(parts: Sequence[PredictionLines]) -> PredictionLines:
    """All predictions of a task as one list, with the columns that all parts have."""
    if len(parts) == 1:
        return parts[0]
    names = ", ".join(part.name for part in parts)
    values = [value for part in parts for value in part.values]
    shared = [column for column in parts[0].marks.columns if all(column in part.marks.columns for part in parts)]
    columns = {column: [value for part in parts for value in part.marks.columns[column]] for column in shared}
    return PredictionLines(names, values, RowMarks(columns), are_rows=True)
