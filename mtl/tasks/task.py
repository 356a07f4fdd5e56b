"""One task of a benchmark, as plain values: its columns, its targets, its metric and its files."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from omegaconf import MISSING

SPLITS = ("train", "dev", "test")

# The fields of a task that predictions and scores depend on, beside the content of its files.
SCORES_DEPEND_ON = (
    *("id", "text", "target", "labels", "range", "metric", "positive", "group", "same_source", "files"),
    *("candidates", "scored", "answered_by", "columns"),
)


@dataclass
class Source:
    """Where a task's official zip is: its address, and its size in bytes and SHA-256 where they are known."""

    url: str = MISSING
    size: int | None = None
    sha256: str | None = None


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
    text: list[str] = MISSING  # one column, or two for a pair; for a choice none or one, beside the candidates
    candidates: list[str] | None = None  # for a choice: columns of texts, or a column of lists of texts
    target: str = MISSING
    labels: list[str] | None = None  # as written in the file
    range: list[float] | None = None  # for numbers: the smallest and the largest
    metric: str = MISSING
    positive: str | None = None  # the label that metric f1 is computed for
    columns: list[str] | None = None  # further columns that the metric reads
    group: str | None = None  # rows with the same value in this column stay on one side of the held-out split
    # Instead of group: the label of pairs whose two texts have the same source; rows of one source stay together.
    same_source: str | None = None
    answered_by: str | None = None  # for a task without training rows: the task whose head predicts it
    scored: str | None = None  # the split that scores are on: dev (None means dev) or test
    files: dict[str, str | None] = field(default_factory=dict)  # by split
    rows: dict[str, int] = field(default_factory=dict)  # by split, as published
    license: str | None = None  # of the data, as its publisher names it
    source: Source | None = None
    hub: HubSource | None = None

    @property
    def scored_split(self) -> str:
        """The split whose targets the predictions are compared with: dev or test."""
        return self.scored or "dev"

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

    def has_targets(self, split: str) -> bool:
        """Whether the targets of this split are read. Those of a test file are read only if scores are on test."""
        return split != "test" or self.scored_split == "test"

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
