"""Findings about the rows of one split: rows that are repeated, repeated ids, and conflicting or missing targets."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mtl.benchmark_making.audits.cells import excerpt
from mtl.benchmark_making.audits.parts import Finding, Part, file_lines
from mtl.data.examples import Example
from mtl.data.records import Record, column_names, read_records
from mtl.submissions.lines import ID
from mtl.tasks.targets import target_kind

Row = TypeVar("Row", Example, Record)


def target_findings(part: Part) -> list[Finding]:
    """The findings about the texts together with their targets; without targets, only repeated texts."""
    return [*_duplicates(part), *_conflicts(part), *absent_targets(part)]


def absent_targets(part: Part) -> Iterator[Finding]:
    """Labels that never occur, and targets that are all the same."""
    values = {row.target for row in part.rows} - {None}
    if not values:
        return
    kind = target_kind(part.task)
    if absent := kind.absent(np.array(list(values), dtype=kind.dtype)):
        what = f"no row has the label{'s' if len(absent) > 1 else ''} {', '.join(absent)}"
        meaning = "the score does not measure such rows"
        if part.split == "train":
            meaning = "a model cannot learn labels that it never sees"
        yield part.new_finding("labels", len(absent), what, meaning)
    elif len(values) == 1 and len(part.rows) > 1:
        yield part.new_finding("labels", 1, "all rows have the same target", "nothing can be learned or measured")


def id_findings(part: Part, data_dir: Path, ids: Sequence[str]) -> Iterator[Finding]:
    """Rows of dev or test with the id of an earlier row. Ids are in the first of the columns `ids` and `ID` that is not the task's `group`."""
    if part.split == "train":
        return
    path, layout = data_dir / part.file, part.task.layout(part.split, data_dir)
    names = column_names(path, layout)
    column = next((name for name in (*ids, ID) if name in names and name != part.task.group), None)
    if column is None:
        return
    records = read_records(path, [], [column], layout=layout)
    if repeats := _repeats((record.values[0], record) for record in records if record.values[0] is not None):
        have = part.count_with_verb(len(repeats), "have", "has")
        example, _ = repeats[0]
        what = f"{have} the id of an earlier row, such as {column} {excerpt(str(example.values[0]))}"
        meaning = "mtl import cannot put predictions to these rows by their ids; give each row its own"
        where = file_lines(part.file, [lines for _, lines in repeats])
        yield part.new_finding("ids", len(repeats), what, meaning, where)


def _duplicates(part: Part) -> Iterator[Finding]:
    """Rows that repeat an earlier row: the same texts and, if there are targets, the same target."""
    repeats = _repeats(((group, row.target), row) for group, rows in enumerate(part.equal_rows) for row in rows)
    if repeats:
        example, _ = repeats[0]
        alike = "texts" if example.target is None else "texts and target"
        repeat = part.count_with_verb(len(repeats), "repeat", "repeats")
        what = f"{repeat} an earlier row ({alike}), such as {excerpt(example.texts[0])}"
        meaning = f"repeated rows count twice in {'training' if part.split == 'train' else 'the score'}"
        where = file_lines(part.file, [lines for _, lines in repeats])
        yield part.new_finding("duplicates", len(repeats), what, meaning, where)


def _repeats(keyed_rows: Iterable[tuple[Any, Row]]) -> list[tuple[Row, str]]:
    """Each row with the key of an earlier one, in the order of the file, with its line and that of the first such row: "4 = 2"."""
    first_by_key: dict[Any, Row] = {}
    pairs = [(row, first_by_key.setdefault(key, row)) for key, row in keyed_rows]
    repeats = [(row, f"{row.line} = {first.line}") for row, first in pairs if row is not first]
    return sorted(repeats, key=lambda repeat: repeat[0].line)


def _conflicts(part: Part) -> Iterator[Finding]:
    """The same texts with different targets."""
    if groups := [rows for rows in part.equal_rows if len({row.target for row in rows}) > 1]:
        count = sum(map(len, groups))
        texts = "text has" if len(groups) == 1 else "texts have"
        what = f"{len(groups)} {texts} different targets, in {count} of {len(part.rows)} rows, such as {excerpt(groups[0][0].texts[0])}"
        lines = [_lines_of_targets(part, rows) for rows in groups]
        meaning = "no prediction is right for all of these rows"
        yield part.new_finding("conflicts", count, what, meaning, file_lines(part.file, lines, "; "))


def _lines_of_targets(part: Part, rows: Sequence[Example]) -> str:
    """The line of the first row with each of the targets of rows, and the target: "2 glad, 4 arg"."""
    kind = target_kind(part.task)
    first_by_target = {row.target: row for row in reversed(rows)}  # reversed: of equal targets, the first row stays
    firsts = sorted(first_by_target.values(), key=lambda row: row.line)
    return ", ".join(f"{row.line} {'' if row.target is None else kind.show(row.target)}" for row in firsts)
