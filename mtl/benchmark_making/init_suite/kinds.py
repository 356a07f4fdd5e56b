"""Which kind the targets of a task are, with the labels or the range and the metric, and the questions where two kinds are possible."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import INDEX, LABEL_NAMES, NO_LABEL, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, count, quoted, quoted_names, share

TEXTS = "texts as targets: no model here writes texts; the simple baselines lead, random and constant answer a task of `kind: text`"
RATING_NAMES = {"rating", "score", "stars", "grade", "similarity"}
LETTERS = "ABCDEFGHIJ"
MOST_CLASSES = 20  # distinct whole numbers that may be labels
SURE_CLASSES = 3  # 0, 1, 2 are no ratings
MOST_LABELS = 500
# The least rows of a label on average: of few labels, of more than MOST_CLASSES, and of these in a column that is called label.
ROWS_OF_FEW, ROWS_OF_MANY, ROWS_IN_LABELS = 2, 20, 4
ROWS_OF_NUMBER = 3  # on average, at least, of whole numbers without a gap that may be classes
MOST_RATINGS = 10  # distinct whole numbers for which the metric may weight all ratings equally
MISSPELT = 50  # a label may be misspelt if a similar one has so many times its rows
ALIKE = 0.85  # the least similarity of two labels that may be one, a ratio of difflib
RARE = 1 / 3  # if one of two labels is in a smaller share of the rows, the metric is its F1, else accuracy
MULTI_LABEL = "multi_label"  # the kind of targets with several labels of a row
METRICS = {"text": "rouge1", MULTI_LABEL: "micro_f1"}  # of kinds that only the user names, else accuracy


def guess_kind(
    guess: Guess, by_split: Mapping[str, FileColumn], candidates: Sequence[FileColumn], names: Mapping[str, str] | None
) -> None:
    """Declare in a guess the kind of a target, unless it is known, its labels or range, and a metric, with questions. Raises InputError for constant
    targets, and those that a suite file cannot declare.

    Args:
        by_split: the targets of each file that has them. All decide the labels and the range, the first the kind and the metric.
        candidates: the columns of candidates in the rows of all files that have targets; empty if the task cannot be a choice.
        names: the names of labels that are numbers, by number, from another column or the file's metadata."""
    main, *_ = by_split.values()
    joined, kind = FileColumn.joined([*by_split.values()]), guess.kind
    if len(joined.counts) < 2:
        raise InputError(f"column {quoted(joined.name)} has one value in all {count(joined.rows, 'row')}")
    if kind == "number" and joined.numbers is None:
        raise InputError(f"{quoted(joined.name)} has other values than numbers: {quoted_names(joined.counts, 8)}")
    if candidates and kind in ("", "choice"):
        if _guess_choice(guess, joined, candidates):
            return
        named = quoted_names(candidate.name for candidate in candidates)
        problem = f"candidates: {named} may be candidates, but {quoted(main.name)} is not the index of one in each row"
        if kind:
            raise InputError(problem)
        guess.questions.append(problem)
    guess.kind = kind or _kind(guess, main, joined, is_named=names is not None)
    if guess.kind == "labels":
        _declare_labels(guess, main, joined)
        numbered = [f"{number}: {names[number]}" for number in guess.keys["labels"] if number in names] if names else []
        guess.why["labels"] = "; ".join(filter(None, [guess.why["labels"], ", ".join(numbered)]))
        guess.questions += label_questions(main, joined, by_split)
    elif guess.kind == "number":
        _declare_range(guess, joined)
    elif kind:
        guess.declare("", metric=METRICS.get(kind, "accuracy"))


def label_questions(main: FileColumn, joined: FileColumn, by_split: Mapping[str, FileColumn]) -> list[str]:
    """What the user has to decide about labels: spellings of one label, labels that stand for none, and labels of single files."""
    questions = []
    spellings = defaultdict(list)
    for label in joined.counts:
        spellings[_without_variants(label)].append(label)
    for labels in [labels for labels in spellings.values() if len(labels) > 1]:
        counted = ", ".join(f"{quoted(label)} ({count(joined.counts[label], 'row')})" for label in labels)
        questions.append(f"labels: {counted}: one label in several spellings? Then write one in the files")
    for label, rows in joined.counts.items():
        frequent = [name for name, frequency in joined.counts.items() if rows * MISSPELT <= frequency]
        if alike := get_close_matches(label, frequent, 1, ALIKE) if label.isalpha() else []:
            counted = f"{quoted(label)} ({count(rows, 'row')}) is like {quoted(alike[0])}"
            questions.append(f"labels: {counted}: one label, misspelt? Then mend the files, or list the labels")
        negative = label == "-1" and "1" in joined.counts and len(joined.counts) > 2
        if label.strip().lower() in NO_LABEL or negative:
            stands = "may stand for no label; leave these rows out of the files (a recipe of mtl make can), or keep it as a label"
            questions.append(f"labels: {quoted(label)} ({count(rows, 'row')}) {stands}")
    for split, targets in by_split.items():
        if strange := [label for label in targets.counts if not main.counts[label]]:
            rows = sum(targets.counts[label] for label in strange)
            where = f"no training row has {quoted_names(strange)}, which {count(rows, 'row')} of {split} have"
            questions.append(f"labels: {where}: other spellings of the same labels, or labels that cannot be learnt?")
    return questions


def indices_of_names(labels: Iterable[str], names: Sequence[str]) -> list[str]:
    """The indices of all names of labels as the files have them, if labels are such indices; else none."""
    are_indices = all(INDEX.fullmatch(label) and int(label) < len(names) for label in labels)
    return [str(number) for number in range(len(names))] if are_indices else []


def _without_variants(label: str) -> str:
    """A label in lower case with single spaces, or a number without leading zeros."""
    is_number = label.isascii() and label.isdecimal()
    return label.lstrip("0") or "0" if is_number else " ".join(label.split()).casefold()


def _guess_choice(guess: Guess, column: FileColumn, candidates: Sequence[FileColumn]) -> bool:
    """Declare a choice, and return True, if each target is the index or letter of a candidate of its row. Raises InputError if each is its text."""
    rows = candidates[0].lists or list(map(list, zip(*(candidate.texts for candidate in candidates), strict=True)))
    sizes = [len(row) for row in rows]
    letters = next((letters for letters in (LETTERS, LETTERS.lower()) if set(column.counts) <= set(letters)), "")
    if not letters and not all(map(INDEX.fullmatch, column.counts)):
        if all(text.strip() in map(str.strip, row) for text, row in zip(column.texts, rows, strict=True)):
            raise InputError(f"{quoted(column.name)} holds the text of a candidate; write its index, from 0")
        return False
    indices = [letters.index(value) if letters else int(value) for value in column.texts]
    pairs = list(zip(indices, sizes, strict=True))
    bases = [base for base in ((0,) if letters else (0, 1)) if all(0 <= index - base < size for index, size in pairs)]
    if not bases:
        return False
    from_one = [str(number) for number in range(1, max(sizes) + 1)]
    if len(bases) == 2:
        targets = f"the targets are {min(indices)} to {max(indices)} of {min(sizes)} to {max(sizes)} candidates"
        from_zero = [str(number) for number in range(max(sizes))]
        guess.questions.append(f"indices: {targets}: do they count from 0 ({from_zero}), or from 1 ({from_one})?")
    elif letters or bases == [1]:
        guess.declare("", indices=list(letters[: max(sizes)]) or from_one)
    target = "letter of one" if letters else f"index of one, from {bases[0]}"
    number = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    why = f"{number} candidates a row; in each the target is the {target}"
    guess.declare(why, candidates=[candidate.name for candidate in candidates])
    chance = sum(1 / size for size in sizes if size) / len(sizes)
    guess.declare(f"a random choice is right in {share(chance, 1)} of the rows", metric="accuracy")
    guess.kind = "choice"
    return True


def _kind(guess: Guess, main: FileColumn, joined: FileColumn, is_named: bool) -> str:
    """Guess labels, numbers or words, with a question where two kinds are possible. `is_named`: whether whole numbers have names."""
    if joined.numbers:
        kind, integers = _kind_of_numbers(main, joined, is_named)
        if integers:
            ways = "numbers (kind: number; metric: one_minus_wmae, spearman or pearson) or classes (kind: labels)"
            numbers = f"{count(len(integers), 'whole number')}, {integers[0]} to {integers[-1]}"
            guess.questions.append(f"kind: {numbers}, may be {ways}")
        return kind
    distinct = len(main.counts)
    least_of_many = ROWS_IN_LABELS if main.words[-1] in LABEL_NAMES else ROWS_OF_MANY
    least_rows = ROWS_OF_FEW if distinct <= MOST_CLASSES else least_of_many
    if len(joined.counts) <= MOST_LABELS and distinct * least_rows <= main.rows:
        return "labels"
    figures = f"{count(distinct, 'distinct value')} in {count(main.rows, 'row')}"
    if main.several_words * 2 > main.rows:
        raise InputError(f"column {quoted(joined.name)} holds texts ({figures}): {TEXTS}")
    guess.declare(f"{figures}, too many for labels", kind="word")
    guess.declare("the share of targets that are predicted exactly", metric="accuracy")
    if distinct * 2 <= main.rows:
        guess.questions.append(f"kind: {figures} are words without a list, or labels: [every one of them]")
    return "word"


def _kind_of_numbers(main: FileColumn, joined: FileColumn, is_named: bool) -> tuple[str, Sequence[int]]:
    """The kind of targets that are numbers, and the whole numbers among them if they may be of the other kind, too. Two truth values are labels, as
    are two whole numbers, and whole numbers with names. Up to MOST_CLASSES whole numbers are labels, too, surely so if they are 0 to 2, unless the
    column is called rating. All others are numbers."""
    integers, is_rating = joined.whole_numbers, main.words[-1] in RATING_NAMES
    if joined.is_truth or (integers and (is_named or len(integers) <= 2)):
        return "labels", ()
    if integers is None:
        numbers = joined.numbers or []
        integers = [int(number) for number in numbers if number.is_integer()]
        may_be_labels = len(integers) == len(numbers) and len(integers) <= MOST_RATINGS
        return "number", (integers if may_be_labels else ())
    if not is_rating and len(integers) <= MOST_CLASSES:
        return "labels", (() if integers == list(range(SURE_CLASSES)) else integers)
    has_no_gap = integers == list(range(integers[0], integers[-1] + 1))
    may_be_classes = has_no_gap and not is_rating and len(main.texts) >= ROWS_OF_NUMBER * len(integers)
    return "number", (integers if may_be_classes or len(integers) <= MOST_RATINGS else ())


def _declare_range(guess: Guess, column: FileColumn) -> None:
    """Declare the range of numbers, and a metric: one_minus_wmae for a few whole ratings, else spearman."""
    numbers = column.numbers or []
    least, most = numbers[0], numbers[-1]
    low, high = math.floor(least), math.ceil(most)
    rounded = "" if (low, high) == (least, most) else f", {least:g} to {most:g}, rounded outwards"
    figures = f"{count(len(numbers), 'distinct number')} in {count(column.rows, 'row')}{rounded}"
    guess.declare(f"{figures}; check that the scale ends there", range=[low, high])
    if all(number.is_integer() for number in numbers) and len(numbers) <= MOST_RATINGS:
        guess.declare(f"{len(numbers)} whole ratings, which all get the same weight", metric="one_minus_wmae")
    else:
        guess.declare("compares the order; pearson compares the values", metric="spearman")


def _declare_labels(guess: Guess, main: FileColumn, joined: FileColumn) -> None:
    """Declare the labels, and a metric: f1 if one of two labels is rare, else accuracy."""
    labels = sorted(joined.counts, key=float if joined.numbers else None)
    ranked = Counter({label: main.counts[label] for label in labels}).most_common()
    (most, most_rows), (rare, rare_rows) = ranked[0], ranked[-1]
    guess.declare(f"{count(len(labels), 'distinct value')} in {count(joined.rows, 'row')}", labels=labels)
    why = f"{quoted(most)} is the target of {share(most_rows, main.rows)} of the rows"
    if len(labels) == 2 and rare_rows < RARE * main.rows:
        guess.declare(f"{why}, so accuracy says little", metric="f1")
        why = f"the rare label, in {share(rare_rows, main.rows)} of the rows; check that it is the one to find"
        guess.declare(why, positive=rare)
    else:
        frequent = "; macro_f1 gives all labels the same weight" if most_rows > (1 - RARE) * main.rows else ""
        guess.declare(f"{why}{frequent}", metric="accuracy")
