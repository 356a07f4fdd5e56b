"""Predictions as files: one column in the rows' order, and the zip that a leaderboard takes."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from mtl.files import replacing, write_text
from mtl.tasks.suite import Task


def write_predictions(path: Path, task: Task, predictions: Sequence[float], header: str) -> None:
    """Write predictions (label indices or numbers) in row order under a header: the task's target, or the word "target"."""
    name = task.target if header == "task" else "target"
    write_text(path, "".join(f"{cell}\n" for cell in [name, *map(task.cell, predictions)]))


def write_submission(path: Path, files: Sequence[Path]) -> None:
    """Zip prediction files side by side; the same files make the same bytes."""
    with replacing(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)
