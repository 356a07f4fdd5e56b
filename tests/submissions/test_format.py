"""The files of predictions from which submissions are made."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtl.submissions.format import write_predictions
from mtl.tasks.task import Task


@pytest.mark.parametrize(
    ("kind", "declared", "predictions", "lines"),
    [
        ("labels", {"labels": ["tak", "nie"]}, np.array([1.0, 0.0, 1.0]), ["nie", "tak", "nie"]),
        ("number", {"range": [0, 5]}, np.array([0.1, 1 / 3]), ["0.1", str(1 / 3)]),  # read back as they were
        ("choice", {"candidates": ["y[]"]}, np.array([3.0, 0.0]), ["3", "0"]),
        ("word", {}, np.array(["sol", "\u00e5ska"], dtype=object), ["sol", "\u00e5ska"]),
    ],
)
def test_one_column(
    tmp_path: Path, kind: str, declared: dict[str, Any], predictions: np.ndarray, lines: list[str]
) -> None:
    task = Task(id="t", kind=kind, text=["x"], target="ocena", metric="accuracy", **declared)
    for header, first in (("task", "ocena"), ("target", "target")):
        write_predictions(tmp_path / "p.tsv", task, predictions, header)
        assert (tmp_path / "p.tsv").read_text(encoding="utf-8") == "\n".join([first, *lines, ""])
