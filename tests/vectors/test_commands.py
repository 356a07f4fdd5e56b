import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import job
from small_suite import small_settings

from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small suite with a finished run of it."""
    folder = tmp_path_factory.mktemp("finished")
    run_baseline(job([*small_settings(folder), "seeds=[1]"]))
    return folder


def test_encode(finished: Path, tmp_path: Path) -> None:
    run, texts = str(finished / "run"), str(finished / "data/test.tsv")
    assert main(["encode", run, texts, "--out", str(tmp_path / "v.npy")]) == 0
    assert np.load(tmp_path / "v.npy").shape == (11, 16)  # a line each, the header's too


def test_an_encoder_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["encode", "none", "x.txt", "--out", "v.npy"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "none: no such folder; an encoder is average or transformer or the folder of a finished run" in line


def test_a_closed_standard_input_is_one_line(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["encode", str(finished / "run"), "-", "--out", str(tmp_path / "v.npy")]) == 2
    assert "standard input is closed" in capsys.readouterr().err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
