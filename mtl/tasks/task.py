"""One task of a benchmark, as plain values: its columns, its targets, its metric and its files; and its scored rows.

A score is × 100 everywhere in the package and in files that programs read back. `Scale` says how people see it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np
from omegaconf import MISSING

from mtl.base.files import is_sha256
from mtl.base.untrusted import is_web_address


@dataclass(frozen=True)
class Scale:
    """One way to show scores.

    Args:
        divisor: the divisor of a score × 100.
        decimals: the decimals of a score as shown.
        unit: what notes and axes call a score.
    """

    divisor: float
    decimals: int
    unit: str

    @property
    def heading(self) -> str:
        """What the notes of a table call its scores, as in "Scores × 100"."""
        return self.unit.replace("score", "Scores")

    @property
    def perfect(self) -> int:
        """The highest score on this scale: 100 or 1."""
        return round(100 / self.divisor)

    def value(self, score: float) -> float:
        """A score × 100 on this scale, not rounded."""
        return score / self.divisor

    def show(self, score: float) -> str:
        """A score × 100 as shown.

        >>> SCALES[100].show(28.61), SCALES[1].show(28.61)
        ('28.6', '0.286')
        """
        return f"{self.value(score):.{self.decimals}f}"

    def difference(self, points: float) -> str:
        """A difference of two scores × 100 as shown, with its sign; one that is shown as zero has a plus."""
        return f"{round(self.value(points), self.decimals) + 0.0:+.{self.decimals}f}"


# By the value of `scale` in a suite file.
SCALES = {100: Scale(1.0, 1, "score × 100"), 1: Scale(100.0, 3, "score")}
PERCENT = SCALES[100]


SPLITS = ("train", "dev", "test")
SPAN_ENDS = ("start", "stop")  # the keys of a span
LEVELS = ("text", "word")
DEV_OR_TEST = "dev_or_test"  # a value of `Task.scored`
UNSCORED = "none"  # another one: no row of the task has a target, and its test rows are predicted only

# The fields of a task that predictions and scores depend on, beside the content of its files.
SCORES_DEPEND_ON = (
    *("id", "text", "target", "labels", "range", "metric", "positive", "group", "same_source", "files"),
    *("candidates", "scored", "answered_by", "columns", "chance", "spans", "header"),
)


@dataclass
class Source:
    """Where a task's official data is: the address of a zip, or one with `{file}`, which stands for a single file's
    name.

    `{folder}` in the address stands for the task's folder. The checksums of single files are the task's
    (`Task.checksums`).

    Args:
        size: the size of a zip, in bytes, and sha256: of a zip, where they are known.
    """

    url: str = MISSING
    size: int | None = None
    sha256: str | None = None

    @property
    def problem(self) -> str | None:
        """The error in this declaration, as "key: message", or None."""
        if not is_web_address(self.url):
            return f"url: {self.url!r} must begin with https:// or http://"
        if self.sha256 is not None and not is_sha256(self.sha256):
            return f"sha256: {self.sha256!r} must have 64 hexadecimal digits"
        return None

    @property
    def single_files(self) -> bool:
        """Whether each file has its own address, instead of one zip with all files."""
        return "{file}" in self.url

    def address(self, folder: str, file: str) -> str:
        """The address of a single file of a task."""
        return self.url.replace("{folder}", quote(folder)).replace("{file}", quote(file))


@dataclass
class HubSource:
    """A copy of the task's data on the Hugging Face Hub, for when `source` is missing or cannot be downloaded.

    If `revision` is None, the branch main is used; if that has no data files, the Hub's own conversion to parquet is used.
    """

    dataset: str = MISSING  # OWNER/NAME
    revision: str | None = None  # a branch, tag or commit
    splits: dict[str, str] = field(default_factory=lambda: {"train": "train", "dev": "validation", "test": "test"})
    """For each split, its name on the Hub, or the path of its file in the dataset's repository."""
    columns: dict[str, str] = field(default_factory=dict)
    """For each column of the task whose name in the copy differs, that name."""


@dataclass
class Task:
    """The declaration of one task, independent of any model; `mtl.tasks.targets` and `mtl.tasks.metrics` interpret it."""

    id: str = ""
    title: str = ""
    folder: str = ""  # below the suite's data folder
    # The target kind, a key of `mtl.tasks.targets.TARGET_KINDS`; empty: it follows from labels, range or candidates.
    kind: str = ""
    # One column, or two for a pair; for a choice none or one, beside the candidates; at level word any number.
    text: list[str] = MISSING
    level: str = (
        "text"  # what the texts are: text, or word (single words and expressions); methods say what they can answer
    )
    candidates: list[str] | None = None  # for a choice: columns of texts, or a column of lists of texts
    # By text column, the columns of the spans that are marked in the text, for models to read beside the text as a whole.
    spans: dict[str, list[str]] | None = None
    # The columns of the tsv and csv files without a header: those whose first line names none of these columns.
    header: list[str] | None = None
    target: str = MISSING
    labels: list[str] | None = None  # as written in the file
    range: list[float] | None = None  # for numbers: the smallest and the largest
    metric: str = MISSING
    positive: str | None = None  # the label that metric f1 is computed for
    columns: list[str] | None = None  # further columns that the metric reads
    chance: str | None = None  # for pseudo_alpha: the accuracy of a guess, a number or a fraction
    also: list[str] | None = None  # further metrics, shown beside `metric`
    breakdown: list[str] | None = None  # columns by whose values reports divide the scored rows
    group: str | None = None  # rows with the same value in this column stay on one side of the held-out split
    # Instead of group: the label of pairs whose two texts have the same source; rows of one source stay together.
    same_source: str | None = None
    answered_by: str | None = None  # for a task without training rows: the task whose head predicts it
    # The split that scores are on: dev (None means dev) or test; or DEV_OR_TEST: dev if its file is there, else test. The dev file may
    # then be missing. `mtl.data.splits.choose_scored` replaces DEV_OR_TEST by one of them before any data is read.
    scored: str | None = None
    files: dict[str, str | None] = field(default_factory=dict)  # by split
    rows: dict[str, int] = field(default_factory=dict)  # by split, as published
    license: str | None = None  # of the data, as its publisher names it
    instructions: str | None = (
        None  # for people who answer rows of the task, see mtl.annotate; an empty line ends a paragraph
    )
    source: Source | None = None
    checksums: dict[str, str] = field(default_factory=dict)  # of single files, by split: sha256:… or git:… (a blob id)
    hub: HubSource | None = None
    withdrawn: bool = False  # its publisher has withdrawn the data: it is not downloaded

    @property
    def scored_split(self) -> str:
        """The split whose targets the predictions are compared with: dev or test. Of an unscored task, test."""
        return "dev" if self.scored in (None, DEV_OR_TEST) else "test" if self.scored == UNSCORED else str(self.scored)

    @property
    def is_scored(self) -> bool:
        """Whether predictions are compared with targets."""
        return self.scored != UNSCORED

    @property
    def sides(self) -> int:
        """The number of texts in one model input: 1, or 2 for a pair. A choice has one input for each candidate."""
        return len(self.text) + (self.candidates is not None)

    @property
    def is_pair(self) -> bool:
        return self.sides == 2

    @property
    def text_columns(self) -> list[str]:
        """The columns that hold a row's texts."""
        return [*self.text, *(self.candidates or ())]

    @property
    def further_columns(self) -> list[str]:
        """The columns that are kept beside texts and targets: those that metrics read, and those of the breakdown."""
        return list(dict.fromkeys([*(self.columns or ()), *(self.breakdown or ())]))

    @property
    def marked(self) -> list[tuple[int, str]]:
        """The spans of a row, in the order of the texts that they are in: the number of the text, from 0, and the span's column."""
        return [(side, column) for side, name in enumerate(self.text) for column in (self.spans or {}).get(name, ())]

    @property
    def span_columns(self) -> list[str]:
        """The columns that hold the ends of a row's spans: start and stop of each."""
        return [f"{column}.{end}" for _, column in self.marked for end in SPAN_ENDS]

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest number of `range`."""
        assert self.range is not None
        low, high = self.range
        return low, high

    @property
    def implied_kind(self) -> str:
        """The target kind that a declaration without `kind` implies, or an empty string."""
        implied = {"labels": self.labels, "number": self.range, "choice": self.candidates}
        given = [kind for kind, value in implied.items() if value is not None]
        return given[0] if len(given) == 1 else ""

    def measured_by(self, metric: str) -> "Task":
        """The same task with another metric, such as one of `also`."""
        return replace(self, metric=metric)

    def has_targets(self, split: str) -> bool:
        """Whether the targets of this split are read. Those of a test file are read only if scores are on test."""
        return split != "test" or self.scored == "test"

    def path(self, split: str, data_dir: Path) -> Path | None:
        """The split's file, or None where the task has none."""
        name = self.files.get(split)
        return None if name is None else data_dir / self.folder / name

    def fingerprint(self) -> str:
        """SHA-256 of the fields that scores depend on. Fields that are None do not count, so that finished runs stay valid when
        this class gets a new field."""
        fields = {name: value for name in SCORES_DEPEND_ON if (value := getattr(self, name)) is not None}
        if self.kind != self.implied_kind:
            fields["kind"] = self.kind
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class ScoredRows:
    """The rows that predictions are compared with.

    Args:
        targets: (rows,), see `mtl.tasks.target_kind`.
        candidates: int64 (rows,), the number of candidates of each row; None unless the task is a choice.
        columns: the values of the task's `further_columns` by name, one string per row.
    """

    targets: np.ndarray
    candidates: np.ndarray | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)


# task, predictions (rows,), scored rows, weights (sets, rows) -> scores (sets,), at most 1.
Formula = Callable[[Task, np.ndarray, ScoredRows, np.ndarray], np.ndarray]
