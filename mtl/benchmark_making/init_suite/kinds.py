"""Guess the kind of a target that has one value in each row, declare the keys of this kind, and ask where two kinds are possible."""

import math
from collections.abc import Mapping
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.choice import guess_choice
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, count, quoted, quoted_names
from mtl.benchmark_making.init_suite.labels import MULTI_LABEL, declare_labels, label_questions
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.data.rows import stream_rows
from mtl.tasks.metrics import is_metric, metric_named

TEXTS = "texts as targets: no model here writes texts; the simple baselines lead, random and constant answer a task of `kind: text`"
NUMBERS_OR_CLASSES = "numbers (kind: number; metric: spearman, pearson or one_minus_wmae) or classes (kind: labels)"
KINDS = {"range": "number", "labels": "labels", "candidates": "choice"}  # that a known key means
METRICS = {"text": "rouge1", MULTI_LABEL: "micro_f1"}  # of kinds that only the user names, else accuracy
RATING_NAMES = {"rating", "score", "stars", "grade", "similarity"}
MOST_CLASSES = 20  # distinct whole numbers that look like classes; more look like numbers
MOST_LABELS = 500
ENOUGH_ROWS = 20  # of each label on average; fewer than 20 labels need as many rows each as there are labels


def guess_kind(guess: Guess, tables: SplitTables, known: Mapping[str, Any]) -> None:
    """Declare the kind of a target and its keys, from the files that have targets. Raises InputError for targets of which no task can be made."""
    guess.kind, target = _known_kind(known), guess.keys["target"]
    by_split = {split: table.whole(target) for split, table in tables.items()}
    for split, column in by_split.items():
        _check_cells(tables[split], column)
    main = next(iter(by_split.values()))  # the targets of the main file, which is the first one
    joined = FileColumn.joined([*by_split.values()])
    if len(joined.counts) < 2:
        raise InputError(f"column {quoted(target)} has one value in all {count(joined.rows, 'row')}")
    if guess.kind == "number" and joined.numbers is None:
        raise InputError(f"{quoted(target)} has other values than numbers: {quoted_names(joined.counts, 8)}")
    if guess.kind in ("", "choice") and guess_choice(guess, tables, joined, known.get("candidates")):
        return
    if not guess.kind:
        guess.kind, question = _kind_of_numbers(main, joined) if joined.numbers else _kind_of_words(main, joined)
        guess.questions += [question] if question else []
    if guess.kind == "labels":
        declare_labels(guess, main, joined)
        guess.questions += label_questions(main, joined, by_split)
    elif guess.kind == "number":
        _declare_range(guess, joined)
    else:
        if guess.kind == "word":  # the keys of other kinds say which they are, or the user does
            guess.declare(_figures(main), kind="word")
        guess.declare("", metric=METRICS.get(guess.kind, "accuracy"))


def _known_kind(known: Mapping[str, Any]) -> str:
    """The kind that the user names, or means by another key or by a metric of one kind; empty if there is none."""
    metric = str(known.get("metric"))
    kinds = metric_named(metric).kinds if is_metric(metric) else ()
    has_one_kind = metric == "accuracy" or kinds in (("labels",), ("number",))  # accuracy fits others, too
    kind_of_keys = next((kind for key, kind in KINDS.items() if key in known), "")
    return known.get("kind") or kind_of_keys or (kinds[0] if has_one_kind else "")


def _check_cells(table: FileTable, target: FileColumn) -> None:
    """Raise InputError, which names the first line, for cells of the target that are empty."""
    if empty := sum(rows for value, rows in target.counts.items() if not value.strip()):
        cells = zip(stream_rows(table.path, table.layout), table.cells([target.name]), strict=True)
        line = next(line for (line, _), (cell,) in cells if not cell.strip())
        remedy = "fill or delete these rows, or name all columns with a label or nothing, as in target: first + second"
        problem = f"column {quoted(target.name)} is empty in {count(empty, 'row')}; {remedy}"
        raise InputError(problem, path=table.path, line=line)


def _kind_of_numbers(main: FileColumn, joined: FileColumn) -> tuple[str, str | None]:
    """The kind that numbers look like, and a question if they are three or more whole numbers that the file's metadata does not name."""
    numbers, are_whole = joined.numbers or [], joined.whole_numbers is not None
    if joined.is_truth or (are_whole and (main.labels or len(numbers) <= 2)):
        return "labels", None
    if not all(number.is_integer() for number in numbers):
        return "number", None
    least, most = int(numbers[0]), int(numbers[-1])
    is_rating, are_many = main.words[-1] in RATING_NAMES, len(numbers) > MOST_CLASSES
    has_gap = len(numbers) <= most - least
    if are_many and (is_rating or has_gap):
        return "number", None
    kind = "number" if are_many or is_rating or not are_whole else "labels"
    return kind, f"kind: {count(len(numbers), 'whole number')}, {least} to {most}, may be {NUMBERS_OR_CLASSES}"


def _kind_of_words(main: FileColumn, joined: FileColumn) -> tuple[str, str | None]:
    """The kind that targets other than numbers look like, and a question if they are no certain labels. Raises InputError for texts."""
    labels = len(joined.counts)
    if labels <= MOST_LABELS and labels * min(labels, ENOUGH_ROWS) <= main.rows:
        return "labels", None
    if min(main.several_words, len(main.counts)) * 2 > main.rows:
        raise InputError(f"column {quoted(main.name)} holds texts ({_figures(main)}): {TEXTS}")
    return "word", f"kind: {_figures(main)} may be labels (kind: labels), or words without a list (kind: word)"


def _figures(targets: FileColumn) -> str:
    """How many values targets have, in words."""
    return f"{count(len(targets.counts), 'distinct value')} in {count(targets.rows, 'row')}"


def _declare_range(guess: Guess, targets: FileColumn) -> None:
    """Declare the range of numbers, and a metric."""
    numbers = targets.numbers or []
    least, most = numbers[0], numbers[-1]
    low, high = math.floor(least), math.ceil(most)
    rounded = "" if (low, high) == (least, most) else f", {least:g} to {most:g}, rounded outwards"
    figures = f"{count(len(numbers), 'distinct number')} in {count(targets.rows, 'row')}{rounded}"
    guess.declare(f"{figures}; check that the scale ends there", range=[low, high])
    guess.declare("compares the order; pearson compares the values", metric="spearman")
