"""Which column of a task holds the target. Where the evidence is not unique, the answer is a question that lists the candidates."""

from collections.abc import Sequence
from dataclasses import dataclass

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite import evidence
from mtl.benchmark_making.init_suite.evidence import follows_from, is_source, names_each_other, with_counts
from mtl.benchmark_making.init_suite.label_sets import SeveralLabels, several_labels
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable, quoted, quoted_names

# Names of target columns that are certain, and names that are if no other column could be the target.
LABEL_NAMES = ("label", "labels", "gold_label")
LIKELY_NAMES = {"target", "targets", "gold", "class", "judgment", "judgement", "score", "rating", "stars", "grade", "similarity"}  # fmt: skip
NAMES = {*LABEL_NAMES, "target", "targets", "gold"}  # of columns that may be targets whatever they hold
# Names of targets beside columns of candidates.
CHOICE_NAMES = {"answer", "correct", "key", "answerkey", "solution", "answer_key", "correct_answer", "answer_idx", "answer_index"}  # fmt: skip
# What a task of mtl cannot be, in one sentence each.
NESTED = "lists of objects: mtl reads one row for each question, so write one row for each object"
TEXTS = "texts as targets: no model here writes texts; the simple baselines lead, random and constant answer a task of `kind: text`"


@dataclass(frozen=True)
class TargetColumn:
    """The guess of the target's column, the reason, and the question where another column may be it, too; and how several labels of a row
    stand in it, if they do."""

    column: FileColumn
    why: str
    question: str | None = None
    several: SeveralLabels | None = None


def target_column(main: FileTable, test: FileTable | None) -> TargetColumn:
    """The column that holds the targets.

    In this order: the one column whose name says so; the one column with labels or numbers without values in the test file; the one
    column with labels or numbers. If there are several, the first stands in the answer, with a question that lists all.

    Args:
        main: the rows with targets.
        test: the test file, if it is another one.

    Raises:
        InputError: if no column fits, which says what mtl cannot read.
    """
    possible = possible_targets(main)
    beside_candidates = bool(evidence.candidate_columns(main, ()))
    named = _named(main, possible, beside_candidates)
    lacking = [column for column in possible if test is not None and test.lacks(column.name)]
    several = several_labels(main, named or lacking or possible or _repeated(main))
    certain = {column.name for column in named if _is_named(column)}
    if several is not None and (not certain or certain & set(several.columns)):
        return TargetColumn(main.columns[several.columns[0]], several.form, several.question, several)
    pools = [named, [column for column in named if column in lacking]] if named else [lacking, possible]
    pool = next((pool for pool in pools if len(pool) == 1), None) or next((pool for pool in pools if pool), [])
    if not pool:
        raise InputError(no_target(main))
    missing = ", and the test file has no values in it" if pool[0] in lacking else ""
    question = f"target: {with_counts(pool)} may be the target"
    if pool[1:]:
        return TargetColumn(pool[0], f"one of {len(pool)} that may be it", question)
    if pool[0] in named or missing:
        return TargetColumn(pool[0], ("by its name" if pool[0] in named else "labels or numbers") + missing)
    if main.unread or is_source(pool[0]):
        question += f", or say where the rows come from{_unread(main)}"
        return TargetColumn(pool[0], "perhaps", question)
    return TargetColumn(pool[0], "the only column with labels or numbers")


def _repeated(table: FileTable) -> list[FileColumn]:
    """The columns whose cells have one word and repeat, however many different ones there are: sets of labels may be."""
    return [
        column
        for column in table.columns.values()
        if len(column.counts) * evidence.REPEATED <= column.rows and column.several_words * 2 < column.rows
    ]


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
    return [column for column in possible if column.name not in repeated]


def _is_named(column: FileColumn) -> bool:
    """Whether the name is that of a label, as the whole name or its last word."""
    return column.name.lower() in LABEL_NAMES or column.words[-1] in LABEL_NAMES


def _named(main: FileTable, possible: Sequence[FileColumn], beside_candidates: bool) -> list[FileColumn]:
    """The columns whose names say that they are targets; several are a question. Raises InputError if such a column lacks values in some
    rows."""
    for name in (*LABEL_NAMES, *LIKELY_NAMES):
        if reason := next((main.incomplete[column] for column in main.incomplete if column.lower() == name), None):
            raise InputError(reason)
    named = [column for column in possible if _is_named(column)]
    if beside_candidates:
        named += [column for column in possible if column.name.lower() in CHOICE_NAMES and column not in named]
    if len(named) == 1 and named[0].name.lower() not in (*LABEL_NAMES, *CHOICE_NAMES):
        named = [column for column in possible if not is_source(column) or column in named]  # x_label, beside others
    if named:
        return named
    likely = [column for column in possible if LIKELY_NAMES & set(column.words)]
    others = [column for column in possible if column not in likely and not is_source(column)]
    return likely if not others else []


def no_target(table: FileTable) -> str:
    """Why no column can be the target, with what mtl cannot read."""
    if objects := [name for name, what in table.unread.items() if "objects" in what]:
        return f"{quoted_names(objects)}: {NESTED}"
    named = [column for column in table.columns.values() if _is_named(column)]
    if texts := [column.name for column in named if column.several_words * 2 > column.rows]:
        return f"{quoted_names(texts)}: {TEXTS}"
    return f"no column looks like a target: {table.listed}{_unread(table)}; name the column label"


def _unread(table: FileTable) -> str:
    return "".join(f"; {quoted(name)} is {what}" for name, what in table.unread.items())
