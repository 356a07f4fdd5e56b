"""Which columns of a task hold its texts, and which one groups its rows."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from mtl.benchmark_making.init_suite import evidence
from mtl.benchmark_making.init_suite.evidence import (
    TOKEN_NAMES,
    follows_from,
    is_category,
    is_id,
    is_meta,
    is_repeated_text,
    is_source,
)
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable, count, name_words, quoted, quoted_names, share

# Words in the names of two columns that hold the same of two sides, as in left_title and right_title.
SIDES = {("l", "r"), ("left", "right"), ("first", "second"), ("a", "b"), ("1", "2"), ("0", "1")}
MARKS = {"start", "stop", "end", "index", "offset", "span"}  # words in the names of the places of marked words
QUESTIONS = {"question", "query"}  # the last word in the name of a column of questions
# An id or an address: ASCII without spaces, with a digit, a slash or an underscore.
CODE = re.compile(r"[!-~]*[\d/_][!-~]*")
GROUPED = 0.9  # the most distinct values, as a share of the rows, that a column of groups has


@dataclass(frozen=True)
class TextColumns:
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
    possible = [
        column
        for column in table.columns.values()
        if column.name not in exclude and why_not_text(column, table, test, target) is None
    ]
    marked = _marked_words(possible, table)
    unmarked = [column for column in possible if column.name not in marked]
    sentences = [column for column in unmarked if column.several_words * 2 >= column.rows]
    ranked = sentences or unmarked
    if most == 2 < len(ranked):
        # The first two whose names differ in their side alone, as ltable_title and rtable_title do.
        sides = {column.name: name_words(column.name.replace(".", "_")) for column in ranked}
        twins = next((pair for pair in combinations(ranked, 2) if _are_sides(*(sides[each.name] for each in pair))), ())
        ranked = [*twins, *(column for column in ranked if column not in twins)]
    names, further = ([column.name for column in part] for part in (ranked[:most], ranked[most:]))
    words = [column.name for column in unmarked if column not in sentences] if sentences else []
    questions = _further_inputs(table, exclude, target, names, most)
    if words:
        questions.insert(0, f"text: {quoted_names(words)} has single words; does the target depend on them?")
    if further:
        read = f"{len(ranked)} columns look like texts, and a task reads at most {len(names)}"
        questions.insert(0, f"text: {read}: {quoted_names(names)} or {quoted_names(further)}")
    if marked and sentences:
        form = "a span needs its start and stop in characters, as `spans` of the suite file"
        without = "without them a model does not see the mark"
        questions.append(f"text: {quoted_names(marked)} marks words of {quoted(names[0])}: {form}; {without}")
    rows = count(table.rows, "row")
    if sentences:
        shares = dict.fromkeys(share(column.several_words, column.rows) for column in ranked[:most])
        return TextColumns(names, f"several words in {' and '.join(shares)} of {rows}", questions)
    numbers = dict.fromkeys(f"{len(column.counts):,}" for column in ranked[:most])
    return TextColumns(names, f"words, {' and '.join(numbers)} distinct in {rows}", questions)


def _further_inputs(
    table: FileTable, exclude: Collection[str], target: FileColumn, names: Sequence[str], most: int
) -> list[str]:
    """What is asked about columns that are not among the texts with these names: questions and texts with few values, and lists."""
    columns = [column for name, column in table.columns.items() if name not in exclude]
    closed = [
        column.name
        for column in columns
        if (is_category(column) and column.words[-1] in QUESTIONS)
        or (is_repeated_text(column) and not (is_meta(column) or is_source(column) or follows_from(column, target)))
    ]
    lists = [each.name for each in columns if each.lists and not is_meta(each) and not TOKEN_NAMES & set(each.words)]
    depends = "does the target depend on them? Then write them"
    questions = []
    if closed:
        fits = len(names) + len(closed) <= most
        ways = (
            f"{depends.replace('write', 'declare')}: text: [{', '.join([*names, *closed])}]"
            if fits
            else f"{depends} into a text"
        )
        questions.append(f"text: {quoted_names(closed)} has few values; {ways}")
    if lists:
        read = "has lists of texts, which a task reads as candidates only"
        questions.append(f"text: {quoted_names(lists)} {read}; {depends} as texts")
    return questions


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
    if column.numbers:
        return f"numbers, {count(len(column.counts), 'value')}"
    if is_category(column):
        return count(len(column.counts), "value")
    if 2 * sum(rows for value, rows in column.counts.items() if CODE.fullmatch(value)) > column.rows:
        return "ids or addresses"
    if test is not None and test.lacks(column.name):
        return "the test file has no values in it"
    return None


def _marked_words(possible: Sequence[FileColumn], table: FileTable) -> list[str]:
    """The columns that hold words of a longer text in most rows, where further columns have their places."""
    if not possible:
        return []
    stems = {name_words(name)[0] for name in table.columns if MARKS & set(name_words(name))}
    longest = max(possible, key=lambda column: sum(map(len, column.counts)))
    marked = []
    for column in possible:
        if column is not longest and column.words[0] in stems:
            inside = sum(words in text for words, text in zip(column.texts, longest.texts, strict=True))
            marked += [column.name] if inside * 10 >= 9 * len(column.texts) else []
    return marked


def _are_sides(first: Sequence[str], second: Sequence[str]) -> bool:
    different = [(left, right) for left, right in zip(first, second, strict=False) if left != right]
    if len(first) != len(second) or len(different) != 1:
        return False
    ((left, right),) = different
    starts = left[1:] == right[1:] and (left[0], right[0]) in SIDES
    ends = left[:-1] == right[:-1] and (left[-1], right[-1]) in SIDES
    return starts or ends or (left, right) in SIDES


def group_column(
    table: FileTable, tables: Sequence[FileTable], target: FileColumn, exclude: Collection[str]
) -> tuple[str, str] | None:
    """The name of a column of ids that repeat, and the reason. Rows with the same id share something, and must not be in two splits.

    It has at most 9 distinct values in 10 rows, because a few accidental repetitions are no groups, and values in all of the task's
    files, because a column that the test file does not have may depend on the target. It does not follow from the target.
    """
    candidates = [
        column
        for column in table.columns.values()
        if column.words[-1] != "index"  # a place in a text
        and is_id(column)
        and column.name not in exclude
        and 1 < len(column.counts) <= GROUPED * column.rows
        and not follows_from(column, target)
        and all(file.has(column.name) for file in tables)
    ]
    if not candidates:
        return None
    figures = f"{count(len(candidates[0].counts), 'distinct value')} in {count(table.rows, 'row')}"
    why = f"an id with {figures}: rows with the same one stay together"
    if len(candidates[0].counts) < 10:
        remedy = "delete the line if the rows are independent"
        why += f"; with five groups or fewer in the scored rows no test decides: {remedy}"
    if further := [column.name for column in candidates[1:]]:
        why += f"; {quoted_names(further)} would do as well"
    return candidates[0].name, why


def unread_columns(
    table: FileTable, test: FileTable | None, target: FileColumn, used: Collection[str]
) -> Mapping[str, str]:
    """Each column that the task does not read, with the reason."""
    rest = [column for name, column in table.columns.items() if name not in used]
    reasons = {column.name: why_not_text(column, table, test, target) or "a text" for column in rest}
    return reasons | dict.fromkeys(table.incomplete, "no value in some rows") | dict(table.unread)
