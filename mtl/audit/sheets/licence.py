"""The licence of a task's data: from the suite file, or from a README beside the data."""

import re
from pathlib import Path

from mtl.data.lines import read_lines
from mtl.errors import InputError
from mtl.tasks.task import Task

_NAMED = re.compile(r"licen[cs]e", re.IGNORECASE)
_LINE = re.compile(r"^\W*licen[cs]e(?:\(s\)|s)?\W*:\W*(?P<license>.+?)\W*$", re.IGNORECASE)


def find_license(task: Task, data_dir: Path) -> str | None:
    """What the suite file says, else a README.md in the task's folder or in the data folder; None if none of them says it.

    A README says it in a line `License: …`, which holds for all tasks, or in a Markdown table with a row for the task's id or folder
    and a column whose title speaks of a licence.
    """
    if task.license is not None:
        return task.license
    for folder in dict.fromkeys((data_dir / task.folder, data_dir)):
        try:
            lines = read_lines(folder / "README.md")
        except InputError:
            continue
        if license := _in_table(lines, {task.id, task.folder}) or _in_line(lines):
            return license
    return None


def _in_line(lines: list[str]) -> str | None:
    return next((match["license"] for line in lines if (match := _LINE.match(line))), None)


def _in_table(lines: list[str], names: set[str]) -> str | None:
    column = None
    for line in lines:
        cells = [cell.strip(" `*") for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|"):
            column = None
        elif column is None:
            column = next((place for place, cell in enumerate(cells) if _NAMED.search(cell)), None)
        elif cells[0] in names and column < len(cells):
            return cells[column] or None
    return None
