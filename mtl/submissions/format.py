"""The interface of a submission format, and the format `zip`: a zip with one file of test predictions for each task."""

import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.files import replacing, write_text
from mtl.runs.folder import RunFolder
from mtl.runs.predictions import FILE, submission_problems, submission_remarks
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


@dataclass(frozen=True)
class Submitted:
    """What the submission of one seed is made from: its files of predictions, the data, and facts about the system.

    Attributes:
        tasks: those of the run.
        facts: by name, see `mtl.submissions.entry.FACTS`.
    """

    folder: RunFolder
    seed: int
    suite: Suite
    tasks: Sequence[Task]
    data_dir: Path
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Checked:
    """What a comparison of a submission with data says, one line each.

    Attributes:
        problems: what is wrong with the submission, as "file:line: message".
        remarks: what keeps it from being submitted, such as rows that are not official.
        notes: what its user should know beside that.
    """

    problems: list[str]
    remarks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SubmissionFormat:
    """One format: an entry of `mtl.submissions.SUBMISSION_FORMATS`.

    Attributes:
        write: writes a seed's submission, and returns what its user should know, one line each.
        check: compares a submission, zipped or as a folder, with the suite and a data folder. Raises InputError for files that cannot be
            read.
        problem: returns the error in the suite's declaration, as "key: message", or None.
    """

    write: Callable[[Submitted], list[str]]
    check: Callable[[Path, Suite, Path], Checked]
    problem: Callable[[Suite], str | None] = lambda suite: None


def write_predictions(path: Path, task: Task, predictions: np.ndarray, header: str) -> None:
    """Write predicted targets (rows,) in row order, one a line (`Cells.to_line`), after a header.

    Args:
        header: "task" for the name of the task's target column; else the header is the word "target".
    """
    name = task.target if header == "task" else "target"
    lines = map(target_kind(task).cells.to_line, predictions.tolist())
    write_text(path, "".join(f"{line}\n" for line in [name, *lines]))


def write_zip_of(path: Path, contents: Mapping[str, bytes]) -> None:
    """Write a zip of files, given by name, without folders. The same files give the same bytes."""
    with replacing(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def write_zip(submitted: Submitted) -> list[str]:
    folder, seed = submitted.folder, submitted.seed
    tasks = [task for task in submitted.tasks if task.files["test"] is not None]
    files = [folder.predictions(seed, "test", task.id) for task in tasks]
    write_zip_of(folder.submission(seed), {file.name: file.read_bytes() for file in files})
    return []


def check_zip(path: Path, suite: Suite, data_dir: Path) -> Checked:
    names = {
        FILE.format(split="test", task=id): task for id, task in suite.tasks.items() if task.files["test"] is not None
    }
    problems = submission_problems(path, suite, data_dir, names)
    return Checked(problems, notes=[] if problems else submission_remarks(path, names))
