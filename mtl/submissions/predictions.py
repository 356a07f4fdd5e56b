"""Predictions in any form that mtl writes or takes, put to the rows of the data: files of lines, JSON Lines, the data's rows, lists of Python."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.submissions.answers import Labels
from mtl.submissions.data_rows import DataRows
from mtl.submissions.files import prediction_names, rows_name
from mtl.submissions.lines import PredictionLines, read_cells, read_json_by_id, read_json_lines
from mtl.tasks.suite import Suite

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
    ids = suite.submission.ids
    for name, (id, split) in prediction_names(suite).items():
        if name not in contents or split not in rows.get(id, {}):
            continue
        task, content, file = suite.tasks[id], contents[name], f"{path}/{name}"
        are_rows = name == rows_name(task, split)
        if are_rows and task.files[split] is None:
            continue  # a file of rows has none that are held out
        if (earlier := sources.get((id, split))) is not None:
            raise InputError(f"{name} has predictions of the same rows; leave one out", path=earlier.name)
        most = rows[id][split].most_lines
        if name.endswith(".jsonl"):
            sources[id, split] = read_json_lines(task, content, file, ids, most, are_rows)
        elif name.endswith(".json"):
            sources[id, split] = read_json_by_id(content, file)
        else:
            sources[id, split] = read_cells(task, content, file, ids, most)
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
