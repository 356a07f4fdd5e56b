"""Runs of a sweep that were made before the sweep had more values."""

from pathlib import Path

import pytest
from command_line import content

from mtl.cli import main
from mtl.jobs.job import parse_settings
from mtl.jobs.sweep import load_sweep
from mtl.settings.layers import save_config


@pytest.fixture
def floors(floor_settings: list[str], tmp_path: Path) -> list[str]:
    kept = [setting for setting in floor_settings if not setting.startswith("run_dir=")]
    return [*kept, f"runs_dir={tmp_path / 'runs'}", "seeds=[1]", "method=constant"]


def names(text: str, floors: list[str], tmp_path: Path) -> list[str]:
    path = tmp_path / "sweep.yaml"
    path.write_text(text, encoding="utf-8")
    return [run.name for run in load_sweep(str(path), parse_settings(floors)).runs]


def test_another_value_in_the_grid_keeps_finished_runs(
    floors: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sweep, made = tmp_path / "sweep.yaml", tmp_path / "runs/liten"
    sweep.write_text("grid: {max_length: [8, 9]}", encoding="utf-8")
    command = ["sweep", str(sweep), *floors, "--out", str(tmp_path / "out")]
    assert main(command) == 0
    before = content(made)
    sweep.write_text("grid: {max_length: [8, 9], held_out: [0.1, 0.2]}", encoding="utf-8")
    caplog.clear()
    assert main(command) == 0
    assert [line for line in caplog.messages if "has the configuration" in line] == [
        f"{made / f'constant,max_length={length}'}: has the configuration of run {name}, which continues there"
        for length, name in ((8, "constant,max_length=8"), (9, "constant,max_length=9"))
        if name != f"constant,max_length={length}"
    ]
    assert {path: held for path, held in content(made).items() if path in before} == before
    assert len(list(made.glob("*/summary.json"))) == 4


def test_the_folder_of_the_same_configuration_is_taken(floors: list[str], tmp_path: Path) -> None:
    one, two = "grid: {max_length: [8]}", "grid: {max_length: [8, 9]}"
    assert names(one, floors, tmp_path) == ["constant"]
    assert names(two, floors, tmp_path) == ["constant,max_length=8", "constant,max_length=9"]
    path = tmp_path / "sweep.yaml"
    path.write_text(one, encoding="utf-8")
    (run,) = load_sweep(str(path), parse_settings(floors)).runs
    run.job.folder.path.mkdir(parents=True)
    save_config(run.job.config, run.job.folder.config)
    (tmp_path / "runs/liten/damaged").mkdir()
    (tmp_path / "runs/liten/damaged/config.yaml").write_text("[", encoding="utf-8")
    assert names(two, floors, tmp_path) == ["constant", "constant,max_length=9"]
    assert load_sweep(str(path), parse_settings(floors), ["constant"]).runs[0].job.folder.path == run.job.folder.path
    # Other data is another run, and so is one with a name.
    assert names(two, [*floors, f"data_dir={tmp_path}/./data"], tmp_path)[0] == "constant,max_length=8"
    assert names("runs: [{name: a, max_length: 8}, {max_length: 9}]", floors, tmp_path)[0] == "a"
    # A folder that another run of the sweep names is that run's.
    text = "runs: [{name: constant, max_length: 8}, {max_length: 8}, {max_length: 9}]"
    assert names(text, floors, tmp_path) == ["constant", "constant,max_length=8", "constant,max_length=9"]
