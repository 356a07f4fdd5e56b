"""Which columns of a task hold its texts, and which one groups its rows."""

import re
from collections.abc import Collection, Mapping, Sequence

from mtl.benchmark_making.init_suite import evidence
from mtl.benchmark_making.init_suite.evidence import (
    TOKEN_NAMES,
    follows_from,
    is_category,
    is_id,
    is_meta,
    is_source,
    with_counts,
)
from mtl.benchmark_making.init_suite.names import Guess
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable
from mtl.benchmark_making.init_suite.wording import count, quoted, quoted_names, share

QUESTIONS = {"question", "query"}  # the last word in the name of a column of questions
# An id or an address: ASCII without spaces, with a digit, a slash or an underscore.
CODE = re.compile(r"[!-~]*[\d/_][!-~]*")
GROUPED = 0.9  # the most distinct values, as a share of the rows, that a column of groups has


def guess_text(
    guess: Guess, table: FileTable, test: FileTable | None, target: FileColumn, exclude: Collection[str], most: int
) -> list[str]:
    """The columns of texts, at most `most`, with the reason and a question where other columns may be texts, too, in the guess.

    A column of texts holds no numbers, categories or ids, does not follow from the target, is not below a key `meta`, and has values in
    the test file, too. Columns with several words in most rows are preferred to columns with single words.
    """
    columns = [column for column in table.columns.values() if column.name not in exclude]
    possible = [column for column in columns if why_not_text(column, table, test, target) is None]
    sentences = [column for column in possible if column.several_words * 2 >= column.rows]
    chosen = (sentences or possible)[:most]
    names = [column.name for column in chosen]
    others = [
        column
        for column in columns
        if column not in chosen
        and not is_meta(column)
        and (
            column in possible
            or (is_category(column) and column.words[-1] in QUESTIONS)
            or (column.lists and not TOKEN_NAMES & set(column.words))
            or (evidence.is_repeated_text(column) and not is_source(column) and not follows_from(column, target))
        )
    ]
    if others:
        remedy = f"name them in text, {count(most, 'column')} at most, or write them into one text"
        guess.questions.append(
            f"text: {with_counts(others)} may be texts, too; if the target depends on them, {remedy}"
        )
    rows = count(table.rows, "row")
    if sentences:
        shares = dict.fromkeys(share(column.several_words, column.rows) for column in chosen)
        guess.why["text"] = f"several words in {' and '.join(shares)} of {rows}"
    elif names:
        numbers = dict.fromkeys(f"{len(column.counts):,}" for column in chosen)
        guess.why["text"] = f"words, {' and '.join(numbers)} distinct in {rows}"
    return names


def why_not_text(column: FileColumn, table: FileTable, test: FileTable | None, target: FileColumn) -> str | None:
    """Why a column is no text, in words; None: it looks like a text."""
    if column.lists:
        return "lists"
    if column.is_blank or len(column.counts) < 2:
        return "no value" if column.is_blank else f"one value, {quoted(column.texts[0])}"
    if is_meta(column):
        return "meta data"
    if is_id(column):
        return "an id"
    is_like_text = evidence.is_long(column) or len(column.counts) * 2 > column.rows
    if column.name != target.name and not is_like_text and follows_from(column, target):
        return f"it follows from {quoted(target.name)}"
    if column.numbers or is_category(column):
        return f"{'numbers, ' if column.numbers else ''}{count(len(column.counts), 'value')}"
    if 2 * sum(rows for value, rows in column.counts.items() if CODE.fullmatch(value)) > column.rows:
        return "ids or addresses"
    if test is not None and test.lacks(column.name):
        return "the test file has no values in it"
    return None


def group_column(
    table: FileTable, tables: Sequence[FileTable], target: FileColumn, exclude: Collection[str]
) -> tuple[str, str] | None:
    """The name of a column of ids that repeat, and the reason. Rows with the same id share something, and must not be in two splits.

    It has at most 9 distinct values in 10 rows, because a few accidental repetitions are no groups, and values in all of the task's
    files, because a column that the test file does not have may depend on the target. It does not follow from the target.
    """
    found = [
        column
        for column in table.columns.values()
        if column.words[-1] != "index"  # a place in a text
        and is_id(column)
        and column.name not in exclude
        and 1 < len(column.counts) <= GROUPED * column.rows
        and not follows_from(column, target)
        and all(file.has(column.name) for file in tables)
    ]
    if not found:
        return None
    figures = f"{count(len(found[0].counts), 'distinct value')} in {count(table.rows, 'row')}"
    why = f"an id with {figures}: rows with the same one stay together"
    if len(found[0].counts) < 10:
        why += "; with five groups or fewer in the scored rows no test decides: delete the line if the rows are independent"
    if found[1:]:
        why += f"; {quoted_names(column.name for column in found[1:])} would do as well"
    return found[0].name, why


def unread_columns(
    table: FileTable, test: FileTable | None, target: FileColumn, used: Collection[str]
) -> Mapping[str, str]:
    """Each column that the task does not read, with the reason."""
    rest = {name: column for name, column in table.columns.items() if name not in used}
    reasons = {name: why_not_text(column, table, test, target) or "a text" for name, column in rest.items()}
    return reasons | dict.fromkeys(table.incomplete, "no value in some rows") | table.unread
