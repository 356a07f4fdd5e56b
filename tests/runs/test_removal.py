"""Runs are deleted only if they are runs, and nobody works in them; pruning takes nothing that a command needs."""

import io
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from input_errors import raises_input_error
from run_folders import make_run, right

from mtl.api.cli import main
from mtl.base.locks import lock
from mtl.runs.removal import prunable, removable_runs, remove
from mtl.runs.stored import stored_runs

OLD = time.time() - 40 * 24 * 3600


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("made") / "runs"
    make_run(runs / "klej/one", right(0.5), tasks=["cbd"], seeds=(1,))
    make_run(runs / "klej/two", right(0.5), tasks=["cbd"], seeds=(1,))
    return runs


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_rm_deletes_the_run_and_nothing_else(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = names(runs / "klej/two")
    assert main(["rm", str(runs / "klej/one"), f"{runs}/klej/one/", "--yes"]) == 0
    assert names(runs / "klej") == sorted(["two", *(f"two/{name}" for name in kept)])
    first, total, done = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{runs}/klej/one · run · ") and total.startswith("1 deletion; ")
    assert total.endswith(" will be free") and done.startswith("deleted; ")


@pytest.mark.parametrize(
    ("answer", "left"), [("y\n", ["two"]), ("\n", ["one", "two"]), ("", ["one", "two"]), ("no\n", ["one", "two"])]
)
def test_it_asks_on_a_terminal(
    runs: Path, answer: str, left: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin = io.StringIO(answer)
    monkeypatch.setattr(stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["rm", str(runs / "klej/one")]) == 0
    assert sorted(path.name for path in (runs / "klej").iterdir()) == left
    assert ("nothing is deleted" in capsys.readouterr().out) == (len(left) == 2)


@pytest.mark.parametrize("command", [["rm", "runs/klej/one"], ["prune", "runs", "--days", "0"]])
def test_without_a_terminal_nothing_is_deleted(
    runs: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(runs.parent)
    (runs / "klej/one/.x.1.partial").touch()
    before = names(runs)
    for stdin in (io.StringIO("y\n"), None):
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main(command) == 2
    assert names(runs) == before
    assert (
        capsys.readouterr().err.count(
            "mtl: error: standard input is no terminal to ask on, so nothing is deleted; give --yes"
        )
        == 2
    )


def test_what_is_no_run_is_refused(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/config.yaml").write_text("suite: klej\n")
    shutil.copytree(runs / "klej/one", runs / "klej/without")
    (runs / "klej/without/inputs.json").unlink()
    (runs / "linked").symlink_to(runs / "klej/one")
    no_run = "is no run of mtl, so it is not deleted; mtl runs lists the runs"
    cases = {
        runs: no_run,
        runs / "klej": no_run,
        tmp_path / "thesis": no_run,
        runs / "klej/without": no_run,
        runs / "none": "no such folder; mtl runs lists the runs",
        runs / "linked": "is a link; name the run's folder itself",
        runs / "klej/one/config.yaml": "no such folder; mtl runs lists the runs",
    }
    before = names(tmp_path)
    for path, said in cases.items():
        with raises_input_error(file=path.name) as error:
            removable_runs([runs / "klej/two", path])
        assert error.value.message == said
    assert names(tmp_path) == before


def test_a_run_with_links_and_one_that_holds_another_are_refused(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (runs / "klej/one/seed-1/link").symlink_to(tmp_path / "mine")
    with raises_input_error(file="link"):
        removable_runs([runs / "klej/one"])
    shutil.copytree(runs / "klej/two", runs / "klej/two/inner")
    with raises_input_error(file="two"):
        removable_runs([runs / "klej/two"])


def test_a_running_run_is_refused_also_if_it_begins_after_the_question(runs: Path) -> None:
    chosen = removable_runs([runs / "klej/one"])
    with lock(runs / "klej/one/.lock"):
        with raises_input_error(file="one"):
            removable_runs([runs / "klej/one"])
        with raises_input_error(file="one"):
            remove(chosen)
    assert (runs / "klej/one/summary.json").exists()


def test_prune_takes_what_nothing_needs(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    (cache / "resampled").mkdir(parents=True)
    (cache / "elmo-1").mkdir()
    (cache / "mine").mkdir()
    old = [
        cache / name
        for name in ("texts-1.npz", "elmo-1/a.npy", "resampled/k.npz", "mine/keep.npz", ".texts-3.npz.u.partial")
    ]
    new = [cache / name for name in ("texts-2.npz", ".texts-2.npz.u.partial")]
    one = runs / "klej/one"
    leftovers = [
        one / ".table.md.u.partial",
        one / "seed-1/predictions/.a.u.partial",
        one / "seed-1/finetune/cbd/last.ckpt",
    ]
    kept = [one / "seed-2/pretrain/last.ckpt", one / "seed-1/finetune/cbd/best.ckpt"]
    for path in (*old, *new, *leftovers, *kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 5000)
    for path in old:
        os.utime(path, (OLD, OLD))
    (cache / "texts-4.npz").symlink_to(tmp_path / "far")
    chosen = prunable(runs, cache, 30)
    expected = {*leftovers, cache / "texts-1.npz", cache / "elmo-1", cache / "resampled/k.npz", old[-1]}
    assert {removal.path for removal in chosen} == expected
    before = set(tmp_path.rglob("*"))
    remove(chosen)
    assert before - set(tmp_path.rglob("*")) == {*expected, cache / "elmo-1/a.npy"}
    assert prunable(runs, cache, 30) == []
    assert [run.state for run in stored_runs(runs)] == ["finished", "finished"]


def test_prune_leaves_running_runs_alone(runs: Path, tmp_path: Path) -> None:
    (runs / "klej/one/.table.md.u.partial").touch()
    with lock(runs / "klej/one/.lock"):
        assert prunable(runs, tmp_path / "none", 30) == []
    assert len(prunable(runs, tmp_path / "none", 30)) == 1


def test_a_deletion_that_was_killed_is_finished_by_prune(runs: Path, tmp_path: Path) -> None:
    (runs / "klej/one").rename(runs / "klej/.one.0.partial")
    assert prunable(runs, tmp_path / "none", 30) == []  # it may still be going on
    for path in [*(runs / "klej/.one.0.partial").rglob("*"), runs / "klej/.one.0.partial"]:
        os.utime(path, (OLD, OLD))
    remove(prunable(runs, tmp_path / "none", 30))
    assert [path.name for path in (runs / "klej").iterdir()] == ["two"]


def test_prune_says_if_there_is_nothing_and_checks_its_arguments(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prune", str(runs), "--cache", str(tmp_path / "none")]) == 0
    assert capsys.readouterr().out == "nothing to delete\n"
    assert main(["prune", str(runs), "--days", "-1"]) == 2
    assert main(["prune", str(tmp_path / "none")]) == 2
