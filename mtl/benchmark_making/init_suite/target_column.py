"""Which column of a task holds the target: the known one, or a guess, with a question where others may hold it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.choice import candidate_names
from mtl.benchmark_making.init_suite.columns import MOST_REASONS, known_column, with_counts
from mtl.benchmark_making.init_suite.file_column import LABEL_NAMES, REPEATED, FileColumn
from mtl.benchmark_making.init_suite.guess import GIVEN, quoted, quoted_names
from mtl.benchmark_making.init_suite.kinds import RATING_NAMES, TEXTS
from mtl.benchmark_making.init_suite.labels import MULTI_LABEL
from mtl.benchmark_making.init_suite.several_labels import SeveralLabels, named_labels, several_labels
from mtl.benchmark_making.init_suite.tables import NAMELESS, FileTable, SplitTables

TARGET_NAMES = {"target", "targets", "gold"}
SURE_NAMES = {*LABEL_NAMES, *TARGET_NAMES}  # of columns that may be targets whatever they hold
# Words in the names of columns that are targets if no column has a name in LABEL_NAMES, and names of targets beside columns of candidates.
LIKELY_NAMES = {*TARGET_NAMES, *RATING_NAMES, "class", "judgment", "judgement", "duplicate"}
CHOICE_NAMES = {"answer", "correct", "key", "answerkey", "solution", "answer_key", "correct_answer", "answer_idx", "answer_index"}  # fmt: skip
NESTED = "lists of objects: mtl reads one row for each question, so write one row for each object"
PRINTED_LIST = re.compile(r"\[(['\"]).*\1\]$")
Columns = list[FileColumn]


class TargetColumn(NamedTuple):
    """The guess of the target's column."""

    column: FileColumn
    why: str  # the reason for the guess
    question: str | None = None  # which asks the user, if another column may be the target
    several: SeveralLabels | None = None  # how several labels of a row stand in the column, if they do


def chosen_target(tables: SplitTables, known: Mapping[str, Any]) -> TargetColumn:
    """The target's column: the known one, or a guess. Raises InputError for lists that are texts."""
    if "target" not in known:
        chosen = _guessed_target(tables, known)
    elif labels := named_labels(tables.main, known):
        chosen = TargetColumn(tables.main.columns[labels.columns[0]], GIVEN, labels.question, labels)
    else:
        chosen = TargetColumn(known_column(tables.main, known["target"]), GIVEN)
    if printed := next((value for value in chosen.column.counts if PRINTED_LIST.match(value)), None):
        problem = f"column {quoted(chosen.column.name)} has lists as Python prints them, {quoted(printed)}"
        raise InputError(f'{problem}; write them as JSON, ["a", "b"], or as a;b')
    return chosen


def possible_targets(table: FileTable) -> Columns:
    """The columns that may be targets, without those that only rename labels of an earlier one, and without repeated texts beside a named target."""
    columns = [column for column in table.columns.values() if _may_be_target(column)]
    distinct = []
    for number, column in enumerate(columns):
        if not any(_names_labels_of(column, earlier) for earlier in columns[:number]):
            distinct.append(column)
    short = [column for column in distinct if _is_called_label(column) or not column.is_repeated_text]
    are_named = any(_is_called_label(column) or LIKELY_NAMES & set(column.words) for column in short)
    return short if are_named else distinct


def _guessed_target(tables: SplitTables, known: Mapping[str, Any]) -> TargetColumn:
    """Guess the target's column: several labels of a row, where the known keys allow them, or one label or number. Raises InputError if none fits."""
    main, test = tables.main, tables.test
    columns = possible_targets(main)
    named = _columns_by_name(main, columns)
    hidden = [column for column in columns if test is not None and test.lacks(column.name)]  # in the test file
    likely = named or hidden or columns
    if known.get("kind", MULTI_LABEL) == MULTI_LABEL and not {"range", "candidates"} & set(known):
        target = _target_of_several(main, likely or _repeated_words(main), named)
        if target is not None:
            return target
    if not columns:
        raise InputError(_no_target(main))
    named_and_hidden = [column for column in named if column in hidden]
    if len(named_and_hidden) == 1:
        likely = named_and_hidden
    return _target_of_one(likely, named, hidden, _unread(main))


def _target_of_several(table: FileTable, likely: Columns, named: Columns) -> TargetColumn | None:
    """Columns with several labels of a row as the target, or None. Where other likely columns may be it, there is a question."""
    several = several_labels(table, likely)
    labels = {column.name for column in named if _is_called_label(column)}
    if several is None or (labels and not labels & set(several.columns)):
        return None
    first, question = table.columns[several.columns[0]], several.question
    rest = [column for column in likely if column.name not in several.columns and not column.is_source]
    if rest and not (first.lists and first.words[-1] in SURE_NAMES):
        question = f"target: {quoted(several.target)} (several labels of a row, in {several.form}), {with_counts(rest)} may be the target"
    return TargetColumn(first, several.form, question, several)


def _target_of_one(likely: Columns, named: Columns, hidden: Columns, unread: Sequence[str]) -> TargetColumn:
    """The first likely column as the target: its name says so, the test file hides its values, or it is the only one with labels or numbers."""
    first, question = likely[0], f"target: {with_counts(likely)} may be the target"
    if len(likely) > 1:
        return TargetColumn(first, f"one of {len(likely)} that may be it", question)
    if first in hidden:
        reason = "by its name" if first in named else "labels or numbers"
        return TargetColumn(first, f"{reason}, and the test file has no values in it")
    if first in named:
        return TargetColumn(first, "by its name")
    if unread or first.is_source:
        return TargetColumn(first, "perhaps", "; ".join([f"{question}, or say where the rows come from", *unread]))
    return TargetColumn(first, "the only column with labels or numbers")


def _columns_by_name(table: FileTable, columns: Columns) -> Columns:
    """The columns whose names say that they are targets. Names that are only likely count if all other columns say where rows come from. Raises
    InputError if a column with such a name lacks values in some rows."""
    for names in (LABEL_NAMES, LIKELY_NAMES):
        if reasons := [reason for name, reason in table.incomplete.items() if name.lower() in names]:
            raise InputError(reasons[0])
    certain_names = {*LABEL_NAMES, *(CHOICE_NAMES if candidate_names(table) else ())}
    certain = [column for column in columns if column.name.lower() in certain_names]
    named = [column for column in columns if column in certain or _is_called_label(column)]
    if certain:
        return named
    likely = [column for column in columns if column in named or LIKELY_NAMES & set(column.words)]
    return likely if all(column.is_source for column in columns if column not in likely) else []


def _may_be_target(column: FileColumn) -> bool:
    """Whether a column has two values or more, no ids, and holds numbers or labels, or has one of SURE_NAMES."""
    if column.lists or column.is_blank or column.is_meta or column.is_id or len(column.counts) < 2:
        return False
    return bool(column.numbers) or column.is_category or column.name.lower() in SURE_NAMES


def _is_called_label(column: FileColumn) -> bool:
    """Whether the name is that of a label, as the whole name or its last word."""
    return column.name.lower() in LABEL_NAMES or column.words[-1] in LABEL_NAMES


def _names_labels_of(column: FileColumn, target: FileColumn) -> bool:
    """Whether a column only renames the labels of a possible target, or groups those of one with the name of a label."""
    is_coarser = _is_called_label(target) and not _is_called_label(column) and column.follows_from(target)
    return target.says_the_same_as(column) or is_coarser


def _repeated_words(table: FileTable) -> Columns:
    """The columns of texts that repeat, most of one word: sets of labels may be too many for categories."""
    words = [column for column in table.columns.values() if column.several_words * 2 < column.rows]
    return [column for column in words if 1 < len(column.counts) <= column.rows / REPEATED]


def _no_target(table: FileTable) -> str:
    """Why no column can be the target of a task, and what in the file mtl cannot read."""
    if objects := [name for name, what in table.unread.items() if "objects" in what]:
        return f"{quoted_names(objects)}: {NESTED}"
    labels = [column for column in table.columns.values() if _is_called_label(column)]
    if texts := [column.name for column in labels if column.several_words * 2 > column.rows]:
        return f"{quoted_names(texts)}: {TEXTS}"
    reasons = [*_unread(table), *list(table.incomplete.values())[:MOST_REASONS]]
    if decimals := [name for name, column in table.columns.items() if column.has_decimal_commas]:
        reasons.append(f"{quoted_names(decimals)}: numbers with a decimal comma; write a point in its place")
    return "; ".join([f"target: no column looks like one: {table.listed}", *(reasons or ["name the column label"])])


def _unread(table: FileTable) -> list[str]:
    """The columns that mtl cannot read, and why."""
    return [f"{quoted(name)} is {what}" for name, what in table.unread.items() if what != NAMELESS]
