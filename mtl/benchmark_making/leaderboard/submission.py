"""A submission in a folder of its own: what it says of its system, and its predictions. Nothing in it is trusted."""

import datetime
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.settings.schema import System
from mtl.base.typed import typed
from mtl.base.untrusted import check_plain_folder, is_web_address
from mtl.base.untrusted_yaml import read_yaml
from mtl.submissions.data_rows import DataRows
from mtl.submissions.files import predicted_splits, prediction_names, read_files
from mtl.submissions.row_predictions import put_to_rows, read_sources
from mtl.tasks.suite import Suite

ABOUT = "system.yaml"
LONGEST = 300  # characters of a value in system.yaml, and of the reason for a refusal
FOLDER_NAME = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,99}")
DOCUMENTS = re.compile(r"[^/]*\.(json|md|txt|yaml|yml)|(README|LICENSE)[^/]*", re.IGNORECASE)  # beside predictions


@dataclass
class Entrant(System):
    """The content of a submission's system.yaml. What is missing is not stated."""

    team: str | None = None  # who submits, for the limit of submissions
    date: str | None = None  # the day of the submission, as in 2026-11-23


def find_submissions(folder: Path) -> list[Path]:
    """The folders in a folder, each a submission, in order of their names. Raises InputError if there are none."""
    if not folder.is_dir():
        raise InputError("no such folder; it must hold a folder for each submission", path=folder)
    folders = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not folders:
        raise InputError("holds no submission: a folder with predictions", path=folder)
    return folders


def read_entrant(folder: Path) -> Entrant:
    """What system.yaml in the folder of a submission says; nothing if there is none. Raises InputError for a bad name, links and a bad file."""
    if folder.is_symlink() or not FOLDER_NAME.fullmatch(folder.name):
        raise InputError("must be a folder whose name has only letters, digits, '.', '_', '+' and '-'", path=folder)
    check_plain_folder(folder)
    path = folder / ABOUT
    if not path.exists():
        return Entrant()
    entrant = typed(Entrant, read_yaml(path), path=path)
    for field in fields(entrant):
        value = getattr(entrant, field.name)
        if isinstance(value, str) and (len(value) > LONGEST or not value.isprintable() or not value.strip()):
            problem = f"must be one line of at most {LONGEST} characters that can be printed"
            raise InputError(problem, path=path, key=field.name)
    if entrant.link is not None and not is_web_address(entrant.link):
        raise InputError("must begin with https:// or http://", path=path, key="link")
    if entrant.date is not None and not _is_day(entrant.date):
        raise InputError(f"{entrant.date!r} is no day as in 2026-11-23", path=path, key="date")
    return entrant


def _is_day(text: str) -> bool:
    """Whether this is a day of the calendar as in 2026-11-23. Python reads other forms, too, as 20261123."""
    with suppress(ValueError):
        return datetime.date.fromisoformat(text).isoformat() == text
    return False


def read_predictions(folder: Path, suite: Suite, split: str, tasks: Mapping[str, DataRows]) -> dict[str, np.ndarray]:
    """The predictions in the folder of a submission, (rows,) by task id, in the order of `tasks`. Raises InputError, without a word of labels, for
    files that are no predictions of the suite, for predictions that do not fit the rows, and for none of these tasks."""
    archives = sorted(folder.glob("*.zip"))
    if len(archives) > 1:
        raise InputError(f"has {len(archives)} zips; one submission has one", path=folder)
    path = archives[0] if archives else folder
    wanted = {name for name, (_, named_split) in prediction_names(suite).items() if named_split == split}
    files = read_files(path, wanted.__contains__)
    predicted_splits(files, suite, allowed=DOCUMENTS.fullmatch)  # raises InputError for other files
    if not files.contents:
        raise InputError(f"has no predictions for {split}", path=folder)
    rows = {id: {split: data} for id, data in tasks.items()}
    predicted, _ = put_to_rows(read_sources(files, suite, rows), suite, rows, labels={})
    targets = {id: splits[split] for id, splits in predicted.items() if split in splits}
    if not targets:
        raise InputError(f"has no predictions of {', '.join(tasks)}, the tasks that are scored", path=path)
    return targets
