"""The interface of a submission format, and the files of predictions from which a submission is made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.files import write_text
from mtl.runs.folder import RunFolder
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


@dataclass(frozen=True)
class Submitted:
    """What the submission of one seed is made from: its files of predictions, the data, and facts about the system."""

    folder: RunFolder
    seed: int
    suite: Suite
    tasks: Sequence[Task]  # those of the run
    data_dir: Path
    facts: Mapping[str, Any]  # by name, see `mtl.submissions.entry.FACTS`

    @property
    def test_files(self) -> list[tuple[Task, Path]]:
        """The tasks with a test file, each with the seed's file of predictions for it."""
        tasks = [task for task in self.tasks if task.files["test"] is not None]
        return [(task, self.folder.predictions(self.seed, "test", task.id)) for task in tasks]


@dataclass(frozen=True)
class Checked:
    """What a comparison of a submission with data says, one line each."""

    problems: list[str]  # errors in the submission, as "file:line: message"
    remarks: list[str] = field(default_factory=list)  # why one without problems cannot be submitted yet
    notes: list[str] = field(default_factory=list)  # what is odd about predictions that are valid


@dataclass(frozen=True)
class SubmissionFormat:
    """One format: an entry of `mtl.submissions.SUBMISSION_FORMATS`."""

    write: Callable[[Submitted], list[str]]  # writes a seed's submission, and returns what its user should know
    check: Callable[[Path, Suite, Path], Checked]  # compares a submission with the suite and a data folder
    problem: Callable[[Suite], str | None] = lambda suite: None  # the error in the suite's declaration, if there is one
    splits: Sequence[str] = ("test",)  # that it has the predictions of


def write_predictions(path: Path, task: Task, predictions: np.ndarray, header: str) -> None:
    """Write predicted targets (rows,), one a line, after a header: with `header="task"` the task's target column, else the word "target"."""
    name = task.target if header == "task" else "target"
    write_text(path, "".join(f"{line}\n" for line in [name, *map(target_kind(task).to_line, predictions.tolist())]))
