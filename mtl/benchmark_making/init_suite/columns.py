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
    """The texts beside the used columns: one or two, but beside candidates one or none. Raises InputError if a task without candidates has none."""
    unused = [column for column in tables.main.columns.values() if column.name not in used]
    possible = [column for column in unused if why_no_text(column, tables.test, target) is None]
    if not possible and not has_candidates:
        incomplete = list(tables.main.incomplete.values())[:MOST_REASONS]
        raise InputError("; ".join([f"text: no column looks like one: {tables.main.listed}", *incomplete]))
    most = 1 if has_candidates else 2
    sentences = [column for column in possible if column.several_words * 2 >= column.rows]
    chosen = (sentences or possible)[:most]
    shares = dict.fromkeys(share(column.several_words, column.rows) for column in chosen)
    why = f"several words in {' and '.join(shares)} of {count(tables.main.rows, 'row')}" if sentences else "words"
    further = [column for column in possible if column not in chosen]
    further += [column for column in unused if column not in possible and _is_text_of_many_rows(column, target)]
    remedy = f"if the target depends on them, name them in text, {count(most, 'column')} at most, or write them into one text"
    questions = [f"text: {with_counts(further)} may be texts, too; {remedy}"] if further else []
    return Texts([column.name for column in chosen], why, questions)


def group_column(tables: SplitTables, target: FileColumn, used: Collection[str]) -> FileColumn | None:
    """The first column of ids that repeat, and not in a few rows only: rows with the same id share something, and must not be in two splits. An
    index is a place in a text, and a column that a file lacks may depend on the target."""
    for column in tables.main.columns.values():
        if column.name in used or not column.is_id or column.words[-1] == "index":
            continue
        repeats = 1 < len(column.counts) <= GROUPED * column.rows
        if repeats and not column.follows_from(target) and all(table.has(column.name) for table in tables.values()):
            return column
    return None


def why_no_text(column: FileColumn, test: FileTable | None, target: FileColumn) -> str | None:
    """Why a column is no text, in words: the first reason that applies. None: it looks like a text."""
    values, any_value = count(len(column.counts), "value"), next(iter(column.counts), "")
    codes = sum(rows for value, rows in column.counts.items() if CODE.fullmatch(value))
    reasons = {
        "lists": len(column.lists) > 0,
        "no value": column.is_blank,
        f"one value, {quoted(any_value)}": len(column.counts) < 2,
        "meta data": column.is_meta,
        ID: column.is_id,
        f"it follows from {quoted(target.name)}": not column.is_long and column.follows_from(target),
        f"numbers, {values}": bool(column.numbers),
        values: column.is_category,
        "ids or addresses": 2 * codes > column.rows,
        "the test file has no values in it": test is not None and test.lacks(column.name),
    }
    return next((reason for reason, applies in reasons.items() if applies), None)


def with_counts(columns: Iterable[FileColumn]) -> str:
    """Columns with the number of their values, as in "acceptable" (2 values)."""
    values = [(column.name, "lists" if column.lists else count(len(column.counts), "value")) for column in columns]
    return ", ".join(f"{quoted(name)} ({number})" for name, number in values)


def _is_text_of_many_rows(column: FileColumn, target: FileColumn) -> bool:
    """Whether a column may be a question or a text that stands in many rows, as a hypothesis in many pairs."""
    is_text = column.is_repeated_text and not column.is_source and not column.follows_from(target)
    return not column.is_meta and (is_text or (column.is_question and column.is_category))
