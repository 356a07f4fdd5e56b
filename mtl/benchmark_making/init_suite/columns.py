"""Guess which columns of a task hold the target, the texts and the groups of rows, and the kind of the targets with its metric.

The rules use the columns' names and values. There are few rules, so that a comment in the suite file can say which one
decided. The user corrects wrong guesses.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.files import (
    FileColumn,
    FileTable,
    columns_in_words,
    count,
    name_words,
    quoted,
    share,
)

# Names of target columns, the most certain first: the whole name, or its last word, as in entailment_judgment.
TARGET_NAMES = ("label", "labels", "target", "gold", "class", "score", "rating", "stars", "judgment")
# The last word in the name of a column that identifies a row, or what the row belongs to.
ID_NAMES = {"id", "ids", "idx", "index", "guid", "uuid", "qid"}
# Nested columns below these keys are no input of a model.
META_KEYS = {"meta", "metadata"}
# Columns of candidates are named choice1, ending0, option_a. Other columns with numbers (sentence1) are a pair.
_CANDIDATE = re.compile(
    r"(?:.*[_.-])?(?:choice|option|ending|candidate|alternative|answer|solution)[_.-]?(?:[0-9]+|[a-h])", re.IGNORECASE
)
# A column with fewer distinct values than this, each in more than 10 rows on average, holds categories, not texts.
CATEGORIES = 100
# Words in the names of two columns that hold the same of two sides, as in left_title and right_title.
_SIDES = {("l", "r"), ("left", "right"), ("first", "second"), ("a", "b"), ("1", "2"), ("0", "1")}
LONG = 6  # words on average; no label or name of a category has so many
RATING_NAMES = {"rating", "score", "stars", "grade"}
LETTERS = set("ABCDEFGHabcdefgh")
MOST_CLASSES = 20  # distinct whole numbers that may be labels
MOST_LABELS = 500
MOST_RATINGS = 10  # distinct whole numbers for which the metric may weight all ratings equally
RARE = 1 / 3  # if one of two labels is in a smaller share of the rows, the metric is its F1, else accuracy


@dataclass(frozen=True)
class TextColumns:
    """The guess of a task's text columns, the reason, and what the user has to decide."""

    columns: list[str]
    why: str
    doubts: list[str]


def target_column(main: FileTable, test: FileTable | None) -> tuple[FileColumn, str]:
    """The column that holds the targets, with the reason. Raises InputError if no column fits.

    A column whose whole name is in TARGET_NAMES is the target. Else, only columns without values in the test file, another one than that
    of the rows with targets, are considered, if there are any: the one whose name's last word is in TARGET_NAMES, or else the last one that
    holds labels or numbers.
    """
    by_name = [
        column
        for column in main.columns.values()
        if not (column.lists or column.is_blank or is_meta(column) or is_id(column))
    ]
    for name in TARGET_NAMES:
        if reason := next((main.incomplete[name_of] for name_of in main.incomplete if name_of.lower() == name), None):
            raise InputError(reason)
        if named := [column for column in by_name if column.name.lower() == name]:
            return named[0], "by its name" + _missing(test, named[0])
    candidates = [column for column in by_name if test is not None and lacks(test, column.name)] or by_name
    for name in TARGET_NAMES:
        if named := [column for column in candidates if column.words[-1] == name]:
            return named[0], "by its name" + _missing(test, named[0])
    if short := [column for column in candidates if column.numbers or is_category(column, main.rows)]:
        last = ([column for column in short if all(map(str.strip, column.counts))] or short)[-1]
        return last, "the last column with labels or numbers" + _missing(test, last) + "; check"
    raise InputError(f"no column looks like a target: {main.listed}; name the column label")


def _missing(test: FileTable | None, column: FileColumn) -> str:
    return ", and the test file has no values in it" if test is not None and lacks(test, column.name) else ""


def text_columns(table: FileTable, test: FileTable | None, exclude: Collection[str], most: int) -> TextColumns:
    """The columns of texts, at most `most`.

    A column of texts holds no numbers, categories or ids, is not below a key `meta`, and has values in the test file, too. Columns
    with several words in most rows are preferred to columns with single words, such as a word that is marked in a sentence.
    """
    possible = [
        column
        for column in table.columns.values()
        if column.name not in exclude
        and not (column.lists or column.is_blank or column.numbers or is_meta(column) or is_id(column))
        and not ((is_category(column, table.rows) and not _is_long(column)) or _is_code(column))
        and not (test is not None and lacks(test, column.name))
    ]
    sentences = [column for column in possible if column.several_words * 2 >= table.rows]
    candidates = sentences or possible
    if most == 2 < len(candidates) and (twins := _twins(candidates)):
        candidates = [*twins, *(column for column in candidates if column not in twins)]
    names = [column.name for column in candidates[:most]]
    if sentences:
        figures = [share(column.several_words, table.rows) for column in candidates[:most]]
        why = f"several words in {' and '.join(dict.fromkeys(figures))} of {count(table.rows, 'row')}"
    else:
        figures = [f"{len(column.counts):,}" for column in candidates[:most]]
        why = f"words, {' and '.join(dict.fromkeys(figures))} distinct in {count(table.rows, 'row')}"
    doubts = []
    if left := columns_in_words(column.name for column in candidates[most:]):
        read = f"{len(candidates)} columns look like texts, and a task reads at most {most}"
        doubts.append(f"text: {read}: {left} left out; choose, or join columns in the files")
    if sentences and (single := columns_in_words(column.name for column in possible if column not in sentences)):
        doubts.append(f"text: the single words in {single} are left out; check whether the target depends on them")
    return TextColumns(names, why, doubts)


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
        (left, right) in _SIDES
        or (left[1:] == right[1:] and (left[0], right[0]) in _SIDES)
        or (left[:-1] == right[:-1] and (left[-1], right[-1]) in _SIDES)
    )


def candidate_columns(table: FileTable, exclude: Collection[str]) -> list[FileColumn]:
    """The columns of candidate answers: one column of lists, or two or more columns with names like choice1 and choice2."""
    lists = [column for column in table.columns.values() if column.lists and not is_meta(column)]
    if lists:
        return lists[:1]
    named = [
        column
        for column in table.columns.values()
        if column.texts and column.name not in exclude and not column.numbers and _CANDIDATE.fullmatch(column.name)
    ]
    return named if len(named) > 1 else []


def group_column(table: FileTable, tables: Sequence[FileTable], exclude: Collection[str]) -> tuple[str, str] | None:
    """The name of a column of ids that repeat, and the reason. Rows with the same id share something, and must not be in two splits.

    It must have at most 9 distinct values in 10 rows, because a few accidental repetitions are no groups, and values in all of the task's
    files, because a column that the test file does not have may depend on the target.
    """
    candidates = [
        column
        for column in table.columns.values()
        if is_id(column)
        and column.name not in exclude
        and 1 < len(column.counts) <= 0.9 * table.rows
        and all(file.has(column.name) for file in tables)
    ]
    if not candidates:
        return None
    distinct = len(candidates[0].counts)
    why = f"an id with {count(distinct, 'distinct value')} in {count(table.rows, 'row')}: rows with the same one stay together"
    if distinct < 10:
        why += "; with five groups or fewer in the scored rows no test decides: delete the line if the rows are independent"
    if further := [column.name for column in candidates[1:]]:
        why += f"; {columns_in_words(further)} would do as well"
    return candidates[0].name, why


def category_note(table: FileTable, test: FileTable | None, exclude: Collection[str]) -> str | None:
    """A note on columns of categories that the test file has, too: a topic, for example, may be part of the text."""
    names = [
        f"{quoted(column.name)} ({count(len(column.counts), 'value')})"
        for column in table.columns.values()
        if column.name not in exclude
        and not (column.lists or column.numbers or is_meta(column) or is_id(column))
        and len(column.counts) > 1
        and is_category(column, table.rows)
        and not (test is not None and lacks(test, column.name))
    ]
    return f"not read: {', '.join(names)}; add it to text if the target depends on it" if names else None


def lacks(table: FileTable, name: str) -> bool:
    """Whether a file has no value at all in a column. A column that lacks values only in some rows does not count."""
    column = table.columns.get(name)
    return column.is_blank if column is not None else name not in table.incomplete


def is_meta(column: FileColumn) -> bool:
    return column.name.split(".")[0].lower() in META_KEYS and "." in column.name


def is_id(column: FileColumn) -> bool:
    return column.words[-1] in ID_NAMES


def is_category(column: FileColumn, rows: int) -> bool:
    return len(column.counts) < min(CATEGORIES, max(rows / 10, 2))


def _is_long(column: FileColumn) -> bool:
    """Whether the values are too long for names of categories, as texts that stand in many pairs."""
    return sum(len(value.split()) for value in column.counts) > LONG * len(column.counts)


def _is_code(column: FileColumn) -> bool:
    """Whether more than half of the rows hold an id or an address: no spaces, and a digit, a slash or an underscore."""
    coded = sum(rows for value, rows in column.counts.items() if re.fullmatch(r"\S*[\d/_]\S*", value))
    return coded * 2 > len(column.texts)


@dataclass(frozen=True)
class Target:
    """The guess of a task's targets: keys of the suite file, by key what the guess is based on, and what the user has to decide."""

    kind: str
    keys: dict[str, Any]
    why: dict[str, str]
    doubts: list[str] = field(default_factory=list)


def guess_target(main: FileColumn, column: FileColumn, candidates: Sequence[FileColumn]) -> Target:
    """The kind of a target, its labels or range, and a metric.

    Args:
        main: the targets of the training rows, or else of the scored rows; they decide the kind and the metric.
        column: the targets of all files that have them; they decide the labels and the range.
        candidates: the columns of candidates in the rows of `column`; empty if the task cannot be a choice.

    Raises:
        InputError: for missing or constant targets, and those that a suite file cannot declare.
    """
    if empty := sum(rows for value, rows in column.counts.items() if not value.strip()):
        raise InputError(f"column {quoted(column.name)} is empty in {count(empty, 'row')}; fill or delete these rows")
    if len(column.counts) < 2:
        raise InputError(f"column {quoted(column.name)} has one value in all {count(len(column.texts), 'row')}")
    if column.name in column.counts:  # the file has no header
        problem = f"column {quoted(column.name)} has the name of one of its values; add a header line to the file"
        raise InputError(problem)
    if candidates and (choice := _choice(column, candidates)):
        return choice
    target = _numbers_or_classes(main, column) if column.numbers else _labels_or_words(main, column)
    if candidates:
        names = columns_in_words(candidate.name for candidate in candidates)
        problem = f"{names} may be candidates, but the target is not the index of one in each row"
        target.doubts.append(f"candidates: {problem}")
    return target


def _choice(column: FileColumn, candidates: Sequence[FileColumn]) -> Target | None:
    """A choice if each target is the index of one of its row's candidates, else None."""
    names = [candidate.name for candidate in candidates]
    lists = candidates[0].lists
    sizes = [len(row) for row in lists] if lists else [len(candidates)] * len(column.texts)
    if not all(value.isascii() and value.isdecimal() for value in column.counts):
        if set(column.counts) <= LETTERS:
            raise InputError(f"{columns_in_words(names)}: a choice whose target is a letter; write the index from 0")
        return None
    indices = [int(value) for value in column.texts]
    if not all(index < size for index, size in zip(indices, sizes, strict=True)):
        if all(1 <= index <= size for index, size in zip(indices, sizes, strict=True)):
            raise InputError(f"{columns_in_words(names)}: a choice whose target counts from 1; write the index from 0")
        return None
    sized = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    chance = sum(1 / size for size in sizes) / len(sizes)
    why = {
        "candidates": f"{sized} candidates a row; in each the target is the index of one, from 0",
        "metric": f"a random choice is right in {share(chance, 1)} of the rows",
    }
    return Target("choice", {"candidates": names, "metric": "accuracy"}, why)


def _numbers_or_classes(main: FileColumn, column: FileColumn) -> Target:
    """Numbers, or labels: at most MOST_CLASSES whole numbers without a decimal point, unless the column's name is one of ratings.

    Two whole numbers are labels in a column of any name.
    """
    numbers = column.numbers or []
    are_whole = all(number.is_integer() for number in numbers)
    rated = name_words(column.name)[-1] in RATING_NAMES or any("." in value for value in column.counts)
    if are_whole and len(column.counts) == len(numbers) <= MOST_CLASSES and (len(numbers) == 2 or not rated):
        target = _labels(main, column, sorted(column.counts, key=float))
        if len(numbers) > 2:
            scale = f"range: [{numbers[0]:g}, {numbers[-1]:g}] instead, and a metric for numbers"
            target.doubts.append(f"labels: {len(numbers)} whole numbers may also be ratings; then write {scale}")
        return target
    low, high = math.floor(numbers[0]), math.ceil(numbers[-1])
    why = {"range": f"{count(len(numbers), 'distinct number')} in {count(len(column.texts), 'row')}"}
    if (low, high) != (numbers[0], numbers[-1]):
        why["range"] += f", {numbers[0]:g} to {numbers[-1]:g}, rounded outwards"
    why["range"] += "; check that the scale ends there"
    keys = {"range": [low, high]}
    if are_whole and len(numbers) <= MOST_RATINGS:
        why["metric"] = f"{len(numbers)} whole ratings, which all get the same weight"
        doubt = f"metric: spearman or pearson fit ratings as well, and so do {len(numbers)} labels with accuracy"
        return Target("number", {**keys, "metric": "one_minus_wmae"}, why, [doubt])
    why["metric"] = "compares the order; pearson compares the values"
    return Target("number", {**keys, "metric": "spearman"}, why)


def _labels_or_words(main: FileColumn, column: FileColumn) -> Target:
    """Labels, which occur in 2 rows on average, or in 20 if they are more than MOST_CLASSES; otherwise words, values of one word."""
    distinct, rows = len(main.counts), len(main.texts)
    if len(column.counts) <= MOST_LABELS and distinct * (2 if distinct <= MOST_CLASSES else 20) <= rows:
        return _labels(main, column, sorted(column.counts))
    figures = f"{count(distinct, 'distinct value')} in {count(rows, 'row')}"
    if main.several_words * 2 > rows:
        raise InputError(f"column {quoted(column.name)} holds texts ({figures}), and a model here writes no texts")
    why = {
        "kind": f"{figures}, too many for labels; check",
        "metric": "the share of targets that are predicted exactly",
    }
    return Target("word", {"kind": "word", "metric": "accuracy"}, why)


def _labels(main: FileColumn, column: FileColumn, labels: list[str]) -> Target:
    """Labels. The metric is f1 if one of two labels is rare, else accuracy."""
    rows = len(main.texts)
    (most, most_rows), *_, (rare, rare_rows) = Counter({label: main.counts[label] for label in labels}).most_common()
    why = {"labels": f"{count(len(labels), 'distinct value')} in {count(len(column.texts), 'row')}"}
    if unseen := [label for label in labels if not main.counts[label]]:
        why["labels"] += f"; none of the training rows has {columns_in_words(unseen)}"
    why["metric"] = f"{quoted(most)} is the target of {share(most_rows, rows)} of the rows"
    if len(labels) == 2 and rare_rows < RARE * rows:
        why["metric"] += ", so accuracy says little"
        why["positive"] = f"the rare label, in {share(rare_rows, rows)} of the rows; check that it is the one to find"
        return Target("labels", {"labels": labels, "metric": "f1", "positive": rare}, why)
    if most_rows > (1 - RARE) * rows:
        why["metric"] += "; macro_f1 gives all labels the same weight"
    return Target("labels", {"labels": labels, "metric": "accuracy"}, why)
