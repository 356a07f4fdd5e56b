"""Which columns of a task hold the texts and the groups, and why the others hold no texts."""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.guess import ID, count, quoted, share
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables

MOST_REASONS = 2  # a message says of so many columns why they are not what is missing
CODE = re.compile(r"[!-.:-^`-~]*[\d/_][!-~]*")  # an id or an address: ASCII without spaces
GROUPED = 0.9  # the most distinct values, as a share of the rows, that a column of groups has


class Texts(NamedTuple):
    """The columns of the texts of a task, and the question about others that may be texts, if there are some."""

    names: list[str]
    why: str
    questions: list[str]


def known_column(table: FileTable, name: object) -> FileColumn:
    """The column of this name. Raises InputError if the file has none, or one that cannot be read."""
    if name in table.incomplete:
        raise InputError(table.incomplete[str(name)])
    if name not in table.columns:
        raise InputError(f"no column {quoted(str(name))}: {table.listed}")
    return table.columns[str(name)]


def text_columns(tables: SplitTables, target: FileColumn, used: Collection[str], has_candidates: bool) -> Texts:
    """The columns of texts beside those that are used, one or two: those of several words, or if there are none, those of one. Candidates have one
    text beside them, or none. Raises InputError if a task without candidates has none."""
    unused = [column for column in tables.main.columns.values() if column.name not in used]
    possible = [column for column in unused if why_no_text(column, tables.test, target) is None]
    sentences = [column for column in possible if column.several_words * 2 >= column.rows]
    most = 1 if has_candidates else 2
    chosen = (sentences or possible)[:most]
    if not chosen and not has_candidates:
        incomplete = list(tables.main.incomplete.values())[:MOST_REASONS]
        raise InputError("; ".join([f"text: no column looks like one: {tables.main.listed}", *incomplete]))
    shares = dict.fromkeys(share(column.several_words, column.rows) for column in chosen)
    why = f"several words in {' and '.join(shares)} of {count(tables.main.rows, 'row')}" if sentences else "words"
    names = [column.name for column in chosen]
    repeated = [column for column in unused if _is_text_of_many_rows(column, target)]
    further = {column.name: column for column in [*possible, *repeated] if column.name not in names}
    remedy = f"if the target depends on them, name them in text, {count(most, 'column')} at most, or write them into one text"
    return Texts(names, why, [f"text: {with_counts(further.values())} may be texts, too; {remedy}"] if further else [])


def group_column(tables: SplitTables, target: FileColumn, used: Collection[str]) -> FileColumn | None:
    """The first column of ids that repeat, and not in a few rows only: rows with the same id share something, and must not be in two splits. An
    index is a place in a text, and a column that a file lacks may depend on the target."""
    for column in [column for column in tables.main.columns.values() if column.name not in used and column.is_id]:
        repeats = 1 < len(column.counts) <= GROUPED * column.rows and column.words[-1] != "index"
        if repeats and not column.follows_from(target) and all(table.has(column.name) for table in tables.values()):
            return column
    return None


def why_no_text(column: FileColumn, test: FileTable | None, target: FileColumn) -> str | None:
    """Why a column is no text, in words: the first reason that applies. None: it looks like a text."""
    values = count(len(column.counts), "value")
    if column.lists:
        return "lists"
    if column.is_blank:
        return "no value"
    if len(column.counts) < 2:
        return f"one value, {quoted(column.texts[0])}"
    if column.is_meta:
        return "meta data"
    if column.is_id:
        return ID
    if not column.is_long and column.follows_from(target):
        return f"it follows from {quoted(target.name)}"
    if column.numbers or column.is_category:
        return f"numbers, {values}" if column.numbers else values
    if 2 * sum(rows for value, rows in column.counts.items() if CODE.fullmatch(value)) > column.rows:
        return "ids or addresses"
    if test is not None and test.lacks(column.name):
        return "the test file has no values in it"
    return None


def with_counts(columns: Iterable[FileColumn]) -> str:
    """Columns with the number of their values, as in "acceptable" (2 values)."""
    values = [(column.name, "lists" if column.lists else count(len(column.counts), "value")) for column in columns]
    return ", ".join(f"{quoted(name)} ({number})" for name, number in values)


def _is_text_of_many_rows(column: FileColumn, target: FileColumn) -> bool:
    """Whether a column may be a question or a text that stands in many rows, as a hypothesis in many pairs."""
    is_text = column.is_repeated_text and not column.is_source and not column.follows_from(target)
    return not column.is_meta and (is_text or (column.is_question and column.is_category))
