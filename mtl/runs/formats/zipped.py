"""The format `zip`: a zip with one file of test predictions for each task."""

from pathlib import Path

from mtl.runs.formats.kind import Checked, Submitted
from mtl.runs.predictions import submission_problems, submission_remarks
from mtl.runs.submission import write_submission
from mtl.tasks.suite import Suite


def write_zip(submitted: Submitted) -> list[str]:
    folder, seed = submitted.folder, submitted.seed
    tasks = [task for task in submitted.tasks if task.files["test"] is not None]
    write_submission(folder.submission(seed), [folder.predictions(seed, "test", task.id) for task in tasks])
    return []


def check_zip(path: Path, suite: Suite, data_dir: Path) -> Checked:
    problems = submission_problems(path, suite, data_dir)
    return Checked(problems, notes=[] if problems else submission_remarks(path, suite))
