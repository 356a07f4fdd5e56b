"""Predictions in any form that mtl takes, put to the rows of the data: in their order, or by ids, numbers, or the rows' columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.wording import listed
from mtl.data.columns import text
from mtl.data.records import Record, column_names, read_records
from mtl.data.sampled import RowSample
from mtl.submissions.answers import Labels, answer_targets
from mtl.submissions.files import prediction_names, rows_name
from mtl.submissions.forms import read_cells, read_json_by_id, read_json_lines
from mtl.submissions.lines import ID, Order, PredictionLines
from mtl.submissions.matching import match_columns, match_ids, number_error
from mtl.submissions.row_files import show
from mtl.tasks.layout import Layout
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

MORE_LINES = 10_000  # than rows, in a file that is read to say what is wrong with it


@dataclass(frozen=True)
class DataRows:
    """The rows of a task's split, as predictions are put to them."""

    task: Task
    split: str
    file: Path  # the data file that they stand in
    layout: Layout  # how it is read
    targets: np.ndarray  # (rows,), see `mtl.tasks.target_kind`; NaN or None where they are not known
    candidates: np.ndarray | None = None  # int64 (rows,), how many candidates each row of a choice has; else None
    lines: Sequence[int] | None = None  # in the file, if it has other rows too, as a training file with held-out rows
    sample: RowSample | None = None  # if they are one; predictions may then be of all rows of the split

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.targets)

    def put(
        self, lines: PredictionLines, ids: Sequence[str], labels: Mapping[str, str] | None
    ) -> tuple[np.ndarray, int]:
        """The targets of the rows' predictions, (rows,), and how many are answers that fit no label. The ids are in the first column of `ids` that
        the data has, else in `id`. `labels` say what answers mean; None: predictions are targets. Raises InputError for predictions of other rows."""
        order = self.order(lines, ids)
        if labels is not None:
            answers = [lines.answer(position) for position in order]
            return answer_targets(self.task, labels, answers, self.targets, self.candidates)
        targets, errors = lines.targets(self.task, order, self.candidates)
        if errors:
            raise errors[0]
        return targets, 0

    def order(self, lines: PredictionLines, ids: Sequence[str]) -> Order:
        """The order in which the rows get their predictions. Ids or numbers say it, or else the lines themselves; columns of the data that stand
        beside the predictions confirm it, or say another one. Arguments and errors are those of `put`."""
        count, marks = len(lines.values), lines.marks
        order: Order | None = range(len(self)) if count == len(self) else None
        if self.sample is not None and count == self.sample.whole:
            order = self.sample.positions
        if marks.has_ids:
            order = match_ids(lines, self._row_ids(lines, ids), self._described, self.sample is not None)
        elif marks.first_number is not None and order is not None:
            rows_by_number = {str(marks.first_number + position): row for row, position in enumerate(order)}
            order = match_ids(lines, rows_by_number, self._described, self.sample is not None)
        if marks.ignored and order is not None:
            message = "%s: its lines are taken in the order of the rows of %s; columns that are not compared: %s"
            logger.warning(message, lines.name, self.file, listed(marks.ignored, 5))
        if marks.columns and (order is not None or lines.are_rows):
            order = self._by_columns(lines, order)
        if order is None:
            rule = "; without ids, each row has one, in their order" if lines.typed else ""
            raise lines.error(f"{count} predictions for {self._described}{rule}", count - 1)
        if marks.first_number is not None:
            self._check_numbers(lines, order, ids)
        return order

    @property
    def _described(self) -> str:
        """The rows in a message."""
        if self.sample is not None:
            return f"the {len(self)} rows of {self.file} that are in the sample"
        held_out = " that are held out as dev (mtl data --write-splits writes them)" if self.lines is not None else ""
        return f"the {len(self)} rows of {self.file}{held_out}"

    def _by_columns(self, lines: PredictionLines, order: Order | None) -> Order | None:
        """As `match_columns`, by those columns that the data file has. Raises InputError, too, for texts where it has none to compare with."""
        present = column_names(self.file, self.layout)
        if columns := [name for name in lines.marks.columns if name in present]:
            return match_columns(lines, self.file, columns, self._records([], columns), order)
        if texts := [name for name in lines.marks.columns if name in self.task.text_columns]:
            problem = f"has a column {texts[0]!r}, and {self.file} has none to compare it with"
            remedy = "name the data's folder, or leave the column out if the lines are in the order of the rows"
            raise lines.error(f"{problem}; {remedy}", 0)
        return order

    def _check_numbers(self, lines: PredictionLines, order: Order, ids: Sequence[str]) -> None:
        """Raise InputError if the numbers may be ids that put the predictions to other rows. They may be if a column of the data file has the
        same name as the column of the numbers, or if it has ids that are all among the numbers, and its values have another order."""
        column, numbers = str(lines.marks.number_column), lines.marks.ids or ()
        for name in column_names(self.file, self.layout):
            has_same_name = name.lower() == column.lower()
            if not (has_same_name or name in (*ids, ID)):
                continue
            records = self._records([], [name])
            values = [record.values[0] for record in records]
            if not (has_same_name or set(map(str, values)) <= set(numbers)):
                continue
            for position, record, value in zip(order, records, values, strict=True):
                if str(value) != numbers[position]:
                    there = f"column {name!r} of {self.file} has {show(value)} on line {record.line}"
                    declared = f"name it in the suite file (submission: {{ids: [{name}]}})"
                    remedy = declared if has_same_name else f"call it {name}"
                    problem = f"column {column!r} has {numbers[position]}, and {there}; if it has ids, {remedy}"
                    raise lines.error(f"{problem}; if the lines are in the order of the rows, leave it out", position)

    def _records(self, columns: Sequence[str], optional: Sequence[str] = ()) -> list[Record]:
        """The rows, with the values of these columns (`mtl.data.records.read_records`)."""
        records = read_records(self.file, columns, optional, layout=self.layout)
        wanted = None if self.lines is None else set(self.lines)
        return [record for record in records if wanted is None or record.line in wanted]

    def _row_ids(self, lines: PredictionLines, ids: Sequence[str]) -> dict[str, int]:
        """The number of each row by its id."""
        present = column_names(self.file, self.layout)
        column = next((column for column in (*ids, ID) if column in present), None)
        if column is None and lines.marks.number_column is not None:
            raise number_error(lines, 0, self._described)
        if column is None:
            problem = f"has ids, and {self.file} has no column {' or '.join(dict.fromkeys([*ids, ID]))}"
            remedy = "leave them out where the lines are in the order of its rows, or name the column in the suite file"
            raise lines.error(f"{problem}; {remedy} (submission: ids)", 0)
        rows: dict[str, int] = {}
        for record in self._records([column]):
            id = text(record.values[0])
            if id in rows:
                problem = f"column {column!r} has {id!r} twice and does not tell rows apart; leave the ids out of the predictions,"
                raise InputError(f"{problem} in the order of these rows", path=self.file, line=record.line)
            rows[id] = len(rows)
        return rows


Rows = Mapping[str, Mapping[str, DataRows]]  # that predictions are put to, by task id and split
Sources = Mapping[tuple[str, str], PredictionLines]  # predictions as they stand in a file or a list, likewise
Predicted = dict[str, dict[str, np.ndarray]]  # targets (rows,), likewise
Unfit = dict[str, dict[str, int]]  # how many answers fit no label, likewise; of tasks whose predictions are answers


def read_sources(path: Path, contents: Mapping[str, bytes], suite: Suite, rows: Rows) -> Sources:
    """The predictions for these rows in a zip or a folder, by the names of its files with these contents. Raises InputError, which names the file and
    the line, for two files of the same rows, and for a file that is of another form than its name."""
    sources: dict[tuple[str, str], PredictionLines] = {}
    for name, (id, split) in prediction_names(suite).items():
        if name not in contents or split not in rows.get(id, {}):
            continue
        task, content, file = suite.tasks[id], contents[name], f"{path}/{name}"
        are_rows = name == rows_name(task, split)
        if are_rows and task.files[split] is None:
            continue  # a file of rows has none that are held out
        if (earlier := sources.get((id, split))) is not None:
            raise InputError(f"{name} has predictions of the same rows; leave one out", path=earlier.name)
        data = rows[id][split]
        most = (data.sample.whole if data.sample else len(data)) + MORE_LINES
        if name.endswith(".jsonl"):
            sources[id, split] = read_json_lines(task, content, file, suite.submission.ids, most, are_rows)
        elif name.endswith(".json"):
            sources[id, split] = read_json_by_id(content, file)
        else:
            sources[id, split] = read_cells(task, content, file, suite.submission.ids, most)
    return sources


def put_to_rows(sources: Sources, suite: Suite, rows: Rows, labels: Labels) -> tuple[Predicted, Unfit]:
    """The predictions for these rows, as far as there are any, and the answers that fit no label. Raises InputError, which names the file and the
    line, for predictions that are not those of the rows. Predictions of the tasks that have `labels` (`check_labels`) are read as answers."""
    predicted: Predicted = {id: {} for id in rows}
    unfit: Unfit = {id: {} for id in rows if id in labels}
    for id, splits in rows.items():
        for split, data in splits.items():
            if (lines := sources.get((id, split))) is not None:
                predicted[id][split], count = data.put(lines, suite.submission.ids, labels.get(id))
                if id in labels:
                    unfit[id][split] = count
    return predicted, unfit
