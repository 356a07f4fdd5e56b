"""Which kind the targets of a task are, with the labels or the range, and the metric; and the questions where two kinds are possible."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.evidence import is_truth
from mtl.benchmark_making.init_suite.tables import PLACEHOLDERS, FileColumn, FileTable
from mtl.benchmark_making.init_suite.target import KIND, LABEL_NAMES, SEPARATOR, TEXTS, SeveralLabels
from mtl.benchmark_making.init_suite.wording import count, quoted, quoted_names, share

RATING_NAMES = {"rating", "score", "stars", "grade", "similarity"}
LETTERS = "ABCDEFGHIJ"
MOST_CLASSES = 20  # distinct whole numbers that may be labels
SURE_CLASSES = 3  # labels 0, 1, 2 of a column called label are no ratings
MOST_LABELS = 500
MOST_RATINGS = 10  # distinct whole numbers for which the metric may weight all ratings equally
NO_LABEL = PLACEHOLDERS - {"none", "na", "hidden"}  # as one of several labels, these words may mean what they say
SPARE = (SEPARATOR, "|", " / ", " # ")  # between the labels of lists, some of which may hold a semicolon
MISSPELT = 50  # times as many rows as a label has, another one has that is spelt like it
ALIKE = 0.85  # how similar two labels are that are perhaps one, a ratio of difflib
RARE = 1 / 3  # if one of two labels is in a smaller share of the rows, the metric is its F1, else accuracy


@dataclass(frozen=True)
class Target:
    """The guess of a task's targets: keys of the suite file, by key what the guess is based on, and what the user has to decide."""

    kind: str
    keys: dict[str, Any]
    why: dict[str, str]
    questions: list[str] = field(default_factory=list)


def guess_target(
    main: FileColumn,
    by_split: Mapping[str, FileColumn],
    candidates: Sequence[FileColumn],
    names: Mapping[str, str] | None = None,
) -> Target:
    """The kind of a target, its labels or range, and a metric.

    Args:
        main: the targets of the training rows, or else of the scored rows; they decide the kind and the metric.
        by_split: the targets of each file that has them; they decide the labels and the range.
        candidates: the columns of candidates in the rows of all files that have targets; empty if the task cannot be a choice.
        names: the names of labels that are numbers, by number, from another column or the file's metadata.

    Raises:
        InputError: for missing or constant targets, and those that a suite file cannot declare.
    """
    column = joined(list(by_split.values()))
    if empty := sum(rows for value, rows in column.counts.items() if not value.strip()):
        remedy = "fill or delete these rows, or name all columns with a label or nothing, as in target: first + second"
        raise InputError(f"column {quoted(column.name)} is empty in {count(empty, 'row')}; {remedy}")
    if len(column.counts) < 2:
        raise InputError(f"column {quoted(column.name)} has one value in all {count(column.rows, 'row')}")
    if candidates and (choice := _choice(column, candidates)):
        return choice
    target = _numbers_or_classes(main, column, names) if column.numbers else _labels_or_words(main, column)
    if candidates:
        may = f"{quoted_names(candidate.name for candidate in candidates)} may be candidates"
        target.questions.append(f"candidates: {may}, but {quoted(main.name)} is not the index of one in each row")
    target.questions.extend(label_questions(main, column, by_split) if target.kind == "labels" else ())
    return target


def joined(columns: Sequence[FileColumn]) -> FileColumn:
    """A column of several files as one."""
    counts = sum((column.counts for column in columns), Counter[str]())
    texts, lists = ([cell for column in columns for cell in getattr(column, of)] for of in ("texts", "lists"))
    return FileColumn(columns[0].name, texts, lists, all_counts=counts)


def _choice(column: FileColumn, candidates: Sequence[FileColumn]) -> Target | None:
    """A choice if each target is the index, or the letter, of one of its row's candidates, else None."""
    rows = candidates[0].lists or list(map(list, zip(*(each.texts for each in candidates), strict=True)))
    sizes = [len(row) for row in rows]
    letters = next((letters for letters in (LETTERS, LETTERS.lower()) if set(column.counts) <= set(letters)), "")
    if not letters and not all(value.isascii() and value.isdecimal() for value in column.counts):
        if all(text.strip() in map(str.strip, row) for text, row in zip(column.texts, rows, strict=True)):
            raise InputError(f"{quoted(column.name)} holds the text of a candidate; write its index, from 0")
        return None
    indices = [letters.index(value) if letters else int(value) for value in column.texts]
    fits_zero = all(index < size for index, size in zip(indices, sizes, strict=True))
    fits_one = not letters and all(1 <= index <= size for index, size in zip(indices, sizes, strict=True))
    if not (fits_zero or fits_one):
        return None
    sized = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    keys: dict[str, Any] = {"candidates": [candidate.name for candidate in candidates]}
    questions = []
    from_one = [str(number) for number in range(1, max(sizes) + 1)]
    if fits_zero and fits_one:
        targets = f"the targets are {min(indices)} to {max(indices)} of {sized} candidates"
        questions.append(f"candidates: {targets}: do they count from 0 or from 1? From 1: indices: {from_one}")
    elif letters or fits_one:
        keys["indices"] = list(letters[: max(sizes)]) or from_one
    what = "letter of one" if letters else f"index of one, from {'1' if 'indices' in keys else '0'}"
    chance = sum(1 / size for size in sizes if size) / len(sizes)
    why = {"metric": f"a random choice is right in {share(chance, 1)} of the rows"}
    why["candidates"] = f"{sized} candidates a row; in each the target is the {what}"
    return Target("choice", {**keys, "metric": "accuracy"}, why, questions)


def _numbers_or_classes(main: FileColumn, column: FileColumn, names: Mapping[str, str] | None) -> Target:
    """Numbers, or labels: whole numbers with names, two whole numbers, and at most MOST_CLASSES of them that are no ratings by their name."""
    numbers, whole, rated = column.numbers or [], column.whole_numbers, column.words[-1] in RATING_NAMES
    if whole is None and is_truth(column):  # 0.0 and 1.0
        return _labels(main, column, sorted(column.counts))
    whole = whole if whole and len(column.counts) == len(whole) else []  # else 1 and 01
    is_range = bool(whole) and whole == list(range(whole[0], whole[-1] + 1))
    if whole and (names is not None or len(whole) == 2 or (len(whole) <= MOST_CLASSES and not rated)):
        target = _labels(main, column, sorted(column.counts, key=float))
        if names is not None:
            named = [f"{number}: {names[number]}" for number in target.keys["labels"] if number in names]
            target.why["labels"] += f"; {', '.join(named)}"
        elif len(whole) > 2 and not (is_range and whole[0] == 0 and len(whole) <= SURE_CLASSES):
            scale = f"range: [{whole[0]:g}, {whole[-1]:g}] and metric: spearman"
            target.questions.append(f"labels: {len(whole)} whole numbers may be classes, or ratings: {scale}")
        return target
    questions = []
    low, high = math.floor(numbers[0]), math.ceil(numbers[-1])
    ends = f", {numbers[0]:g} to {numbers[-1]:g}, rounded outwards"
    rounded = "" if (low, high) == (numbers[0], numbers[-1]) else ends
    found = f"{count(len(numbers), 'distinct number')} in {count(column.rows, 'row')}{rounded}"
    why, metric = {"range": f"{found}; check that the scale ends there"}, "spearman"
    if all(number.is_integer() for number in numbers) and len(numbers) <= MOST_RATINGS:
        metric = "one_minus_wmae"
        why["metric"] = f"{len(numbers)} whole ratings, which all get the same weight"
        fit = f"one_minus_wmae, spearman and pearson fit {len(numbers)} ratings, and so do labels with accuracy"
        questions.append(f"metric: {fit}")
    else:
        why["metric"] = "compares the order; pearson compares the values"
    if is_range and not rated and len(main.texts) >= 3 * len(whole):
        labels = ", ".join(f'"{number}"' for number in whole[:3])
        classes = f"may be classes: labels: [{labels}, …] and metric: accuracy"
        questions.append(f"range: {len(whole)} whole numbers, each of which occurs, {classes}")
    return Target("number", {"range": [low, high], "metric": metric}, why, questions)


def _labels_or_words(main: FileColumn, column: FileColumn) -> Target:
    """Labels, which occur in 2 rows on average, or in 20 (4 in a column called label) if they are more than MOST_CLASSES; otherwise words,
    values of one word."""
    distinct = len(main.counts)
    repeated = 2 if distinct <= MOST_CLASSES else 4 if main.words[-1] in LABEL_NAMES else 20
    if len(column.counts) <= MOST_LABELS and distinct * repeated <= main.rows:
        return _labels(main, column, sorted(column.counts))
    figures = f"{count(distinct, 'distinct value')} in {count(main.rows, 'row')}"
    if main.several_words * 2 > main.rows:
        raise InputError(f"column {quoted(column.name)} holds texts ({figures}): {TEXTS}")
    why = {"kind": f"{figures}, too many for labels", "metric": "the share of targets that are predicted exactly"}
    question = f"kind: {figures} are words without a list, or labels: [every one of them]"
    return Target("word", {"kind": "word", "metric": "accuracy"}, why, [question] if distinct * 2 <= main.rows else [])


def _labels(main: FileColumn, column: FileColumn, labels: list[str]) -> Target:
    """Labels. The metric is f1 if one of two labels is rare, else accuracy."""
    (most, most_rows), *_, (rare, rare_rows) = Counter({label: main.counts[label] for label in labels}).most_common()
    keys: dict[str, Any] = {"labels": labels, "metric": "accuracy"}
    why = {"labels": f"{count(len(labels), 'distinct value')} in {count(column.rows, 'row')}"}
    why["metric"] = f"{quoted(most)} is the target of {share(most_rows, main.rows)} of the rows"
    if len(labels) == 2 and rare_rows < RARE * main.rows:
        why["metric"] += ", so accuracy says little"
        keys |= {"metric": "f1", "positive": rare}
        why["positive"] = (
            f"the rare label, in {share(rare_rows, main.rows)} of the rows; check that it is the one to find"
        )
    elif most_rows > (1 - RARE) * main.rows:
        why["metric"] += "; macro_f1 gives all labels the same weight"
    return Target("labels", keys, why)


def label_questions(main: FileColumn, column: FileColumn, by_split: Mapping[str, FileColumn]) -> list[str]:
    """What the user has to decide about labels: spellings of one label, labels that stand for none, and labels of single files."""
    questions = []
    spellings = defaultdict(list)
    for label in column.counts:
        spellings[" ".join(label.split()).casefold()].append(label)
    for labels in (labels for labels in spellings.values() if labels[1:]):
        counted = ", ".join(f"{quoted(label)} ({count(column.counts[label], 'row')})" for label in labels)
        questions.append(f"labels: {counted}: one label in several spellings? Then write one in the files")
    for label, rows in column.counts.items():
        frequent = [other for other, of_other in column.counts.items() if rows * MISSPELT <= of_other]
        if alike := get_close_matches(label, frequent, 1, ALIKE) if label.isalpha() else []:
            counted = f"{quoted(label)} ({count(rows, 'row')}) is like {quoted(alike[0])}"
            questions.append(f"labels: {counted}: one label, misspelt? Then mend the files, or list the labels")
        negative = label == "-1" and "1" in column.counts and len(column.counts) > 2
        if label.strip().lower() in NO_LABEL or negative:
            stands = "may stand for no label; leave these rows out of the files (a recipe of mtl make can), or keep it as a label"
            questions.append(f"labels: {quoted(label)} ({count(rows, 'row')}) {stands}")
    for split, other in by_split.items():
        if strange := [label for label in other.counts if not main.counts[label]]:
            rows = sum(other.counts[label] for label in strange)
            where = f"no training row has {quoted_names(strange)}, which {count(rows, 'row')} of {split} have"
            questions.append(f"labels: {where}: other spellings of the same labels, or labels that cannot be learnt?")
    return questions


def several_target(several: SeveralLabels, tables: Mapping[str, FileTable]) -> Target:
    """The keys of a task with several labels of a row, from its tables with targets, of which the first decides the metric's reason."""
    columns = {split: several.labels(table) for split, table in tables.items()}
    main, train = next(iter(tables.values())), next(iter(columns.values()))
    every = joined(list(columns.values()))
    found = sorted(every.counts, key=lambda label: (not label.isdecimal(), label.isdecimal() and len(label), label))
    names = main.columns[several.columns[0]].labels
    keys: dict[str, Any] = {"kind": KIND, "labels": list(several.columns) if several.by_truth else found}
    why = {"kind": several.form, "labels": f"{train.rows / main.rows:.2f} in a row"}
    if names and all(label.isdecimal() and int(label) < len(names) for label in found):
        keys |= {"labels": list(names), "indices": [str(number) for number in range(len(names))]}
        why["indices"] = "the names are in the file's metadata"
    possible = [several.separator] if several.separator else SPARE
    separator = next((sign for sign in possible if not any(sign in label for label in keys["labels"])), SEPARATOR)
    keys |= {"label_separator": separator} if separator != SEPARATOR else {}
    label, rows = min(train.counts.items(), key=lambda item: item[1])
    rarest = f"the rarest label, {quoted(label)}, is in {share(rows, main.rows)} of the rows"
    why["metric"] = f"{rarest}; multi_macro_f1 counts all labels alike"
    return Target(KIND, {**keys, "metric": "micro_f1"}, why, label_questions(train, every, columns))
