"""Predictions in any form that mtl writes or takes, put to the rows of the data: files of lines, JSON Lines, the data's rows, lists of Python; and
those of a submission put to the rows of other files of the same tasks (`rejoin`)."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import write_json, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.schema import SubmissionConfig
from mtl.base.typed import typed
from mtl.data.files import split_lines
from mtl.submissions.answers import Labels
from mtl.submissions.check import read_entry, read_submission, submitted_rows
from mtl.submissions.data_rows import DataRows
from mtl.submissions.entry import PREDICTION, Figures, RowFile, data_files, file_name, fill_entry, measure
from mtl.submissions.files import JSON_LINES, prediction_names, rows_name
from mtl.submissions.format import Checked
from mtl.submissions.lines import PredictionLines, read_cells, read_json_by_id, read_json_lines
from mtl.submissions.rows import data_remarks
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import Target
from mtl.tasks.task import Task

MOST_PROBLEMS = 3  # of one file that are listed; a fourth is listed, too, if it is the last: a line on it is as long

# A prediction as it stands in a file, and the target that it means.
Prediction = tuple[Any, Target]

# The rows that predictions are put to, by task id and split.
Rows = Mapping[str, Mapping[str, DataRows]]

# Predictions as they stand in a file or a list, by task id and split.
Sources = Mapping[tuple[str, str], PredictionLines | RowFile]

# Predicted targets (rows,), by task id and split.
Predicted = dict[str, dict[str, np.ndarray]]

# The numbers of answers that fit no label, by task id and split. Only of tasks whose predictions are read as answers.
Unfit = dict[str, dict[str, int]]


def read_sources(path: Path, contents: Mapping[str, bytes], suite: Suite, rows: Rows) -> Sources:
    """The predictions for these rows in a zip or a folder, from the content of its files by name. Raises InputError, which names the file and the
    line, for two files of the same rows, and for a file that is of another form than its name."""
    sources: dict[tuple[str, str], PredictionLines | RowFile] = {}
    for name, (id, split) in prediction_names(suite).items():
        task, file = suite.tasks[id], f"{path}/{name}"
        of_rows = name == rows_name(task, split)
        if name not in contents or split not in rows.get(id, {}) or (of_rows and task.files[split] is None):
            continue  # a file of rows has none that are held out
        if (earlier := sources.get((id, split))) is not None:
            raise InputError(f"{name} has predictions of the same rows; leave one out", path=earlier.name)
        most = rows[id][split].most_lines
        if of_rows:
            sources[id, split] = RowFile(task, file, split_lines(contents[name], file, most=most))
        elif name.endswith(".jsonl"):
            sources[id, split] = read_json_lines(task, contents[name], file, suite.submission.ids, most)
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
            source = sources.get((id, split))
            if isinstance(source, PredictionLines):
                predicted[id][split], count = data.put(source, suite.submission.ids, labels.get(id))
                if id in labels:
                    unfit[id][split] = count
            elif source is not None:
                if id in labels:
                    file = JSON_LINES.format(split=split, task=id)
                    raise InputError(f"labels map answers in {file}, not in files of rows", path=source.name, key=id)
                predicted[id][split] = _of_rows(source, suite, data)
    return predicted, unfit


def _of_rows(file: RowFile, suite: Suite, rows: DataRows) -> np.ndarray:
    """The predictions (rows,) in a file of rows: each row gets that of the row with its texts and id."""
    if rows.objects is None:
        raise InputError(f"{rows.file} has no JSON objects; give one prediction a line", path=file.name)
    joined, problems = joined_predictions(suite, rows.split, {rows.split: file}, rows.objects)
    if problems:
        raise InputError(f"{file.name}: does not fit the data{problems[0]}")
    order = rows.in_order(len(joined))
    assert order is not None
    return np.array([joined[position][1] for position in order], dtype=file.predictions.dtype)


def joined_predictions(
    suite: Suite, split: str, submitted: Mapping[str, RowFile], file: RowFile
) -> tuple[list[Prediction], list[str]]:
    """The submission's prediction for each row of a data file of a split, and the problems, as ":line: message". `submitted` are the submission's
    files by split; the suite names the keys that may be ids. Raises InputError for a prediction that is not valid."""
    rows = [row for rows_file in (file, *submitted.values()) for row in rows_file.rows]
    id = next((id for id in suite.submission.ids if all(row.get(id) is not None for row in rows)), None)
    wanted = file.keys(id)
    keys = {name: part.keys(id) for name, part in submitted.items()}
    predictions = {name: _predictions(part) for name, part in submitted.items()}
    if keys.get(split) == wanted:
        return predictions[split], []
    by_key: dict[str, dict[str, list[Prediction]]] = {name: defaultdict(list) for name in submitted}
    for name, matches in by_key.items():
        for key, prediction in zip(keys[name], predictions[name], strict=True):
            matches[key].append(prediction)
    parts = "texts" if id is None else f"{id} and texts"
    joined: list[Prediction] = []
    problems: list[str] = []
    for number, key in enumerate(wanted, start=1):
        elsewhere = [match for matches in by_key.values() for match in matches.get(key, ())]
        candidates = by_key.get(split, {}).get(key) or elsewhere
        if not candidates:
            problems.append(f":{number}: no row of the submission has this row's {parts}")
        elif len({json.dumps(value) for value, _ in candidates}) > 1:
            what = f"{len(candidates)} rows of the submission have this row's {parts}, and different predictions"
            problems.append(f":{number}: {what}")
        else:
            joined.append(candidates[0])
    if (further := len(problems) - MOST_PROBLEMS) > 1:
        problems = [*problems[:MOST_PROBLEMS], f": {further} further rows of this kind"]
    return joined, problems


def _predictions(file: RowFile) -> list[Prediction]:
    """The prediction of each row. Raises InputError for one that is not valid."""
    return [(row[PREDICTION], target) for row, target in zip(file.rows, file.predictions.tolist(), strict=True)]


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
    rejoined: dict[str, dict[str, RowFile]] = {}  # the data files, by task id and split
    texts: dict[str, str] = {}  # the content of each file to write, by its path in the submission
    figures: Figures = {}
    lacking: list[str] = []
    problems: list[str] = []
    for task in tasks:
        if not (submitted := submitted_rows(task, contents, path)):
            continue
        if not (files := data_files(task, data_dir)):
            lacking.append(task.id)
            continue
        rejoined[task.id], figures[task.id] = files, {}
        for split, file in files.items():
            joined, wrong = joined_predictions(suite, split, submitted, file)
            problems += [f"{file.name}{problem}" for problem in wrong]
            if not wrong:
                texts[rows_name(task, split)] = file.with_predictions([value for value, _ in joined])
                figures[task.id][split] = measure(suite, split, file, [target for _, target in joined])
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
