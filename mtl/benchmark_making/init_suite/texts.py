"""Which columns of a task hold its texts, and which one groups its rows."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
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
from mtl.data.examples import counted_places
from mtl.tasks.task import BESIDE, COUNTED, SPAN_ENDS, span_ends

# Words in the names of two columns that hold the same of two sides, as in left_title and right_title.
SIDES = {("l", "r"), ("left", "right"), ("first", "second"), ("a", "b"), ("1", "2"), ("0", "1")}
MARKS = {"start", "stop", "end", "index", "offset", "span"}  # words in the names of the places of marked words
QUESTIONS = {"question", "query"}  # the last word in the name of a column of questions
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
    sentences = [column for column in possible if column.several_words * 2 >= column.rows and column.name not in marked]
    candidates = sentences or [column for column in possible if column.name not in marked]
    twins = _twins(candidates) if most == 2 < len(candidates) else []
    if twins:
        candidates = [*twins, *(column for column in candidates if column not in twins)]
    names = [column.name for column in candidates[:most]]
    if sentences:
        figures = [share(column.several_words, column.rows) for column in candidates[:most]]
        why = f"several words in {' and '.join(dict.fromkeys(figures))} of {count(table.rows, 'row')}"
    else:
        figures = [f"{len(column.counts):,}" for column in candidates[:most]]
        why = f"words, {' and '.join(dict.fromkeys(figures))} distinct in {count(table.rows, 'row')}"
    questions = []
    if len(candidates) > most:
        read = f"{len(candidates)} columns look like texts, and a task reads at most {most}"
        questions.append(
            f"text: {read}: {quoted_names(names)} or {quoted_names(column.name for column in candidates[most:])}"
        )
    if single := [
        column.name for column in possible if sentences and column not in sentences and column.name not in marked
    ]:
        questions.append(f"text: {quoted_names(single)} has single words; does the target depend on them?")
    asked = [column.name for column in table.columns.values() if column.words[-1] in QUESTIONS]
    if closed := [name for name in asked if name not in exclude and is_category(table.columns[name])]:
        questions.append(
            f"text: {quoted_names(closed)} has few values; does the target depend on them? Then write them into a text"
        )
    lists = [
        name
        for name, column in table.columns.items()
        if column.lists and name not in exclude and not is_meta(column) and not TOKEN_NAMES & set(column.words)
    ]
    if lists:
        read = "lists of texts, which a task reads as candidates only; does the target depend on them? Then write them as texts"
        questions.append(f"text: {quoted_names(lists)} has {read}")
    if marked and sentences:
        form = "a marked word needs its start and stop in characters, as `spans` of the suite file"
        questions.append(
            f"text: {quoted_names(marked)} marks words of {quoted(names[0])}: {form}; without them a model does not see the mark"
        )
    return TextColumns(names, why, questions)


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
    return is_long(column) or len(column.counts) * 2 > column.rows


def _marked_words(possible: Sequence[FileColumn], table: FileTable) -> list[str]:
    """The columns that hold words of a longer text in most rows, where further columns have their places."""
    stems = {name_words(name)[0] for name in table.columns if MARKS & set(name_words(name))}
    longest = max(possible, key=lambda column: sum(map(len, column.counts)), default=None)
    marked = []
    for column in possible:
        if column is longest or longest is None or column.words[0] not in stems:
            continue
        inside = sum(word in text for word, text in zip(column.texts, longest.texts, strict=True))
        if inside * 10 >= 9 * len(column.texts):
            marked.append(column.name)
    return marked


def marked_spans(table: FileTable, texts: Sequence[str], tables: Sequence[FileTable]) -> dict[str, list[str]]:
    """By text column, the spans that its rows have, as a suite file names them. In each row of all files, the place must fit."""
    spans: dict[str, list[str]] = {}
    for name in table.columns:
        for span, word in _possible_spans(name, table):
            fitting = [text for text in texts if all(_marks(span, word, text, file) for file in tables)]
            if len(fitting) > 1:  # start1 marks words of sentence1
                fitting = [text for text in fitting if text[-1] == name[-1]]
            if len(fitting) == 1:
                spans.setdefault(fitting[0], []).append(span)
                break
    return spans


def _possible_spans(name: str, table: FileTable) -> Iterator[tuple[str, str | None]]:
    """The spans that may begin in a column, with the column of the words that are marked, if there is one: a.start and a.stop beside the
    words in text, start1 and end1, and span1_index beside the words in span1_text."""
    column = name.removesuffix(f".{SPAN_ENDS[0]}")
    if column != name:
        yield column, f"{column.rpartition('.')[0]}.text"
        return
    for end in ("end", "stop"):
        if (other := re.sub("start", end, name)) != name and other in table.columns:
            yield f"{name}{BESIDE}{other}", None
    words = re.sub("index", "text", name)
    if words != name and words in table.columns:
        for unit in ("characters", "words"):
            yield from ((f"{name}[{unit} from {base}]{BESIDE}{words}", words) for base in (0, 1))


def _marks(span: str, word: str | None, text: str, table: FileTable) -> bool:
    """Whether a span marks the words beside it, or without such words begins with a word, in each row of a file."""
    if not all(table.has(name) and not table.columns[name].lists for name in (*span_ends(span), word or text)):
        return False
    counted, ends = COUNTED.search(span), [table.columns[name] for name in span_ends(span)]
    if any(column.whole_numbers is None for column in ends[: 1 if counted else 2]):
        return False
    marked = table.columns[word].texts if word else [""] * len(ends[0].texts)
    for content, first, last, words in zip(
        table.columns[text].texts, ends[0].texts, ends[1].texts, marked, strict=True
    ):
        if counted:
            places, number = counted_places(content, counted[1]), int(first) - int(counted[2])
            fits = 0 <= number < len(places) and content.startswith(words, places[number])
        else:
            start, stop = int(first), int(last)
            begins = 0 <= start < stop <= len(content) and not content[max(start - 1, 0) : start].isalnum()
            fits = content[start:stop] == words if word else begins and not content[start].isspace()
        if not fits:
            return False
    return True


def _twins(columns: Sequence[FileColumn]) -> list[FileColumn]:
    """The first two columns whose names differ in their side alone, as ltable_title and rtable_title do; empty if there are none."""
    words = [name_words(column.name.replace(".", "_")) for column in columns]
    pairs = combinations(range(len(columns)), 2)
    return next(([columns[i], columns[j]] for i, j in pairs if _are_sides(words[i], words[j])), [])


def _are_sides(first: Sequence[str], second: Sequence[str]) -> bool:
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
    """Each column that the task does not read, with the reason."""
    reasons = {}
    for name, column in table.columns.items():
        if name not in used:
            reasons[name] = why_not_text(column, table, test, target) or "a text"
    lacking = dict.fromkeys(table.incomplete, "no value in some rows")
    return reasons | lacking | dict(table.unread)
