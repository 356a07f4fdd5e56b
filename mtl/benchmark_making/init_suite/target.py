"""Which column of a task holds the target, or which columns several labels of each row. Where the evidence is not unique, the answer is a question
that lists the candidates.

Several labels stand in lists, in cells with a separator, or in columns of two truth values, one for each label.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite import evidence
from mtl.benchmark_making.init_suite.evidence import (
    TOKEN_NAMES,
    are_truths,
    follows_from,
    is_candidates,
    is_source,
    is_truth,
    names_each_other,
    with_counts,
)
from mtl.benchmark_making.init_suite.tables import NAMELESS, FileColumn, FileTable
from mtl.benchmark_making.init_suite.wording import quoted, quoted_names
from mtl.tasks.task import BESIDE

# Names of target columns that are certain, and names that are if no other column could be the target.
LABEL_NAMES = ("label", "labels", "gold_label")
LIKELY_NAMES = {
    *("target", "targets", "gold", "class", "judgment", "judgement", "score", "rating", "stars", "grade", "similarity", "duplicate"),
}  # fmt: skip
NAMES = {*LABEL_NAMES, "target", "targets", "gold"}  # of columns that may be targets whatever they hold, also lists
# Names of targets beside columns of candidates.
CHOICE_NAMES = {"answer", "correct", "key", "answerkey", "solution", "answer_key", "correct_answer", "answer_idx", "answer_index"}  # fmt: skip
# What a task of mtl cannot be, in one sentence each.
NESTED = "lists of objects: mtl reads one row for each question, so write one row for each object"
TEXTS = "texts as targets: no model here writes texts; the simple baselines lead, random and constant answer a task of `kind: text`"
KIND = "multi_label"
SEPARATOR = ";"  # between labels, unless a task names another one
SEPARATORS = (",", ";", "|", " ")  # of several labels in a cell
MOST_PARTS = 200  # different labels that cells with several labels may have
TRUE = {true for _, true in evidence.TRUTH}
MOST_REASONS = 2  # in a message, why columns are not the target


@dataclass(frozen=True)
class SeveralLabels:
    """Columns, or the cells of one column, that look like several labels of each row."""

    columns: Sequence[str]  # their names
    form: str  # how the labels stand in them, in words
    separator: str | None = None  # between the labels of a cell; None: a cell has one label, or a column has lists
    by_truth: bool = False  # whether each column is named after a label, and says whether a row has it
    question: str | None = None  # what the user has to decide, as "key: message"; None: the evidence is unique

    @property
    def target(self) -> str:
        """The target as a suite file names it."""
        return BESIDE.join(self.columns)

    def sets(self, table: FileTable) -> list[list[str]] | None:
        """The labels of each row that was looked at; None if the table lacks them, or has something else in these columns."""
        columns = [table.columns[name] for name in self.columns if table.has(name)]
        have_cells = any(column.lists for column in columns) or all(column.texts for column in columns)
        if len(columns) < len(self.columns) or not have_cells or (self.by_truth and not all(map(are_truths, columns))):
            return None
        return [self._labels(row) for row in zip(*(column.lists or column.texts for column in columns), strict=True)]

    def _labels(self, cells: Sequence[str] | Sequence[list[str]]) -> list[str]:
        """The labels of a row, from what stands in its columns."""
        if self.by_truth:
            return [name for name, cell in zip(self.columns, cells, strict=True) if str(cell).lower() in TRUE]
        sign = self.separator
        parts = (cell if isinstance(cell, list) else cell.split(sign) if sign else [cell] for cell in cells)
        return [label for label in map(str.strip, chain(*parts)) if label]

    def labels(self, table: FileTable) -> FileColumn:
        """The labels of all rows of a table one after another, or of a large one their numbers alone."""
        sets = self.sets(table) or []
        if self.by_truth or len(sets) == table.rows:
            return FileColumn(self.target, list(chain(*sets)))
        counts = Counter(chain.from_iterable(map(self._labels, table.cells(self.columns))))
        return FileColumn(self.target, [], all_counts=counts)

    def joined(self, table: FileTable) -> FileTable:
        """The table with the labels of each row as one column of texts, if it has them."""
        if (sets := self.sets(table)) is None:
            return table
        cells = [SEPARATOR.join(sorted(labels)) for labels in sets]
        return replace(table, columns={**table.columns, self.target: FileColumn(self.target, cells)})


class TargetColumn(NamedTuple):
    """The guess of the target's column, the reason, and the question where another column may be it, too; and how several labels of a row
    stand in it, if they do."""

    column: FileColumn
    why: str
    question: str | None = None
    several: SeveralLabels | None = None


def target_column(main: FileTable, test: FileTable | None, is_one: bool = False) -> TargetColumn:
    """The column that holds the targets.

    In this order: the one column whose name says so; the one column with labels or numbers without values in the test file; the one
    column with labels or numbers. If there are several, the first stands in the answer, with a question that lists all.

    Args:
        main: the rows with targets.
        test: the test file, if it is another one.
        is_one: whether a row has one label.

    Raises:
        InputError: if no column fits, which says what mtl cannot read.
    """
    possible = possible_targets(main)
    named = _named(main, possible)
    lacking = [column for column in possible if test is not None and test.lacks(column.name)]
    candidates = named or lacking or possible or _repeated_words(main)
    several = None if is_one else several_labels(main, candidates)
    certain = {column.name for column in named if _is_named(column)}
    if several is not None and (not certain or certain & set(several.columns)):
        return _target_of_several(main, several, candidates)
    if not possible:
        raise InputError(no_target(main))
    # A column is certain if it alone has such a name, or if the test file lacks the values of it alone.
    pools = [named, [column for column in named if column in lacking]] if named else [lacking, possible]
    pool = next((pool for pool in pools if len(pool) == 1), candidates)
    first, question = pool[0], f"target: {with_counts(pool)} may be the target"
    if len(pool) > 1:
        return TargetColumn(first, f"one of {len(pool)} that may be it", question)
    if first in named or first in lacking:
        missing = ", and the test file has no values in it" if first in lacking else ""
        return TargetColumn(first, ("by its name" if first in named else "labels or numbers") + missing)
    if _unread(main) or is_source(first):
        return TargetColumn(first, "perhaps", f"{question}, or say where the rows come from{_unread(main)}")
    return TargetColumn(first, "the only column with labels or numbers")


def _repeated_words(table: FileTable) -> list[FileColumn]:
    """The columns of texts that repeat, most of one word: sets of labels may be too many for categories."""
    words = [column for column in table.columns.values() if column.several_words * 2 < column.rows]
    return [column for column in words if 1 < len(column.counts) <= column.rows / evidence.REPEATED]


def _target_of_several(table: FileTable, several: SeveralLabels, candidates: Sequence[FileColumn]) -> TargetColumn:
    """Columns with several labels of a row as the target, with a question where others may be it, too."""
    first = table.columns[several.columns[0]]
    others = [column for column in candidates if column.name not in several.columns and not is_source(column)]
    question = several.question
    if others and not (first.lists and first.words[-1] in NAMES):
        entry = f"{quoted(several.target)} (several labels of a row, in {several.form})"
        question = f"target: {entry}, {with_counts(others)} may be the target"
    return TargetColumn(first, several.form, question, several)


def possible_targets(table: FileTable) -> list[FileColumn]:
    """The columns with labels or numbers that may be targets, but for the names of another one of them."""
    possible = [
        column
        for column in table.columns.values()
        if not (column.lists or column.is_blank or evidence.is_meta(column) or evidence.is_id(column))
        and len(column.counts) > 1
        and (column.numbers or evidence.is_category(column) or column.name.lower() in NAMES)
    ]
    repeated = {
        second.name
        for number, second in enumerate(possible)
        for first in possible[:number]
        if names_each_other(first, second)
        or (_is_named(first) and not _is_named(second) and follows_from(second, first))
    }
    possible = [column for column in possible if column.name not in repeated]
    plain = [column for column in possible if _is_named(column) or not evidence.is_repeated_text(column)]
    return plain if any(_is_named(column) or LIKELY_NAMES & set(column.words) for column in plain) else possible


def _is_named(column: FileColumn) -> bool:
    """Whether the name is that of a label, as the whole name or its last word."""
    return column.name.lower() in LABEL_NAMES or column.words[-1] in LABEL_NAMES


def _named(main: FileTable, possible: Sequence[FileColumn]) -> list[FileColumn]:
    """The columns whose names say that they are targets; several are a question. Raises InputError if such a column lacks values in some
    rows."""
    for names in (LABEL_NAMES, LIKELY_NAMES):  # in the order of the file's columns
        if reasons := [reason for column, reason in main.incomplete.items() if column.lower() in names]:
            raise InputError(reasons[0])
    choices = CHOICE_NAMES if evidence.candidate_columns(main, ()) else set()
    named = [column for column in possible if _is_named(column) or column.name.lower() in choices]
    if any(column.name.lower() in (*LABEL_NAMES, *choices) for column in named):
        return named
    likely = [column for column in possible if column in named or LIKELY_NAMES & set(column.words)]
    return likely if all(is_source(column) for column in possible if column not in likely) else []


def no_target(table: FileTable) -> str:
    """Why no column can be the target, with what mtl cannot read."""
    if objects := [name for name, what in table.unread.items() if "objects" in what]:
        return f"{quoted_names(objects)}: {NESTED}"
    targets = [column for column in table.columns.values() if _is_named(column)]
    if texts := [column.name for column in targets if column.several_words * 2 > column.rows]:
        return f"{quoted_names(texts)}: {TEXTS}"
    reasons = _unread(table) + "".join(f"; {reason}" for reason in [*table.incomplete.values()][:MOST_REASONS])
    return f"no column looks like a target: {table.listed}{reasons or '; name the column label'}"


def _unread(table: FileTable) -> str:
    return "".join(f"; {quoted(name)} is {what}" for name, what in table.unread.items() if what != NAMELESS)


def several_labels(table: FileTable, columns: Sequence[FileColumn]) -> SeveralLabels | None:
    """What in these columns, which may hold targets, or in lists looks like several labels of each row; None: nothing."""
    truths = [column.name for column in columns if is_truth(column)]
    if len(truths) > 2 or (len(truths) == 2 and len(columns) == 2):
        # Nothing tells labels from features, such as has_negation beside is_entailed, or from the answers of several people.
        ways = f"several labels of a row (kind: {KIND}), or is one of them the target (target: NAME)?"
        question = f"kind: {quoted_names(truths)} are true or false: {ways}"
        return SeveralLabels(truths, f"{len(truths)} columns of two truth values", by_truth=True, question=question)
    if column := next((column for column in table.columns.values() if _is_list_of_labels(column, table)), None):
        return SeveralLabels([column.name], f"lists of {len({*chain(*column.lists)})} different labels")
    return next(filter(None, map(_in_cells, columns)), None)


def _is_list_of_labels(column: FileColumn, table: FileTable) -> bool:
    """Whether lists are sets of labels: of few labels, none twice in a row, and not one for each word or each item of another column."""
    if not column.lists or (TOKEN_NAMES - {"tag", "tags"}) & set(column.words) or is_candidates(column):
        return False
    sizes, parts = [len(row) for row in column.lists], Counter(chain(*column.lists))
    if not 1 < len(parts) <= MOST_PARTS or parts.total() < 3 * len(parts) or len(set(sizes)) < 2:
        return False
    others = [other for other in table.columns.values() if other is not column]
    return all(len({*row}) == len(row) for row in column.lists) and all(
        sizes != [len(row) for row in other.lists or map(str.split, other.texts)] for other in others
    )


def _in_cells(column: FileColumn) -> SeveralLabels | None:
    """Cells such as "joy,anger" beside "joy" and "anger"."""
    for separator in SEPARATORS:
        multiple = [value for value in column.counts if separator in value.strip()]
        parts = {part.strip() for value in column.counts for part in value.split(separator)} - {""}
        if not multiple or not 1 < len(parts) < len(column.counts) or len(parts) > MOST_PARTS:
            continue
        single = {*column.counts} - {*multiple}
        repeated = {part.strip() for value in multiple for part in value.split(separator)} & single
        if 2 * len(repeated) >= len(parts) or (separator != " " and not single):
            form = f"cells with several of {len(parts)} labels, as in {quoted(multiple[0])}"
            ways = f'several labels of a row (kind: {KIND}, label_separator: " "), or labels of several words (kind: labels)?'
            question = f"kind: {quoted(column.name)}: {form}: {ways}" if separator == " " else None
            return SeveralLabels([column.name], form, separator, question=question)
    return None


def named_labels(table: FileTable, known: Mapping[str, Any]) -> SeveralLabels | None:
    """The labels in the columns that the user names as the target; None for one label of each row, and for columns that the table lacks."""
    names = str(known["target"]).split(BESIDE)
    columns = [table.columns[name] for name in names if name in table.columns]
    is_known = known.get("kind") == KIND or "label_separator" in known or len(names) > 1
    if known.get("kind", KIND) != KIND or len(columns) < len(names):
        return None
    if len(columns) > 1:
        return SeveralLabels(names, f"{len(columns)} columns", by_truth=all(map(are_truths, columns)))
    if columns[0].lists:
        return SeveralLabels(names, "lists of labels") if is_known or _is_list_of_labels(columns[0], table) else None
    guess = _in_cells(columns[0])
    separator = known.get("label_separator") or (guess.separator if guess else SEPARATOR)
    return SeveralLabels(names, "cells with labels", separator) if is_known else guess
