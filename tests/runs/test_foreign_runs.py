"""Run folders from other people: whatever is in their files, a command succeeds or says what is wrong in one line."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import job
from mutations import damaged, message_of
from run_folders import make_run, right
from small_suite import small_settings

import mtl
from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline
from mtl.reports.report import write_report
from mtl.runs.finished import find_runs
from mtl.runs.folder import RunFolder

FIELDS = 10  # of each file that are damaged; more of them find nothing further
RECORDS = (
    *("summary.json", "inputs.json", "scored_rows.json", "held_out.json"),
    *("seed-1/scores.json", "seed-1/pretrain/done.json", "seed-1/finetune/cbd/done.json"),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs; the resamples of both are cached."""
    path = tmp_path_factory.mktemp("foreign")
    make_run(path / "runs/klej/a", right(0.8), tasks=["cbd", "cdsc-r"], seeds=[1, 2])
    make_run(path / "runs/klej/b", right(0.5), ["method=constant"], tasks=["cbd", "cdsc-r"], seeds=[1])
    write_report(path / "runs", path / "out", "x", path / "cache")
    return path / "runs"


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDS)
def test_a_damaged_record_never_ends_the_report(runs: Path, name: str) -> None:
    for _ in damaged(runs / "klej/a" / name, FIELDS):
        write_report(runs, runs.parent / "out", "x", runs.parent / "cache")


@pytest.mark.slow
def test_a_damaged_text_file_never_ends_the_search_for_runs(runs: Path) -> None:
    for name in ("config.yaml", "suite.yaml", "gold/dev_cbd.tsv", "seed-1/predictions/dev_pred_cdsc-r.tsv"):
        for _ in damaged(runs / "klej/a" / name, FIELDS):
            assert {run.name for run in find_runs(runs)} >= {"b"}


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda file: file.symlink_to("/dev/zero")])
@pytest.mark.parametrize("name", ["summary.json", "suite.yaml", "gold/dev_cbd.tsv", "seed-1/pretrain/done.json"])
def test_only_files_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, make: Callable[[Path], None]
) -> None:
    make_run(tmp_path / "klej/good", right(0.5), tasks=["cbd"], seeds=[1])
    folder = make_run(tmp_path / "klej/bad", right(0.5), tasks=["cbd"], seeds=[1])
    (folder.path / name).unlink()
    make(folder.path / name)
    with caplog.at_level(logging.WARNING):
        assert [run.name for run in find_runs(tmp_path)] == ["good"]
    assert str(folder.path / name) in caplog.messages[0] and "bad is left out" in caplog.messages[0]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run on the small suite, with its settings beside it."""
    folder = tmp_path_factory.mktemp("trained")
    run_baseline(job([*small_settings(folder), "seeds=[1]"]))
    return folder / "run"


@pytest.mark.slow
def test_a_damaged_run_predicts_and_encodes_or_says_why_not(trained: Path) -> None:
    def use() -> None:
        predictor = mtl.load(trained)
        predictor.predict("kansla", [["solen skiner"]])
        predictor.encode(["solen skiner"])

    names = ("summary.json", "inputs.json", "seed-1/scores.json", "config.yaml", "suite.yaml", "vocabulary.txt")
    for name in (*names, "seed-1/pretrain/best.ckpt", "seed-1/finetune/kansla/best.ckpt"):
        for what in damaged(trained / name, FIELDS):
            message_of(use, what)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["seed-1/scores.json", "inputs.json", "seed-1/pretrain/done.json"])
def test_a_damaged_record_is_not_continued_from(tmp_path: Path, name: str) -> None:
    settings = [*small_settings(tmp_path), "seeds=[1]", "tasks=[kansla]"]
    made = job(settings)
    run_baseline(made)
    made.folder.summary.unlink()
    if name.endswith("done.json"):
        made.folder.scores(1).unlink()
    for what in damaged(made.folder.path / name, 12):
        made.folder.summary.unlink(missing_ok=True)
        message_of(lambda: run_baseline(made), what)


def test_folders_with_links_are_left_alone(
    settings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder behind the link has the names that a seed's folder has: a run would clear them."""
    thesis = tmp_path / "home/pretrain/thesis.txt"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("x", encoding="utf-8")
    run = RunFolder(job(settings).folder.path)
    for name in ("seed-1", "gold"):
        run.path.mkdir(exist_ok=True)
        (run.path / name).symlink_to(tmp_path / "home", target_is_directory=True)
        assert main(["baseline", *settings]) == 2
        assert f"{run.path / name}: is a link; " in capsys.readouterr().err
        (run.path / name).unlink()
    assert [path.name for path in (tmp_path / "home").rglob("*")] == ["pretrain", "thesis.txt"]
