"""Which column of a task holds the target: the known one, the only one that its name or its values allow, or the first, with a question."""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from mtl.base.errors import InputError
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.choice import candidate_names
from mtl.benchmark_making.init_suite.column_names import ANSWER_NAMES, LABEL_NAMES, LIKELY_NAMES, TARGET_NAMES
from mtl.benchmark_making.init_suite.file_column import ROWS_PER_CATEGORY, FileColumn
from mtl.benchmark_making.init_suite.guess import MULTI_LABEL, WHY_GIVEN, TaskKeys
from mtl.benchmark_making.init_suite.label_columns import LabelColumns
from mtl.benchmark_making.init_suite.label_search import named_label_columns, possible_label_columns
from mtl.benchmark_making.init_suite.tables import NAMELESS, FileTable, SplitTables
from mtl.benchmark_making.init_suite.wording import quoted, with_count

MOST_WAYS = 20  # columns in a question
PRINTED_LIST = re.compile(r"\[(['\"]).*\1\]$")  # a cell such as ['a', 'b']
Columns = Sequence[FileColumn]


class TargetColumn(NamedTuple):
    column: FileColumn
    why: str  # the reason for the guess
    question: str | None = None  # which asks the user, if something else may be the target
    label_columns: LabelColumns | None = None  # where the rows have several labels each, if they do


def chosen_target(task_id: str, tables: SplitTables, known: TaskKeys) -> TargetColumn:
    """The target's column: the known one, or a guess. Raises InputError if there is none, and for lists that are texts."""
    chosen = _known_target(tables.main, known) if "target" in known else _guessed_target(task_id, tables, known)
    for value in chosen.column.counts:
        if PRINTED_LIST.match(value):
            problem = f"column {quoted(chosen.column.name)} has lists as Python prints them, {quoted(value)}"
            raise InputError(f'{problem}; write them as JSON, ["a", "b"], or as a;b')
    return chosen


def _known_target(table: FileTable, known: TaskKeys) -> TargetColumn:
    """The column that the user names, or the columns of several labels."""
    label_columns = named_label_columns(table, known)
    if label_columns is None:
        return TargetColumn(table.readable_column(known["target"]), WHY_GIVEN)
    return TargetColumn(table.columns[label_columns.names[0]], WHY_GIVEN, label_columns.question, label_columns)


def _guessed_target(task_id: str, tables: SplitTables, known: TaskKeys) -> TargetColumn:
    """The target among the columns that the first of these rules finds, as several labels of a row, or else as one label or number:
    1. columns whose names say that they are targets;
    2. if the test file lacks some of the possible targets, those, as files without targets are often given out for tests;
    3. all possible targets;
    4. words that repeat, but only as several labels: sets such as "joy,anger" may be too many for one. Raises InputError if there are none."""
    main, test = tables.main, tables.test
    possible = possible_targets(main)

    def target_among(likely: Columns, why: str, by_name: bool = False) -> TargetColumn:
        several = _several_labels(main, likely, known, by_name)
        return several or _first_target(main, likely, possible, why, by_name)

    if named := _named_targets(main, possible):
        return target_among(named, "by its name", by_name=True)
    hidden = [column for column in possible if test is not None and test.lacks(column.name)]
    if 0 < len(hidden) < len(possible):
        return target_among(hidden, "the only one without values in the test file")
    if possible:
        return target_among(possible, "the only column with labels or numbers")
    if several := _several_labels(main, _repeated_words(main), known):
        return several
    remedy = f"name it: --answer {shlex.quote(f'tasks.{task_id}.target=COLUMN')}"
    reasons = [*_unread(main), *main.gaps]
    raise InputError("; ".join([f"target: no column looks like one: {main.listed}", *reasons, remedy]))


def possible_targets(table: FileTable) -> list[FileColumn]:
    """The columns that may be targets: those with two values or more, no ids, that hold numbers or labels, or are called label or target."""
    texts = [column for column in table.columns.values() if not (column.lists or column.is_blank or column.is_meta)]
    varied = [column for column in texts if len(column.counts) > 1 and not column.is_id]
    return [column for column in varied if column.numbers or column.is_category or column.name.lower() in TARGET_NAMES]


def _named_targets(table: FileTable, possible: Columns) -> Columns:
    """The columns whose names are those of targets: surely, or likely if the others are sources. Raises InputError if one lacks a value in a row."""
    for name, problem in table.incomplete.items():
        if name.lower() in {*LABEL_NAMES, *LIKELY_NAMES}:
            raise InputError(problem)
    sure_names = {*LABEL_NAMES, *(ANSWER_NAMES if candidate_names(table) else ())}
    if any(column.name.lower() in sure_names for column in possible):
        return [column for column in possible if column.name.lower() in sure_names or column.is_called_label]
    likely = [column for column in possible if column.is_called_label or LIKELY_NAMES.intersection(column.words)]
    others = [column for column in possible if column not in likely and not column.is_source]
    return [] if others else likely


def _repeated_words(table: FileTable) -> Columns:
    """The columns of texts that repeat, most of one word."""
    words = [column for column in table.columns.values() if column.rows_of_several_words * 2 < column.rows]
    return [column for column in words if 1 < len(column.counts) <= column.rows / ROWS_PER_CATEGORY]


def _several_labels(table: FileTable, likely: Columns, known: TaskKeys, by_name: bool = False) -> TargetColumn | None:
    """The first of what may be several labels, with a question if others are likely, too; None if there is none, or known keys forbid it."""
    if known.get("kind", MULTI_LABEL) != MULTI_LABEL or "range" in known or "candidates" in known:
        return None
    ways = possible_label_columns(table, likely)
    called_labels = {column.name for column in likely if column.is_called_label}
    if by_name and called_labels:
        ways = [way for way in ways if called_labels.intersection(way.names)]
    if not ways:
        return None
    first = ways[0]
    column = table.columns[first.names[0]]
    question = None if "kind" in known or "label_separator" in known else first.question
    if not (column.lists and column.is_called_label):  # which are surely labels
        question = _question_on_several(ways, likely) or question
    return TargetColumn(column, first.form, question, first)


def _question_on_several(ways: Sequence[LabelColumns], likely: Columns) -> str | None:
    """The question which of the ways to several labels, or of the other likely columns, is the target; None if there is one way alone."""
    used = [name for way in ways for name in way.names]
    others = [column for column in likely if column.name not in used and not column.is_source]
    if len(ways) == 1 and not others:
        return None
    labels = [f"{quoted(way.target)} (several labels of a row, in {way.form})" for way in ways]
    return _question([*labels, *map(with_count, others)])


def _first_target(main: FileTable, likely: Columns, possible: Columns, why: str, by_name: bool = False) -> TargetColumn:
    """The only likely column, or the first one with a question, if there are several, or if it may say something else about the rows."""
    first, unread = likely[0], _unread(main)
    # An earlier column may have the same labels in other words, or finer ones, and be meant as well.
    finer = [column for column in possible[: possible.index(first)] if first.follows_from(column)]
    meant_as_well = [column for column in finer if column.is_called_label or len(column.counts) == len(first.counts)]
    columns = [*likely, *meant_as_well]
    if len(columns) > 1:
        return TargetColumn(first, f"one of {len(columns)} that may be it", _question(list(map(with_count, columns))))
    if not by_name and (unread or first.is_source or first.is_repeated_text):
        question = f"{_question([with_count(first)])}, or say where the rows come from"
        return TargetColumn(first, "perhaps", "; ".join([question, *unread]))
    return TargetColumn(first, why)


def _question(ways: Sequence[str]) -> str:
    return f"target: {listed(ways, MOST_WAYS)} may be the target"


def _unread(table: FileTable) -> list[str]:
    return [f"{quoted(name)} is {what}" for name, what in table.unread.items() if what != NAMELESS]
