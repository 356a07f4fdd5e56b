"""Predictions in any form that mtl writes or takes, put to the rows of the data: files of lines, JSON Lines, the data's rows, lists of Python; and
those of a submission put to the rows of other files of the same tasks (`rejoin`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import write_json, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.schema import SubmissionConfig
from mtl.base.typed import typed
from mtl.submissions.answers import Labels
from mtl.submissions.check import read_entry, read_submission
from mtl.submissions.data_rows import DataRows
from mtl.submissions.entry import Figures, RowFile, data_files, file_name, fill_entry, measure
from mtl.submissions.files import MOST_PREDICTIONS, SPLITS, prediction_names, rows_name
from mtl.submissions.format import Checked
from mtl.submissions.lines import PredictionLines, read_cells, read_json_by_id, read_json_lines
from mtl.submissions.rows import data_remarks
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

# The rows that predictions are put to, by task id and split.
Rows = Mapping[str, Mapping[str, DataRows]]

# Predictions as they stand in a file or a list, by task id and split.
Sources = Mapping[tuple[str, str], PredictionLines]

# Predicted targets (rows,), by task id and split.
Predicted = dict[str, dict[str, np.ndarray]]

# The numbers of answers that fit no label, by task id and split. Only of tasks whose predictions are read as answers.
Unfit = dict[str, dict[str, int]]


def read_sources(path: Path, contents: Mapping[str, bytes], suite: Suite, rows: Rows) -> Sources:
    """The predictions for these rows in a zip or a folder, from the content of its files by name. Raises InputError, which names the file and the
    line, for two files of the same rows, and for a file that is of another form than its name."""
    sources: dict[tuple[str, str], PredictionLines] = {}
    for name, (id, split) in prediction_names(suite).items():
        task, file = suite.tasks[id], f"{path}/{name}"
        of_rows = name == rows_name(task, split)
        if name not in contents or split not in rows.get(id, {}) or (of_rows and task.files[split] is None):
            continue  # a file of rows has none that are held out
        if (earlier := sources.get((id, split))) is not None:
            raise InputError(f"{name} has predictions of the same rows; leave one out", path=earlier.name)
        most = rows[id][split].most_lines
        if name.endswith(".jsonl"):
            sources[id, split] = read_json_lines(task, contents[name], file, suite.submission.ids, most, of_rows)
        elif name.endswith(".json"):
            sources[id, split] = read_json_by_id(contents[name], file)
        else:
            sources[id, split] = read_cells(task, contents[name], file, suite.submission.ids, most)
    return sources


def put_to_rows(sources: Sources, suite: Suite, rows: Rows, labels: Labels) -> tuple[Predicted, Unfit]:
    """The predictions for these rows, as far as there are any, and the answers that fit no label. Raises InputError, which names the file and the
    line, for predictions that are not those of the rows.

    Args:
        labels: as `mtl.submissions.answers.check_labels` returns them. Predictions of their tasks are read as answers.
    """
    predicted: Predicted = {id: {} for id in rows}
    unfit: Unfit = {id: {} for id in rows if id in labels}
    for id, splits in rows.items():
        for split, data in splits.items():
            if (lines := sources.get((id, split))) is not None:
                predicted[id][split], count = data.put(lines, suite.submission.ids, labels.get(id))
                if id in labels:
                    unfit[id][split] = count
    return predicted, unfit


def _placed(
    suite: Suite, data: DataRows, submitted: Mapping[str, PredictionLines]
) -> tuple[PredictionLines, Sequence[int]]:
    """Predictions, and for each row of a data file the position of its own: among those that the submission has for the file's split, or else among
    all of the task, which are given by split. Raises InputError for a row without a prediction, or with several different ones."""
    ids, (first, *others) = suite.submission.ids, submitted.values()
    try:
        lines = submitted.get(data.split, first)
        return lines, data.order(lines, ids)
    except InputError:
        if not others:
            raise
    parts = [first, *others]
    columns = [name for name in first.columns if all(name in part.columns for part in others)]
    every = PredictionLines(
        ", ".join(part.name for part in parts),
        [value for part in parts for value in part.values],
        columns={name: [value for part in parts for value in part.columns[name]] for name in columns},
        are_rows=True,
    )
    return every, data.order(every, ids)


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
    ids = suite.submission.ids
    entry_name, entry = read_entry(path, contents)
    rejoined: dict[str, dict[str, RowFile]] = {}  # the data files, by task id and split
    texts: dict[str, str] = {}  # the content of each file to write, by its path in the submission
    figures: Figures = {}
    lacking: list[str] = []
    problems: list[str] = []
    for task in tasks:
        submitted = {
            split: read_json_lines(task, contents[file], f"{path}/{file}", ids, MOST_PREDICTIONS, are_rows=True)
            for split in SPLITS
            if (file := rows_name(task, split)) in contents
        }
        if not submitted:
            continue
        if not (files := data_files(task, data_dir)):
            lacking.append(task.id)
            continue
        rejoined[task.id], figures[task.id] = files, {}
        for split, rows in files.items():
            data = DataRows(task, split, Path(rows.name), np.full(len(rows.lines), np.nan))
            try:
                lines, order = _placed(suite, data, submitted)
            except InputError as error:
                problems.append(str(error))
                continue
            targets, errors = lines.targets(task, order, rows.sizes)
            if errors:
                raise errors[0]
            texts[rows_name(task, split)] = rows.with_predictions([lines.values[position] for position in order])
            figures[task.id][split] = measure(suite, split, rows, targets)
    if not rejoined:
        raise InputError(f"has no task of suite {suite.name} that {data_dir} has, too", path=path)
    if not problems:
        entry_name = entry_name if name is None else file_name(name)
        filled = fill_entry(entry, suite, {"name": name}, figures)
        with new_folder(out) as folder:
            for file_path, text in texts.items():
                write_text(folder / file_path, text)
            write_json(folder / entry_name, filled)
    remarks = [f"left out, since {data_dir} has no dev or test file of them: {', '.join(lacking)}"] if lacking else []
    return Checked(problems, remarks + data_remarks(list(rejoined.values()), data_dir))
