"""Guess the kind of the values in a target column (labels, numbers, indices of candidates, words), and the metric."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mtl.errors import InputError
from mtl.init_suite.table import Column, name_words
from mtl.init_suite.wording import columns_in_words, count, quoted, share

RATING_NAMES = {"rating", "score", "stars", "grade"}
LETTERS = set("ABCDEFGHabcdefgh")
MOST_CLASSES = 20  # distinct whole numbers that may be labels
MOST_LABELS = 500
MOST_RATINGS = 10  # distinct whole numbers for which the metric may weight all ratings equally
RARE = 1 / 3  # if one of two labels is in a smaller share of the rows, the metric is its F1, else accuracy


@dataclass(frozen=True)
class Target:
    """The guess of a task's targets.

    keys: of the suite file, with their values. why: by key, what the guess is based on. doubts: what the user has to decide.
    """

    kind: str
    keys: dict[str, Any]
    why: dict[str, str]
    doubts: list[str] = field(default_factory=list)


def guess_target(main: Column, column: Column, candidates: Sequence[Column]) -> Target:
    """The kind of a target, its labels or range, and a metric.

    main: the targets of the training rows (or of the scored rows, if there are no training rows); they decide the kind and the
    metric. column: the targets of all files that have them; they decide the labels and the range. candidates: the columns of
    candidates in the rows of `column`; empty if the task cannot be a choice. Raises InputError if a target is missing, for targets
    that a suite file cannot declare, and if the column's name is one of its targets, which means that the file has no header.
    """
    if empty := sum(rows for value, rows in column.counts.items() if not value.strip()):
        raise InputError(f"column {quoted(column.name)} is empty in {count(empty, 'row')}; fill or delete these rows")
    if len(column.counts) < 2:
        raise InputError(f"column {quoted(column.name)} has one value in all {count(len(column.texts), 'row')}")
    if column.name in column.counts:
        raise InputError(
            f"column {quoted(column.name)} has the name of one of its values; add a header line to the file"
        )
    if candidates and (choice := _choice(column, candidates)):
        return choice
    target = _numbers_or_classes(main, column) if column.numbers else _labels_or_words(main, column)
    if candidates:
        names = columns_in_words(candidate.name for candidate in candidates)
        target.doubts.append(
            f"candidates: {names} may be candidates, but the target is not the index of one in each row"
        )
    return target


def _choice(column: Column, candidates: Sequence[Column]) -> Target | None:
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


def _numbers_or_classes(main: Column, column: Column) -> Target:
    """Numbers, or labels that are whole numbers.

    Whole numbers are labels if there are at most MOST_CLASSES, they have no decimal point, and the last word of the column's
    name is not in RATING_NAMES. Two whole numbers are labels in a column of any name.
    """
    numbers = column.numbers or []
    whole = all(number.is_integer() for number in numbers)
    rated = name_words(column.name)[-1] in RATING_NAMES or any("." in value for value in column.counts)
    if whole and len(column.counts) == len(numbers) <= MOST_CLASSES and (len(numbers) == 2 or not rated):
        target = _labels(main, column, sorted(column.counts, key=float))
        if len(numbers) > 2:
            target.doubts.append(
                f"labels: {len(numbers)} whole numbers may also be ratings; then write range:"
                f" [{numbers[0]:g}, {numbers[-1]:g}] instead, and a metric for numbers"
            )
        return target
    low, high = math.floor(numbers[0]), math.ceil(numbers[-1])
    why = {"range": f"{count(len(numbers), 'distinct number')} in {count(len(column.texts), 'row')}"}
    if (low, high) != (numbers[0], numbers[-1]):
        why["range"] += f", {numbers[0]:g} to {numbers[-1]:g}, rounded outwards"
    why["range"] += "; check that the scale ends there"
    keys = {"range": [low, high]}
    if whole and len(numbers) <= MOST_RATINGS:
        why["metric"] = f"{len(numbers)} whole ratings, which all get the same weight"
        doubt = f"metric: spearman or pearson fit ratings as well, and so do {len(numbers)} labels with accuracy"
        return Target("number", {**keys, "metric": "one_minus_wmae"}, why, [doubt])
    why["metric"] = "compares the order; pearson compares the values"
    return Target("number", {**keys, "metric": "spearman"}, why)


def _labels_or_words(main: Column, column: Column) -> Target:
    """Labels or words. Labels occur in several rows: in 2 on average for at most MOST_CLASSES labels, in 20 for more, up to
    MOST_LABELS. Otherwise, values of one word are words."""
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


def _labels(main: Column, column: Column, labels: list[str]) -> Target:
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
