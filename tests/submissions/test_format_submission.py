import zipfile
from pathlib import Path

import numpy as np
import pytest

from mtl.submissions.format import write_predictions, write_zip_of
from mtl.tasks.task import Task

LABELS = Task(id="t", kind="labels", text=["x"], target="ocena", labels=["tak", "nie"], metric="accuracy")
NUMBERS = Task(id="r", kind="number", text=["x"], target="wynik", range=[0, 5], metric="spearman")


@pytest.mark.parametrize(("header", "first"), [("task", "ocena"), ("target", "target")])
def test_one_column_with_a_header(tmp_path: Path, header: str, first: str) -> None:
    write_predictions(tmp_path / "p.tsv", LABELS, np.array([1.0, 0.0, 1.0]), header)
    assert (tmp_path / "p.tsv").read_text(encoding="utf-8") == f"{first}\nnie\ntak\nnie\n"


def test_numbers_read_back_as_they_were(tmp_path: Path) -> None:
    values = [0.1, 1 / 3, 5.0]
    write_predictions(tmp_path / "p.tsv", NUMBERS, np.array(values), "task")
    assert [float(line) for line in (tmp_path / "p.tsv").read_text(encoding="utf-8").split()[1:]] == values


def test_candidates_and_words(tmp_path: Path) -> None:
    choice = Task(id="c", kind="choice", text=["x"], candidates=["y[]"], target="right", metric="accuracy")
    write_predictions(tmp_path / "c.tsv", choice, np.array([3.0, 0.0]), "task")
    assert (tmp_path / "c.tsv").read_text(encoding="utf-8") == "right\n3\n0\n"
    word = Task(id="w", kind="word", text=["x"], target="ord", metric="accuracy")
    write_predictions(tmp_path / "w.tsv", word, np.array(["sol", "\u00e5ska"], dtype=object), "target")
    assert (tmp_path / "w.tsv").read_text(encoding="utf-8") == "target\nsol\n\u00e5ska\n"


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
