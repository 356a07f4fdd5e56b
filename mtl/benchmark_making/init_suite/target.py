"""Which column of a task holds the target, or which columns hold several labels of each row, with a question where others may hold it."""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.evidence import (
    LABEL_NAMES,
    REPEATED,
    candidate_columns,
    follows_from,
    is_category,
    is_id,
    is_meta,
    is_repeated_text,
    is_source,
    names_each_other,
    with_counts,
)
from mtl.benchmark_making.init_suite.guess import quoted, quoted_names
from mtl.benchmark_making.init_suite.kinds import TEXTS
from mtl.benchmark_making.init_suite.several import SeveralLabels, several_labels
from mtl.benchmark_making.init_suite.tables import NAMELESS, SPAN_LIST, FileColumn, FileTable

# Columns with these names may be targets whatever they hold, also lists.
SURE_NAMES = {*LABEL_NAMES, "target", "targets", "gold"}
# Columns with one of these words in their names are targets if no column has a name in LABEL_NAMES.
LIKELY_NAMES = {
    *("target", "targets", "gold", "class", "judgment", "judgement", "score", "rating", "stars", "grade", "similarity", "duplicate"),
}  # fmt: skip
# Names of targets beside columns of candidates.
CHOICE_NAMES = {"answer", "correct", "key", "answerkey", "solution", "answer_key", "correct_answer", "answer_idx", "answer_index"}  # fmt: skip
NESTED = "lists of objects: mtl reads one row for each question, so write one row for each object"
MOST_REASONS = 2  # a message says of so many columns why they are not the target


class TargetColumn(NamedTuple):
    """The guess of the target's column."""

    column: FileColumn
    why: str  # the reason for the guess
    question: str | None = None  # which asks the user, if another column may be the target
    several: SeveralLabels | None = None  # how several labels of a row stand in the column, if they do


def target_column(id: str, main: FileTable, test: FileTable | None, has_one_label: bool = False) -> TargetColumn:
    """The column that holds the targets.

    In this order: the one column whose name says so; the one column with labels or numbers without values in the test file; the one
    column with labels or numbers. If there are several, the first one is guessed, with a question that lists all.

    Args:
        id: of the task, for the answer that a message asks for.
        main: the rows with targets.
        test: the test file, if it is another one.
        has_one_label: whether the known keys say that a row has one label, so that columns of several labels are not looked for.

    Raises:
        InputError: if no column fits, which says what mtl cannot read.
    """
    possible = possible_targets(main)
    named = _columns_by_name(main, possible)
    lacking = [column for column in possible if test is not None and test.lacks(column.name)]
    candidates = named or lacking or possible or _repeated_words(main)
    several = None if has_one_label else several_labels(main, candidates)
    certain = {column.name for column in named if _is_named(column)}
    if several is not None and (not certain or certain & set(several.columns)):
        return _target_of_several(main, several, candidates)
    if not possible:
        raise InputError(_no_target(id, main))
    # A column is certain if it alone has such a name, or if the test file lacks the values of it alone.
    pools = [named, [column for column in named if column in lacking]] if named else [lacking, possible]
    pool = next((pool for pool in pools if len(pool) == 1), candidates)
    first = pool[0]
    question = f"target: {with_counts(pool)} may be the target"
    if len(pool) > 1:
        return TargetColumn(first, f"one of {len(pool)} that may be it", question)
    if first in named or first in lacking:
        missing = ", and the test file has no values in it" if first in lacking else ""
        return TargetColumn(first, ("by its name" if first in named else "labels or numbers") + missing)
    if _unread(main) or is_source(first):
        return TargetColumn(first, "perhaps", f"{question}, or say where the rows come from{_unread(main)}")
    return TargetColumn(first, "the only column with labels or numbers")


def possible_targets(table: FileTable) -> list[FileColumn]:
    """The columns with labels or numbers that may be targets, but for the names of another one of them."""
    columns = list(filter(_may_be_target, table.columns.values()))
    distinct: list[FileColumn] = []
    for number, column in enumerate(columns):
        if not any(_names_labels_of(column, earlier) for earlier in columns[:number]):
            distinct.append(column)
    plain = [column for column in distinct if _is_named(column) or not is_repeated_text(column)]
    return plain if any(_is_named(column) or LIKELY_NAMES & set(column.words) for column in plain) else distinct


def _names_labels_of(column: FileColumn, target: FileColumn) -> bool:
    """Whether a column says the same as a possible target, or less than one whose name is that of a label."""
    is_coarser = _is_named(target) and not _is_named(column) and follows_from(column, target)
    return names_each_other(target, column) or is_coarser


def _repeated_words(table: FileTable) -> list[FileColumn]:
    """The columns of texts that repeat, most of one word: sets of labels may be too many for categories."""
    words = [column for column in table.columns.values() if column.several_words * 2 < column.rows]
    return [column for column in words if 1 < len(column.counts) <= column.rows / REPEATED]


def _target_of_several(table: FileTable, several: SeveralLabels, candidates: Sequence[FileColumn]) -> TargetColumn:
    """Columns with several labels of a row as the target, with a question where others may be it, too."""
    first, question = table.columns[several.columns[0]], several.question
    rest = [column for column in candidates if column.name not in several.columns and not is_source(column)]
    if rest and not (first.lists and first.words[-1] in SURE_NAMES):
        entry = f"{quoted(several.target)} (several labels of a row, in {several.form})"
        question = f"target: {entry}, {with_counts(rest)} may be the target"
    return TargetColumn(first, several.form, question, several)


def _may_be_target(column: FileColumn) -> bool:
    """Whether a column holds several labels or numbers, and no ids."""
    if column.lists or column.is_blank or is_meta(column) or is_id(column) or len(column.counts) < 2:
        return False
    return bool(column.numbers) or is_category(column) or column.name.lower() in SURE_NAMES


def _is_named(column: FileColumn) -> bool:
    """Whether the name is that of a label, as the whole name or its last word."""
    return column.name.lower() in LABEL_NAMES or column.words[-1] in LABEL_NAMES


def _columns_by_name(main: FileTable, columns: Sequence[FileColumn]) -> list[FileColumn]:
    """Those of the columns whose names say that they are targets; several are a question. Raises InputError if such a column lacks values in some
    rows."""
    for names in (LABEL_NAMES, LIKELY_NAMES):  # in the order of the file's columns
        if reasons := [reason for name, reason in main.incomplete.items() if name.lower() in names]:
            raise InputError(reasons[0])
    choices = CHOICE_NAMES if candidate_columns(main, ()) else set()
    named = [column for column in columns if _is_named(column) or column.name.lower() in choices]
    if any(column.name.lower() in (*LABEL_NAMES, *choices) for column in named):
        return named
    likely = [column for column in columns if column in named or LIKELY_NAMES & set(column.words)]
    return likely if all(is_source(column) for column in columns if column not in likely) else []


def _no_target(id: str, table: FileTable) -> str:
    """Why no column can be the target of a task, what in the file mtl cannot read, and how to have spans read."""
    if objects := [name for name, what in table.unread.items() if "objects" in what]:
        return f"{quoted_names(objects)}: {NESTED}"
    targets = [column for column in table.columns.values() if _is_named(column)]
    if texts := [column.name for column in targets if column.several_words * 2 > column.rows]:
        return f"{quoted_names(texts)}: {TEXTS}"
    reasons = _unread(table) + "".join(f"; {reason}" for reason in [*table.incomplete.values()][:MOST_REASONS])
    for name in [name for name, what in table.unread.items() if what == SPAN_LIST][:1]:
        answer = f"tasks.{id}.reading.spans=TEXT + {name}.START[] + {name}.END[] + {name}.TYPE[]"
        reasons += f"; name the columns: --answer {shlex.quote(answer)}"
    return f"no column looks like a target: {table.listed}{reasons or '; name the column label'}"


def _unread(table: FileTable) -> str:
    """The columns that mtl cannot read and why, as the end of a message; empty if there are none."""
    return "".join(f"; {quoted(name)} is {what}" for name, what in table.unread.items() if what != NAMELESS)
