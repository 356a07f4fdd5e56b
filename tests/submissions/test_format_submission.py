import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtl.submissions.format import write_predictions, write_zip_of
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


def test_the_zip_has_the_files_side_by_side_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    files = [tmp_path / "test_pred_a.tsv", tmp_path / "test_pred_b.tsv"]
    for file in files:
        file.write_text(file.name, encoding="utf-8")
    for name in ("1.zip", "2.zip"):
        write_zip_of(tmp_path / name, {file.name: file.read_bytes() for file in files})
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "1.zip") as archive:
        assert archive.namelist() == ["test_pred_a.tsv", "test_pred_b.tsv"]
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.read("test_pred_a.tsv") == b"test_pred_a.tsv"
