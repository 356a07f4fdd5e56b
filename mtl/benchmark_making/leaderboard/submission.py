"""The submissions in a folder: what each says of its system, and its predictions. Nothing in them is trusted."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.untrusted import check_plain_folder, is_web_address
from mtl.base.untrusted_yaml import read_yaml, typed_content
from mtl.benchmark_making.leaderboard.rows import PredictedRows
from mtl.jobs.imports import System
from mtl.runs.predictions import read_files
from mtl.submissions.check import rows_name, submitted_rows
from mtl.submissions.entry import prediction_target
from mtl.submissions.imported import prediction_names, read_lines
from mtl.submissions.rejoin import joined_rows
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind

ABOUT = "system.yaml"
LONGEST = 300  # characters of a value in system.yaml
OTHERS = re.compile(r"[^/]*\.(json|md|txt|yaml|yml)|(README|LICENSE)[^/]*", re.IGNORECASE)  # files beside predictions


@dataclass
class Entrant(System):
    """The content of a submission's system.yaml: also who submits, and the day. What is missing is not stated."""

    team: str | None = None
    date: str | None = None


@dataclass(frozen=True, eq=False)
class UnreadSubmission:
    """A submission whose predictions are not read yet: the contents of the leaderboard's files in its folder, or the zip in it, by name."""

    name: str
    path: Path
    system: Entrant
    contents: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 of the names and contents of its files of predictions."""
        listed = (f"{hashlib.sha256(self.contents[name]).hexdigest()}  {name}\n" for name in sorted(self.contents))
        return hashlib.sha256("".join(listed).encode()).hexdigest()


def find_submissions(folder: Path) -> list[Path]:
    """The folders in a folder, each a submission, in order of their names. Raises InputError if there are none."""
    if not folder.is_dir():
        raise InputError("no such folder; it must hold a folder for each submission", path=folder)
    submissions = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not submissions:
        raise InputError("holds no submission: a folder with predictions", path=folder)
    return submissions


def read_about(folder: Path) -> Entrant:
    """What system.yaml in the folder of a submission says; nothing if there is none. Raises InputError that says why it is refused."""
    if folder.is_symlink() or not re.fullmatch(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,99}", folder.name):
        raise InputError("must be a folder whose name has only letters, digits, '.', '_', '+' and '-'", path=folder)
    check_plain_folder(folder)
    path = folder / ABOUT
    if not path.exists():
        return Entrant()
    about = typed_content(Entrant, read_yaml(path), path, "description of a system")
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
    names = prediction_names(suite)
    of_split = {name for name, (_, split_of_file) in names.items() if split_of_file == split}
    contents, remaining = read_files(path, of_split.__contains__)
    for name in remaining:
        if name not in names and not OTHERS.fullmatch(name):
            called = f"{split}_pred_TASK.tsv or TASK/{split}.jsonl, and TASK is one of {', '.join(suite.tasks)}"
            problem = f"is no file of predictions of suite {suite.name}; such files are called {called}"
            raise InputError(problem, path=f"{path}/{name}")
    if not contents:
        raise InputError(f"has no predictions for {split}", path=folder)
    return UnreadSubmission(folder.name, path, about, contents)


def read_predictions(
    submission: UnreadSubmission, suite: Suite, split: str, tasks: Mapping[str, PredictedRows]
) -> dict[str, np.ndarray]:
    """The predictions for the rows of each task that the submission has, (rows,) by task id.

    Raises InputError for predictions that do not fit the rows, or if there are none of these tasks. It says nothing of labels.
    """
    predicted = {}
    names = prediction_names(suite)
    for name in submission.contents:
        id, _ = names[name]
        if id not in tasks:
            continue
        if id in predicted:
            raise InputError("predicts a task that another file predicts, too", path=f"{submission.path}/{name}")
        rows = tasks[id]
        if name == rows_name(rows.task, split):
            predicted[id] = _rejoined(submission, suite, split, rows)
        else:
            content, path = submission.contents[name], f"{submission.path}/{name}"
            predicted[id], _ = read_lines(suite, rows.task, content, path, rows.data)
    if not predicted:
        raise InputError(f"has no predictions of {', '.join(tasks)}, the tasks that are scored", path=submission.path)
    return predicted


def _rejoined(submission: UnreadSubmission, suite: Suite, split: str, rows: PredictedRows) -> np.ndarray:
    """The predictions in a file of rows, (rows,): each row gets that of the row with its texts and id."""
    file = submitted_rows(rows.task, submission.contents, submission.path)[split]
    if rows.file is None:
        raise InputError("the data of this task are no JSON objects; submit one prediction a line", path=file.name)
    joined, problems = joined_rows(suite, split, {split: file}, rows.file)
    if problems:
        raise InputError(f"{file.name}: does not fit the data{problems[0]}")
    if joined is file.rows:
        return file.predictions
    targets = [prediction_target(rows.task, row) for row in joined]
    return np.array(targets, dtype=target_kind(rows.task).cells.dtype)
