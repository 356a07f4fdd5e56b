"""The submissions in a folder: what each says of its system, and its predictions, of which nothing is trusted; the rows that they predict; and
their scores, with what tests need."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.settings.schema import System
from mtl.base.typed import typed
from mtl.base.untrusted import check_plain_folder, is_web_address
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.dataset import describe_rows, row_sizes
from mtl.data.examples import Example, read_examples
from mtl.data.splits import read_split
from mtl.runs.folder import recorded_groups, scored_rows
from mtl.stats.comparison import Sample, mean_over_tasks
from mtl.stats.resampling import RowGroups, RowSet, resampled_scores, row_groups
from mtl.submissions.data_rows import DataRows, put_to_rows, read_sources
from mtl.submissions.files import predicted_splits, prediction_names, read_files
from mtl.submissions.row_files import labelled_file, layout_of
from mtl.tasks.metrics import score
from mtl.tasks.suite import AVERAGE, Suite
from mtl.tasks.task import ScoredRows, Task

ABOUT = "system.yaml"
LONGEST = 300  # characters of a value in system.yaml, and of the reason for a refusal
OTHERS = re.compile(r"[^/]*\.(json|md|txt|yaml|yml)|(README|LICENSE)[^/]*", re.IGNORECASE)  # files beside predictions


@dataclass
class Entrant(System):
    """The content of a submission's system.yaml. What is missing is not stated."""

    team: str | None = None  # who submits, for the limit of submissions
    date: str | None = None  # the day of the submission, as in 2026-11-23


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The rows of one task with their gold targets."""

    task: Task  # scored on the board's split
    data: DataRows  # the form in which predictions are checked against them
    rows: ScoredRows  # what metrics read
    groups: RowGroups  # that resampling draws

    def resampled(self, targets: np.ndarray, groups: RowGroups) -> dict[RowSet, np.ndarray]:
        """The scores × 100 of predictions on each resample of these groups, (RESAMPLES,), by their set of rows."""
        return {groups.rows: resampled_scores(self.task, targets[None], self.rows, groups)[0]}


def find_submissions(folder: Path) -> list[Path]:
    """The folders in a folder, each a submission, in order of their names. Raises InputError if there are none."""
    if not folder.is_dir():
        raise InputError("no such folder; it must hold a folder for each submission", path=folder)
    folders = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not folders:
        raise InputError("holds no submission: a folder with predictions", path=folder)
    return folders


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
    if about.link is not None and not is_web_address(about.link):
        raise InputError("must begin with https:// or http://", path=path, key="link")
    if about.date is not None:
        try:
            if date.fromisoformat(about.date).isoformat() != about.date:
                raise ValueError
        except ValueError:
            raise InputError(f"{about.date!r} is no day as in 2026-11-23", path=path, key="date") from None
    return about


def read_predictions(folder: Path, suite: Suite, split: str, tasks: Mapping[str, DataRows]) -> dict[str, np.ndarray]:
    """The predictions in the folder of a submission for the rows of each task that it has, (rows,) by task id.

    Raises:
        InputError: that says why the submission is refused, as for predictions that do not fit the rows. It says nothing of labels.
    """
    archives = sorted(folder.glob("*.zip"))
    if len(archives) > 1:
        raise InputError(f"has {len(archives)} zips; one submission has one", path=folder)
    path = archives[0] if archives else folder
    of_split = {name for name, (_, named_split) in prediction_names(suite).items() if named_split == split}
    contents, others = read_files(path, of_split.__contains__)
    predicted_splits(path, others, suite, beside=OTHERS.fullmatch)
    if not contents:
        raise InputError(f"has no predictions for {split}", path=folder)
    rows = {id: {split: data} for id, data in tasks.items()}
    predicted, _ = put_to_rows(read_sources(path, contents, suite, rows), suite, rows, labels={})
    targets = {id: splits[split] for id, splits in predicted.items() if split in splits}
    if not targets:
        raise InputError(f"has no predictions of {', '.join(tasks)}, the tasks that are scored", path=path)
    return targets


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
            described = describe_rows(scored, examples)
            groups = row_groups(*recorded_groups(described["texts"], described["groups"], len(examples)))
            data = _data_rows(scored, split, path, examples)
            tasks[task.id] = LabelledRows(scored, data, scored_rows(scored, examples), groups)
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name} with a label in every row", path=gold)
    return tasks


def read_public_rows(suite: Suite, data_dir: Path, split: str) -> dict[str, DataRows]:
    """The rows of the tasks with a file in the folder, by task id, without labels. Raises InputError as `read_labelled_rows`."""
    tasks = {}
    for task in suite.tasks.values():
        if (path := task.path(split, data_dir)) is not None and path.is_file():
            examples = read_examples(task, path, False, task.layout(split, data_dir))
            tasks[task.id] = _data_rows(task, split, path, examples)
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name}; set data_dir=", path=data_dir)
    return tasks


def _data_rows(task: Task, split: str, path: Path, examples: Sequence[Example]) -> DataRows:
    return DataRows(task, split, path, np.full(len(examples), np.nan), row_sizes(task, examples))


@dataclass(frozen=True, eq=False)
class ScoredSubmission:
    """A submission with its scores."""

    name: str
    system: Entrant
    digest: str  # SHA-256 of its predictions, equal for submissions with the same ones in whatever form
    # Its scores and what tests resample, by task id, and by AVERAGE if it has every averaged task that the labels are of.
    samples: Mapping[str, Sample]


def score_submission(
    folder: Path, system: Entrant, suite: Suite, split: str, tasks: Mapping[str, LabelledRows]
) -> ScoredSubmission:
    """A submission with its scores on the labelled rows. Raises InputError as `read_predictions`; it says nothing of labels."""
    predicted = read_predictions(folder, suite, split, {id: labelled.data for id, labelled in tasks.items()})
    samples, parts = {}, {}
    for id, labelled in tasks.items():
        if (targets := predicted.get(id)) is not None:
            groups, part = labelled.groups, labelled.groups.in_average
            value = np.array([score(labelled.task, targets, labelled.rows)])
            samples[id] = Sample(value, labelled.resampled(targets, groups), 0.0, is_one_system=True)
            parts[id] = samples[id].means if part is groups else labelled.resampled(targets, part)
    averaged = [id for id in suite.averaged if id in tasks]
    if averaged and set(averaged) <= set(samples):
        mean = np.array([suite.mean({id: float(sample.by_seed[0]) for id, sample in samples.items()})])
        means_of_all = mean_over_tasks([parts[id] for id in averaged], list(suite.divisors(averaged).values()))
        samples[AVERAGE] = Sample(mean, means_of_all, 0.0, True)
    answers = repr([(id, predicted[id].tolist()) for id in parts])
    digest = hashlib.sha256(answers.encode()).hexdigest()
    return ScoredSubmission(folder.name, system, digest, samples)
