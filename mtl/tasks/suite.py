"""What is evaluated: a suite of tasks, read from one YAML file."""

import hashlib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import MISSING, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.errors import InputError
from mtl.untrusted import is_inside, is_web_address, read_yaml

SPLITS = ("train", "dev", "test")
AVERAGE = "average"  # stands among task ids where both are meant

# The fields of a task that predictions and scores follow from, beside the content of its files.
RESULTS_FOLLOW_FROM = ("id", "text", "target", "labels", "range", "metric", "positive", "group", "same_source", "files")

# The kind of target each metric is for; `mtl.tasks.metrics` has the formulas.
METRICS = {
    "accuracy": "labels",
    "f1": "labels",
    "macro_f1": "labels",
    "matthews": "labels",
    "spearman": "range",
    "pearson": "range",
    "one_minus_wmae": "range",
}


@dataclass
class Source:
    """Where a task's official zip is: its address, and its size in bytes and SHA-256 where they are known."""

    url: str = MISSING
    size: int | None = None
    sha256: str | None = None


@dataclass
class Task:
    """One task: its columns, its targets, its metric and its files. A plain value that knows of no model.

    Exactly one of `labels` (classification: the target's values as they stand in the file) and `range`
    (regression: its smallest and largest value) is set.
    """

    id: str = ""
    title: str = ""
    folder: str = ""  # below the suite's data folder
    text: list[str] = MISSING  # one column, or two for a pair
    target: str = MISSING
    labels: list[str] | None = None
    range: list[float] | None = None
    metric: str = MISSING
    positive: str | None = None  # the label that metric f1 is of
    group: str | None = None  # rows that share this column's value stay on one side of the held-out split
    same_source: str | None = None  # or: the label of pairs whose texts have one source, whose rows stay on one side
    files: dict[str, str | None] = field(default_factory=dict)  # by split
    rows: dict[str, int] = field(default_factory=dict)  # by split, as published
    source: Source | None = None

    @property
    def is_pair(self) -> bool:
        return len(self.text) == 2

    @property
    def is_regression(self) -> bool:
        return self.range is not None

    @property
    def outputs(self) -> int:
        """Numbers that a head gives for one row: one a label, or one for a regression."""
        return 1 if self.labels is None else len(self.labels)

    def value(self, cell: str) -> float:
        """The target that a cell says: a label's index, or a number. Raises ValueError with what is wrong."""
        if self.labels is not None:
            if cell not in self.labels:
                raise ValueError(f"unknown label {cell!r}, expected one of {', '.join(self.labels)}")
            return self.labels.index(cell)
        low, high = self.bounds
        try:
            number = float(cell)
        except ValueError:
            raise ValueError(f"target {cell!r} is not a number") from None
        if not low <= number <= high:
            raise ValueError(f"target {cell} is outside {low:g} to {high:g}")
        return number

    def cell(self, value: float) -> str:
        """How a prediction is written: the label of an index, or a number that reads back as the same."""
        return repr(float(value)) if self.labels is None else self.labels[int(value)]

    @property
    def bounds(self) -> tuple[float, float]:
        """A regression's smallest and largest value."""
        assert self.range is not None
        low, high = self.range
        return low, high

    def fingerprint(self) -> str:
        """SHA-256 of the fields that results follow from. Fields without a value do not count, so that a new field of
        this class leaves finished runs valid."""
        fields = {name: value for name in RESULTS_FOLLOW_FROM if (value := getattr(self, name)) is not None}
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()

    def path(self, split: str, data_dir: Path) -> Path | None:
        """The split's file, or None where the task has none."""
        name = self.files.get(split)
        return None if name is None else data_dir / self.folder / name


@dataclass
class Published:
    """A published row: scores × 100 by task, and their average."""

    model: str = MISSING
    family: str = MISSING  # floor, lstm or transformer
    method: str | None = None  # of ours that is the same, if there is one: with its embeddings and variant
    embeddings: str | None = None
    variant: str | None = None
    average: float = MISSING
    scores: dict[str, float] = field(default_factory=dict)


@dataclass
class Suite:
    """A benchmark: its tasks by id, in the order of its table, and what was published on it."""

    name: str = MISSING
    title: str = ""
    language: str = "en"
    generated: bool = False  # its data is written by `mtl.sample.grammar`, not downloaded
    files: dict[str, str | None] = field(default_factory=lambda: {s: f"{s}.tsv" for s in SPLITS})
    embeddings: dict[str, str] = field(default_factory=dict)  # by embeddings name: a recipe, or a path
    config: dict[str, Any] = field(default_factory=dict)  # what the suite sets otherwise than configs/baseline.yaml
    tasks: dict[str, Task] = MISSING
    published: list[Published] = field(default_factory=list)

    def choose(self, ids: Iterable[str] | None) -> list[Task]:
        """The tasks of these ids in the suite's order, or all. Raises InputError for an unknown id."""
        if ids is None:
            return list(self.tasks.values())
        wanted = set(ids)
        if unknown := wanted - set(self.tasks):
            raise InputError(
                f"tasks: suite {self.name} has no task {', '.join(sorted(unknown))}; it has {', '.join(self.tasks)}"
            )
        if not wanted:
            raise InputError("tasks: names no task")
        return [task for id, task in self.tasks.items() if id in wanted]


def load_suite(path: Path) -> Suite:
    """Read and check a suite file, which is not trusted. Raises InputError that names the file and the key that is wrong."""
    raw = read_yaml(path)
    try:
        suite = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(Suite), raw))
    except OmegaConfBaseException as error:
        raise InputError(f"{path}: {error.full_key or 'the file'}: {str(error).splitlines()[0]}") from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not a suite file: {error}") from None
    assert isinstance(suite, Suite)
    if not suite.tasks:
        raise InputError(f"{path}: tasks: names no task")
    for kind, named in suite.embeddings.items():
        if not is_inside(named):
            raise InputError(
                f"{path}: embeddings.{kind}: {named!r} must be a recipe's name or a path below the working directory;"
                " the command line may name any path (embeddings.path=)"
            )
    if not _names_files(suite.name):
        raise InputError(f"{path}: name: {suite.name!r} names folders; use letters, digits, '.', '_' and '-'")
    for id, task in suite.tasks.items():
        task.id = str(id)
        task.title = task.title or task.id
        task.files = {**suite.files, **task.files}
        if problem := _problem(task, raw["tasks"][id]) or _unsafe(task):
            raise InputError(f"{path}: tasks.{id}.{problem}")
    suite.title = suite.title or suite.name
    return suite


def _names_files(name: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", name))


def _problem(task: Task, raw: dict[str, Any]) -> str | None:
    """What is wrong with a task's declaration, as "key: what", or None."""
    if not _names_files(task.id):
        return "id: a task's id names files; use letters, digits, '.', '_' and '-'"
    if task.id == AVERAGE:
        return f"id: {AVERAGE!r} names the average of all tasks; choose another id"
    if len(task.text) not in (1, 2):
        return "text: names one column, or two for a pair"
    if (task.labels is None) == (task.range is None):
        return "labels: exactly one of labels (classification) and range (regression) must be given"
    if any(isinstance(label, list | dict) for label in raw.get("labels") or ()):
        return "labels: must be a list of texts"
    if task.labels is not None and (len(task.labels) < 2 or len(set(task.labels)) < len(task.labels)):
        return "labels: needs at least two, all different"
    if any(isinstance(label, bool) for label in raw.get("labels") or ()):
        return "labels: YAML reads yes, no, on, off, true and false as truth values; put them in quotes"
    if task.range is not None and (len(task.range) != 2 or not -math.inf < task.range[0] < task.range[1] < math.inf):
        return "range: is [smallest, largest], finite numbers"
    if task.metric not in METRICS:
        return f"metric: unknown metric {task.metric!r}, expected one of {', '.join(METRICS)}"
    if METRICS[task.metric] != ("range" if task.is_regression else "labels"):
        return f"metric: {task.metric} is for tasks with {METRICS[task.metric]}"
    if task.metric == "f1" and task.positive not in (task.labels or ()):
        return f"positive: metric f1 needs the label it is of, one of {', '.join(task.labels or ())}"
    if task.same_source is not None and (not task.is_pair or task.same_source not in (task.labels or ())):
        return "same_source: names a label of a task with two text columns"
    if task.same_source is not None and task.group is not None:
        return "same_source: a task has either group or same_source"
    if unknown := set(task.files) - set(SPLITS):
        return f"files: unknown split {', '.join(sorted(unknown))}, expected {', '.join(SPLITS)}"
    if task.files["train"] is None:
        return "files: a task needs a train file"
    return None


def _unsafe(task: Task) -> str | None:
    """What of a task's declaration could reach outside the data folder, as "key: what", or None."""
    for key, name in [("folder", task.folder), *((f"files.{split}", name) for split, name in task.files.items())]:
        if name is not None and not is_inside(name):
            return f"{key}: {name!r} must be a path below the data folder, without '..'"
    if task.source is not None and not is_web_address(task.source.url):
        return f"source.url: {task.source.url!r} must begin with https:// or http://"
    return None
