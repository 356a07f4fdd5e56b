"""Check a documentation sheet: its form, and what it says about the data of its tasks."""

import logging
import re
from collections.abc import Sequence
from pathlib import Path

from mtl.audit.audit import read_files
from mtl.audit.sheets.claims import false_claims
from mtl.audit.sheets.form import form_problems, read_sheet
from mtl.errors import InputError
from mtl.jobs.job import Job
from mtl.tasks.task import SPLITS, Task

logger = logging.getLogger("mtl")


def check_sheet(job: Job, path: Path) -> list[str]:
    """What a sheet lacks, and what it says that the data of its tasks contradicts: one line each, `file:line: message`.

    What complete files contradict is a finding. A sheet of the complete data passes where files are reduced: a size may be the file's
    or the suite file's official one, labels are counted in complete files only, and a size that is neither, of files that are
    reduced, is logged and is no finding. Raises InputError for a file that is no sheet, and for one
    whose name fits no task of the suite.
    """
    sheet = read_sheet(path)
    found = form_problems(sheet)
    for task in _tasks_of(job, path):
        files = read_files(job.suite, task, job.data_dir, job.config.held_out).files
        _log_comparison(task, {split: len(part.rows) for split, part in files.items()})
        found += false_claims(sheet, task, files)
    found = sorted(dict.fromkeys(found), key=lambda problem: problem.line)
    for problem in found:
        if problem.undecided:
            logger.info("%s:%d: %s; no finding, since the files are reduced", path, problem.line, problem.message)
    return [f"{path}:{problem.line}: {problem.message}" for problem in found if not problem.undecided]


def _tasks_of(job: Job, path: Path) -> Sequence[Task]:
    """The chosen tasks, or without a choice those whose id or folder the file's name begins with: of several, the longest."""
    if job.config.tasks is not None:
        return job.tasks
    begins: dict[str, list[Task]] = {}
    for task in job.tasks:
        for name in {task.id, Path(task.folder).name}:
            if name and re.match(rf"{re.escape(name)}(?![^\W_])", path.name):
                begins.setdefault(name, []).append(task)
    if not begins:
        raise InputError(
            f"{path}: its name begins with no task's id or folder of suite {job.suite.name}; name its tasks with tasks=[ID,…]"
        )
    return begins[max(begins, key=len)]


def _log_comparison(task: Task, rows: dict[str, int]) -> None:
    """Log what the sheet's numbers are compared with, unless it is the complete files."""
    different = [
        f"{split} has {rows.get(split, 0)} rows here, officially {task.rows.get(split, 0)}"
        for split in SPLITS
        if task.rows and rows.get(split, 0) != task.rows.get(split, 0)
    ]
    if different:
        logger.info(
            "%s: %s; a sheet may give either number, and labels are counted in complete files only",
            *(task.id, ", ".join(different)),
        )
