"""`mtl power`, and the report's note on tasks that tell no two runs apart."""

from pathlib import Path

import pytest
from run_folders import make_run, right

from mtl.cli import main
from mtl.report.leaderboard import leaderboard
from mtl.runs.finished import find_runs


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs that are alike, and one that is far below them."""
    monkeypatch.chdir(tmp_path)
    for name, share in (("good", 0.97), ("alike", 0.97), ("bad", 0.1)):
        make_run(tmp_path / f"runs/{name}", right(share), [f"run_dir={name}"])
    return tmp_path / "runs"


def cells(text: str, title: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {title} ")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_of_finished_runs(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["power"]) == 0
    text = capsys.readouterr().out
    average = cells(text, "AVG")
    assert average[3] == "3" and average[-1] == "2 of 3" and "80 % of the cases" in text
    capsys.readouterr()
    assert main(["power", str(runs), "suite=klej", "difference=50"]) == 0
    wide = capsys.readouterr().out
    assert "rows for 50.0" in wide and cells(wide, "AVG")[5:7] == average[5:7]


def test_runs_that_no_task_tells_apart_are_named_in_table_and_report(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "bad").rename(runs.parent / "bad")
    assert main(["power"]) == 0
    assert "No two of these runs can be told apart on AVG, " in capsys.readouterr().out
    (note,) = [note for note in leaderboard(find_runs(runs)).facts if "told apart" in note]
    assert "AVG" in note and "CDSC-E (from " in note and "mtl power" in note


def test_before_a_benchmark_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["power", "rows=1000", "accuracy=80", "agreement=85"]) == 0
    text = capsys.readouterr().out
    assert cells(text, "the same rows")[1:] == ["3.4", "2,946"] and cells(text, "other rows")[1:] == ["5.0", "6,281"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rows=10"], "accuracy: is needed"),
        (["rows=10", "accuracy=80", "agreement=90", "suite=klej"], "leave out runs and suite="),
        (["rows=1.5", "accuracy=80", "agreement=90"], "rows: 1.5 must be a whole number"),
        (["rows=ten"], "rows: 'ten' must be a number"),
        (["difference=0"], "difference: 0 must be above 0"),
        (["row=10"], "row: unknown; it takes suite, difference, rows, accuracy, agreement"),
        (["nowhere"], "nowhere: no such folder"),
        (["suite=other"], "runs: no two finished runs of suite other"),
    ],
)
def test_bad_words(runs: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["power", *words]) == 2
    shown = capsys.readouterr()
    assert message in shown.err and not shown.out
