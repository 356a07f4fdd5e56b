"""The rows of a task's split, and the order in which predictions are put to them: that of the rows, or by ids, numbers, or the rows' own columns."""

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.wording import listed
from mtl.data.columns import text
from mtl.data.records import Record, column_names, read_records
from mtl.data.sampled import RowSample
from mtl.submissions.answers import answer_targets
from mtl.submissions.entry import show
from mtl.submissions.lines import ID, PredictionLines, exact_key, loose_key
from mtl.tasks.task import Layout, Task

MORE_LINES = 10_000  # than rows, in a file that is read to say what is wrong with it

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class DataRows:
    """The rows of a task's split, as predictions are put to them."""

    task: Task
    split: str
    file: Path  # the data file that they stand in
    targets: np.ndarray  # (rows,), see `mtl.tasks.target_kind`; NaN or None where they are not known
    # int64 (rows,), the number of candidates of each row of a choice; None for other tasks.
    candidates: np.ndarray | None = None
    # Their lines in the file, if it has other rows too, as a training file with held-out rows.
    lines: Sequence[int] | None = None
    # Which rows of the split they are, if they are a sample of them; predictions may then be of all rows of the split.
    sample: RowSample | None = None

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.targets)

    @property
    def most_lines(self) -> int:
        """The most lines that a file of their predictions may have: with a header, and some to say how many are too many."""
        return max(len(self), self.sample.whole if self.sample else 0) + MORE_LINES

    def put(
        self, lines: PredictionLines, ids: Sequence[str], spellings: Mapping[str, str] | None
    ) -> tuple[np.ndarray, int]:
        """The targets of the rows' predictions, (rows,), and how many of these are answers that fit no label. Raises InputError, which names the
        file and the line, for predictions that are not those of the rows.

        Args:
            ids: the columns that may hold the rows' ids; the first that the data file has does. After them, `id`.
            spellings: what answers mean (`mtl.submissions.answers`); None: a prediction is a target as it stands.
        """
        order = self.order(lines, ids)
        if spellings is not None:
            answers = [lines.answer(position) for position in order]
            return answer_targets(self.task, spellings, answers, self.targets, self.candidates)
        targets, errors = lines.targets(self.task, order, self.candidates)
        if errors:
            raise errors[0]
        return targets, 0

    def order(self, lines: PredictionLines, ids: Sequence[str]) -> Sequence[int]:
        """For each row, the position of its prediction. Arguments and errors are those of `put`."""
        count, first = len(lines.values), lines.first_number
        order = self._in_order(count)
        if lines.ids is not None and first is None:
            order = self._by_id(lines, lines.ids, self._row_ids(lines, ids))
        elif lines.ids is not None and first is not None and order is not None:
            order = self._by_id(lines, lines.ids, {str(first + number): row for row, number in enumerate(order)})
        if lines.ignored and order is not None:
            message = "%s: its lines are taken in the order of the rows of %s; columns that are not compared: %s"
            logger.warning(message, lines.name, self.file, listed(lines.ignored, 5))
        if lines.columns and (order is not None or lines.are_rows):
            order = self._by_columns(lines, order)
        if order is None:
            rule = "; without ids, each row has one, in their order" if lines.typed else ""
            raise lines.error(f"{count} predictions for {self._described}{rule}", count - 1)
        if first is not None:
            self._check_numbers(lines, order, ids)
        return order

    def _in_order(self, count: int) -> Sequence[int] | None:
        """For each row, its position in a file of this many rows; None if that is neither the number of these rows nor, where they are a
        sample, that of all rows of the split."""
        if self.sample is not None and count == self.sample.whole:
            return self.sample.positions
        return range(len(self)) if count == len(self) else None

    @property
    def _described(self) -> str:
        """The rows in a message."""
        held_out = " that are held out as dev (mtl data --write-splits writes them)" if self.lines is not None else ""
        return f"the {len(self)} rows of {self.file}{' that are in the sample' if self.sample else held_out}"

    @property
    def _layout(self) -> Layout:
        """How the file is read: as that of the split, or of the training rows of which the rows are held out."""
        for split in (self.split, "train"):
            inside = Path(self.task.folder, self.task.file(split) or "")
            if self.file.name == inside.name:
                return self.task.layout(split, Path(*self.file.parts[: -len(inside.parts)]))
        return self.task.plain_layout

    def _by_columns(self, lines: PredictionLines, order: Sequence[int] | None) -> Sequence[int] | None:
        """For each row, the position of the prediction with its values in the columns that stand beside both: as in `order` if it fits, else in
        another order. Raises InputError for values of no row, for ids of rows with other values, and for an order that the values leave open."""
        present = column_names(self.file, self._layout)
        columns = {name: lines.columns[name] for name in lines.columns if name in present}
        if not columns:
            if texts := [name for name in lines.columns if name in self.task.text_columns]:
                problem = f"has a column {texts[0]!r}, and {self.file} has none to compare it with"
                remedy = "name the data's folder, or leave the column out if the lines are in the order of the rows"
                raise lines.error(f"{problem}; {remedy}", 0)
            return order
        records = self._records([], list(columns))
        beside = [*zip(*columns.values(), strict=True)]
        exact_rows, exact_lines = [exact_key(record.values) for record in records], [*map(exact_key, beside)]
        # A row whose values stand in the file as they are is that row; others may have been changed on the way.
        same = {*exact_rows} & {*exact_lines}
        of_rows = [key if key in same else loose_key(r.values) for key, r in zip(exact_rows, records, strict=True)]
        of_lines = [key if key in same else loose_key(v) for key, v in zip(exact_lines, beside, strict=True)]
        unlike = [row for row, key in enumerate(of_rows) if order is None or of_lines[order[row]] != key]
        if not unlike:
            return order
        positions, counts = defaultdict[str, list[int]](list), Counter(of_rows)
        for position, key in enumerate(of_lines):
            positions[key].append(position)
        has_ids = lines.ids is not None and lines.first_number is None
        for row in unlike:
            if has_ids or len(positions[of_rows[row]]) < (1 if lines.are_rows else counts[of_rows[row]]):
                line, names, values = records[row].line, ", ".join(columns), list(records[row].values)
                problem = f"the row on line {line} of {self.file}, with {names} {show(values)}, is not here"
                remedy = "predict these rows, or leave out columns whose values are changed"
                raise lines.error(f"{problem}; {remedy}", None if order is None else order[row])
        for key in counts:
            first, *others = positions[key]
            if unequal := [position for position in others if lines.values[position] != lines.values[first]]:
                problem = f"rows with the same {', '.join(columns)} have different predictions here"
                remedy = f"put the lines into the order of the rows of {self.file}, or add a column {ID!r}"
                raise lines.error(f"{problem}; {remedy}", unequal[0])
        logger.info("%s: put to the rows of %s by %s: it has another order", lines.name, self.file, ", ".join(columns))
        return [positions[key].pop() if len(positions[key]) > 1 else positions[key][0] for key in of_rows]

    def _check_numbers(self, lines: PredictionLines, order: Sequence[int], ids: Sequence[str]) -> None:
        """Raise InputError if the numbers may be ids that put the predictions to other rows: the data file has a column with the name of the one
        that numbers the predictions and other values in it, or a column of ids that are all among the numbers."""
        column, numbers = str(lines.counter), lines.ids or ()
        for name in column_names(self.file, self._layout):
            is_same = name.lower() == column.lower()
            records = self._records([], [name]) if is_same or name in (*ids, ID) else []
            if not is_same and not {str(record.values[0]) for record in records} <= set(numbers):
                continue
            for position, record in zip(order, records, strict=bool(records)):
                if str(value := record.values[0]) != numbers[position]:
                    problem = f"column {column!r} has {numbers[position]}, and column {name!r} of {self.file} has {show(value)}"
                    named = f"name it in the suite file (submission: {{ids: [{name}]}})"
                    remedy = named if is_same else f"call it {name}"
                    where = f"{problem} on line {record.line}; if it has ids, {remedy}"
                    raise lines.error(f"{where}; if the lines are in the order of the rows, leave it out", position)

    def _records(self, columns: Sequence[str], optional: Sequence[str] = ()) -> list[Record]:
        """The rows, with the values of these columns (`mtl.data.records.read_records`)."""
        records = read_records(self.file, columns, optional, layout=self._layout)
        wanted = None if self.lines is None else set(self.lines)
        return [record for record in records if wanted is None or record.line in wanted]

    def _row_ids(self, lines: PredictionLines, ids: Sequence[str]) -> dict[str, int]:
        """The number of each row by its id."""
        names = column_names(self.file, self._layout)
        column = next((column for column in (*ids, ID) if column in names), None)
        if column is None and lines.counter is not None:
            raise self._not_numbered(lines, 0)
        if column is None:
            problem = f"has ids, and {self.file} has no column {' or '.join(dict.fromkeys([*ids, ID]))}"
            remedy = "leave them out where the lines are in the order of its rows, or name the column in the suite file"
            raise lines.error(f"{problem}; {remedy} (submission: ids)", 0)
        known: dict[str, int] = {}
        for record in self._records([column]):
            id = text(record.values[0])
            if id in known:
                problem = f"column {column!r} has {id!r} twice and does not tell rows apart; leave the ids out of the predictions,"
                raise InputError(f"{problem} in the order of these rows", path=self.file, line=record.line)
            known[id] = len(known)
        return known

    def _not_numbered(self, lines: PredictionLines, position: int) -> InputError:
        """What is wrong with a column that has neither the numbers nor the ids of the rows."""
        name, cells = f"column {lines.counter!r}", lines.ids or ()
        problem = f"{name} has {show(cells[position])}, which neither numbers {self._described} from 0 or 1 nor is an id of theirs"
        if repeated := next((cell for cell, count in Counter(cells).items() if count > 1), None):
            problem = f"{name} repeats {repeated}"
        return lines.error(f"{problem}; if the predictions are in the order of the data, leave it out", position)

    def _by_id(self, lines: PredictionLines, ids: Sequence[Any], known: dict[str, int]) -> list[int]:
        """For each row, the position of the prediction with its id, where the numbers of rows by id are known."""
        positions: dict[int, int] = {}
        for position, value in enumerate(ids):
            if isinstance(value, bool) or not isinstance(value, str | int):
                problem = f"id {show(value)} must be a text or a whole number"
            elif (row := known.get(text(value))) is None and self.sample:
                continue  # of another row of the split
            elif row is None and lines.counter is not None:
                raise self._not_numbered(lines, position)
            elif row is None:
                problem = f"id {show(value)} is not among {self._described}; is this another file's?"
            elif (earlier := positions.setdefault(row, position)) != position:
                where = f"in row {earlier + 1}" if lines.lines is None else f"on line {lines.lines[earlier]}"
                problem = f"id {show(value)} stands {where} already"
            else:
                continue
            raise lines.error(problem, position)
        if lacking := [id for id, row in known.items() if row not in positions]:
            problem = f"{len(lacking)} of {self._described} have no prediction; the first has the id {lacking[0]!r}"
            raise lines.error(problem)
        return [positions[row] for row in range(len(self))]
