"""Check a documentation sheet: its form, and what it says about the data of its tasks.

What a sheet says about the data in a recognisable form, and whether it is true.

Recognised, in the fields that describe the data's size: a split's rows ("3450 train", "131 train items", "Train: 392704 items", "the
test data consists of 1000 items"), all rows as the first number ("4872 texts", "Total of 20,638 samples", "1106"), and rows with a
label ("312 positive cases ('entailment')", "pro: 211", and "55 positive, 80 negative" of a task with two labels), which belong to
the split before them in the line. In the fields that describe the format and the labels: the list of all labels ("can be pro, con
or non", "label (correct or incorrect)"). Other sentences are not understood, and give no finding.

Sizes are right if they are the files' or the suite file's official ones. Other sizes are false if the files are complete; where
files are reduced, the data cannot decide.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.base.errors import InputError
from mtl.benchmark_making.audits.audit import read_files
from mtl.benchmark_making.audits.findings import Part
from mtl.benchmark_making.audits.sheets.form import Problem, Sheet, form_problems, read_sheet
from mtl.jobs.job import Job
from mtl.tasks.targets import target_kind
from mtl.tasks.task import SPLITS, Task

SIZES = "Dataset in numbers*"
SIZE_FIELDS = (SIZES, "Recommended split(s)")
LABEL_FIELDS = ("Nature of the content*", "Format*", "Data labeling*")

_NUMBER = r"(?<![\w.,–-])(?<!\d:)(?P<number>\d{1,3}(?:[ ,\u00a0\u202f]\d{3}){1,4}|\d+)(?![\w]|\s?%|[.,:–-]+\d)"
_SPLIT = r"(?P<split>train(?:ing)?|dev(?:elopment)?|validation|test(?:ing)?)"
_UNIT = (
    r"(?:item|row|example|instance|sample|sentence|text|paragraph|document|article|question|pair|case|entr|record)\w*"
)
_SIZE_FORMS = [
    re.compile(rf"{_NUMBER}\s+(?:{_UNIT}\s+(?:in|for)\s+(?:the\s+)?)?{_SPLIT}\b", re.IGNORECASE),
    re.compile(
        rf"\b{_SPLIT}(?:[\s_-]*(?:data|set|split|part|file|items|rows))?\s*"
        rf"(?::|=|\(|consists?\s+of|contains?|comprises?|has|have)\s*(?:about\s+)?{_NUMBER}",
        re.IGNORECASE,
    ),
]
_TOTAL = re.compile(
    rf"\W*(?:(?:a\s+)?total(?:\s+of)?:?\s+)?{_NUMBER}(?:(?:\s+[^\W\d][\w-]*){{0,2}}?\s+{_UNIT}|\s+in\s+total|\s*(?:[.;,]|$))",
    re.IGNORECASE,
)
_POLAR = re.compile(rf"{_NUMBER}\s+(?P<pole>positive|negative)\b", re.IGNORECASE)
_QUOTES = "'\"“”‘’"
_ITEM = rf"[{_QUOTES}]*[\w+-]+[{_QUOTES}]*"
_LIST = re.compile(rf"{_ITEM}(?:,\s+{_ITEM})*,?\s+(?:or|and)\s+{_ITEM}")
_ABOUT_LABELS = re.compile(r"\b(?:label\w*|can be|one of|values?|class(?:es)?)\b[^.;]{0,60}$", re.IGNORECASE)


# Characters of a line that is searched for claims: the time of a search grows with the square of the line's length.
LONGEST = 2000


@dataclass(frozen=True)
class Sizes:
    """The rows of a task by split: those of the files, and the official numbers of the suite file. Both may lack splits."""

    task: Task
    files: dict[str, Part]

    def known(self, split: str) -> list[int]:
        """The numbers of rows that a sheet may give for a split: the file's and the official one. Empty: none is known."""
        official = self.task.rows.get(split)
        counts = [len(self.files[split].rows)] if split in self.files else []
        return list(dict.fromkeys([*counts, *([] if official is None else [official])]))

    @property
    def totals(self) -> list[int]:
        """The numbers of all rows that a sheet may give: the files' and the official one."""
        counts = sum(len(part.rows) for part in self.files.values())
        return list(dict.fromkeys(count for count in (counts, sum(self.task.rows.values())) if count))

    def is_whole(self, split: str) -> bool:
        """Whether the split's file is here with as many rows as officially. Without official numbers, every file is whole."""
        part = self.files.get(split)
        return part is not None and (not self.task.rows or self.task.rows.get(split) == len(part.rows))

    def is_labelled(self, split: str) -> bool:
        """Whether the split's file is here with all of its official rows and with their targets."""
        return self.is_whole(split) and all(row.target is not None for row in self.files[split].rows)

    def describe(self, split: str) -> str:
        """The split's numbers of rows in words."""
        official = self.task.rows.get(split)
        here = f"{self.files[split].file} has {len(self.files[split].rows)}" if split in self.files else ""
        given = (
            "" if official is None or ([official] == self.known(split) and here) else f"the suite file has {official}"
        )
        return ", ".join(filter(None, (here, given)))


def false_claims(sheet: Sheet, task: Task, files: dict[str, Part]) -> list[Problem]:
    """What the sheet says about the task's data and what is not true of it.

    Args:
        files: the files that can be read, by split.
    """
    sizes = Sizes(task, files)

    def values(*fields: str) -> list[tuple[int, str]]:
        return [(line, value) for line, value in sheet.values(*fields) if len(value) <= LONGEST]

    problems = [problem for line, value in values(*SIZE_FIELDS) for problem in _false_sizes(line, value, sizes)]
    lines = values(SIZES)
    problems += [problem for line, value in lines[:1] for problem in _false_total(line, value, sizes)]
    if task.labels is not None:
        problems += [
            Problem(line, text) for line, value in lines for text in _false_label_counts(value, sizes, task.labels)
        ]
        problems += [Problem(line, text) for line, value in lines for text in _false_balance(value, sizes, task.labels)]
        lists = values(*LABEL_FIELDS)
        problems += [Problem(line, text) for line, value in lists for text in _false_label_lists(value, task.labels)]
    return problems


def _sizes_in(value: str) -> list[tuple[int, str, int]]:
    """The sizes of splits that a line gives: (position, split, rows), in order."""
    sizes: dict[int, tuple[str, int]] = {}
    for form in _SIZE_FORMS:
        for match in form.finditer(value):
            sizes.setdefault(match.start("number"), (match["split"], _number(match["number"])))
    return [(position, _split(word), rows) for position, (word, rows) in sorted(sizes.items())]


def _split(word: str) -> str:
    word = word.lower()
    return "train" if word.startswith("train") else "test" if word.startswith("test") else "dev"


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _false_sizes(line: int, value: str, sizes: Sizes) -> Iterator[Problem]:
    for _, split, rows in _sizes_in(value):
        actual = sizes.known(split)
        if actual and rows not in actual:
            text = f"says that {split} has {rows} rows; {sizes.describe(split)}"
            yield Problem(line, text, undecided=not sizes.is_whole(split))


def _false_total(line: int, value: str, sizes: Sizes) -> Iterator[Problem]:
    match = _TOTAL.match(value)
    if match is None or any(position == match.start("number") for position, _, _ in _sizes_in(value)):
        return
    rows, totals = _number(match["number"]), sizes.totals
    if totals and rows not in totals:
        numbers = [f"the suite file has {totals[-1]}"] if sizes.task.rows else []
        if sizes.files and (not numbers or len(totals) > 1):
            numbers.insert(0, f"its files have {totals[0]}")
        whole = all(map(sizes.is_whole, {*sizes.files, *sizes.task.rows}))
        yield Problem(line, f"says that the data has {rows} rows; {', '.join(numbers)}", undecided=not whole)


def _false_label_counts(value: str, sizes: Sizes, labels: Sequence[str]) -> Iterator[str]:
    """Rows with a label, by the split before them in the line; of all splits if there is none."""
    named = _sizes_in(value)
    for label in labels:
        for position, rows in _label_counts(value, label, labels):
            before = [split for start, split, _ in named if start < position]
            count = _rows_with(sizes, before[-1:], label)
            if count not in (None, rows):
                yield f"says that {rows} rows of {before[-1] if before else 'the data'} have the label {label}; there are {count}"


def _false_balance(value: str, sizes: Sizes, labels: Sequence[str]) -> Iterator[str]:
    """Positive and negative rows of a task with two labels, by the split before them; a sheet need not say which label is which."""
    given: dict[str, dict[str, int]] = {}
    for match in _POLAR.finditer(value):
        before = [split for start, split, _ in _sizes_in(value) if start < match.start("number")]
        if before:
            given.setdefault(before[-1], {})[match["pole"].lower()] = _number(match["number"])
    for split, poles in given.items():
        counts = [_rows_with(sizes, [split], label) for label in labels]
        stated = [count for count in counts if count is not None]
        if len(labels) == len(poles) == len(stated) == 2 and sorted(stated) != sorted(poles.values()):
            listed_counts = " and ".join(f"{count} {label}" for count, label in zip(counts, labels, strict=True))
            yield f"says that {poles['positive']} rows of {split} are positive and {poles['negative']} negative; there are {listed_counts}"


def _label_counts(value: str, label: str, labels: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The numbers of rows that a line gives for a label: (position, rows)."""
    name = rf"[(=\s{_QUOTES}]*\b{re.escape(label)}\b"
    number_first = re.compile(rf"{_NUMBER}(?P<between>(?:\s+[^\W\d][\w-]*){{0,2}}?)\s*{name}")
    label_first = re.compile(rf"\b{re.escape(label)}\b[{_QUOTES}]*\s*[:=(]\s*{_NUMBER}")
    other = {*labels, "and", "or"}
    for match in number_first.finditer(value):
        if not other & set(match["between"].split()):
            yield match.start("number"), _number(match["number"])
    for match in label_first.finditer(value):
        yield match.start("number"), _number(match["number"])


def _rows_with(sizes: Sizes, splits: Sequence[str], label: str) -> int | None:
    """The rows of these splits with a label; of all splits if none is named. None unless the splits' files are complete."""
    splits = splits or list(sizes.files)
    if not splits or not all(map(sizes.is_labelled, splits)):
        return None
    kind = target_kind(sizes.task)
    return sum(
        Counter(kind.cells.format(row.target) for row in sizes.files[split].rows if row.target is not None)[label]
        for split in splits
    )


def _false_label_lists(value: str, labels: Sequence[str]) -> Iterator[str]:
    """Lists of labels with one that the task does not have, or without one that it has."""
    for match in _LIST.finditer(value):
        listed = [item.strip(_QUOTES) for item in re.split(r",?\s+(?:or|and)\s+|,\s+", match.group())]
        if set(listed).isdisjoint(labels) or not _ABOUT_LABELS.search(value[: match.start()]):
            continue
        unknown = [item for item in listed if item not in labels]
        absent = [label for label in labels if label not in listed]
        if unknown:
            yield f"names the label{'s' if len(unknown) > 1 else ''} {', '.join(unknown)}; the task's labels are {', '.join(labels)}"
        elif absent:
            yield f"names the labels without {', '.join(absent)}; the task's labels are {', '.join(labels)}"


logger = logging.getLogger("mtl")


def check_sheet(job: Job, path: Path) -> list[str]:
    """What a sheet lacks, and what it says that the data of its tasks contradicts: one line each, `file:line: message`.

    What complete files contradict is a finding. A sheet of the complete data passes where files are reduced: a size may be the file's
    or the suite file's official one, labels are counted in complete files only, and a size that is neither, of files that are
    reduced, is logged and is no finding. Raises InputError for a file that is no sheet, and for one
    whose name fits no task of the suite.
    """
    sheet = read_sheet(path)
    problems = form_problems(sheet)
    for task in _tasks_of(job, path):
        files = read_files(job.suite, task, job.data_dir, job.config.held_out).files
        _log_comparison(task, {split: len(part.rows) for split, part in files.items()})
        problems += false_claims(sheet, task, files)
    problems = sorted(dict.fromkeys(problems), key=lambda problem: problem.line)
    for problem in problems:
        if problem.undecided:
            logger.info("%s:%d: %s; no finding, since the files are reduced", path, problem.line, problem.message)
    return [f"{path}:{problem.line}: {problem.message}" for problem in problems if not problem.undecided]


def _tasks_of(job: Job, path: Path) -> Sequence[Task]:
    """The chosen tasks, or without a choice those whose id or folder the file's name begins with: of several, the longest."""
    if job.config.tasks is not None:
        return job.tasks
    begins: dict[str, list[Task]] = {}
    for task in job.tasks:
        for name in {task.id, Path(task.folder).name}:
            if name and re.match(rf"{re.escape(name)}(?![^\W_])", path.name):
                begins.setdefault(name, []).append(task)
    if not begins:
        raise InputError(
            f"its name begins with no task's id or folder of suite {job.suite.name}; name its tasks with tasks=[ID,…]",
            path=path,
        )
    return begins[max(begins, key=len)]


def _log_comparison(task: Task, rows: dict[str, int]) -> None:
    """Log what the sheet's numbers are compared with, unless it is the complete files."""
    different = [
        f"{split} has {rows.get(split, 0)} rows here, officially {task.rows.get(split, 0)}"
        for split in SPLITS
        if task.rows and rows.get(split, 0) != task.rows.get(split, 0)
    ]
    if different:
        logger.info(
            "%s: %s; a sheet may give either number, and labels are counted in complete files only",
            *(task.id, ", ".join(different)),
        )
