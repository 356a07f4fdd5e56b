"""Which columns of a task hold its texts, and which one groups its rows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from mtl.benchmark_making.init_suite.evidence import (
    TOKEN_NAMES,
    follows_from,
    is_category,
    is_code,
    is_id,
    is_long,
    is_meta,
)
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable, count, name_words, quoted, quoted_names, share
from mtl.tasks.task import SPAN_ENDS

# Words in the names of two columns that describe the two sides of a pair, as in left_title and right_title.
SIDES = {("l", "r"), ("left", "right"), ("first", "second"), ("a", "b"), ("1", "2"), ("0", "1")}
# Words in the names of columns with positions of marked words.
MARKS = {"start", "stop", "end", "index", "offset", "span"}
GROUPED = 0.9  # the most distinct values of a column of groups, as a share of the rows


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
    candidates = sentences or unmarked
    if most == 2 < len(candidates) and (twins := _twins(candidates)):
        candidates = [*twins, *(column for column in candidates if column not in twins)]
    chosen = candidates[:most]
    if sentences:
        figures = [share(column.several_words, column.rows) for column in chosen]
        why = f"several words in {' and '.join(dict.fromkeys(figures))} of {count(table.rows, 'row')}"
    else:
        figures = [f"{len(column.counts):,}" for column in chosen]
        why = f"words, {' and '.join(dict.fromkeys(figures))} distinct in {count(table.rows, 'row')}"
    names = [column.name for column in chosen]
    single_words = [column.name for column in unmarked if sentences and column not in sentences]
    lists = [
        name
        for name, column in table.columns.items()
        if column.lists and name not in exclude and not is_meta(column) and not TOKEN_NAMES & set(column.words)
    ]
    questions = _text_questions(names, [column.name for column in candidates[most:]], single_words, lists)
    if marked and sentences:
        form = "a marked word needs its start and stop in characters, as `spans` of the suite file"
        questions.append(
            f"text: {quoted_names(marked)} marks words of {quoted(names[0])}: {form}; without them a model does not see the mark"
        )
    return TextColumns(names, why, questions)


def _text_questions(
    names: Sequence[str], further: Sequence[str], single_words: Sequence[str], lists: Sequence[str]
) -> list[str]:
    """The questions about columns that may be texts, too.

    Args:
        names: the columns that are chosen.
        further: more columns like these.
        single_words: columns with single words, beside chosen ones with several.
        lists: columns with lists of texts.
    """
    questions = []
    if further:
        read = f"{len(names) + len(further)} columns look like texts, and a task reads at most {len(names)}"
        questions.append(f"text: {read}: {quoted_names(names)} or {quoted_names(further)}")
    if single_words:
        questions.append(f"text: {quoted_names(single_words)} has single words; does the target depend on them?")
    if lists:
        read = "lists of texts, which a task reads as candidates only; does the target depend on them? Then write them as texts"
        questions.append(f"text: {quoted_names(lists)} has {read}")
    return questions


def why_not_text(column: FileColumn, table: FileTable, test: FileTable | None, target: FileColumn) -> str | None:
    """The reason why a column is not a text; None if it looks like one."""
    if column.lists:
        return "lists"
    if column.is_blank or len(column.counts) < 2:
        return "no value" if column.is_blank else f"one value, {quoted(column.texts[0])}"
    if is_meta(column):
        return "meta data"
    if is_id(column):
        return "an id"
    if column.name != target.name and not _is_text_like(column) and follows_from(column, target):
        return f"it follows from {quoted(target.name)}"
    if column.numbers:
        return f"numbers, {count(len(column.counts), 'value')}"
    if is_category(column):
        return count(len(column.counts), "value")
    if is_code(column):
        return "ids or addresses"
    if test is not None and test.lacks(column.name):
        return "the test file has no values in it"
    return None


def _is_text_like(column: FileColumn) -> bool:
    """Whether the cells are long, or most of them differ: then it is chance that each value has one value of the target."""
    return is_long(column) or len(column.counts) * 2 > column.rows


def _marked_words(possible: Sequence[FileColumn], table: FileTable) -> list[str]:
    """The columns whose cells are words of the longest text in at least 9 of 10 rows, if another column has their positions."""
    with_positions = {name_words(name)[0] for name in table.columns if MARKS & set(name_words(name))}
    longest = max(possible, key=lambda column: sum(map(len, column.counts)), default=None)
    marked = []
    for column in possible:
        if column is longest or longest is None or column.words[0] not in with_positions:
            continue
        inside = sum(word in text for word, text in zip(column.texts, longest.texts, strict=True))
        if inside * 10 >= 9 * len(column.texts):
            marked.append(column.name)
    return marked


def marked_spans(table: FileTable, texts: Sequence[str], tables: Sequence[FileTable]) -> dict[str, list[str]]:
    """The columns of spans by text column.

    A span has three columns: a start and a stop, as in `pronoun.location.start` and `pronoun.location.stop`, and `pronoun.text`. In
    each row, the text from start to stop must be the cell of `pronoun.text`.
    """
    spans: dict[str, list[str]] = {}
    for start in table.columns:
        column = start.removesuffix(f".{SPAN_ENDS[0]}")
        word, stop = f"{column.rpartition('.')[0]}.text", f"{column}.{SPAN_ENDS[1]}"
        if column == start or not all(file.has(name) for file in tables for name in (start, stop, word)):
            continue
        if table.columns[start].whole_numbers is None or table.columns[stop].whole_numbers is None:
            continue
        ends = list(zip(map(int, table.columns[start].texts), map(int, table.columns[stop].texts), strict=True))
        for text in texts:
            rows = zip(table.columns[text].texts, ends, table.columns[word].texts, strict=True)
            if all(content[first:last] == marked for content, (first, last), marked in rows):
                spans.setdefault(text, []).append(column)
                break
    return spans


def _twins(columns: Sequence[FileColumn]) -> list[FileColumn]:
    """The first two columns whose names differ only in a word of `SIDES`, as ltable_title and rtable_title do; empty if there are none."""
    words = [name_words(column.name.replace(".", "_")) for column in columns]
    pairs = combinations(range(len(columns)), 2)
    return next(([columns[i], columns[j]] for i, j in pairs if _are_sides(words[i], words[j])), [])


def _are_sides(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the words of two names differ in one, and there in a side: the whole word, or its first or last letter."""
    different = [(left, right) for left, right in zip(first, second, strict=False) if left != right]
    if len(first) != len(second) or len(different) != 1:
        return False
    ((left, right),) = different
    return bool(
        (left, right) in SIDES
        or (left[1:] == right[1:] and (left[0], right[0]) in SIDES)
        or (left[:-1] == right[:-1] and (left[-1], right[-1]) in SIDES)
    )


def group_column(
    table: FileTable, tables: Sequence[FileTable], target: FileColumn, exclude: Collection[str]
) -> tuple[str, str] | None:
    """The name of a column of ids that groups the rows, and the reason; None if there is none.

    Rows with the same id have something in common, so they must not be in two splits. A column of groups has at most 9 distinct
    values in 10 rows, because a few accidental repetitions are no groups. It has values in all of the task's files, because a column
    that the test file lacks may depend on the target. It does not follow from the target.
    """
    candidates = [
        column
        for column in table.columns.values()
        if column.words[-1] != "index"  # a position in a text
        and is_id(column)
        and column.name not in exclude
        and 1 < len(column.counts) <= GROUPED * column.rows
        and not follows_from(column, target)
        and all(file.has(column.name) for file in tables)
    ]
    if not candidates:
        return None
    distinct = len(candidates[0].counts)
    why = f"an id with {count(distinct, 'distinct value')} in {count(table.rows, 'row')}: rows with the same one stay together"
    if distinct < 10:
        why += "; with five groups or fewer in the scored rows no test decides: delete the line if the rows are independent"
    if further := [column.name for column in candidates[1:]]:
        why += f"; {quoted_names(further)} would do as well"
    return candidates[0].name, why


def unread_columns(
    table: FileTable, test: FileTable | None, target: FileColumn, used: Collection[str]
) -> Mapping[str, str]:
    """The reason why the task does not read a column, by the name of each such column."""
    reasons = {}
    for name, column in table.columns.items():
        if name not in used:
            reasons[name] = why_not_text(column, table, test, target) or "a text"
    lacking = dict.fromkeys(table.incomplete, "no value in some rows")
    return reasons | lacking | dict(table.unread)
