"""The submissions in a folder: what each says of its system, and its predictions, of which nothing is trusted; the rows that they predict; and
their scores, with what tests need, kept on disk by the content of predictions and labels."""

import hashlib
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path

import numpy as np

from mtl.base.arrays import read_arrays, write_arrays
from mtl.base.errors import InputError
from mtl.base.settings.schema import System
from mtl.base.typed import typed
from mtl.base.untrusted import check_plain_folder, is_web_address
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.version import VERSION
from mtl.data.dataset import describe_rows, row_sizes
from mtl.data.examples import Example, read_examples
from mtl.data.splits import read_split
from mtl.runs.folder import scored_rows
from mtl.stats.comparison import Sample, over_tasks
from mtl.stats.resampling import RESAMPLES, RowGroups, resampled_scores, row_groups
from mtl.submissions.entry import labelled_file, layout_of
from mtl.submissions.files import predicted_splits, prediction_names, read_files
from mtl.submissions.lines import DataRows
from mtl.submissions.predictions import put_to_rows, read_sources
from mtl.tasks.metrics import score
from mtl.tasks.suite import AVERAGE, Suite
from mtl.tasks.task import ScoredRows, Task

ABOUT = "system.yaml"
LONGEST = 300  # characters of a value in system.yaml, and of the reason for a refusal
OTHERS = re.compile(r"[^/]*\.(json|md|txt|yaml|yml)|(README|LICENSE)[^/]*", re.IGNORECASE)  # files beside predictions


# Increase it whenever the same predictions get other scores or resamples, or the layout of the files changes.
FORMAT = 1
logger = logging.getLogger("mtl")


@dataclass
class Entrant(System):
    """The content of a submission's system.yaml. What is missing is not stated."""

    team: str | None = None  # who submits, for the limit of submissions
    date: str | None = None  # the day of the submission, as in 2026-11-23


@dataclass(frozen=True, eq=False)
class UnreadSubmission:
    """A submission whose predictions are not read yet: the name of its folder, the path of the folder, or of the zip in it, what it says of the
    system, and by name the content of its files of predictions for the leaderboard's split."""

    name: str
    path: Path
    system: Entrant
    contents: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 of the names and contents of its files of predictions."""
        listed = (f"{hashlib.sha256(self.contents[name]).hexdigest()}  {name}\n" for name in sorted(self.contents))
        return hashlib.sha256("".join(listed).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class TaskRows:
    """The rows of one task that a submission predicts, without targets, in the form in which predictions are checked against them."""

    task: Task
    data: DataRows


@dataclass(frozen=True, eq=False)
class LabelledRows(TaskRows):
    """The rows of one task with their gold targets.

    Args:
        task: the task, scored on the board's split.
        rows: what metrics read of them.
        groups: the groups of rows that resampling draws.
        key: a hash of texts, groups, targets and task.
    """

    rows: ScoredRows
    groups: RowGroups
    key: str


def find_submissions(folder: Path) -> list[Path]:
    """The folders in a folder, each a submission, in order of their names. Raises InputError if there are none."""
    if not folder.is_dir():
        raise InputError("no such folder; it must hold a folder for each submission", path=folder)
    found = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not found:
        raise InputError("holds no submission: a folder with predictions", path=folder)
    return found


def read_about(folder: Path) -> Entrant:
    """What system.yaml in the folder of a submission says; nothing if there is none. Raises InputError that says why it is refused."""
    if folder.is_symlink() or not re.fullmatch(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,99}", folder.name):
        raise InputError("must be a folder whose name has only letters, digits, '.', '_', '+' and '-'", path=folder)
    check_plain_folder(folder)
    path = folder / ABOUT
    if not path.exists():
        return Entrant()
    about = typed(Entrant, read_yaml(path), path=path)
    for field in fields(about):
        value = getattr(about, field.name)
        if isinstance(value, str) and (len(value) > LONGEST or not value.isprintable() or not value.strip()):
            problem = f"must be one line of at most {LONGEST} characters that can be printed"
            raise InputError(problem, path=path, key=field.name)
        if isinstance(value, int | float) and not 0 <= value < 1e18:
            raise InputError(f"{value} is no such number", path=path, key=field.name)
    if about.link is not None and not is_web_address(about.link):
        raise InputError("must begin with https:// or http://", path=path, key="link")
    if about.date is not None:
        try:
            if date.fromisoformat(about.date).isoformat() != about.date:
                raise ValueError
        except ValueError:
            raise InputError(f"{about.date!r} is no day as in 2026-11-23", path=path, key="date") from None
    return about


def read_submission(folder: Path, about: Entrant, suite: Suite, split: str) -> UnreadSubmission:
    """The submission in a folder. Raises InputError that says why it is refused."""
    archives = sorted(folder.glob("*.zip"))
    if len(archives) > 1:
        raise InputError(f"has {len(archives)} zips; one submission has one", path=folder)
    path = archives[0] if archives else folder
    of_split = {name for name, (_, other) in prediction_names(suite).items() if other == split}
    contents, others = read_files(path, of_split.__contains__)
    predicted_splits(path, others, suite, beside=OTHERS.fullmatch)
    if not contents:
        raise InputError(f"has no predictions for {split}", path=folder)
    return UnreadSubmission(folder.name, path, about, contents)


def read_predictions(
    submission: UnreadSubmission, suite: Suite, split: str, tasks: Mapping[str, TaskRows]
) -> dict[str, np.ndarray]:
    """The predictions for the rows of each task that the submission has, (rows,) by task id.

    Raises:
        InputError: for predictions that do not fit the rows, or if there are none of these tasks. It says nothing of labels.
    """
    rows = {id: {split: task.data} for id, task in tasks.items()}
    sources = read_sources(submission.path, submission.contents, suite, rows)
    predicted, _ = put_to_rows(sources, suite, rows, labels={})
    of_split = {id: splits[split] for id, splits in predicted.items() if split in splits}
    if not of_split:
        raise InputError(f"has no predictions of {', '.join(tasks)}, the tasks that are scored", path=submission.path)
    return of_split


def read_labelled_rows(suite: Suite, gold: Path, split: str) -> dict[str, LabelledRows]:
    """The rows of the tasks with labels in the folder, by task id.

    Args:
        gold: a data folder whose test files have the target column; they may be called test.tsv.

    Raises:
        InputError: if no task has labels, and for files that cannot be read.
    """
    tasks = {}
    for task in suite.tasks.values():
        if (path := labelled_file(task, split, gold)) is not None:
            scored = replace(task, scored="test" if split == "test" else "dev", breakdown=None)
            examples = read_split(scored, path, split, layout_of(task, split, path, gold))
            tasks[task.id] = _labelled(scored, split, path, examples)
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name} with a label in every row", path=gold)
    return tasks


def read_public_rows(suite: Suite, data_dir: Path, split: str) -> dict[str, TaskRows]:
    """The rows of the tasks with a file in the folder, by task id, without labels. Raises InputError as `read_labelled_rows`."""
    tasks = {}
    for task in suite.tasks.values():
        path = task.path(split, data_dir)
        if path is not None and path.is_file():
            examples = read_examples(task, path, False, task.layout(split, data_dir))
            tasks[task.id] = TaskRows(task, _rows(task, split, path, examples))
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name}; set data_dir=", path=data_dir)
    return tasks


def _rows(task: Task, split: str, path: Path, examples: Sequence[Example]) -> DataRows:
    return DataRows(task, split, path, np.full(len(examples), np.nan), row_sizes(task, examples))


def _labelled(task: Task, split: str, path: Path, examples: Sequence[Example]) -> LabelledRows:
    described = describe_rows(task, examples)
    groups = described["groups"]
    # A single group cannot be resampled, so then each row is a group.
    without_groups = groups is None or len(set(groups)) == 1
    numbers = np.unique(np.arange(len(examples)) if without_groups else np.array(groups), return_inverse=True)[1]
    rows = scored_rows(task, examples)
    rows_key = hashlib.sha256(repr((described["texts"], groups)).encode()).hexdigest()
    key = hashlib.sha256(repr((rows_key, rows.targets.tolist(), task.fingerprint())).encode()).hexdigest()
    return LabelledRows(task, _rows(task, split, path, examples), rows, row_groups(rows_key, numbers), key)


@dataclass(frozen=True, eq=False)
class ScoredSubmission:
    """A submission with its scores.

    Args:
        digest: SHA-256 of its predictions, equal for submissions with the same ones in whatever form.
        scores: × 100, by task id.
        samples: what tests resample, by task id, and by AVERAGE if the submission has every averaged task that the labels are of.
    """

    name: str
    system: Entrant
    digest: str
    scores: Mapping[str, float]
    samples: Mapping[str, Sample]


class Scorer:
    """Scores submissions on the same labelled rows."""

    def __init__(self, suite: Suite, split: str, tasks: Mapping[str, LabelledRows], cache: Path | None) -> None:
        """
        Args:
            tasks: by task id.
            cache: the folder of the files; None: nothing is remembered.
        """
        self._suite, self._split, self._tasks, self._cache = suite, split, tasks, cache
        keys = [(id, rows.task.fingerprint(), rows.key) for id, rows in tasks.items()]
        self._key = repr((FORMAT, VERSION, np.__version__, RESAMPLES, split, suite.submission.ids, keys))
        self._averaged = [id for id in suite.averaged if id in tasks]

    def score(self, submission: UnreadSubmission) -> ScoredSubmission:
        """The submission's scores. Raises InputError as `read_predictions`; it says nothing of labels."""
        key = hashlib.sha256(f"{self._key} {submission.digest}".encode()).hexdigest()
        path = self._cache / f"{key}.npz" if self._cache else None
        stored = (path and self._stored(path)) or self._computed(submission)
        if path and not path.exists():
            try:
                write_arrays(path, stored)
            except OSError as error:
                logger.warning("%s: cannot be kept: %s", path, error)
        samples = {
            str(id): Sample(np.array([value]), {self._tasks[str(id)].groups.rows: means}, 0.0, True)
            for id, value, means in zip(stored["tasks"], stored["scores"], stored["means"][0], strict=True)
        }
        scores = {id: float(sample.by_seed[0]) for id, sample in samples.items()}
        if self._averaged and all(id in samples for id in self._averaged):
            of_task = dict(zip(stored["tasks"].tolist(), stored["means"][1], strict=True))
            parts = [{self._tasks[id].groups.in_average.rows: of_task[id]} for id in self._averaged]
            mean = np.array([self._suite.mean(scores)])
            divisors = list(self._suite.divisors(self._averaged).values())
            samples[AVERAGE] = Sample(mean, over_tasks(parts, divisors), 0.0, True)
        return ScoredSubmission(submission.name, submission.system, str(stored["digest"]), scores, samples)

    def _computed(self, submission: UnreadSubmission) -> dict[str, np.ndarray]:
        """The arrays of a file: `tasks`, `scores` × 100 (tasks,), `means` on each resample, of the tasks and of their parts of the average
        (2, tasks, RESAMPLES), and `digest`."""
        predicted = read_predictions(submission, self._suite, self._split, self._tasks)
        tasks = {id: self._tasks[id] for id in self._tasks if id in predicted}
        scores, means, in_average = [], [], []
        for id, own in tasks.items():
            targets, part = predicted[id], own.groups.in_average
            scores.append(score(own.task, targets, own.rows))
            means.append(resampled_scores(own.task, targets[None], own.rows, own.groups)[0])
            is_same = part is own.groups
            in_average.append(means[-1] if is_same else resampled_scores(own.task, targets[None], own.rows, part)[0])
        answers = repr([(id, predicted[id].tolist()) for id in tasks])
        return {
            "tasks": np.array(list(tasks)),
            "scores": np.array(scores),
            "means": np.array([means, in_average]),
            "digest": np.array(hashlib.sha256(answers.encode()).hexdigest()),
        }

    def _stored(self, path: Path) -> dict[str, np.ndarray] | None:
        """The arrays in a file; None if there is none, or if it is damaged."""
        if not path.exists():
            return None
        try:
            arrays = read_arrays(path)
            count = len(arrays["tasks"])
            shapes = {
                "tasks": ("U", count),
                "scores": ("f", count),
                "means": ("f", 2, count, RESAMPLES),
                "digest": ("U",),
            }
            if {name: (array.dtype.kind, *array.shape) for name, array in arrays.items()} != shapes:
                raise ValueError("other arrays than expected")
            if unknown := set(arrays["tasks"].tolist()) - set(self._tasks):
                raise ValueError(f"scores of {', '.join(unknown)}")
        except (OSError, ValueError, KeyError, TypeError, InputError) as error:
            logger.warning("%s: damaged, scored anew: %s", path, error)
            path.unlink(missing_ok=True)
            return None
        return arrays
