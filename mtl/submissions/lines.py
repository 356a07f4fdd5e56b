"""Predictions one after another, and the rows that they are put to: `.tsv`, in the order of the rows, and `.jsonl` and lists of Python, which
may name the rows by their ids."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.untrusted import parse_json
from mtl.data.columns import text
from mtl.data.files import split_lines
from mtl.data.json_rows import parse_row
from mtl.data.records import Record, column_names, read_records
from mtl.data.rows import quoted_rows
from mtl.data.sampled import RowSample
from mtl.submissions.answers import answer_targets
from mtl.submissions.entry import PREDICTION, RowFile, read_row_file, show, value_target
from mtl.submissions.files import MOST_PREDICTIONS
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Layout, Task

HEADER = "index\tprediction"  # of a file whose lines have the number of their row, from 0
MORE_LINES = 10_000  # than rows, in a file that is read to say what is wrong with it
ID = "id"  # the key of a row's id on a line of predictions
FORM = '{"id": …, "prediction": …}'
# Names of columns, in lower case: of predictions, of rows' ids, and of their numbers (pandas writes an empty name).
PREDICTIONS = (PREDICTION, "predictions", "predicted", "pred", "y_pred", "target", "label", "answer")
IDS = (ID, "ids", "guid", "uid", "qid", "row_id", "example_id")
NUMBERS = ("", "index", "idx", "row", "unnamed: 0")


@dataclass(frozen=True)
class PredictionLines:
    """Predictions as they stand in a file or a list of Python: what they mean is not checked yet."""

    name: str  # the path of the file, or the key of the list, for messages
    values: Sequence[Any]  # texts, or of JSON Lines and of lists values with a type
    lines: Sequence[int] | None = None  # the line that each begins on; None: they are of a list
    typed: bool = True  # whether the values have types
    escaped: bool = False  # whether they are texts as `TargetKind.to_line` writes them
    ids: Sequence[Any] | None = None  # those of their rows, values with a type; None: they are known by `places`
    places: Sequence[int] | None = None  # the numbers of their rows, from 0; None: they are in the order of the rows
    # A column that numbers the rows, if it is one by its name, and its cells; None: there is none.
    numbers: tuple[str, Sequence[str]] | None = None
    problem: str | None = None  # what is wrong with `numbers` that are no ids; None: unknown

    @cached_property
    def by_place(self) -> Sequence[int]:
        """The positions of the predictions in the order of their rows."""
        count = len(self.values)
        return range(count) if self.places is None else sorted(range(count), key=self.places.__getitem__)

    def error(self, message: str, position: int | None = None) -> InputError:
        """What is wrong with the prediction at a position, from 0; None: with the whole file or list."""
        if self.lines is None:
            return InputError(message, key=self.name if position is None else f"{self.name}, row {position + 1}")
        line = None if position is None else self.lines[position] if self.lines else 1
        return InputError(message, path=self.name, line=line)

    def targets(
        self, task: Task, order: Iterable[int] | None = None, candidates: np.ndarray | None = None
    ) -> tuple[np.ndarray, list[InputError]]:
        """The targets that predictions mean, (rows,), and what is wrong with the file. The targets are whole if nothing is.

        Args:
            order: for each row, the position of its prediction; None: that of the row.
            candidates: int64 (rows,), the number of candidates of each row of a choice; None: unknown.
        """
        cells = target_kind(task)
        targets = list[Target]()
        errors: list[InputError] = []
        for row, position in enumerate(range(len(self.values)) if order is None else order):
            count = int(candidates[row]) if candidates is not None and row < len(candidates) else None
            value = self.values[position]
            try:
                if self.typed:
                    targets.append(value_target(task, value, count))
                else:
                    targets.append(cells.parse_prediction(cells.line_cell(value) if self.escaped else value, count))
            except ValueError as error:
                errors.append(self.error(str(error), position))
        return np.array(targets, dtype=cells.dtype), errors

    def answer(self, position: int) -> str:
        """A prediction as the text of an answer. Raises InputError for a value that has no text."""
        try:
            return text(self.values[position])
        except ValueError as error:
            raise self.error(f"{PREDICTION}: {error}", position) from None


def read_tsv(
    task: Task, content: bytes, name: str, indexed: bool | None = None, most: int = MOST_PREDICTIONS
) -> PredictionLines:
    """The predictions in a file with a header and one prediction on each line. Raises InputError, which names the file and the line, for a file
    without such a header, and for an index that is not the number of the row.

    Args:
        name: the path of the file.
        indexed: whether the number of the row stands before each prediction; None: the header says it.
        most: the most lines that it may have.
    """
    lines = split_lines(content, name, most=most)
    if not lines:
        raise InputError("the file is empty; it needs a header and one prediction for each row", path=name, line=1)
    header, *cells = lines
    indexed = header == HEADER if indexed is None else indexed
    wanted = [HEADER] if indexed else dict.fromkeys([task.target, "target"])
    if header not in wanted:
        raise InputError(f"the header is {header!r}; it must be {' or '.join(map(repr, wanted))}", path=name, line=1)
    if indexed:
        for row, line in enumerate(cells):
            index, tab, cells[row] = line.partition("\t")
            if index != str(row) or not tab:
                problem = f"the index is {index!r}; rows are in order, and this one has the index {row}"
                raise InputError(problem, path=name, line=row + 2)
    return PredictionLines(name, cells, range(2, len(lines) + 1), typed=False, escaped=True)


def read_cells(task: Task, content: bytes, name: str, ids: Sequence[str], most: int) -> PredictionLines:
    """The predictions in the file `name`, a .csv or a .tsv with a header: in the column prediction, in its only column, or in one of two. Another one
    may have the rows' ids, or, unless `ids` name it, their numbers. A .tsv as mtl writes it is read by `read_tsv`.

    Args:
        ids: further names that the column of ids may have.
        most: the most lines that it may have.

    Raises:
        InputError: which names the file, the line and the header that is expected, for a header that does not say which column has what.
    """
    lines = split_lines(content, name, most=most)
    if name.endswith(".tsv") and (not lines or lines[0] in (HEADER, task.target, "target")):
        return read_tsv(task, content, name, most=most)
    if name.endswith(".csv"):
        quoted = quoted_rows(name, (f"{line}\n" for line in lines))
        numbered = [(line, cells) for line, cells in quoted if cells != [""]]
    else:
        numbered = [(number, line.split("\t")) for number, line in enumerate(lines, start=1)]
    places, rows = [line for line, _ in numbered], [cells for _, cells in numbered]
    header = [column.strip().lower() for column in rows[0]] if rows else []
    names = [*map(str.lower, ids), *IDS, *NUMBERS]
    keys = [place for place, column in enumerate(header) if column in names]
    if header.count(PREDICTION) == 1:
        value = header.index(PREDICTION)
        keys = sorted(keys, key=lambda place: names.index(header[place]))
    elif len(header) == 2 and len(keys) == 1:
        value = 1 - keys[0]
    elif len(header) == 1 and header[0] in (*PREDICTIONS, task.target.lower()):
        value, keys = 0, []
    else:
        alone = f"{task.target!r} alone with a prediction for each row in their order"
        expected = f"it must be {ID} and {PREDICTION}, or {alone}"
        raise InputError(f"the header is {', '.join(rows[0] if rows else [])!r}; {expected}", path=name, line=1)
    if uneven := [line for line, cells in numbered if len(cells) != len(header)]:
        raise InputError(f"must have {len(header)} cells, as the header", path=name, line=uneven[0])
    table = partial(PredictionLines, name, lines=places[1:], typed=False, escaped=name.endswith(".tsv"))
    values = [cells[value] for cells in rows[1:]]
    if not keys:
        return table(values)
    key = keys[0]
    named = [cells[key] for cells in rows[1:]]
    may_count = header[key] in NUMBERS and header[key] not in map(str.lower, ids)
    if not may_count:
        return table(values, ids=named)
    return table(values, **keyed(rows[0][key].strip(), named))


def keyed(column: str, cells: Sequence[str]) -> dict[str, Any]:
    """What a column that numbers the rows by its name says of predictions, as keywords of `PredictionLines`: the numbers of their rows, if the
    cells are such from 0 or 1 in any order; else their ids."""
    count, numbers = len(cells), (column, cells)
    for first in (0, 1):
        place = {str(first + row): row for row in range(count)}
        if set(cells) == place.keys():
            return {"places": [place[cell] for cell in cells], "numbers": numbers}
    return {"ids": cells, "numbers": numbers}


def read_json_lines(content: bytes, name: str, most: int = MOST_PREDICTIONS) -> PredictionLines:
    """The predictions in the file `name` with an object on each of at most so many lines. Raises InputError, which names the line."""
    lines = []
    for number, written in enumerate(split_lines(content, name, most=most), start=1):
        row = parse_row(name, number, written)
        lines.append({key: _flat(name, number, key, row[key]) for key in (ID, PREDICTION) if key in row})
    if not lines:
        raise InputError("the file is empty; it needs a prediction for each row", path=name, line=1)
    for number, line in enumerate(lines, start=1):
        if PREDICTION not in line:
            raise InputError(f"no key {PREDICTION!r}; a line is {FORM}", path=name, line=number)
        if (ID in line) != (ID in lines[0]):
            difference = "an id, and line 1 has none" if ID in line else "no id, and line 1 has one"
            raise InputError(f"has {difference}; write the ids of all rows, or of none", path=name, line=number)
    ids = [line[ID] for line in lines] if ID in lines[0] else None
    return PredictionLines(name, [line[PREDICTION] for line in lines], range(1, len(lines) + 1), ids=ids)


def read_json_by_id(content: bytes, name: str) -> PredictionLines:
    """The predictions in the file `name` with an object from ids to predictions, as the script of SQuAD takes them. In messages, their
    numbers, from 1, stand in place of lines. Raises InputError."""
    by_id = parse_json(content, name, dict[str, Any], "it is an object with a prediction for each id")
    values = [_flat(name, number, id, value) for number, (id, value) in enumerate(by_id.items(), start=1)]
    return PredictionLines(name, values, range(1, len(values) + 1), ids=list(by_id))


def _flat(name: str, line: int, key: str, value: Any) -> Any:
    """A value on a line. Raises InputError for lists or objects in a list, which take many times the memory of their texts."""
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        raise InputError(f"{key} {show(value)} must be a value, or a list of texts or numbers", path=name, line=line)
    return value


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

    @cached_property
    def objects(self) -> RowFile | None:
        """The file as rows of JSON objects; None for another format."""
        return read_row_file(self.task, self.split, self.file) if self.file.suffix == ".jsonl" else None

    def put(
        self, lines: PredictionLines, ids: Sequence[str], spellings: Mapping[str, str] | None
    ) -> tuple[np.ndarray, int]:
        """The targets of the rows' predictions, (rows,), and how many of these are answers that fit no label. Raises InputError, which names the
        file and the line, for predictions that are not those of the rows.

        Args:
            ids: the columns that may hold the rows' ids; the first that the data file has does. After them, `id`.
            spellings: what answers mean (`mtl.submissions.answers`); None: a prediction is a target as it stands.
        """
        count = len(lines.values)
        order = self.in_order(count) if lines.ids is None else self._by_id(lines, lines.ids, self._row_ids(lines, ids))
        if order is None:
            rule = "; without ids, each row has one, in their order" if lines.typed else ""
            raise lines.error(f"{count} predictions for {self._described}{rule}", count - 1)
        order = [lines.by_place[position] for position in order] if lines.places is not None else order
        if lines.places is not None and lines.numbers is not None:
            self._check_numbers(lines, *lines.numbers, order, ids)
        if spellings is not None:
            answers = [lines.answer(position) for position in order]
            return answer_targets(self.task, spellings, answers, self.targets, self.candidates)
        targets, errors = lines.targets(self.task, order, self.candidates)
        if errors:
            raise errors[0]
        return targets, 0

    def in_order(self, count: int) -> Sequence[int] | None:
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
            if self.file.name == Path(self.task.file(split) or "").name:
                return self.task.layout(split, None)
        return self.task.plain_layout

    def _check_numbers(
        self, lines: PredictionLines, column: str, numbers: Sequence[str], order: Sequence[int], ids: Sequence[str]
    ) -> None:
        """Raise InputError if the numbers may be ids that put the predictions to other rows: the data file has a column with the name of the one
        that numbers the predictions and other values in it, or a column of ids that are all among the numbers."""
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
        if column is None and lines.numbers is not None:
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
        """What is wrong with an index that has neither the numbers nor the ids of the rows."""
        assert lines.numbers is not None
        column, cells = lines.numbers
        name, remedy = (
            (f"column {column!r}", "leave it out") if lines.lines else ("the index", "reset_index(drop=True)")
        )
        problem = f"{name} has {show(cells[position])}, which neither numbers {self._described} from 0 or 1 nor is an id of theirs"
        if repeated := next((cell for cell, count in Counter(cells).items() if count > 1), None):
            problem = f"{name} repeats {repeated}"
        order = f"if the predictions are in the order of the data, {remedy}"
        return lines.error(f"{lines.problem or problem}; {order}", position)

    def _by_id(self, lines: PredictionLines, ids: Sequence[Any], known: dict[str, int]) -> list[int]:
        """For each row, the position of the prediction with its id, where the numbers of rows by id are known."""
        positions: dict[int, int] = {}
        for position, value in enumerate(ids):
            if isinstance(value, bool) or not isinstance(value, str | int):
                problem = f"id {show(value)} must be a text or a whole number"
            elif (row := known.get(text(value))) is None and self.sample:
                continue  # of another row of the split
            elif row is None and lines.numbers is not None:
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
