"""How long unfinished seeds are expected to take."""

from pathlib import Path

from command_line import job
from finished_seeds import finish

from mtl.base.files import write_json
from mtl.base.settings.layers import save_config
from mtl.benchmark_making.sweeps.plan import expected_seconds
from mtl.jobs.job import Job

STAGE = {"seconds": 60.0, "peak_memory": 1, "curve": [{"step": 1.0, "dev/average": 2.0}]}


def seconds_of(alone: Job) -> dict[int, float]:
    return expected_seconds([alone])[""]


def test_the_time_of_a_like_run_is_scaled_to_the_steps(settings: list[str], tmp_path: Path) -> None:
    done = job([*settings, "seeds=[1,2]", "pretrain.max_steps=10", f"run_dir={tmp_path / 'runs/done'}"])
    save_config(done.config, done.folder.config)
    write_json(done.folder.summary, {"title": "LSTM, random, frozen"})
    for seed in (1, 2):
        finish(done.folder.seed(seed), 100.0 * seed, 60.0)
    longer = job([*settings, "seeds=[1,2]", "pretrain.max_steps=40", f"run_dir={tmp_path / 'runs/longer'}"])
    assert seconds_of(longer) == dict.fromkeys([1, 2], 150.0 + 3 * 60.0)
    for change in ("encoder.hidden_size=31", "variant=finetune"):
        assert seconds_of(job([*settings, change, f"run_dir={tmp_path / 'runs/longer'}"])) == {}
    # Seconds of seeds that took stage 1 from another run, or continued after it, do not contain it.
    for seed in (1, 2):
        write_json(done.folder.seed(seed) / "pretrain/done.json", {**STAGE, "trained_in": "elsewhere"})
        finish(done.folder.seed(seed), 10.0, 60.0)
    assert seconds_of(longer) == dict.fromkeys([1, 2], 10.0 + 4 * 60.0)
    for seed in (1, 2):
        write_json(done.folder.seed(seed) / "pretrain/done.json", STAGE)
        finish(done.folder.seed(seed), 10.0, 60.0, 12.0)
    assert seconds_of(longer) == dict.fromkeys([1, 2], 12.0 + 4 * 60.0)


def test_a_stage_1_that_several_runs_share_counts_once(
    settings: list[str], floor_settings: list[str], tmp_path: Path
) -> None:
    settings = [*settings, "seeds=[1,2]"]
    frozen = job([*settings, f"run_dir={tmp_path / 'runs/frozen'}"], "frozen")
    finetune = job([*settings, "variant=finetune", f"run_dir={tmp_path / 'runs/finetune'}"], "finetune")
    other = job([*settings, "encoder.dropout=0.3", f"run_dir={tmp_path / 'runs/other'}"], "other")
    for run, stage2 in ((frozen, 5.0), (finetune, 20.0), (other, 5.0)):
        finish(run.folder.seed(1), 60.0 + stage2, 60.0)
    runs = [frozen, finetune, other]
    assert expected_seconds(runs) == {"frozen": {2: 65.0}, "finetune": {2: 20.0}, "other": {2: 65.0}}
    # A finished seed has trained it, wherever it stands in the list.
    finish(finetune.folder.seed(2), 80.0, 60.0)
    assert expected_seconds(runs) == {"frozen": {2: 5.0}, "finetune": {}, "other": {2: 65.0}}
    # A finished stage 1 of an unfinished seed is not counted again.
    write_json(other.folder.seed(2) / "pretrain/done.json", STAGE)
    assert expected_seconds(runs) == {"frozen": {2: 5.0}, "finetune": {}, "other": {2: 5.0}}
    floor = job([*floor_settings, "seeds=[1,2]", "method=constant"])
    finish(floor.folder.seed(1), 3.0)
    assert seconds_of(floor) == {2: 3.0}
