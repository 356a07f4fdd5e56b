"""Files with one prediction on each line: `.tsv`, in the order of the rows, and `.jsonl`, which may name the rows by their ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.data.columns import text
from mtl.data.examples import MOST_CANDIDATES
from mtl.data.files import split_lines
from mtl.data.records import column_names, parse_row, read_records
from mtl.data.sampled import RowSample
from mtl.runs.predictions import file_problems, read_targets_of_lines
from mtl.submissions.answers import Answers
from mtl.submissions.entry import PREDICTION, prediction_target, show
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

ID = "id"  # the key of a row's id on a line of predictions
FORM = '{"id": …, "prediction": …}'


@dataclass(frozen=True)
class DataRows:
    """The rows of a task's split, as predictions are put to them.

    Args:
        file: the data file that they stand in.
        targets: (rows,), see `mtl.tasks.target_kind`; NaN or None where they are not known.
        candidates: int64 (rows,), the number of candidates of each row of a choice; None for other tasks.
        lines: their lines in the file, if it has other rows too, as a training file with held-out rows.
        sample: which rows of the split they are, if they are a sample of them; predictions may then be of all rows of the split.
    """

    file: Path
    targets: np.ndarray
    candidates: np.ndarray | None = None
    lines: Sequence[int] | None = None
    sample: RowSample | None = None

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.targets)

    @property
    def described(self) -> str:
        """The rows in a message."""
        part = "in the sample" if self.sample else "held out as dev" if self.lines is not None else ""
        return f"the {len(self)} rows of {self.file}" + (f" that are {part}" if part else "")

    @property
    def counts(self) -> set[int]:
        """How many predictions a file in the order of the rows may have."""
        return {len(self)} if self.sample is None else {len(self), self.sample.whole}

    def positions(self, count: int) -> Sequence[int]:
        """For each row, the position of its prediction in a file of this many predictions in the order of the rows, from 0.

        A file with as many as the split has rows is of all of them, where these rows are a sample.
        """
        return range(len(self)) if self.sample is None or count != self.sample.whole else self.sample.positions

    def candidates_in(self, count: int) -> np.ndarray | None:
        """The numbers of candidates of the rows of such a file, int64 (count,); of rows that are not among these, the most there can be."""
        if self.candidates is None or (positions := self.positions(count)) == range(len(self)):
            return self.candidates
        candidates = np.full(count, MOST_CANDIDATES, dtype=np.int64)
        candidates[list(positions)] = self.candidates
        return candidates


def read_tsv(
    task: Task, lines: list[str], name: str, rows: DataRows, answers: Answers | None
) -> tuple[np.ndarray, int]:
    """The predictions (rows,) in a file with a header and one on each line, and how many of them are answers that fit no label.

    Args:
        lines: of the file.
        name: of the file, for messages.
        answers: what answers mean; None: a line is a prediction as it stands.

    Raises:
        InputError: which names the file and the line.
    """
    count, unfit = len(lines) - 1, 0
    if answers is not None and lines:
        if count not in rows.counts:
            raise InputError(f"{count} predictions for {len(rows)} rows", path=name, line=len(lines))
        chosen = [lines[1 + position] for position in rows.positions(count)]
        predicted, unfit = answers.targets(chosen, rows.targets, rows.candidates)
        lines[1:] = map(target_kind(task).cells.to_line, predicted.tolist())
        count = len(rows)
    expected = count if count in rows.counts else len(rows)
    if problems := file_problems(task, lines, expected, rows.candidates_in(expected)):
        raise InputError(f"{name}{problems[0].replace(' test rows', ' rows')}")
    return read_targets_of_lines(task, lines)[list(rows.positions(count))], unfit


def read_json_lines(
    task: Task, content: bytes, name: str, rows: DataRows, ids: Sequence[str], answers: Answers | None
) -> tuple[np.ndarray, int]:
    """The predictions (rows,) in a file with an object on each line, as `read_tsv` returns them.

    If the lines have ids, they may stand in any order; otherwise, they stand in the order of the rows.

    Args:
        ids: the columns that may hold the ids of the data's rows; the first that the data file has does. After them, `id`.

    Raises:
        InputError: which names the file and the line.
    """
    lines = [parse_row(name, number, line) for number, line in enumerate(split_lines(content, name), start=1)]
    if not lines:
        raise InputError("the file is empty; it needs a prediction for each row", path=name, line=1)
    for number, line in enumerate(lines, start=1):
        if PREDICTION not in line:
            raise InputError(f"no key {PREDICTION!r}; a line is {FORM}", path=name, line=number)
        if (ID in line) != (ID in lines[0]):
            both = "an id, and line 1 has none" if ID in line else "no id, and line 1 has one"
            raise InputError(f"has {both}; write the ids of all rows, or of none", path=name, line=number)
    if ID in lines[0]:
        order = _order(lines, name, rows, _row_ids(name, rows, ids))
    elif len(lines) in rows.counts:
        order = list(rows.positions(len(lines)))
    else:
        problem = f"{len(lines)} predictions for {rows.described}; without ids, each row has one, in their order"
        raise InputError(problem, path=name, line=len(lines))
    if answers is not None:
        return answers.targets(
            [_answer(lines[position], name, position) for position in order], rows.targets, rows.candidates
        )
    targets = [_target(task, lines[position], name, position, row, rows) for row, position in enumerate(order)]
    return np.array(targets, dtype=target_kind(task).cells.dtype), 0


def _row_ids(name: str, rows: DataRows, ids: Sequence[str]) -> dict[str, int]:
    """The number of each row by its id. name: of the file of predictions, for messages."""
    names = column_names(rows.file)
    column = next((column for column in (*ids, ID) if column in names), None)
    if column is None:
        raise InputError(
            f"has ids, and {rows.file} has no column {' or '.join(dict.fromkeys([*ids, ID]))}; leave them out where the lines"
            " are in the order of its rows, or name the column in the suite file (submission: ids)",
            path=name,
            line=1,
        )
    known: dict[str, int] = {}
    wanted = None if rows.lines is None else set(rows.lines)
    for record in read_records(rows.file, [column]):
        if wanted is not None and record.line not in wanted:
            continue
        id = text(record.values[0])
        if id in known:
            raise InputError(
                f"column {column!r} has {id!r} twice and does not tell rows apart; leave the ids out of the predictions,"
                " in the order of these rows",
                path=rows.file,
                line=record.line,
            )
        known[id] = len(known)
    return known


def _order(lines: Sequence[dict[str, Any]], name: str, rows: DataRows, known: dict[str, int]) -> list[int]:
    """For each row of the data, the position of its line. known: the rows' numbers by id."""
    positions: dict[int, int] = {}
    for position, line in enumerate(lines):
        value = line[ID]
        if isinstance(value, bool) or not isinstance(value, str | int):
            problem = f"id {show(value)} must be a text or a whole number"
        elif (row := known.get(text(value))) is None and rows.sample:
            continue  # of another row of the split
        elif row is None:
            problem = f"id {show(value)} is not among {rows.described}; is this another file's?"
        elif (first := positions.setdefault(row, position)) != position:
            problem = f"id {show(value)} stands on line {first + 1} already"
        else:
            continue
        raise InputError(problem, path=name, line=position + 1)
    if lacking := [id for id, row in known.items() if row not in positions]:
        raise InputError(
            f"{len(lacking)} of {rows.described} have no prediction; the first has the id {lacking[0]!r}", path=name
        )
    return [positions[row] for row in range(len(rows))]


def _answer(line: dict[str, Any], name: str, position: int) -> str:
    """The answer on a line, as text."""
    try:
        return text(line[PREDICTION])
    except ValueError as error:
        raise InputError(f"{PREDICTION}: {error}", path=name, line=position + 1) from None


def _target(task: Task, line: dict[str, Any], name: str, position: int, row: int, rows: DataRows) -> Target:
    """The target that the prediction on a line means."""
    count = None if rows.candidates is None else int(rows.candidates[row])
    try:
        return prediction_target(task, {PREDICTION: line[PREDICTION]}, count)
    except ValueError as error:
        raise InputError(str(error), path=name, line=position + 1) from None
