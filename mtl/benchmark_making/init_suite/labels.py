"""Labels as targets: what a suite file declares of them, and what the user has to decide about them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mtl.benchmark_making.init_suite.file_column import INDEX, PLACEHOLDERS, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.wording import percent, quantity, quoted, quoted_names, values_in_rows

NO_LABEL = PLACEHOLDERS - {"none", "na", "hidden"}  # of labels in lower case; these three words may be labels
RARE = 1 / 3  # if one of two labels is in a smaller share of the rows, the metric is its F1, else accuracy


def declare_labels(guess: Guess, main: FileColumn, joined: FileColumn) -> None:
    """Declare labels, with the names of those that are numbers, and a metric: f1 if one of two is rare in the main file, else accuracy."""
    labels = sorted_labels(joined)
    names = ", ".join(f"{number}: {name}" for number, name in enumerate(main.labels) if str(number) in joined.counts)
    guess.declare(f"{values_in_rows(joined)}; {names}" if names else values_in_rows(joined), labels=labels)
    most, rare = max(labels, key=main.counts.__getitem__), min(labels, key=main.counts.__getitem__)
    why = f"{quoted(most)} is the target of {percent(main.counts[most], main.rows)} of the rows"
    if len(labels) == 2 and main.counts[rare] < RARE * main.rows:
        guess.declare(f"{why}, so accuracy says little", metric="f1")
        share = percent(main.counts[rare], main.rows)
        guess.declare(f"the rare label, in {share} of the rows; check that it is the one to find", positive=rare)
    else:
        further = "; macro_f1 gives all labels the same weight" if main.counts[most] > (1 - RARE) * main.rows else ""
        guess.declare(f"{why}{further}", metric="accuracy")


def label_questions(main: FileColumn, joined: FileColumn, by_split: Mapping[str, FileColumn]) -> list[str]:
    """What the user has to decide about the labels of a task: those of the main file, of all files together, and of each file."""
    counted = {label: f"{quoted(label)} ({quantity(rows, 'row')})" for label, rows in joined.counts.items()}
    questions = []
    for spellings in _spellings(joined.counts):
        variants = ", ".join(counted[label] for label in spellings)
        questions.append(f"{variants}: one label in several spellings? Then write one in the files")
    for label in joined.counts:
        if (label == "-1" and len(joined.counts) > 2) or label.strip().lower() in NO_LABEL:
            remedy = "leave these rows out of the files (a recipe of mtl make can), or keep it as a label"
            questions.append(f"{counted[label]} may stand for no label; {remedy}")
    for split, column in by_split.items():
        if absent := [label for label in column.counts if label not in main.counts]:
            rows = quantity(sum(column.counts[label] for label in absent), "row")
            ways = "other spellings of the same labels, or labels that cannot be learnt?"
            questions.append(f"no training row has {quoted_names(absent)}, which {rows} of {split} have: {ways}")
    return [f"labels: {question}" for question in questions]


def sorted_labels(targets: FileColumn) -> list[str]:
    """The different labels, numbers in ascending order."""
    return sorted(targets.counts, key=float if targets.numbers else None)


def indices_of_names(labels: Iterable[str], names: Sequence[str]) -> list[str]:
    """The indices of all names of labels as the files have them, if labels are such indices; else none."""
    are_indices = all(INDEX.fullmatch(label) and int(label) < len(names) for label in labels)
    return [str(number) for number in range(len(names))] if are_indices else []


def _spellings(labels: Iterable[str]) -> list[list[str]]:
    """The labels that are one but for capitals, spaces and leading zeros, together."""
    families: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        is_number = label.isascii() and label.isdecimal()
        plain = (label.lstrip("0") or "0") if is_number else " ".join(label.split()).casefold()
        families[plain].append(label)
    return [family for family in families.values() if len(family) > 1]
