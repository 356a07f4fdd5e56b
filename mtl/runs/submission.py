"""Predictions as files: one column in the rows' order, and the zip that a leaderboard takes."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl.files import replacing, write_text
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


def write_predictions(path: Path, task: Task, predictions: np.ndarray, header: str) -> None:
    """Write predicted targets (rows,) in row order under a header: the task's target, or the word "target"."""
    name = task.target if header == "task" else "target"
    cells = map(target_kind(task).format, predictions.tolist())
    write_text(path, "".join(f"{cell}\n" for cell in [name, *cells]))


def write_submission(path: Path, files: Sequence[Path]) -> None:
    """Zip prediction files side by side; the same files make the same bytes."""
    with replacing(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)
