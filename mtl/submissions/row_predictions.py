"""The predictions of a submission, read from its files and put to the rows of the data."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.submissions.answers import Labels, answer_targets
from mtl.submissions.data_rows import DataRows, Rows
from mtl.submissions.files import SubmissionFiles, prediction_names, rows_name
from mtl.submissions.forms import read_json_by_id, read_json_lines, read_table
from mtl.submissions.lines import PredictionLines
from mtl.submissions.row_order import prediction_order
from mtl.tasks.suite import Suite

READERS = {".csv": read_table, ".tsv": read_table, ".jsonl": read_json_lines, ".json": read_json_by_id}
MORE_LINES = 10_000  # than rows, in a file that is read to say what is wrong with it

Sources = Mapping[tuple[str, str], PredictionLines]  # predictions as a file or a list has them, by task id and split
Predicted = dict[str, dict[str, np.ndarray]]  # targets (rows,), by task id and split
Unfit = dict[str, dict[str, int]]  # how many answers fit no label, by task id and split, of tasks with answers


def read_sources(files: SubmissionFiles, suite: Suite, rows: Rows) -> Sources:
    """The predictions for these rows in the files. Raises InputError for two files of the same rows, and a file of another form than its name."""
    sources: dict[tuple[str, str], PredictionLines] = {}
    for name, (id, split) in prediction_names(suite).items():
        if name not in files.contents or split not in rows.get(id, {}):
            continue
        task, data = suite.tasks[id], rows[id][split]
        has_rows = name == rows_name(task, split)
        if has_rows and task.files[split] is None:
            continue  # a file of rows has none that are held out
        if (id, split) in sources:
            raise InputError(f"{name} has predictions of the same rows; leave one out", path=sources[id, split].name)
        most = (data.sample.whole if data.sample else len(data)) + MORE_LINES
        sources[id, split] = READERS[Path(name).suffix](files.file(name, task, suite.submission.ids, most, has_rows))
    return sources


def put_to_rows(sources: Sources, suite: Suite, rows: Rows, labels: Labels) -> tuple[Predicted, Unfit]:
    """The predictions for these rows, as far as there are any, and the answers that fit no label. Raises InputError, which names the file and the
    line, for predictions that are not those of the rows. Predictions of the tasks that have `labels` (`check_labels`) are read as answers."""
    predicted: Predicted = {id: {} for id in rows}
    unfit: Unfit = {id: {} for id in rows if id in labels}
    for id, splits in rows.items():
        for split, data in splits.items():
            if (id, split) in sources:
                lines = sources[id, split]
                predicted[id][split], unfit_count = row_targets(data, lines, suite.submission.ids, labels.get(id))
                if id in labels:
                    unfit[id][split] = unfit_count
    return predicted, unfit


def row_targets(
    rows: DataRows, lines: PredictionLines, ids: Sequence[str], labels: Mapping[str, str] | None = None
) -> tuple[np.ndarray, int]:
    """The targets (rows,) that the rows' predictions mean, and how many predictions are answers that fit no label. `ids` are names of columns
    (`prediction_order`). `labels` say what answers mean; None: predictions are targets. Raises InputError for predictions of other rows."""
    order = prediction_order(rows, lines, ids)
    if labels is not None:
        answers = [lines.answer(position) for position in order]
        return answer_targets(rows.task, labels, answers, rows.targets, rows.candidates)
    targets, errors = lines.targets(rows.task, order, rows.candidates)
    if errors:
        raise errors[0]
    return targets, 0
