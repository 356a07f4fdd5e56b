"""Guess the kind of a target that has one value in each row, declare the keys of this kind, and ask where two kinds are possible."""

import math

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.choice import guess_choice
from mtl.benchmark_making.init_suite.column_names import RATING_NAMES
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.guess import MULTI_LABEL, Guess, TaskKeys
from mtl.benchmark_making.init_suite.labels import declare_labels, label_questions
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.wording import quantity, quoted, quoted_names, values_in_rows
from mtl.data.rows import stream_rows
from mtl.tasks.metrics import is_metric, metric_named

TEXTS = "texts as targets: no model here writes texts; the simple baselines lead, random and constant answer a task of `kind: text`"
NUMBERS_OR_CLASSES = "numbers (kind: number; metric: spearman, pearson or one_minus_wmae) or classes (kind: labels)"
KIND_OF_KEY = {"range": "number", "labels": "labels", "candidates": "choice"}  # what a known key says of the kind
METRICS = {"text": "rouge1", MULTI_LABEL: "micro_f1"}  # of kinds that only the user names, else accuracy
MOST_CLASSES = 20  # distinct whole numbers that look like classes; more look like numbers
MOST_LABELS = 500
ENOUGH_ROWS = 20  # of each label on average; fewer than 20 labels need as many rows each as there are labels


def guess_kind(guess: Guess, tables: SplitTables, known: TaskKeys) -> None:
    """Declare the kind of a target and its keys, from the files that have targets. Raises InputError for targets of which no task can be made."""
    guess.kind = _known_kind(known)
    target = guess.keys["target"]
    by_split = {split: table.whole(target) for split, table in tables.items()}
    for split, column in by_split.items():
        _check_cells(tables[split], column)
    columns = list(by_split.values())
    main, joined = columns[0], FileColumn.joined(columns)  # the first file is the main one
    if len(joined.counts) < 2:
        raise InputError(f"column {quoted(target)} has one value in all {quantity(joined.rows, 'row')}")
    if guess.kind == "number" and joined.numbers is None:
        raise InputError(f"{quoted(target)} has other values than numbers: {quoted_names(joined.counts, 8)}")
    if guess.kind in ("", "choice") and guess_choice(guess, tables, joined, known.get("candidates")):
        return
    if not guess.kind:
        guess.kind = _kind_of_numbers(guess, main, joined) if joined.numbers else _kind_of_words(guess, main, joined)
    if guess.kind == "labels":
        declare_labels(guess, main, joined)
        guess.questions += label_questions(main, joined, by_split)
    elif guess.kind == "number":
        _declare_range(guess, joined)
    else:
        if guess.kind == "word":  # the keys of other kinds say which they are, or the user does
            guess.declare(values_in_rows(main), kind="word")
        guess.declare("", metric=METRICS.get(guess.kind, "accuracy"))


def _known_kind(known: TaskKeys) -> str:
    """The kind that the user names, or that another known key or the metric implies; empty if none does."""
    if known.get("kind"):
        return str(known["kind"])
    for key, kind in KIND_OF_KEY.items():
        if key in known:
            return kind
    metric = known.get("metric") or ""
    if metric == "accuracy":
        return "labels"  # although it fits other kinds, too
    kinds = list(metric_named(metric).kinds) if is_metric(metric) else []
    return kinds[0] if kinds in (["labels"], ["number"]) else ""


def _check_cells(table: FileTable, target: FileColumn) -> None:
    """Raise InputError, which names the first line, for cells of the target that are empty."""
    if empty := sum(rows for value, rows in target.counts.items() if not value.strip()):
        cells = zip(stream_rows(table.path, table.layout), table.cells([target.name]), strict=True)
        line = next(line for (line, _), (cell,) in cells if not cell.strip())
        remedy = "fill or delete these rows, or name all columns with a label or nothing, as in target: first + second"
        problem = f"column {quoted(target.name)} is empty in {quantity(empty, 'row')}; {remedy}"
        raise InputError(problem, path=table.path, line=line)


def _kind_of_numbers(guess: Guess, main: FileColumn, joined: FileColumn) -> str:
    """The kind that numbers look like: labels or numbers. The guess gets a question about whole numbers that may be either."""
    numbers = joined.numbers or []
    are_written_whole = joined.whole_numbers is not None  # 2.0 is whole, but not written so
    if joined.is_truth_pair or (are_written_whole and (main.labels or len(numbers) <= 2)):
        return "labels"
    if not all(number.is_integer() for number in numbers):
        return "number"
    least, most = int(numbers[0]), int(numbers[-1])
    are_many = len(numbers) > MOST_CLASSES
    are_ratings = main.words[-1] in RATING_NAMES
    have_gaps = len(numbers) < most - least + 1
    if are_many and (are_ratings or have_gaps):
        return "number"
    figures = f"{quantity(len(numbers), 'whole number')}, {least} to {most}"
    guess.questions.append(f"kind: {figures}, may be {NUMBERS_OR_CLASSES}")
    return "number" if are_many or are_ratings or not are_written_whole else "labels"


def _kind_of_words(guess: Guess, main: FileColumn, joined: FileColumn) -> str:
    """The kind that other targets look like; the guess gets a question if they are no certain labels. Raises InputError for texts."""
    labels = len(joined.counts)
    are_frequent = labels * min(labels, ENOUGH_ROWS) <= main.rows
    if labels <= MOST_LABELS and are_frequent:
        return "labels"
    are_mostly_texts = min(main.rows_of_several_words, len(main.counts)) * 2 > main.rows
    if are_mostly_texts:
        raise InputError(f"column {quoted(main.name)} holds texts ({values_in_rows(main)}): {TEXTS}")
    values = values_in_rows(main)
    guess.questions.append(f"kind: {values} may be labels (kind: labels), or words without a list (kind: word)")
    return "word"


def _declare_range(guess: Guess, targets: FileColumn) -> None:
    numbers = targets.numbers or []
    least, most = numbers[0], numbers[-1]
    low, high = math.floor(least), math.ceil(most)
    rounded = "" if (low, high) == (least, most) else f", {least:g} to {most:g}, rounded outwards"
    figures = f"{quantity(len(numbers), 'distinct number')} in {quantity(targets.rows, 'row')}{rounded}"
    guess.declare(f"{figures}; check that the scale ends there", range=[low, high])
    guess.declare("compares the order; pearson compares the values", metric="spearman")
