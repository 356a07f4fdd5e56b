"""Write a submission of rows, the data's rows with predictions and the leaderboard's entry: of a run, or of another submission (`rejoin`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError, locating
from mtl.base.files import write_json, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.schema import SubmissionConfig
from mtl.base.typed import typed
from mtl.data.examples import read_targets
from mtl.submissions.entry import LEFT_OUT, Content, Figures, file_name, fill_entry, read_entry, read_template, unfilled
from mtl.submissions.files import read_submission, rows_name
from mtl.submissions.format import Checked, Submitted
from mtl.submissions.forms import read_json_lines
from mtl.submissions.row_files import RowFile, data_files, data_remarks, measure, prediction_values
from mtl.submissions.row_predictions import LinesBySplit, file_predictions
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


@dataclass
class RowSubmission:
    """A submission of rows that is not written yet."""

    suite: Suite
    texts: dict[str, str] = field(default_factory=dict)  # the rows with their predictions, by file name
    figures: Figures = field(default_factory=dict)  # of the entry; tasks that are not in it are left out

    def add(self, file: RowFile, values: Sequence[Any], targets: np.ndarray) -> None:
        """Add a data file with these JSON values as predictions, which mean these targets (rows,)."""
        self.texts[rows_name(file.task, file.split)] = file.with_predictions(values)
        self.figures.setdefault(file.task.id, {})[file.split] = measure(self.suite, file, targets)

    def add_rejoined(self, files: Sequence[RowFile], lines_by_split: LinesBySplit, data_dir: Path) -> list[str]:
        """Add a task's data files with another submission's predictions. Returns a problem for each file that is not added, since it is not clear
        which predictions its rows have. Raises InputError for a prediction that is not valid."""
        problems = []
        for file in files:
            try:
                predictions, order = file_predictions(file, lines_by_split, self.suite, data_dir)
            except InputError as error:
                problems.append(str(error))
                continue
            targets, errors = predictions.targets(file.task, order, file.sizes)
            if errors:
                raise errors[0]
            self.add(file, [predictions.values[position] for position in order], targets)
        return problems

    def write(self, folder: Path, entry_name: str, entry: Content, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Write all files, and return the content of the file `entry_name`: an empty or an earlier `entry` with these facts and the figures."""
        for name, text in self.texts.items():
            write_text(folder / name, text)
        filled = fill_entry(entry, self.suite, facts, self.figures)
        write_json(folder / entry_name, filled)
        return filled


def write_rows(submitted: Submitted) -> list[str]:
    """Write `submission/` in the seed's folder: NAME.json, and TASK/dev.jsonl and TASK/test.jsonl for each task. Returns what its user should know.
    Raises InputError, and writes nothing, if the data has another number of rows than the predictions, or a key `prediction`."""
    # A task of the run without data files has no figures, but is not left out.
    submission = RowSubmission(submitted.suite, figures={task.id: {} for task in submitted.tasks})
    files: list[RowFile] = []
    for task in submitted.tasks:
        task_files = list(data_files(task, submitted.data_dir).values())
        for file in task_files:
            path = submitted.folder.predictions(submitted.seed, file.split, task.id)
            targets = read_targets(task, path, predicted=True)
            if len(targets) != len(file.lines):
                raise InputError(f"{len(targets)} predictions for the {len(file.lines)} rows of {file.name}", path=path)
            submission.add(file, prediction_values(task, targets.tolist(), task_files), targets)
        files += task_files
    template = read_template(submitted.suite, submitted.data_dir)
    entry_name, folder = file_name(str(submitted.facts["name"])), submitted.folder.submission_folder(submitted.seed)
    entry = submission.write(folder, entry_name, template or {}, submitted.facts)
    return data_remarks(files, submitted.data_dir) + _entry_remarks(submitted, entry_name, entry, template is not None)


def rejoin(path: Path, suite: Suite, tasks: Sequence[Task], data_dir: Path, out: Path, name: str | None) -> Checked:
    """Write the submission in a zip or a folder to `out`, a new folder, with the rows of `data_dir`, for tasks that both have; if there are problems,
    nothing is written. `name` is that of the system; None: as the entry has it. Raises InputError for a bad `out` or `name`, and for bad files."""
    with locating(key="--name"):
        # This checks the name; the header is only there as it is required.
        typed(SubmissionConfig, {"header": "task", "name": name})
    check_new_folder(out)
    source = read_submission(path, suite)
    entry_name, entry = read_entry(source)
    submission = RowSubmission(suite)
    files: list[RowFile] = []  # of the tasks that both have
    without_data: list[str] = []
    problems: list[str] = []
    for task in tasks:
        row_files = source.of_rows(task, suite.submission.ids)
        lines_by_split = {split: read_json_lines(file) for split, file in row_files.items()}
        if not lines_by_split:
            continue
        task_files = list(data_files(task, data_dir).values())
        if not task_files:
            without_data.append(task.id)
            continue
        problems += submission.add_rejoined(task_files, lines_by_split, data_dir)
        files += task_files
    if not files:
        raise InputError(f"has no task of suite {suite.name} that {data_dir} has, too", path=path)
    if not problems:
        with new_folder(out) as folder:
            submission.write(folder, entry_name if name is None else file_name(name), entry, {"name": name})
    remarks = data_remarks(files, data_dir)
    if without_data:
        remarks.insert(0, f"left out, since {data_dir} has no dev or test file of them: {', '.join(without_data)}")
    return Checked(problems, remarks)


def _entry_remarks(submitted: Submitted, entry_name: str, entry: Content, has_template: bool) -> list[str]:
    """What the user of a run's entry should know, one line each. `has_template`: whether an empty entry was filled to make it."""
    remarks = []
    if LEFT_OUT in entry:
        remarks.append(f"tasks that are left out, as {entry_name} says under {LEFT_OUT}: {', '.join(entry[LEFT_OUT])}")
    declared = submitted.suite.submission
    if declared.template is not None and not has_template:
        how = f"; get it with mtl data {submitted.suite.name}" if declared.template_source else ""
        path = submitted.data_dir / declared.template
        remarks.append(f"{path}: no such file; {entry_name} has only what is known of the system{how}")
    if keys := list(unfilled(entry)):
        remarks.append(f"{entry_name}: still to be filled in by you: {', '.join(keys)}")
    return remarks
