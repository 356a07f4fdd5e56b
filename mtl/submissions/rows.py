"""The format `rows`: the leaderboard's entry, and the rows of the data with predictions, of a run or of another submission (`rejoin`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
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
from mtl.tasks.target_kind import Target
from mtl.tasks.task import Task


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
            targets: list[Target] = read_targets(task, path, predicted=True).tolist()
            if len(targets) != len(file.lines):
                raise InputError(f"{len(targets)} predictions for the {len(file.lines)} rows of {file.name}", path=path)
            values = prediction_values(task, targets, list(files[task.id].values()))
            write_text(folder / rows_name(task, split), file.with_predictions(values))
            figures[task.id][split] = measure(suite, file, targets)
    template = read_template(suite, run.data_dir)
    entry = fill_entry(template or {}, suite, run.facts, figures)
    name = file_name(str(run.facts["name"]))
    write_json(folder / name, entry)
    remarks = data_remarks(list(files.values()), run.data_dir)
    if LEFT_OUT in entry:
        remarks.append(f"tasks that are left out, as {name} says under {LEFT_OUT}: {', '.join(entry[LEFT_OUT])}")
    if template is None and suite.submission.template is not None:
        missing = run.data_dir / suite.submission.template
        how = f"; get it with mtl data {suite.name}" if suite.submission.template_source else ""
        remarks.append(f"{missing}: no such file; {name} has only what is known of the system{how}")
    if keys := list(unfilled(entry)):
        remarks.append(f"{name}: still to be filled in by you: {', '.join(keys)}")
    return remarks


def _check_name(name: str | None) -> None:
    """Raise InputError for what cannot be the name of a system. It is read as a setting; `header` is there because it is required."""
    try:
        typed(SubmissionConfig, {"header": "task", "name": name})
    except InputError as error:
        raise error.located(key="--name") from None


def rejoin(
    path: Path, suite: Suite, tasks: Sequence[Task], data_dir: Path, out: Path, name: str | None = None
) -> Checked:
    """Write to `out`, a new or empty folder, the submission in `path`, a zip or a folder, with the rows of `data_dir`'s files, unless there are
    problems; of these tasks, those that both have. `name` is that of the system; None: the entry stays as it is. Raises InputError for `out` and
    `name` that cannot be used, and files that cannot be read."""
    _check_name(name)
    check_new_folder(out)
    contents, _ = read_submission(path, suite)
    entry_name, entry = read_entry(path, contents)
    data: dict[str, dict[str, RowFile]] = {}  # the files whose rows are written, by task id and split
    texts: dict[str, str] = {}  # the content of each file to write, by its path in the submission
    figures: Figures = {}
    without_files, problems = list[str](), list[str]()
    for task in tasks:
        submitted = {
            split: read_json_lines(task, content, file, suite.submission.ids, MOST_PREDICTIONS, are_rows=True)
            for split, file, content in row_contents(path, contents, task)
        }
        if not submitted:
            continue
        if not (files := data_files(task, data_dir)):
            without_files.append(task.id)
            continue
        data[task.id] = files
        task_texts, figures[task.id], task_problems = _rejoin_task(suite, files, submitted, data_dir)
        texts |= task_texts
        problems += task_problems
    if not data:
        raise InputError(f"has no task of suite {suite.name} that {data_dir} has, too", path=path)
    if not problems:
        with new_folder(out) as folder:
            for file_path, text in texts.items():
                write_text(folder / file_path, text)
            filled = fill_entry(entry, suite, {"name": name}, figures)
            write_json(folder / (entry_name if name is None else file_name(name)), filled)
    left_out = f"left out, since {data_dir} has no dev or test file of them: {', '.join(without_files)}"
    remarks = [left_out] if without_files else []
    return Checked(problems, remarks + data_remarks(list(data.values()), data_dir))


def _rejoin_task(
    suite: Suite, files: Mapping[str, RowFile], submitted: Mapping[str, PredictionLines], data_dir: Path
) -> tuple[dict[str, str], dict[str, dict[str, float]], list[str]]:
    """A task's files with the submitted predictions, by path, their figures, by split, and the problems: rows without. Raises InputError."""
    texts, figures, problems = dict[str, str](), dict[str, dict[str, float]](), list[str]()
    for split, file in files.items():
        try:
            lines, order = _find_predictions(suite, file, submitted, data_dir)
        except InputError as error:
            problems.append(str(error))
            continue
        targets, errors = lines.targets(file.task, order, file.sizes)
        if errors:
            raise errors[0]
        texts[rows_name(file.task, split)] = file.with_predictions([lines.values[position] for position in order])
        figures[split] = measure(suite, file, targets)
    return texts, figures, problems


def _find_predictions(
    suite: Suite, file: RowFile, submitted: Mapping[str, PredictionLines], data_dir: Path
) -> tuple[PredictionLines, Order]:
    """Predictions, and the order in which the rows of a data file get them: those that the submission has for the file's split, or else all of the
    task, which are given by split, as rows of our dev may be in a submission's test file. A row gets the prediction of the row with the same texts
    and, if the task has ids (`Submission.ids`), the same id. Raises InputError for a row without a prediction, or with several different ones."""
    layout = file.task.layout(file.split, data_dir)
    unknown = np.full(len(file.lines), np.nan)  # targets, of which only the number counts
    data = DataRows(file.task, file.split, Path(file.name), layout, unknown)
    parts = list(submitted.values())
    try:
        lines = submitted.get(file.split, parts[0])
        return lines, data.order(lines, suite.submission.ids)
    except InputError:
        if len(parts) == 1:
            raise
    shared = [name for name in parts[0].marks.columns if all(name in part.marks.columns for part in parts)]
    marks = RowMarks({name: [value for part in parts for value in part.marks.columns[name]] for name in shared})
    names, values = ", ".join(part.name for part in parts), [value for part in parts for value in part.values]
    joined = PredictionLines(names, values, marks, are_rows=True)
    return joined, data.order(joined, suite.submission.ids)
