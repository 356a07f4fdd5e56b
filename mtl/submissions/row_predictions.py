"""The predictions of a submission, read from its files and put to the rows of the data."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.submissions.answers import Labels, answer_targets
from mtl.submissions.data_rows import DataRows, Rows
from mtl.submissions.files import SubmissionFiles, prediction_names, rows_name
from mtl.submissions.forms import read_json_by_id, read_json_lines, read_table
from mtl.submissions.lines import Order, PredictionLines, RowMarks
from mtl.submissions.row_files import RowFile
from mtl.submissions.row_order import prediction_order
from mtl.tasks.suite import Suite

READERS = {".csv": read_table, ".tsv": read_table, ".jsonl": read_json_lines, ".json": read_json_by_id}
MORE_LINES = 10_000  # than rows, in a file that is read to say what is wrong with it

Sources = Mapping[tuple[str, str], PredictionLines]  # predictions as a file or a list has them, by task id and split
LinesBySplit = Mapping[str, PredictionLines]  # those of one task
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
            continue  # these rows are held out of train, and files of rows have none of them
        if (id, split) in sources:
            raise InputError(f"{name} has predictions of the same rows; leave one out", path=sources[id, split].name)
        most = (len(data) if data.sample is None else data.sample.whole) + MORE_LINES
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
                lines, id_columns = sources[id, split], suite.submission.ids
                predicted[id][split], unfit_answers = row_targets(data, lines, id_columns, labels.get(id))
                if id in labels:
                    unfit[id][split] = unfit_answers
    return predicted, unfit


def row_targets(
    rows: DataRows, lines: PredictionLines, id_columns: Sequence[str], labels: Mapping[str, str] | None = None
) -> tuple[np.ndarray, int]:
    """The targets (rows,) that the rows' predictions mean, and how many predictions are answers that fit no label. `id_columns` are those of
    `prediction_order`. `labels` say what answers mean; None: predictions are targets. Raises InputError for predictions of other rows."""
    order = prediction_order(rows, lines, id_columns)
    if labels is not None:
        answers = [lines.answer(position) for position in order]
        return answer_targets(rows.task, labels, answers, rows.targets, rows.candidates)
    targets, errors = lines.targets(rows.task, order, rows.candidates)
    if errors:
        raise errors[0]
    return targets, 0


def file_predictions(file: RowFile, lines: LinesBySplit, suite: Suite, data_dir: Path) -> tuple[PredictionLines, Order]:
    """The predictions for a data file and their order: those for the file's split if they fit, else all of the task, whose test may have our dev."""
    id_columns = suite.submission.ids
    unknown = np.full(len(file.lines), np.nan)  # the order does not depend on targets
    rows = DataRows(file.task, file.split, Path(file.name), file.task.layout(file.split, data_dir), unknown)
    if len(lines) > 1:  # then there are both splits
        with suppress(InputError):  # they do not fit
            return lines[file.split], prediction_order(rows, lines[file.split], id_columns)
    all_lines = _joined(list(lines.values()))
    return all_lines, prediction_order(rows, all_lines, id_columns)


def _joined(parts: Sequence[PredictionLines]) -> PredictionLines:
    """All predictions of a task as one list, with the columns that all parts have."""
    if len(parts) == 1:
        return parts[0]
    values = [value for part in parts for value in part.values]
    columns: dict[str, list[Any]] = {}
    for column in parts[0].marks.columns:
        if all(column in part.marks.columns for part in parts):
            columns[column] = [value for part in parts for value in part.marks.columns[column]]
    return PredictionLines(", ".join(part.name for part in parts), values, RowMarks(columns), may_have_more_rows=True)
