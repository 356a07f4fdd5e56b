"""A report with a cache is the report without it, and the cache is used only for what it was computed from."""

import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from run_folders import make_run, right

from mtl.reports.leaderboard import leaderboard
from mtl.reports.report import write_report
from mtl.runs.finished import FinishedRun, find_runs
from mtl.stats.samples import SampleCache, content_key


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made")
    make_run(path / "good", right(0.9), tasks=["cdsc-e", "cdsc-r", "dyk", "ar"])
    make_run(path / "bad", right(0.6), ["method=svm"], tasks=["cdsc-e", "cdsc-r", "dyk", "ar"])
    return path


@pytest.fixture
def runs_dir(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


def files(runs_dir: Path, cache_dir: Path | None) -> dict[str, str]:
    """The files of a report by name, without its date, and without mtl-files.json, whose hashes depend on the date."""
    out = runs_dir.parent / "report"
    write_report(runs_dir, out, "mtl report", cache_dir)
    texts = {file.name: file.read_text(encoding="utf-8") for file in out.iterdir() if file.name != "mtl-files.json"}
    return {name: re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DATE", text) for name, text in texts.items()}


def never(*_: object) -> None:
    raise AssertionError("computed anew")


def test_a_filled_cache_gives_the_same_files_without_reading_predictions_again(
    runs_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without, cache = files(runs_dir, None), tmp_path / "cache"
    assert files(runs_dir, cache) == without and len(list(cache.glob("resampled/*.npz"))) == 2
    monkeypatch.setattr("mtl.stats.samples.resampled_scores", never)
    monkeypatch.setattr(FinishedRun, "check", never)
    assert files(runs_dir, cache) == without
    assert len(list((cache / "resampled").iterdir())) == 2


def change(file: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize("version", ["mtl.stats.samples.VERSION", "numpy.__version__"])
def test_another_version_of_numpy_has_another_key(made: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    before = {content_key(run) for run in find_runs(made)}
    monkeypatch.setattr(version, "0")
    assert not before & {content_key(run) for run in find_runs(made)}


CHANGES: dict[str, Callable[[Path], None]] = {
    "a prediction": lambda run: change(run / "seed-2/predictions/dev_pred_dyk.tsv", "\n1\n", "\n0\n"),
    "a gold target": lambda run: change(run / "gold/dev_dyk.tsv", "\n1\n", "\n0\n"),
    "a group": lambda run: change(run / "scored_rows.json", "[0, 0, 0, 0, 1,", "[0, 0, 0, 0, 0,"),
    "a metric": lambda run: change(run / "suite.yaml", "metric: spearman", "metric: pearson"),
}


@pytest.mark.slow
@pytest.mark.parametrize("change_run", CHANGES.values(), ids=CHANGES)
def test_changed_predictions_are_resampled(runs_dir: Path, tmp_path: Path, change_run: Callable[[Path], None]) -> None:
    files(runs_dir, tmp_path / "cache")
    before = [content_key(run) for run in find_runs(runs_dir)]
    change_run(runs_dir / "good")
    after = [content_key(run) for run in find_runs(runs_dir)]
    assert (before[0] == after[0], before[1] == after[1]) == (True, False)
    assert files(runs_dir, tmp_path / "cache") == files(runs_dir, None)


def flip(file: Path) -> None:
    """Change a byte in the middle of the means."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def fewer(file: Path) -> None:
    with np.load(file) as arrays, file.with_suffix(".new").open("wb") as opened:
        np.savez(opened, **{**arrays, "means": arrays["means"][:, :, :10]})
    file.with_suffix(".new").replace(file)


@pytest.mark.parametrize("damage", [lambda file: file.write_bytes(b""), flip, fewer])
def test_damaged_files_are_replaced(
    runs_dir: Path, tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    cache = tmp_path / "cache"
    expected = files(runs_dir, cache)
    entries = {file: file.read_bytes() for file in (cache / "resampled").iterdir()}
    for file in entries:
        damage(file)
    caplog.clear()
    with caplog.at_level(logging.WARNING, "mtl"):
        assert files(runs_dir, cache) == expected
    assert len(caplog.messages) == 1 and "cannot be used as a cache, resampled anew" in caplog.messages[0]
    for file, content in entries.items():
        with np.load(file) as arrays:
            assert sorted(arrays) == ["counted", "counts", "keys", "means"]
        assert len(file.read_bytes()) == len(content)


def test_a_cache_without_rights_is_one_warning(
    runs_dir: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with caplog.at_level(logging.WARNING, "mtl"):
        assert files(runs_dir, tmp_path / "file") == files(runs_dir, None)
    assert len(caplog.messages) == 1 and "file/resampled" in caplog.messages[0]


def test_predictions_that_change_while_they_are_resampled_are_not_kept(runs_dir: Path, tmp_path: Path) -> None:
    run = find_runs(runs_dir)[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mtl.stats.samples.mean_over_tasks", lambda *_: CHANGES["a prediction"](run.folder.path) or {})
        SampleCache(tmp_path / "cache").reduced(run)
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_damaged_predictions_are_left_out(runs_dir: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = SampleCache(tmp_path)
    leaderboard(find_runs(runs_dir, cache.check), cache)
    file = runs_dir / "good/seed-1/predictions/dev_pred_ar.tsv"
    file.write_text("\n".join(file.read_text(encoding="utf-8").split("\n")[:-2]) + "\n", encoding="utf-8")
    file.with_name("dev_pred_dyk.tsv").touch()
    caplog.clear()
    with caplog.at_level(logging.WARNING, "mtl"):
        assert [run.name for run in find_runs(runs_dir, SampleCache(tmp_path).check)] == ["bad"]
        file.unlink()
        assert [run.name for run in find_runs(runs_dir, SampleCache(tmp_path).check)] == ["bad"]
    assert "59 predictions for 60 dev rows" in caplog.messages[0] and "no such file" in caplog.messages[1]
