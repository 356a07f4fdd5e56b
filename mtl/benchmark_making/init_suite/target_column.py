"""Which column of a task holds the target: the known one, the only one that its name or its values allow, or the first, with a question."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mtl.base.errors import InputError
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
    """Several labels of a row, where the known keys allow them, or one label or number. Raises InputError if no column can be the target."""
    main, test = tables.main, tables.test
    columns = possible_targets(main)
    named = _named_targets(main, columns)
    hidden = [column for column in columns if test is not None and test.lacks(column.name)]
    likely = named or hidden or columns
    may_be_several = known.get("kind", MULTI_LABEL) == MULTI_LABEL and not {"range", "candidates"} & set(known)
    possible = several_labels(main, likely or _repeated_words(main)) if may_be_several else []
    if labels := {column.name for column in named if column.is_called_label}:  # lists beside them are no targets
        possible = [several for several in possible if labels & {*several.columns}]
    if possible:
        return _target_of_several(main, possible, likely or _repeated_words(main), is_kind_known="kind" in known)
    if not columns:
        raise InputError(_no_target(id, main))
    return _target_of_one(main, likely, columns, is_named=bool(named))


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
    table: FileTable, possible: Sequence[SeveralLabels], columns: Columns, is_kind_known: bool
) -> TargetColumn:
    """The first of what may be several labels of a row, with a question where other columns may be the target, unless it is a list called label."""
    chosen, question = possible[0], None if is_kind_known else possible[0].question
    first = table.columns[chosen.columns[0]]
    taken = {name for several in possible for name in several.columns}
    rest = [column for column in columns if column.name not in taken and not column.is_source]
    if (len(possible) > 1 or rest) and not (first.lists and first.is_called_label):
        ways = [f"{quoted(several.target)} (several labels of a row, in {several.form})" for several in possible]
        ways += [with_counts([column]) for column in rest]
        question = f"target: {', '.join(ways)} may be the target"
    return TargetColumn(first, chosen.form, question, chosen)


def _target_of_one(table: FileTable, likely: Columns, columns: Columns, is_named: bool) -> TargetColumn:
    """The only likely column of the possible ones, unless it may hold something else than targets; in other cases the first one, with a question."""
    first, unread = likely[0], _unread(table)
    # An earlier column may have the same labels in other words, or finer ones, and be meant as well.
    finer = [column for column in columns[: columns.index(first)] if first.follows_from(column)]
    likely = [
        *likely,
        *(column for column in finer if column.is_called_label or len(column.counts) == len(first.counts)),
    ]
    question = f"target: {with_counts(likely)} may be the target"
    if len(likely) > 1:
        return TargetColumn(first, f"one of {len(likely)} that may be it", question)
    if is_named:
        return TargetColumn(first, "by its name")
    if unread or first.is_source or first.is_repeated_text:
        return TargetColumn(first, "perhaps", "; ".join([f"{question}, or say where the rows come from", *unread]))
    return TargetColumn(first, "the only column with labels or numbers")


def _no_target(id: str, table: FileTable) -> str:
    """Why no column can be the target of a task, and what the user may answer."""
    reasons = [*_unread(table), *list(table.incomplete.values())[:MOST_REASONS]]
    remedy = f"answer tasks.{id}.target=COLUMN, with tasks.{id}.kind={MULTI_LABEL} for several labels of a row"
    return "; ".join([f"target: no column looks like one: {table.listed}", *reasons, remedy])


def _unread(table: FileTable) -> list[str]:
    """The columns that mtl cannot read, and why."""
    return [f"{quoted(name)} is {what}" for name, what in table.unread.items() if what != NAMELESS]
