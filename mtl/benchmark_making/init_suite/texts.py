"""Which columns of a task hold its texts, and which one groups its rows."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from mtl.benchmark_making.init_suite import evidence
from mtl.benchmark_making.init_suite.evidence import TOKEN_NAMES, follows_from, is_category, is_id, is_meta, is_source
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable
from mtl.benchmark_making.init_suite.wording import count, quoted, quoted_names, share

MARKS = {"start", "stop", "end", "index", "offset", "span"}  # words in the names of the places of marked words
QUESTIONS = {"question", "query"}  # the last word in the name of a column of questions
# An id or an address: ASCII without spaces, with a digit, a slash or an underscore.
CODE = re.compile(r"[!-~]*[\d/_][!-~]*")
GROUPED = 0.9  # the most distinct values, as a share of the rows, that a column of groups has


class TextColumns(NamedTuple):
    """The guess of a task's text columns, the reason, and the questions where other columns may be texts, too."""

    columns: list[str]
    why: str
    questions: list[str]


def text_columns(
    table: FileTable, test: FileTable | None, target: FileColumn, exclude: Collection[str], most: int
) -> TextColumns:
    """The columns of texts, at most `most`.

    A column of texts holds no numbers, categories or ids, does not follow from the target, is not below a key `meta`, and has values in
    the test file, too. Columns with several words in most rows are preferred to columns with single words.
    """
    columns = [column for name, column in table.columns.items() if name not in exclude]
    possible = [column for column in columns if why_not_text(column, table, test, target) is None]
    marked = _marked_words(possible, table)
    unmarked = [column for column in possible if column.name not in marked]
    sentences = [column for column in unmarked if column.several_words * 2 >= column.rows]
    ranked = sentences or unmarked
    names, further = ([column.name for column in part] for part in (ranked[:most], ranked[most:]))
    words = [column.name for column in unmarked if column not in sentences] if sentences else []
    inputs = [each for each in columns if not (is_meta(each) or is_source(each) or follows_from(each, target))]
    closed = [
        each.name
        for each in columns
        if (is_category(each) and each.words[-1] in QUESTIONS) or (each in inputs and evidence.is_repeated_text(each))
    ]
    lists = [each.name for each in columns if each.lists and not is_meta(each) and not TOKEN_NAMES & set(each.words)]
    questions = []
    if further:
        read = f"{len(ranked)} columns look like texts, and a task reads at most {len(names)}"
        questions.append(f"text: {read}: {quoted_names(names)} or {quoted_names(further)}")
    if words:
        questions.append(f"text: {quoted_names(words)} has single words; does the target depend on them?")
    depends = "does the target depend on them? Then"
    if closed:
        every = [*names, *closed]
        ways = f"declare them: text: [{', '.join(every)}]" if len(every) <= most else "write them into a text"
        questions.append(f"text: {quoted_names(closed)} has few values; {depends} {ways}")
    if lists:
        read = "has lists of texts, which a task reads as candidates only"
        questions.append(f"text: {quoted_names(lists)} {read}; {depends} write them as texts")
    if marked and sentences:
        form = "a span needs its start and stop in characters, as `spans` of the suite file"
        without = "without them a model does not see the mark"
        questions.append(f"text: {quoted_names(marked)} marks words of {quoted(names[0])}: {form}; {without}")
    rows, chosen = count(table.rows, "row"), ranked[:most]
    if sentences:
        shares = dict.fromkeys(share(column.several_words, column.rows) for column in chosen)
        return TextColumns(names, f"several words in {' and '.join(shares)} of {rows}", questions)
    numbers = dict.fromkeys(f"{len(column.counts):,}" for column in chosen)
    return TextColumns(names, f"words, {' and '.join(numbers)} distinct in {rows}", questions)


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


def _marked_words(possible: Sequence[FileColumn], table: FileTable) -> list[str]:
    """The columns that hold words of a longer text in most rows, where further columns have their places."""
    stems = {column.words[0] for column in table.columns.values() if MARKS & set(column.words)}
    longest = max(possible, key=lambda column: sum(map(len, column.counts)), default=None)
    marked = []
    for column in possible:
        if longest is not None and column is not longest and column.words[0] in stems:
            inside = sum(words in text for words, text in zip(column.texts, longest.texts, strict=True))
            marked += [column.name] if inside * 10 >= 9 * len(column.texts) else []
    return marked


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
