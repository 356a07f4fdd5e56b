"""The submissions in a folder: what each says of its system, and its predictions. Nothing in them is trusted."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.settings.schema import System
from mtl.base.typed import typed
from mtl.base.untrusted import check_plain_folder, is_web_address
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.leaderboard.rows import TaskRows
from mtl.submissions.files import predicted_splits, prediction_names, read_files
from mtl.submissions.predictions import put_to_rows, read_sources
from mtl.tasks.suite import Suite

ABOUT = "system.yaml"
LONGEST = 300  # characters of a value in system.yaml, and of the reason for a refusal
OTHERS = re.compile(r"[^/]*\.(json|md|txt|yaml|yml)|(README|LICENSE)[^/]*", re.IGNORECASE)  # files beside predictions


@dataclass
class Entrant(System):
    """The content of a submission's system.yaml. What is missing is not stated.

    Args:
        team: who submits, for the limit of submissions.
        date: the day of the submission, as in 2026-11-23.
    """

    team: str | None = None
    date: str | None = None


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
