"""Predictions in any form that mtl writes or takes, put to the rows of the data: files of lines, JSON Lines, the data's rows, lists of Python."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.data.files import split_lines
from mtl.submissions.answers import Labels
from mtl.submissions.entry import RowFile
from mtl.submissions.files import JSON_LINES, prediction_names, rows_name
from mtl.submissions.lines import DataRows, PredictionLines, read_cells, read_json_by_id, read_json_lines
from mtl.submissions.rejoin import joined_predictions
from mtl.tasks.suite import Suite

# The rows that predictions are put to, by task id and split.
Rows = Mapping[str, Mapping[str, DataRows]]

# Predictions as they stand in a file or a list, by task id and split.
Sources = Mapping[tuple[str, str], PredictionLines | RowFile]

# Predicted targets (rows,), by task id and split.
Predicted = dict[str, dict[str, np.ndarray]]

# The numbers of answers that fit no label, by task id and split. Only of tasks whose predictions are read as answers.
Unfit = dict[str, dict[str, int]]


def read_sources(path: Path, contents: Mapping[str, bytes], suite: Suite, rows: Rows) -> Sources:
    """The predictions for these rows in a zip or a folder, from the content of its files by name.

    Raises:
        InputError: which names the file and the line, for two files of the same rows, and for a file that is of another form than its name.
    """
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
            sources[id, split] = read_json_lines(contents[name], file, most)
        elif name.endswith(".json"):
            sources[id, split] = read_json_by_id(contents[name], file)
        else:
            sources[id, split] = read_cells(task, contents[name], file, suite.submission.ids, most)
    return sources


def put_to_rows(sources: Sources, suite: Suite, rows: Rows, labels: Labels) -> tuple[Predicted, Unfit]:
    """The predictions for these rows, as far as there are any, and the answers that fit no label.

    Args:
        labels: as `mtl.submissions.answers.check_labels` returns them. Predictions of their tasks are read as answers.

    Raises:
        InputError: which names the file and the line, for predictions that are not those of the rows.
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
