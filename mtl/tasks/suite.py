"""A suite: the tasks of a benchmark, its published rows, and the files that its leaderboard takes, read from one YAML file."""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from mtl.base.errors import InputError
from mtl.base.names import is_file_name
from mtl.base.typed import typed
from mtl.base.untrusted import inside, is_inside
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.wording import counted
from mtl.tasks.metrics import is_metric
from mtl.tasks.scale import SCALES, Scale
from mtl.tasks.sources import Source
from mtl.tasks.task import SPLITS, Task
from mtl.tasks.task_checks import task_problem

AVERAGE = "average"  # the key of the average, beside the task ids
LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z0-9]+)*")


@dataclass
class Submission:
    """The format of a suite's submissions, a key of `mtl.submissions.SUBMISSION_FORMATS`, and what the format rows needs to know.

    Args:
        format: zip or glue (a zip with a file for each task; glue's have the index of each example), or rows (the official examples and an entry)
        measures: by name in the entry, metrics, or "rows" for the number of examples; the first stands there if the task has it, those after it
            only if they are the task's own `metric`
        fill: by dotted key of the entry, the fact of a run that stands there (`mtl.submissions.entry.FACTS`)
        ids: keys that identify examples; a task has the first of them that all its examples have"""

    format: str = "zip"
    template: str | None = None  # the leaderboard's empty entry, a JSON file in the data folder
    template_source: Source | None = None  # where `mtl data` gets it
    fill: dict[str, str] = field(default_factory=dict)
    measures: dict[str, list[str]] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)


@dataclass
class Published:
    """A published row: scores × 100 on one split by task, and their average, which may be missing.

    Args:
        also: by task and metric, scores × 100 by other metrics than the task's own: one of those that it is the mean of, or of the task's `also`"""

    model: str  # the row's title
    family: str  # its group of rows: floor (a simple baseline), lstm, transformer, …
    split: Literal["test", "dev"] = "test"  # the split that the scores are on, test or dev
    method: str | None = None  # the method of this toolkit that is the same model, if there is one
    embeddings: str | None = None  # the embeddings of that method
    variant: str | None = None  # the variant of that method
    average: float | None = None  # the printed average; None: none was printed
    scores: dict[str, float] = field(default_factory=dict)  # by task
    also: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass
class Suite:
    """A benchmark: its tasks by id, in the order of its table, and what was published on it.

    Args:
        data: the folder of the data files, as a path from the suite file; default: data/{name} in the working directory
        files: file names for all tasks; `{task}` stands for the task's id, as in `"{task}_train.jsonl"`
        embeddings: default vectors, as in `{fasttext: fasttext-pl}`: a recipe in `embeddings`, or a relative path
        average: the ids of the tasks that the average is the mean of; default: all. A list in it counts as one task, by its mean:
            `[cola, [mnli-m, mnli-mm]]`. An average without one of them is marked as partial
        allow_missing: `true`: a run leaves out tasks without any of their files, and says so in one line, and a task that lacks its test file alone
            has no test predictions; `false`: both are errors
        published: rows of published scores, shown beside ours: scores × 100 on `split` (`test` by default, or `dev`) and their `average`, if there
            is one. `also` has scores by other metrics: `{mrpc: {f1: 81.8}}`"""

    name: str  # names folders: letters, digits, `.`, `_`, `-`
    title: str = ""  # the suite's name in tables; default: `name`
    language: str = "en"  # of the Moses tokenizer: a code such as `sv` (ISO 639); default: `en`
    generated: bool = False  # of suites that come with mtl: the data is in the package
    data: str | None = None
    files: dict[str, str | None] = field(default_factory=lambda: {split: f"{split}.tsv" for split in SPLITS})
    embeddings: dict[str, str] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)  # settings for every run on the suite; no paths
    source: Source | None = None  # of every task without its own `source`
    tasks: dict[str, Task] = field(kw_only=True)  # the tasks by id, in the order of the table
    average: list[Any] | None = None
    allow_missing: bool = False
    published: list[Published] = field(default_factory=list)
    submission: Submission = field(default_factory=Submission)  # what its leaderboard takes; default: `{format: zip}`
    clean: str | None = None  # which examples a copy leaves out, as `mtl audit --write-clean` writes it; for reports
    scale: Literal[100, 1] = 100  # how scores are shown: `100` (default), as in 28.6, or `1`, as in 0.286

    @property
    def shown(self) -> Scale:
        """How scores are shown."""
        return SCALES[self.scale]

    @property
    def data_dir(self) -> Path:
        """Where the data is, unless the user names another folder: `data`, or else data/{suite} in the working directory."""
        return Path(self.data or f"data/{self.name}")

    @property
    def averaged(self) -> list[str]:
        """The ids of the tasks that the suite's score is the mean of, in the suite's order."""
        ids = {id for group in self.average_groups for id in group}
        return [id for id in self.tasks if id in ids]

    @property
    def average_groups(self) -> list[list[str]]:
        """The ids of the averaged tasks; those in one list count as one task, as GLUE's MNLI on matched and mismatched rows."""
        return [list(group) if isinstance(group, list) else [group] for group in self.average or self.tasks]

    @property
    def average_text(self) -> str:
        """What the average is the mean of, as in "cola, (mnli-m + mnli-mm) / 2"."""
        groups = self.average_groups
        if all(len(group) == 1 for group in groups):
            return ", ".join(self.averaged)
        return ", ".join(f"({' + '.join(group)}) / {len(group)}" if len(group) > 1 else group[0] for group in groups)

    def mean(self, scores: Mapping[str, float]) -> float | None:
        """The suite's score: the mean of these scores by task id, over the averaged tasks among them; None if there are none."""
        groups = ([scores[id] for id in group if id in scores] for group in self.average_groups)
        means = [fmean(present) for present in groups if present]
        return fmean(means) if means else None

    def divisors(self, ids: Container[str]) -> dict[str, int]:
        """By averaged task among these ids, the number by which its score is divided in the mean over them, in the suite's order."""
        present = [[id for id in group if id in ids] for group in self.average_groups]
        groups = [group for group in present if group]
        by_task = {id: len(groups) * len(group) for group in groups for id in group}
        return {id: by_task[id] for id in self.averaged if id in by_task}

    def lacking(self, ids: Container[str]) -> list[str]:
        """The averaged tasks that are not among these ids: without them, an average is partial."""
        return [id for id in self.averaged if id not in ids]

    def choose(self, ids: Iterable[str] | None) -> list[Task]:
        """The tasks with these ids, in the suite's order; None: all tasks. Raises InputError for an unknown id, and for none."""
        if ids is None:
            return list(self.tasks.values())
        wanted = {str(id) for id in ids}
        if unknown := wanted - set(self.tasks):
            message = f"suite {self.name} has no task {', '.join(sorted(unknown))}; it has {', '.join(self.tasks)}"
            raise InputError(message, key="tasks")
        if not wanted:
            raise InputError("names no task", key="tasks")
        return [task for id, task in self.tasks.items() if id in wanted]


def load_suite(path: Path) -> Suite:
    """Read and check a suite file, which is not trusted. Raises InputError that names the file and the key that is wrong."""
    return suite_from(read_yaml(path), path)


def suite_from(raw: Mapping[Any, Any], path: Path) -> Suite:
    """The suite that the content of a suite file declares; messages name its path. Raises InputError as `load_suite` does."""
    suite = typed(Suite, raw, path=path)
    if not suite.tasks:
        raise InputError("names no task", path=path, key="tasks")
    _check_names(suite, path)
    _complete(suite, path)
    for id, task in suite.tasks.items():
        if problem := _declaration_problem(task, suite):
            raise InputError(f"tasks.{id}.{problem}", path=path)
    if problem := _suite_problem(suite):
        raise InputError(problem, path=path)
    return suite


def _check_names(suite: Suite, path: Path) -> None:
    """Raise InputError if the suite's name, a path in it or its language cannot be one."""
    if suite.data is not None and not is_inside(suite.data):
        raise InputError(f"{suite.data!r} must be a folder beside the suite file, without '..'", path=path, key="data")
    for kind, vectors in suite.embeddings.items():
        if not is_inside(vectors):
            message = f"embeddings.{kind}: {vectors!r} must be a recipe's name or a path below the working directory"
            raise InputError(f"{message}; the command line may name any path (embeddings.path=)", path=path)
    if not is_file_name(suite.name):
        raise InputError(f"{suite.name!r} names folders; use letters, digits, '.', '_' and '-'", path=path, key="name")
    if not LANGUAGE.fullmatch(suite.language):
        raise InputError(f"{suite.language!r} is no code of a language, as in sv (ISO 639)", path=path, key="language")


def _complete(suite: Suite, path: Path) -> None:
    """Set what follows for the suite from its file's path and its other keys, and for its tasks from the suite and from each other."""
    if suite.data:
        suite.data = str(inside(path.parent, suite.data))
    suite.title = suite.title or suite.name
    for id, task in suite.tasks.items():
        task.id = str(id)
        task.title = task.title or task.id
        files = {**suite.files, **task.files}
        task.files = {split: name and name.replace("{task}", task.id) for split, name in files.items()}
        task.source = task.source or suite.source
        task.kind = task.kind or task.implied_kind
    # Only now, as the kind of the task whose head answers may follow from its keys.
    for task in suite.tasks.values():
        if task.answered_by is not None and (source := suite.tasks.get(task.answered_by)):
            task.kind = task.kind or source.kind
            task.labels = task.labels or source.labels
            task.range = task.range or source.range


def _declaration_problem(task: Task, suite: Suite) -> str | None:
    """The error in the declaration of a completed task, as "key: message", or None."""
    if task.decide:
        return f"decide: {counted(len(task.decide), 'question')} to answer; answer and delete it: {task.decide[0]}"
    return _answering_problem(task, suite) or task_problem(task, AVERAGE)


def _answering_problem(task: Task, suite: Suite) -> str | None:
    """Why the head of the task that `answered_by` names cannot answer this one, as "key: message", or None."""
    if task.answered_by is None:
        return None
    source = suite.tasks.get(task.answered_by)
    if source is None or source.answered_by is not None:
        return f"answered_by: {task.answered_by!r} is not a task of the suite with training rows"
    if (task.kind, task.labels, task.range) != (source.kind, source.labels, source.range):
        return f"answered_by: task {source.id} has other targets; leave out kind, labels and range"
    if (task.sides, task.candidates is None) != (source.sides, source.candidates is None):
        return f"answered_by: task {source.id} has a different number of texts"
    if [side for side, _ in task.marked] != [side for side, _ in source.marked]:
        return f"answered_by: task {source.id} has other spans"
    return None


def _suite_problem(suite: Suite) -> str | None:
    """The error in the suite's `average`, or in the metrics of its published rows, as "key: message", or None."""
    if suite.average is not None:
        ids = [id for group in suite.average_groups for id in group]
        if any(not isinstance(id, str) for id in ids):
            return "average: names tasks, and lists of tasks that count as one"
        if unknown := [id for id in ids if id not in suite.tasks]:
            return f"average: the suite has no task {unknown[0]}; it has {', '.join(suite.tasks)}"
        if not suite.average or not all(suite.average_groups) or len(set(ids)) < len(ids):
            return "average: must name at least one task, and none twice"
    for row in suite.published:
        if unknown := [name for by_name in row.also.values() for name in by_name if not is_metric(name)]:
            return f"published: {row.model}: also: {unknown[0]!r} is no metric"
    return None
