"""Which column of a task holds the target: the known one, the only one that its name or its values allow, or the first, with a question."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.choice import candidate_names
from mtl.benchmark_making.init_suite.columns import MOST_REASONS, known_column, with_counts
from mtl.benchmark_making.init_suite.file_column import LABEL_NAMES, REPEATED, FileColumn
from mtl.benchmark_making.init_suite.guess import GIVEN, quoted
from mtl.benchmark_making.init_suite.kinds import RATING_NAMES
from mtl.benchmark_making.init_suite.labels import MULTI_LABEL
from mtl.benchmark_making.init_suite.several_labels import SeveralLabels, named_labels, several_labels
from mtl.benchmark_making.init_suite.tables import NAMELESS, FileTable, SplitTables

TARGET_NAMES = {"target", "targets", "gold"}  # of columns that may be targets whatever they hold, as those called label
# Words in the names of targets, if all other columns say where rows come from.
LIKELY_NAMES = {*TARGET_NAMES, *RATING_NAMES, "class", "judgment", "judgement", "duplicate"}
ANSWER_NAMES = ("answer", "answerkey", "correct", "correct_answer", "solution")  # of targets beside candidates
MOST_WAYS = 20  # columns in a question
PRINTED_LIST = re.compile(r"\[(['\"]).*\1\]$")
Columns = Sequence[FileColumn]


class TargetColumn(NamedTuple):
    """The guess of the target's column."""

    column: FileColumn
    why: str  # the reason for the guess
    question: str | None = None  # which asks the user, if something else may be the target
    several: SeveralLabels | None = None  # how several labels of a row stand in the column, if they do


def chosen_target(id: str, tables: SplitTables, known: Mapping[str, Any]) -> TargetColumn:
    """The target's column: the known one, or a guess. Raises InputError if there is none, and for lists that are texts."""
    chosen = _known_target(tables.main, known) if "target" in known else _guessed_target(id, tables, known)
    if printed := next((value for value in chosen.column.counts if PRINTED_LIST.match(value)), None):
        problem = f"column {quoted(chosen.column.name)} has lists as Python prints them, {quoted(printed)}"
        raise InputError(f'{problem}; write them as JSON, ["a", "b"], or as a;b')
    return chosen


def possible_targets(table: FileTable) -> list[FileColumn]:
    """The columns that may be targets, as they hold labels or numbers, or by their names."""
    return [column for column in table.columns.values() if _may_be_target(column)]


def _known_target(table: FileTable, known: Mapping[str, Any]) -> TargetColumn:
    """The column that the user names, or the columns of several labels."""
    several = named_labels(table, known)
    if several is None:
        return TargetColumn(known_column(table, known["target"]), GIVEN)
    return TargetColumn(table.columns[several.columns[0]], GIVEN, several.question, several)


def _guessed_target(id: str, tables: SplitTables, known: Mapping[str, Any]) -> TargetColumn:
    """Several labels of a row, or one label or number: of the columns that are likely by their names, or that the test file lacks, or that are
    possible at all. Raises InputError if there is none."""
    main, test = tables.main, tables.test
    columns = possible_targets(main)
    named = _named_targets(main, columns)
    hidden = [column for column in columns if test is not None and test.lacks(column.name)]
    likely = named or hidden or columns
    target = _target_of_several(main, likely or _repeated_words(main), named, known)
    if target is None and not likely:
        raise InputError(_no_target(id, main))
    return target or _target_of_one(main, likely, columns, is_named=bool(named))


def _named_targets(table: FileTable, columns: Columns) -> Columns:
    """The columns whose names say that they are targets: those called label, and if no other column can be the target but sources, those with one of
    LIKELY_NAMES. Raises InputError if a column with such a name lacks values in some rows."""
    if lacking := [name for name in table.incomplete if name.lower() in {*LABEL_NAMES, *LIKELY_NAMES}]:
        raise InputError(table.incomplete[lacking[0]])
    certain_names = {*LABEL_NAMES, *(ANSWER_NAMES if candidate_names(table) else ())}
    certain = {column.name for column in columns if column.name.lower() in certain_names}
    if certain:
        return [column for column in columns if column.name in certain or column.is_called_label]
    named = [column for column in columns if column.is_called_label or LIKELY_NAMES & set(column.words)]
    names = {column.name for column in named}
    return named if all(column.is_source for column in columns if column.name not in names) else []


def _may_be_target(column: FileColumn) -> bool:
    """Whether a column has two values or more, no ids, and holds numbers or labels, or is called label or target."""
    if column.lists or column.is_blank or column.is_meta or column.is_id or len(column.counts) < 2:
        return False
    return bool(column.numbers) or column.is_category or column.name.lower() in {*LABEL_NAMES, *TARGET_NAMES}


def _repeated_words(table: FileTable) -> Columns:
    """The columns of texts that repeat, most of one word: sets of labels may be too many for categories."""
    words = [column for column in table.columns.values() if column.several_words * 2 < column.rows]
    return [column for column in words if 1 < len(column.counts) <= column.rows / REPEATED]


def _target_of_several(
    table: FileTable, likely: Columns, named: Columns, known: Mapping[str, Any]
) -> TargetColumn | None:
    """The first of what may be several labels of a row, if the known keys allow them, and no other column is called label. If other columns are
    likely, there is a question, except for a list that is called label."""
    if known.get("kind", MULTI_LABEL) != MULTI_LABEL or {"range", "candidates"} & set(known):
        return None
    labels = {column.name for column in named if column.is_called_label}
    possible = [several for several in several_labels(table, likely) if not labels or labels & {*several.columns}]
    if not possible:
        return None
    several, question = possible[0], None if "kind" in known else possible[0].question
    first = table.columns[several.columns[0]]
    taken = {name for several in possible for name in several.columns}
    rest = [column for column in likely if column.name not in taken and not column.is_source]
    if (possible[1:] or rest) and not (first.lists and first.is_called_label):
        ways = [f"{quoted(way.target)} (several labels of a row, in {way.form})" for way in possible]
        question = _question([*ways, *(with_counts([column]) for column in rest)])
    return TargetColumn(first, several.form, question, several)


def _target_of_one(table: FileTable, likely: Columns, columns: Columns, is_named: bool) -> TargetColumn:
    """The only likely column, or the first one with a question, if there are several, or if it may say something else about the rows."""
    first, unread = likely[0], _unread(table)
    # An earlier column may have the same labels in other words, or finer ones, and be meant as well.
    finer = [column for column in columns[: columns.index(first)] if first.follows_from(column)]
    same = [column for column in finer if column.is_called_label or len(column.counts) == len(first.counts)]
    question = _question([with_counts([column]) for column in [*likely, *same]])
    if len(likely) + len(same) > 1:
        return TargetColumn(first, f"one of {len(likely) + len(same)} that may be it", question)
    if is_named:
        return TargetColumn(first, "by its name")
    if unread or first.is_source or first.is_repeated_text:
        return TargetColumn(first, "perhaps", "; ".join([f"{question}, or say where the rows come from", *unread]))
    is_only = len(columns) == 1
    why = "the only column with labels or numbers" if is_only else "the only one without values in the test file"
    return TargetColumn(first, why)


def _question(ways: Sequence[str]) -> str:
    """The question that asks which of several columns, in words, is the target."""
    return f"target: {listed(ways, MOST_WAYS)} may be the target"


def _no_target(id: str, table: FileTable) -> str:
    """Why no column can be the target of a task, and what the user may answer."""
    reasons = [*_unread(table), *list(table.incomplete.values())[:MOST_REASONS]]
    problem = f"target: no column looks like one: {table.listed}"
    return "; ".join([problem, *reasons, f"name it: --answer {shlex.quote(f'tasks.{id}.target=COLUMN')}"])


def _unread(table: FileTable) -> list[str]:
    """The columns that mtl cannot read, and why."""
    return [f"{quoted(name)} is {what}" for name, what in table.unread.items() if what != NAMELESS]
