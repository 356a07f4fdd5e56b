"""Write predictions: files of one column in row order, and the zip that a leaderboard accepts."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl.files import replacing, write_text
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


def write_predictions(path: Path, task: Task, predictions: np.ndarray, header: str) -> None:
    """Write predicted targets (rows,) in row order, one a line (`TargetKind.to_line`), after a header.

    header: "task" for the name of the task's target column, else the header is the word "target".
    """
    name = task.target if header == "task" else "target"
    lines = map(target_kind(task).to_line, predictions.tolist())
    write_text(path, "".join(f"{line}\n" for line in [name, *lines]))


def write_submission(path: Path, files: Sequence[Path]) -> None:
    """Zip prediction files without folders. The same files give the same bytes."""
    with replacing(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)
