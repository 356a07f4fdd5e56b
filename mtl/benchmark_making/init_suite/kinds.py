"""Guess the kind of a target that has one value in each row, declare the keys of this kind, and ask where two kinds are possible."""

import math
from collections.abc import Mapping
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.choice import candidate_names, choice_among, declare_choice
from mtl.benchmark_making.init_suite.file_column import LABEL_NAMES, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, count, quoted, quoted_names
from mtl.benchmark_making.init_suite.labels import MULTI_LABEL, declare_labels, label_questions
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.data.rows import stream_rows
from mtl.tasks.metrics import is_metric, metric_named

TEXTS = "texts as targets: no model here writes texts; the simple baselines lead, random and constant answer a task of `kind: text`"
NUMBERS_OR_CLASSES = "numbers (kind: number; metric: one_minus_wmae, spearman or pearson) or classes (kind: labels)"
KINDS = {"range": "number", "labels": "labels", "candidates": "choice"}  # that a known key means
METRICS = {"text": "rouge1", MULTI_LABEL: "micro_f1"}  # of kinds that only the user names, else accuracy
RATING_NAMES = {"rating", "score", "stars", "grade", "similarity"}
MOST_CLASSES = 20  # distinct whole numbers that may be labels
SURE_CLASSES = [0, 1, 2]  # are no ratings
MOST_RATINGS = 10  # distinct whole numbers for which the metric may weight all ratings equally
ROWS_OF_NUMBER = 3  # on average, at least, of whole numbers without a gap that may be classes
MOST_LABELS = 500
# The least rows of a label on average: of few labels, of more than MOST_CLASSES, and of these in a column that is called label.
ROWS_OF_FEW, ROWS_OF_MANY, ROWS_IN_LABELS = 2, 20, 4


def guess_kind(guess: Guess, tables: SplitTables, known: Mapping[str, Any]) -> None:
    """Declare the kind of a target and its keys, from the files that have targets. Raises InputError for targets of which no task can be made."""
    guess.kind, target = _known_kind(known), guess.keys["target"]
    by_split = {split: table.whole(target) for split, table in tables.items()}
    for split, column in by_split.items():
        _check_cells(tables[split], column)
    joined = FileColumn.joined([*by_split.values()])  # the targets of all files
    if len(joined.counts) < 2:
        raise InputError(f"column {quoted(target)} has one value in all {count(joined.rows, 'row')}")
    if guess.kind == "number" and joined.numbers is None:
        raise InputError(f"{quoted(target)} has other values than numbers: {quoted_names(joined.counts, 8)}")
    names = known.get("candidates") or candidate_names(tables.main, exclude={target})
    names = [name for name in names if all(name in table.columns for table in tables.values())]
    if names and guess.kind in ("", "choice"):
        candidates = [FileColumn.joined([table.columns[name] for table in tables.values()]) for name in names]
        choice = choice_among(candidates, joined)
        if choice is not None:
            declare_choice(guess, choice)
            return
        problem = f"candidates: {quoted_names(names)} may be candidates, but {quoted(target)} is not the index of one in each row"
        if guess.kind == "choice":
            raise InputError(problem)
        guess.questions.append(problem)
    _guess_values(guess, by_split, joined, _label_names(tables.main, target))


def _guess_values(guess: Guess, by_split: dict[str, FileColumn], joined: FileColumn, names: dict[str, str]) -> None:
    """Declare the kind, unless it is known, and the keys of targets that are no choice. `names`: what whole numbers stand for as labels."""
    main, known_kind = next(iter(by_split.values())), guess.kind  # the main file is the first one
    if not known_kind:
        guess.kind, is_certain = _likely_kind(main, joined, are_named=bool(names))
        if not is_certain:  # they are whole numbers
            integers = joined.whole_numbers or [int(number) for number in joined.numbers or ()]
            numbers = f"{count(len(integers), 'whole number')}, {integers[0]} to {integers[-1]}"
            guess.questions.append(f"kind: {numbers}, may be {NUMBERS_OR_CLASSES}")
    if guess.kind == "labels":
        declare_labels(guess, main, joined, names)
        guess.questions += label_questions(main, joined, by_split)
    elif guess.kind == "number":
        _declare_range(guess, joined)
    elif known_kind:
        guess.declare("", metric=METRICS.get(known_kind, "accuracy"))
    else:
        _declare_words(guess, main)


def _check_cells(table: FileTable, target: FileColumn) -> None:
    """Raise InputError, which names the first line, for cells of the target that are empty."""
    if empty := sum(rows for value, rows in target.counts.items() if not value.strip()):
        cells = zip(stream_rows(table.path, table.layout), table.cells([target.name]), strict=True)
        line = next(line for (line, _), (cell,) in cells if not cell.strip())
        remedy = "fill or delete these rows, or name all columns with a label or nothing, as in target: first + second"
        problem = f"column {quoted(target.name)} is empty in {count(empty, 'row')}; {remedy}"
        raise InputError(problem, path=table.path, line=line)


def _known_kind(known: Mapping[str, Any]) -> str:
    """The kind that the user names, or means by another key or by a metric of one kind; empty if there is none."""
    metric = str(known.get("metric"))
    kinds = metric_named(metric).kinds if is_metric(metric) else ()
    has_one_kind = metric == "accuracy" or kinds in (("labels",), ("number",))  # accuracy fits others, too
    kind_of_keys = next((kind for key, kind in KINDS.items() if key in known), "")
    return known.get("kind") or kind_of_keys or (kinds[0] if has_one_kind else "")


def _label_names(table: FileTable, target: str) -> dict[str, str]:
    """What whole numbers stand for as labels, by number: names in the file's metadata, or the values of a column that says the same in words."""
    numbers = table.columns[target]
    if numbers.whole_numbers is None:
        return {}
    if numbers.labels:
        return {str(number): name for number, name in enumerate(numbers.labels)}
    for column in table.columns.values():
        if column.name != target and column.texts and not column.numbers and numbers.says_the_same_as(column):
            return dict(zip(numbers.texts, column.texts, strict=True))
    return {}


def _likely_kind(main: FileColumn, joined: FileColumn, are_named: bool) -> tuple[str, bool]:
    """The kind that the targets of the main file and of all files look like, and whether this is certain: the first rule that applies decides."""
    is_rating = main.words[-1] in RATING_NAMES
    integers = joined.whole_numbers
    if not joined.numbers:
        return ("labels" if _are_labels(main, joined) else "word"), True
    if joined.is_truth:
        return "labels", True
    if integers is None:  # some have a decimal point
        return "number", not _are_few_ratings(joined)
    if are_named or len(integers) <= 2 or (integers == SURE_CLASSES and not is_rating):
        return "labels", True
    if is_rating:
        return "number", len(integers) > MOST_RATINGS
    if len(integers) <= MOST_CLASSES:
        return "labels", False
    has_gap = len(integers) <= integers[-1] - integers[0]
    return "number", has_gap or len(main.texts) < ROWS_OF_NUMBER * len(integers)


def _are_few_ratings(targets: FileColumn) -> bool:
    """Whether targets are a few whole numbers, perhaps with a decimal point."""
    numbers = targets.numbers or []
    return len(numbers) <= MOST_RATINGS and all(number.is_integer() for number in numbers)


def _are_labels(main: FileColumn, joined: FileColumn) -> bool:
    """Whether targets that are no numbers are labels: they are not too many, and each is in several rows of the main file on average."""
    distinct, least_rows = len(main.counts), ROWS_OF_FEW
    if distinct > MOST_CLASSES:
        least_rows = ROWS_IN_LABELS if main.words[-1] in LABEL_NAMES else ROWS_OF_MANY
    return len(joined.counts) <= MOST_LABELS and distinct * least_rows <= main.rows


def _declare_words(guess: Guess, targets: FileColumn) -> None:
    """Declare words without a list as targets, with a question if many of them occur again. Raises InputError for texts."""
    distinct = len(targets.counts)
    figures = f"{count(distinct, 'distinct value')} in {count(targets.rows, 'row')}"
    if targets.several_words * 2 > targets.rows:
        raise InputError(f"column {quoted(targets.name)} holds texts ({figures}): {TEXTS}")
    guess.declare(f"{figures}, too many for labels", kind="word")
    guess.declare("the share of targets that are predicted exactly", metric="accuracy")
    if distinct * 2 <= targets.rows:
        guess.questions.append(f"kind: {figures} are words without a list, or labels: [every one of them]")


def _declare_range(guess: Guess, targets: FileColumn) -> None:
    """Declare the range of numbers, and a metric: one_minus_wmae for a few whole ratings, else spearman."""
    numbers = targets.numbers or []
    least, most = numbers[0], numbers[-1]
    low, high = math.floor(least), math.ceil(most)
    rounded = "" if (low, high) == (least, most) else f", {least:g} to {most:g}, rounded outwards"
    figures = f"{count(len(numbers), 'distinct number')} in {count(targets.rows, 'row')}{rounded}"
    guess.declare(f"{figures}; check that the scale ends there", range=[low, high])
    if _are_few_ratings(targets):
        guess.declare(f"{len(numbers)} whole ratings, which all get the same weight", metric="one_minus_wmae")
    else:
        guess.declare("compares the order; pearson compares the values", metric="spearman")
