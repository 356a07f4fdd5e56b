"""Which column of a task holds the target: the known one, or a guess, with a question where others may hold it."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.columns import MOST_REASONS, candidate_columns, known_column, with_counts
from mtl.benchmark_making.init_suite.file_column import LABEL_NAMES, REPEATED, FileColumn
from mtl.benchmark_making.init_suite.guess import GIVEN, quoted, quoted_names
from mtl.benchmark_making.init_suite.kinds import MULTI_LABEL, TEXTS
from mtl.benchmark_making.init_suite.nested_rows import SPAN_LIST
from mtl.benchmark_making.init_suite.several_labels import SeveralLabels, named_labels, several_labels
from mtl.benchmark_making.init_suite.tables import NAMELESS, FileTable, SplitTables

SURE_NAMES = {*LABEL_NAMES, "target", "targets", "gold"}  # of columns that may be targets whatever they hold
LIKELY_NAMES = {  # words in the names of columns that are targets if no column has a name in LABEL_NAMES
    "target", "targets", "gold", "class", "judgment", "judgement", "score", "rating", "stars", "grade", "similarity", "duplicate",
}  # fmt: skip
# Names of targets beside columns of candidates.
CHOICE_NAMES = {"answer", "correct", "key", "answerkey", "solution", "answer_key", "correct_answer", "answer_idx", "answer_index"}  # fmt: skip
NESTED = "lists of objects: mtl reads one row for each question, so write one row for each object"
SPANS_ANSWER = "tasks.{id}.reading.spans=TEXT + {name}.START[] + {name}.END[] + {name}.TYPE[]"  # the user replaces the words in capitals
PRINTED_LIST = re.compile(r"\[(['\"]).*\1\]$")


class TargetColumn(NamedTuple):
    """The guess of the target's column."""

    column: FileColumn
    why: str  # the reason for the guess
    question: str | None = None  # which asks the user, if another column may be the target
    several: SeveralLabels | None = None  # how several labels of a row stand in the column, if they do


def chosen_target(id: str, tables: SplitTables, known: Mapping[str, Any]) -> TargetColumn:
    """The target's column: the known one, or a guess. Raises InputError for lists that are texts."""
    if "target" not in known:
        chosen = _guessed_target(id, tables, known)
    elif labels := named_labels(tables.main, known):
        chosen = TargetColumn(tables.main.columns[labels.columns[0]], GIVEN, labels.question, labels)
    else:
        chosen = TargetColumn(known_column(tables.main, known["target"]), GIVEN)
    if printed := next((value for value in chosen.column.counts if PRINTED_LIST.match(value)), None):
        problem = f"column {quoted(chosen.column.name)} has lists as Python prints them, {quoted(printed)}"
        raise InputError(f'{problem}; write them as JSON, ["a", "b"], or as a;b')
    return chosen


def _guessed_target(id: str, tables: SplitTables, known: Mapping[str, Any]) -> TargetColumn:
    """Guess the target's column: several labels of a row, where the known keys allow them, or one label or number. Raises InputError if none fits."""
    main, test = tables.main, tables.test
    columns = possible_targets(main)
    named = _columns_by_name(main, columns)
    lacking = [column for column in columns if test is not None and test.lacks(column.name)]
    if known.get("kind", MULTI_LABEL) == MULTI_LABEL and "range" not in known and "candidates" not in known:
        candidates = named or lacking or columns or _repeated_words(main)
        several = several_labels(main, candidates)
        certain = {column.name for column in named if _is_named(column)}
        if several is not None and (not certain or certain & set(several.columns)):
            return _target_of_several(main, several, candidates)
    if not columns:
        raise InputError(_no_target(id, main))
    return _target_of_one(main, columns, named, lacking)


def _target_of_one(
    main: FileTable, columns: Sequence[FileColumn], named: Sequence[FileColumn], lacking: Sequence[FileColumn]
) -> TargetColumn:
    """Guess the target from the columns that may be it, those of them with names of targets, and those of them without values in the test file. The
    reason: its name says so, the test file lacks its values, or it is the only column with labels or numbers. Where others may be it, it asks."""
    named_and_lacking = [column for column in named if column in lacking]
    pool = named_and_lacking if len(named_and_lacking) == 1 else named or lacking or columns
    first = pool[0]
    question = f"target: {with_counts(pool)} may be the target"
    if len(pool) > 1:
        return TargetColumn(first, f"one of {len(pool)} that may be it", question)
    if first in named or first in lacking:
        missing = ", and the test file has no values in it" if first in lacking else ""
        return TargetColumn(first, ("by its name" if first in named else "labels or numbers") + missing)
    if _unread(main) or first.is_source:
        return TargetColumn(first, "perhaps", f"{question}, or say where the rows come from{_unread(main)}")
    return TargetColumn(first, "the only column with labels or numbers")


def possible_targets(table: FileTable) -> list[FileColumn]:
    """The columns with labels or numbers that may be targets, without those that only rename the labels of another one, and without repeated texts if
    the name of a remaining one says that it is a target."""
    columns = list(filter(_may_be_target, table.columns.values()))
    pairs = ((column, columns[:number]) for number, column in enumerate(columns))
    distinct = [column for column, before in pairs if not any(_names_labels_of(column, other) for other in before)]
    plain = [column for column in distinct if _is_named(column) or not column.is_repeated_text]
    return plain if any(_is_named(column) or LIKELY_NAMES & set(column.words) for column in plain) else distinct


def _names_labels_of(column: FileColumn, target: FileColumn) -> bool:
    """Whether a column only renames the labels of a possible target, or groups those of one with the name of a label."""
    is_coarser = _is_named(target) and not _is_named(column) and column.follows_from(target)
    return target.says_the_same_as(column) or is_coarser


def _repeated_words(table: FileTable) -> list[FileColumn]:
    """The columns of texts that repeat, most of one word: sets of labels may be too many for categories."""
    words = [column for column in table.columns.values() if column.several_words * 2 < column.rows]
    return [column for column in words if 1 < len(column.counts) <= column.rows / REPEATED]


def _target_of_several(table: FileTable, several: SeveralLabels, candidates: Sequence[FileColumn]) -> TargetColumn:
    """Columns with several labels of a row as the target, with a question where others may be it, too."""
    first, question = table.columns[several.columns[0]], several.question
    rest = [column for column in candidates if column.name not in several.columns and not column.is_source]
    if rest and not (first.lists and first.words[-1] in SURE_NAMES):
        question = f"target: {quoted(several.target)} (several labels of a row, in {several.form}), {with_counts(rest)} may be the target"
    return TargetColumn(first, several.form, question, several)


def _may_be_target(column: FileColumn) -> bool:
    """Whether a column has two values or more, no ids, and holds numbers or labels, or has one of SURE_NAMES."""
    if column.lists or column.is_blank or column.is_meta or column.is_id or len(column.counts) < 2:
        return False
    return bool(column.numbers) or column.is_category or column.name.lower() in SURE_NAMES


def _is_named(column: FileColumn) -> bool:
    """Whether the name is that of a label, as the whole name or its last word."""
    return column.name.lower() in LABEL_NAMES or column.words[-1] in LABEL_NAMES


def _columns_by_name(main: FileTable, columns: Sequence[FileColumn]) -> list[FileColumn]:
    """Those of the columns whose names say that they are targets; several are a question. Names that are only likely count if every other column
    says where rows come from. Raises InputError if a column with such a name lacks values in some rows."""
    for names in (LABEL_NAMES, LIKELY_NAMES):  # in the order of the file's columns
        if reasons := [reason for name, reason in main.incomplete.items() if name.lower() in names]:
            raise InputError(reasons[0])
    choices = CHOICE_NAMES if candidate_columns(main, ()) else set()
    named = [column for column in columns if _is_named(column) or column.name.lower() in choices]
    if any(column.name.lower() in (*LABEL_NAMES, *choices) for column in named):
        return named
    likely = [column for column in columns if column in named or LIKELY_NAMES & set(column.words)]
    return likely if all(column.is_source for column in columns if column not in likely) else []


def _no_target(id: str, table: FileTable) -> str:
    """Why no column can be the target of a task, what in the file mtl cannot read, and how to have spans read."""
    if objects := [name for name, what in table.unread.items() if "objects" in what]:
        return f"{quoted_names(objects)}: {NESTED}"
    targets = [column for column in table.columns.values() if _is_named(column)]
    if texts := [column.name for column in targets if column.several_words * 2 > column.rows]:
        return f"{quoted_names(texts)}: {TEXTS}"
    reasons = _unread(table) + "".join(f"; {reason}" for reason in [*table.incomplete.values()][:MOST_REASONS])
    if decimals := [name for name, column in table.columns.items() if column.has_decimal_commas]:
        reasons += f"; {quoted_names(decimals)}: numbers with a decimal comma; write a point in its place"
    if name := next((name for name, what in table.unread.items() if what == SPAN_LIST), None):
        reasons += f"; name the columns: --answer {shlex.quote(SPANS_ANSWER.format(id=id, name=name))}"
    return f"target: no column looks like one: {table.listed}{reasons or '; name the column label'}"


def _unread(table: FileTable) -> str:
    """The columns that mtl cannot read and why, as the end of a message; empty if there are none."""
    return "".join(f"; {quoted(name)} is {what}" for name, what in table.unread.items() if what != NAMELESS)
