"""Which kind the targets of a task are, with the labels or the range and the metric, and the questions where two kinds are possible.

A row may have several labels: in lists, in cells with a separator, or in columns with a label or nothing, or with two truth values.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import INDEX, LABEL_NAMES, NO_LABEL, TOKEN_NAMES, TRUE, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, count, quoted, quoted_names, share
from mtl.benchmark_making.init_suite.tables import FileTable
from mtl.tasks.task import BESIDE

TEXTS = "texts as targets: no model here writes texts; the simple baselines lead, random and constant answer a task of `kind: text`"
RATING_NAMES = {"rating", "score", "stars", "grade", "similarity"}
LETTERS = "ABCDEFGHIJ"
MOST_CLASSES = 20  # distinct whole numbers that may be labels
SURE_CLASSES = 3  # 0, 1, 2 are no ratings
MOST_LABELS = 500
MOST_RATINGS = 10  # distinct whole numbers for which the metric may weight all ratings equally
MISSPELT = 50  # a label may be misspelt if a similar one has so many times its rows
ALIKE = 0.85  # the least similarity of two labels that may be one, a ratio of difflib
RARE = 1 / 3  # if one of two labels is in a smaller share of the rows, the metric is its F1, else accuracy
MULTI_LABEL = "multi_label"  # the kind of targets with several labels of a row
METRICS = {"text": "rouge1", MULTI_LABEL: "micro_f1"}  # of kinds that only the user names, else accuracy
SEPARATOR = ";"  # between labels, unless a task names another one
SEPARATORS = (",", ";", "|", " ")  # of several labels in a cell
SPARE = (SEPARATOR, "|", " / ", " # ")  # between the labels of lists, some of which may hold a semicolon
MOST_PARTS = 200  # different labels that cells with several labels may have


def guess_kind(
    guess: Guess, by_split: Mapping[str, FileColumn], candidates: Sequence[FileColumn], names: Mapping[str, str] | None
) -> None:
    """Guess the kind of a target unless it is known, its labels or range, and a metric.

    Args:
        guess: gets the keys, the kind and the questions.
        by_split: the targets of each file that has them. All decide the labels and the range, the first the kind and the metric.
        candidates: the columns of candidates in the rows of all files that have targets; empty if the task cannot be a choice.
        names: the names of labels that are numbers, by number, from another column or the file's metadata.

    Raises:
        InputError: for constant targets, and those that a suite file cannot declare.
    """
    main, *_ = by_split.values()
    column, kind = FileColumn.joined([*by_split.values()]), guess.kind
    if len(column.counts) < 2:
        raise InputError(f"column {quoted(column.name)} has one value in all {count(column.rows, 'row')}")
    if kind == "number" and column.numbers is None:
        raise InputError(f"{quoted(column.name)} has other values than numbers: {quoted_names(column.counts, 8)}")
    if candidates and kind in ("", "choice"):
        if _guess_choice(guess, column, candidates):
            return
        question = f"candidates: {quoted_names(candidate.name for candidate in candidates)} may be candidates"
        problem = f"{question}, but {quoted(main.name)} is not the index of one in each row"
        if kind:
            raise InputError(problem)
        guess.questions.append(problem)
    guess.kind = kind or _kind(guess, main, column, is_named=names is not None)
    if guess.kind == "labels":
        _declare_labels(guess, main, column)
        numbered = [f"{number}: {names[number]}" for number in guess.keys["labels"] if number in names] if names else []
        guess.why["labels"] = "; ".join(filter(None, [guess.why["labels"], ", ".join(numbered)]))
        guess.questions += label_questions(main, column, by_split)
    elif guess.kind == "number":
        _declare_range(guess, column)
    elif kind:
        guess.declare("", metric=METRICS.get(kind, "accuracy"))


def label_questions(main: FileColumn, column: FileColumn, by_split: Mapping[str, FileColumn]) -> list[str]:
    """What the user has to decide about labels: spellings of one label, labels that stand for none, and labels of single files."""
    questions = []
    spellings = defaultdict(list)
    for label in column.counts:
        is_number = label.isascii() and label.isdecimal()
        spellings[(label.lstrip("0") or "0") if is_number else " ".join(label.split()).casefold()].append(label)
    for labels in (labels for labels in spellings.values() if len(labels) > 1):
        counted = ", ".join(f"{quoted(label)} ({count(column.counts[label], 'row')})" for label in labels)
        questions.append(f"labels: {counted}: one label in several spellings? Then write one in the files")
    for label, rows in column.counts.items():
        frequent = [name for name, frequency in column.counts.items() if rows * MISSPELT <= frequency]
        if alike := get_close_matches(label, frequent, 1, ALIKE) if label.isalpha() else []:
            counted = f"{quoted(label)} ({count(rows, 'row')}) is like {quoted(alike[0])}"
            questions.append(f"labels: {counted}: one label, misspelt? Then mend the files, or list the labels")
        negative = label == "-1" and "1" in column.counts and len(column.counts) > 2
        if label.strip().lower() in NO_LABEL or negative:
            stands = "may stand for no label; leave these rows out of the files (a recipe of mtl make can), or keep it as a label"
            questions.append(f"labels: {quoted(label)} ({count(rows, 'row')}) {stands}")
    for split, targets in by_split.items():
        if strange := [label for label in targets.counts if not main.counts[label]]:
            rows = sum(targets.counts[label] for label in strange)
            where = f"no training row has {quoted_names(strange)}, which {count(rows, 'row')} of {split} have"
            questions.append(f"labels: {where}: other spellings of the same labels, or labels that cannot be learnt?")
    return questions


def _guess_choice(guess: Guess, column: FileColumn, candidates: Sequence[FileColumn]) -> bool:
    """Declare a choice if each target is the index, or the letter, of one of its row's candidates. Returns whether it is one."""
    rows = candidates[0].lists or list(map(list, zip(*(column.texts for column in candidates), strict=True)))
    sizes = [len(row) for row in rows]
    letters = next((letters for letters in (LETTERS, LETTERS.lower()) if set(column.counts) <= set(letters)), "")
    if not letters and not all(map(INDEX.fullmatch, column.counts)):
        if all(text.strip() in map(str.strip, row) for text, row in zip(column.texts, rows, strict=True)):
            raise InputError(f"{quoted(column.name)} holds the text of a candidate; write its index, from 0")
        return False
    indices = [letters.index(value) if letters else int(value) for value in column.texts]
    pairs = list(zip(indices, sizes, strict=True))
    bases = [base for base in (0, 1) if all(0 <= index - base < size for index, size in pairs)]
    if not bases or (letters and bases == [1]):
        return False
    from_one = [str(number) for number in range(1, max(sizes) + 1)]
    if len(bases) == 2 and not letters:
        targets = f"the targets are {min(indices)} to {max(indices)} of {min(sizes)} to {max(sizes)} candidates"
        from_zero = [str(number) for number in range(max(sizes))]
        guess.questions.append(f"indices: {targets}: do they count from 0 ({from_zero}), or from 1 ({from_one})?")
    elif letters or bases == [1]:
        guess.declare("", indices=list(letters[: max(sizes)]) or from_one)
    what = "letter of one" if letters else f"index of one, from {bases[0]}"
    sized = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    why = f"{sized} candidates a row; in each the target is the {what}"
    guess.declare(why, candidates=[candidate.name for candidate in candidates])
    chance = sum(1 / size for size in sizes if size) / len(sizes)
    guess.declare(f"a random choice is right in {share(chance, 1)} of the rows", metric="accuracy")
    guess.kind = "choice"
    return True


def _kind(guess: Guess, main: FileColumn, column: FileColumn, is_named: bool) -> str:
    """Labels, numbers or words, with a question where two kinds are possible. `is_named`: whether whole numbers have names."""
    if column.numbers:
        kind, whole = _kind_of_numbers(main, column, is_named)
        if whole:
            ways = "numbers (kind: number; metric: one_minus_wmae, spearman or pearson) or classes (kind: labels)"
            numbers = f"{count(len(whole), 'whole number')}, {whole[0]} to {whole[-1]}"
            guess.questions.append(f"kind: {numbers}, may be {ways}")
        return kind
    distinct = len(main.counts)
    rows_per_label = 2 if distinct <= MOST_CLASSES else 4 if main.words[-1] in LABEL_NAMES else 20  # on average
    if len(column.counts) <= MOST_LABELS and distinct * rows_per_label <= main.rows:
        return "labels"
    figures = f"{count(distinct, 'distinct value')} in {count(main.rows, 'row')}"
    if main.several_words * 2 > main.rows:
        raise InputError(f"column {quoted(column.name)} holds texts ({figures}): {TEXTS}")
    guess.declare(f"{figures}, too many for labels", kind="word")
    guess.declare("the share of targets that are predicted exactly", metric="accuracy")
    if distinct * 2 <= main.rows:
        guess.questions.append(f"kind: {figures} are words without a list, or labels: [every one of them]")
    return "word"


def _kind_of_numbers(main: FileColumn, column: FileColumn, is_named: bool) -> tuple[str, Sequence[int]]:
    """Labels are the two truth values, whole numbers with names, two of them, 0 to 2, and perhaps at most MOST_CLASSES; other values, those
    in columns called rating, and those with decimals are numbers. Beside the kind, the whole numbers, if they may be of the other kind, too."""
    whole, is_rating = column.whole_numbers, main.words[-1] in RATING_NAMES
    if column.is_truth or (whole and (is_named or len(whole) <= 2)):
        return "labels", ()
    if whole is None:
        numbers = column.numbers or []
        integers = [int(number) for number in numbers if number.is_integer()]
        may_be_labels = len(integers) == len(numbers) and len(integers) <= MOST_RATINGS
        return "number", integers if may_be_labels else ()
    if not is_rating and len(whole) <= MOST_CLASSES:
        return "labels", () if whole == list(range(SURE_CLASSES)) else whole
    has_no_gap = whole == list(range(whole[0], whole[-1] + 1)) and len(main.texts) >= 3 * len(whole)
    may_be_labels = len(whole) <= MOST_RATINGS or (has_no_gap and not is_rating)
    return "number", whole if may_be_labels else ()


def _declare_range(guess: Guess, column: FileColumn) -> None:
    numbers = column.numbers or []
    low, high = math.floor(numbers[0]), math.ceil(numbers[-1])
    ends = f", {numbers[0]:g} to {numbers[-1]:g}, rounded outwards"
    rounded = "" if (low, high) == (numbers[0], numbers[-1]) else ends
    figures = f"{count(len(numbers), 'distinct number')} in {count(column.rows, 'row')}{rounded}"
    guess.declare(f"{figures}; check that the scale ends there", range=[low, high])
    if all(number.is_integer() for number in numbers) and len(numbers) <= MOST_RATINGS:
        why = f"{len(numbers)} whole ratings, which all get the same weight"
        guess.declare(why, metric="one_minus_wmae")
    else:
        guess.declare("compares the order; pearson compares the values", metric="spearman")


def _declare_labels(guess: Guess, main: FileColumn, column: FileColumn) -> None:
    """The metric is f1 if one of two labels is rare, else accuracy."""
    labels = sorted(column.counts, key=float if column.numbers else None)
    ranked = Counter({label: main.counts[label] for label in labels}).most_common()
    (most, most_rows), (rare, rare_rows) = ranked[0], ranked[-1]
    guess.declare(f"{count(len(labels), 'distinct value')} in {count(column.rows, 'row')}", labels=labels)
    why = f"{quoted(most)} is the target of {share(most_rows, main.rows)} of the rows"
    if len(labels) == 2 and rare_rows < RARE * main.rows:
        guess.declare(f"{why}, so accuracy says little", metric="f1")
        why = f"the rare label, in {share(rare_rows, main.rows)} of the rows; check that it is the one to find"
        guess.declare(why, positive=rare)
    else:
        frequent = "; macro_f1 gives all labels the same weight" if most_rows > (1 - RARE) * main.rows else ""
        guess.declare(f"{why}{frequent}", metric="accuracy")


@dataclass(frozen=True)
class SeveralLabels:
    """Columns, or the cells of one column, that look like several labels of each row."""

    columns: Sequence[str]  # their names
    form: str  # how the labels stand in them, in words
    separator: str | None = None  # between the labels of a cell; None: a cell has one label, or a column has lists
    by_truth: bool = False  # whether each column is named after a label, and says whether a row has it
    question: str | None = None  # what the user has to decide, as "key: message"; None: the evidence is unique

    @property
    def target(self) -> str:
        """The target as a suite file names it."""
        return BESIDE.join(self.columns)

    def sets(self, table: FileTable) -> list[list[str]] | None:
        """The labels of each row that was looked at; None if the table lacks them, or has something else in these columns."""
        columns = [table.columns[name] for name in self.columns if table.has(name)]
        have_cells = any(column.lists for column in columns) or all(column.texts for column in columns)
        is_whole = len(columns) == len(self.columns) and have_cells
        if not is_whole or (self.by_truth and not all(column.are_truths for column in columns)):
            return None
        return [self._labels(row) for row in zip(*(column.lists or column.texts for column in columns), strict=True)]

    def _labels(self, cells: Sequence[str] | Sequence[list[str]]) -> list[str]:
        """The labels of a row, from what stands in its columns."""
        if self.by_truth:
            return [name for name, cell in zip(self.columns, cells, strict=True) if str(cell).lower() in TRUE]
        sign = self.separator
        parts = (cell if isinstance(cell, list) else cell.split(sign) if sign else [cell] for cell in cells)
        return [label for label in map(str.strip, chain(*parts)) if label]

    def labels(self, table: FileTable) -> FileColumn:
        """The labels of all rows of a table one after another, or of a large one their numbers alone."""
        sets = self.sets(table) or []
        if self.by_truth or len(sets) == table.rows:
            return FileColumn(self.target, list(chain(*sets)))
        counts = Counter(chain.from_iterable(map(self._labels, table.cells(self.columns))))
        return FileColumn(self.target, [], all_counts=counts)

    def with_labels(self, table: FileTable) -> FileTable:
        """The table with the labels of each row as one column of texts, if it has them."""
        if (sets := self.sets(table)) is None:
            return table
        cells = [SEPARATOR.join(sorted(labels)) for labels in sets]
        return replace(table, columns={**table.columns, self.target: FileColumn(self.target, cells)})


def several_labels(table: FileTable, columns: Sequence[FileColumn]) -> SeveralLabels | None:
    """What in these columns, which may hold targets, or in lists looks like several labels of each row; None: nothing."""
    truths = [column.name for column in columns if column.is_truth]
    if len(truths) > 2 or (len(truths) == 2 and len(columns) == 2):
        # Nothing tells labels from features, such as has_negation beside is_entailed, or from the answers of several people.
        ways = f"several labels of a row (kind: {MULTI_LABEL}), or is one of them the target (target: NAME)?"
        question = f"kind: {quoted_names(truths)} are true or false: {ways}"
        return SeveralLabels(truths, f"{len(truths)} columns of two truth values", by_truth=True, question=question)
    if column := next((column for column in table.columns.values() if _is_list_of_labels(column, table)), None):
        return SeveralLabels([column.name], f"lists of {len({*chain(*column.lists)})} different labels")
    return next(filter(None, map(_in_cells, columns)), None)


def named_labels(table: FileTable, known: Mapping[str, Any]) -> SeveralLabels | None:
    """The labels in the columns that the user names as the target; None for one label of each row, and for columns that the table lacks."""
    names = str(known["target"]).split(BESIDE)
    columns = [table.columns[name] for name in names if name in table.columns]
    is_known = known.get("kind") == MULTI_LABEL or "label_separator" in known or len(names) > 1
    if known.get("kind", MULTI_LABEL) != MULTI_LABEL or len(columns) < len(names):
        return None
    if len(columns) > 1:
        return SeveralLabels(names, f"{len(columns)} columns", by_truth=all(column.are_truths for column in columns))
    if columns[0].lists:
        return SeveralLabels(names, "lists of labels") if is_known or _is_list_of_labels(columns[0], table) else None
    guess = _in_cells(columns[0])
    separator = known.get("label_separator") or (guess.separator if guess else SEPARATOR)
    return SeveralLabels(names, "cells with labels", separator) if is_known else guess


def guess_several(guess: Guess, several: SeveralLabels, tables: Mapping[str, FileTable]) -> None:
    """Declare several labels of a row, from the tables with targets, of which the first decides the metric's reason."""
    columns = {split: several.labels(table) for split, table in tables.items()}
    main, train = next(iter(tables.values())), next(iter(columns.values()))
    all_rows, names = FileColumn.joined(list(columns.values())), main.columns[several.columns[0]].labels
    labels = sorted(all_rows.counts, key=lambda label: (not label.isdecimal(), label.isdecimal() and len(label), label))
    if several.by_truth:
        labels = list(several.columns)
    elif names and all(INDEX.fullmatch(label) and int(label) < len(names) for label in labels):
        indices = [str(number) for number in range(len(names))]
        guess.declare("the names are in the file's metadata", indices=indices)
        labels = list(names)
    guess.kind = MULTI_LABEL
    guess.declare(several.form, kind=MULTI_LABEL)
    guess.declare(f"{train.rows / main.rows:.2f} in a row", labels=labels)
    signs = [several.separator] if several.separator else SPARE
    separator = next((sign for sign in signs if not any(sign in label for label in labels)), SEPARATOR)
    if separator != SEPARATOR:
        guess.declare("", label_separator=separator)
    label, rows = min(train.counts.items(), key=lambda item: item[1])
    rarest = f"the rarest label, {quoted(label)}, is in {share(rows, main.rows)} of the rows"
    guess.declare(f"{rarest}; multi_macro_f1 counts all labels alike", metric="micro_f1")
    guess.questions += label_questions(train, all_rows, columns)


def _is_list_of_labels(column: FileColumn, table: FileTable) -> bool:
    """Whether lists are sets of labels: of few labels, none twice in a row, and not one for each word or each item of another column."""
    if not column.lists or (TOKEN_NAMES - {"tag", "tags"}) & set(column.words) or column.is_candidates:
        return False
    sizes, parts = [len(row) for row in column.lists], Counter(chain(*column.lists))
    if not 1 < len(parts) <= MOST_PARTS or parts.total() < 3 * len(parts) or len(set(sizes)) < 2:
        return False
    others = [other for other in table.columns.values() if other is not column]
    sizes_of_others = [[len(row) for row in other.lists or map(str.split, other.texts)] for other in others]
    return sizes not in sizes_of_others and all(len({*row}) == len(row) for row in column.lists)


def _in_cells(column: FileColumn) -> SeveralLabels | None:
    """Cells such as "joy,anger" beside "joy" and "anger"."""
    for separator in SEPARATORS:
        multiple = [value for value in column.counts if separator in value.strip()]
        parts = {part.strip() for value in column.counts for part in value.split(separator)} - {""}
        if not multiple or not 1 < len(parts) < len(column.counts) or len(parts) > MOST_PARTS:
            continue
        single = {*column.counts} - {*multiple}
        repeated = {part.strip() for value in multiple for part in value.split(separator)} & single
        if 2 * len(repeated) >= len(parts) or (separator != " " and not single):
            form = f"cells with several of {len(parts)} labels, as in {quoted(multiple[0])}"
            ways = f'several labels of a row (kind: {MULTI_LABEL}, label_separator: " "), or labels of several words (kind: labels)?'
            question = f"kind: {quoted(column.name)}: {form}: {ways}" if separator == " " else None
            return SeveralLabels([column.name], form, separator, question=question)
    return None
