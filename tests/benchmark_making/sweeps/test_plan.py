"""What a sweep consists of, how far it is, and how long unfinished seeds are expected to take."""

import os
import time
from pathlib import Path

import pytest
from command_line import job
from input_errors import ANY, raises_input_error

from mtl.api.cli import main
from mtl.base.files import write_json
from mtl.base.locks import CLOCKS, STALE_AFTER
from mtl.benchmark_making.sweeps.plan import expected_seconds, plan_text
from mtl.jobs.job import Job
from mtl.runs.folder import TRAINING as LOCK
from mtl.runs.folder import seed_lock


def finish(folder: Path, seconds: float, pretraining: float | None = None, finetuning: float = 0.0) -> None:
    """Write the record of a finished seed that took so many seconds in all, and for its stages."""
    cost = {"pretrain_seconds": pretraining, "finetune_seconds": finetuning}
    scores = {"scores": {"a": 61.25}, "average": 61.25, "also": {}, "dev_scores": {}, "same_answer": []}
    about = {"versions": {}, "machine": "", "remarks": []}
    write_json(folder / "scores.json", {**scores, "seconds": seconds, "cost": cost, **about})


@pytest.fixture
def run(settings: list[str], tmp_path: Path) -> Job:
    """Four seeds: finished, running, interrupted, waiting."""
    named = job([*settings, "seeds=[1,2,3,4]", f"run_dir={tmp_path / 'runs/random-frozen'}"], "random-frozen")
    folder = named.folder
    finish(folder.seed(1), 120.0)
    for seed in (2, 3):
        (folder.seed(seed) / "pretrain").mkdir(parents=True)
    return named


def test_how_far_each_seed_is(run: Job, settings: list[str], tmp_path: Path) -> None:
    with seed_lock(run.folder.seed(2)):
        lines = plan_text([run]).splitlines()
    assert lines[0] == "random-frozen, seed 1 · finished · average 61.2 · 2 min 00 s"
    assert " · running on " in lines[1] and lines[1].endswith(" · about 2 min 00 s in all")
    assert lines[2:] == [
        "random-frozen, seed 3 · interrupted · about 2 min 00 s in all",
        "random-frozen, seed 4 · waiting · about 2 min 00 s in all",
        "4 seeds in all, 1 finished",
        "expected: 6 min 00 s one after another",
    ]
    other = job([*settings, "seeds=[1,2]", f"run_dir={tmp_path / 'elsewhere/other'}"], "other")
    text = plan_text([run, other]).splitlines()[-1]
    assert text.endswith("one after another; the runs of 2 seeds have no finished seed to judge by")


@pytest.mark.parametrize(("age", "state"), [(0.0, "running on another"), (STALE_AFTER + CLOCKS + 60.0, "interrupted")])
def test_a_seed_of_another_host_that_has_not_renewed_its_lock_is_not_running(run: Job, age: float, state: str) -> None:
    folder = run.folder.seed(2)
    write_json(folder / LOCK, {"host": "another", "pid": 1, "since": "2026-01-01 00:00:00 UTC", "token": "t"})
    os.utime(folder / LOCK, (time.time() - age,) * 2)
    assert f" · {state} · " in plan_text([run]).splitlines()[1]


def test_a_damaged_record_of_a_finished_seed_is_named(run: Job) -> None:
    write_json(run.folder.scores(1), {"average": None, "seconds": "long", "cost": {}})
    with raises_input_error(file="scores.json", key=ANY):
        plan_text([run])


def test_the_command_runs_nothing(
    settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = [setting for setting in settings if not setting.startswith("run_dir=")]
    (tmp_path / "s.yaml").write_text("grid: {head.dropout: [0.1, 0.3]}", encoding="utf-8")
    command = ["sweep", "s.yaml", *kept, "seeds=[1]", f"runs_dir={tmp_path / 'runs'}"]
    assert main([*command, "--plan"]) == 0
    unknown = "expected: unknown; the runs of 2 seeds have no finished seed to judge by"
    names = [f"random-frozen,head.dropout={share}" for share in (0.1, 0.3)]
    waiting = [f"{name}, seed 1 · waiting" for name in names]
    assert capsys.readouterr().out.splitlines() == [*waiting, "2 seeds in all, 0 finished", unknown]
    assert not (tmp_path / "runs").exists()
    for name in names:
        finish(tmp_path / "runs/liten" / name / "seed-1", 3.0)
    assert main([*command, "--plan"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 seeds in all, 2 finished"


def test_the_expected_time_is_the_median_of_the_run_s_finished_seeds(settings: list[str], tmp_path: Path) -> None:
    run = job([*settings, "seeds=[1,2,3,4,5]", f"run_dir={tmp_path / 'runs/frozen'}"], "frozen")
    assert expected_seconds([run]) == {"frozen": {}}
    finish(run.folder.seed(1), 65.0, 60.0)
    finish(run.folder.seed(2), 5.0, 60.0, 12.0)  # its stage 1 was trained before, by another process
    finish(run.folder.seed(4), 90.0)
    assert expected_seconds([run]) == {"frozen": {3: 72.0, 5: 72.0}}
