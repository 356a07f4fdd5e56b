"""The list of runs, from their small files alone."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from run_folders import make_run, right

from mtl.api.cli import main
from mtl.base.files import write_json
from mtl.base.locks import lock
from mtl.runs.finished import find_runs
from mtl.runs.stored import DAMAGED, FINISHED, RUNNING, UNFINISHED, format_age, stored_runs


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("made") / "runs"
    make_run(runs / "klej/whole", right(0.5))
    make_run(runs / "klej/part", right(0.5), tasks=["cbd", "dyk"], seeds=(1, 2), reduced=["cbd"])
    return runs


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


def test_every_state_has_a_line(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("begun", "damaged", "busy"):
        shutil.copytree(runs / "klej/part", runs / "klej" / name)
    (runs / "klej/begun/summary.json").unlink()
    (runs / "klej/begun/seed-2/scores.json").unlink()
    (runs / "klej/damaged/summary.json").write_text("{\n")
    (runs / "klej/busy/summary.json").unlink()
    (runs / "klej/prepared").mkdir()
    (runs / "klej/empty").mkdir()
    with lock(runs / "klej/busy/.lock"), lock(runs / "klej/prepared/.lock"):
        stored = {run.folder.name: run for run in stored_runs(runs)}
        assert main(["runs", str(runs)]) == 0
    states = {"begun": UNFINISHED, "busy": RUNNING, "damaged": DAMAGED, "part": FINISHED, "prepared": RUNNING}
    assert {name: run.state for name, run in stored.items()} == {**states, "whole": FINISHED}
    counts = {name: (run.suite, run.done, run.asked) for name, run in stored.items()}
    assert counts["begun"] == ("klej", 1, 2) and counts["whole"] == ("klej", 3, 3) and counts["busy"] == ("klej", 2, 2)
    summary = json.loads((runs / "klej/part/summary.json").read_text())
    assert stored["part"].average == f"{summary['average']:.1f}*†" and stored["begun"].average == ""
    header, *lines, total, marks = capsys.readouterr().out.splitlines()
    assert header.split() == ["run", "suite", "seeds", "average", "age", "size"] and len(lines) == 6
    assert "damaged: " in lines[2] and "summary.json" in lines[2] and lines[4].endswith("running")
    assert total.startswith("6 runs, of them 1 unfinished, 2 running, 1 damaged; ")
    assert marks == "* tasks of the average are missing; † other data than published"


def test_a_run_that_ends_meanwhile_is_never_unfinished(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = runs / "klej/part/summary.json"
    content = summary.read_bytes()
    summary.unlink()

    def ends(path: Path) -> bool:
        summary.write_bytes(content)
        return False

    monkeypatch.setattr("mtl.runs.stored.is_held", ends)
    assert {run.folder.name: run.state for run in stored_runs(runs)}["part"] == FINISHED


def test_links_are_not_followed(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/big").write_bytes(b"x" * 100_000)
    before = stored_runs(runs)[0].size
    (runs / "klej/part/link").symlink_to(tmp_path / "elsewhere")
    (runs / "other").symlink_to(runs / "klej")
    assert [run.folder.name for run in stored_runs(runs)] == ["part", "whole"]
    assert stored_runs(runs)[0].size == before


def test_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", str(tmp_path / "none")]) == 2
    assert "none: no such folder" in capsys.readouterr().err
    assert main(["runs", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["0 runs; 0 MB"]


def test_a_configuration_without_seeds_and_a_summary_that_is_a_link_are_damaged(runs: Path, tmp_path: Path) -> None:
    write_json(runs / "klej/part/config.yaml", {"suite": "klej"})
    (runs / "klej/part/summary.json").unlink()
    (runs / "klej/whole/summary.json").rename(tmp_path / "summary.json")
    (runs / "klej/whole/summary.json").symlink_to(tmp_path / "summary.json")
    part, whole = stored_runs(runs)
    assert (part.state, whole.state) == (DAMAGED, DAMAGED) and "seeds: must be a list" in part.problem


def test_a_look_at_a_run_does_not_change_its_age(runs: Path) -> None:
    (runs / "klej/whole/.lock").touch()
    for file in (runs / "klej/whole").rglob("*"):
        os.utime(file, (1e9, 1e9))
    (runs / "klej/new").mkdir()
    with lock(runs / "klej/whole/.lock"), lock(runs / "klej/new/.lock"):
        changed = {run.folder.name: run.changed for run in stored_runs(runs)}
    assert changed["whole"] == 1e9 and changed["new"] > time.time() - 3600


@pytest.mark.parametrize("is_listed", [False, True])
def test_a_folder_that_cannot_be_read_hides_no_other(
    is_listed: bool, runs: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    closed, scandir, stat = runs / "klej/part", os.scandir, os.stat

    def refuse(path: Path) -> None:
        if Path(path).is_relative_to(closed) and not (is_listed and Path(path) == closed):
            raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.scandir", lambda path: refuse(path) or scandir(path))
    monkeypatch.setattr("os.stat", lambda path, **options: refuse(path) or stat(path, **options))
    stored = {run.folder.name: (run.state, run.problem) for run in stored_runs(runs)}
    assert stored["whole"] == (FINISHED, "") and stored["part"][0] == DAMAGED
    assert "Permission denied" in stored["part"][1]
    with caplog.at_level("WARNING"):
        assert [run.name for run in find_runs(runs)] == ["whole"]
    assert any(f"{closed}" in message and "Permission denied" in message for message in caplog.messages)


def test_age() -> None:
    assert [format_age(s) for s in (-5, 70, 7300, 47 * 3600, 50 * 3600)] == ["0 min", "1 min", "2 h", "47 h", "2 days"]
