"""Stage 1 that several runs share."""

import json
from pathlib import Path

import pytest
from command_line import content, job

from mtl.config.schema import Config
from mtl.files import write_json
from mtl.jobs.baseline import run_baseline
from mtl.methods.lstm.shared_stage1 import SharedStage1, stage1_key

FOUR = ["pretrain.max_steps=8", "pretrain.validate_every=4", "seeds=[1]"]

pytestmark = pytest.mark.shares_stage1


def made(settings: list[str], folder: Path, name: str, *further: str, cache: str = "cache") -> Path:
    run = job([*settings, *FOUR, *further, f"run_dir={folder / name}", f"cache_dir={folder / cache}"])
    run_baseline(run)
    return run.folder.path


def trained_in(run: Path) -> str | None:
    done = json.loads((run / "seed-1/pretrain/done.json").read_text(encoding="utf-8"))
    found: str | None = done.get("trained_in")
    return found


@pytest.mark.parametrize("change", ["variant=finetune", "finetune.patience=1", "finetune.encoder_dropout=true"])
def test_a_run_that_differs_in_stage_2_alone_trains_it_not_again(
    settings: list[str], tmp_path: Path, change: str
) -> None:
    first = made(settings, tmp_path, "first")
    second = made(settings, tmp_path, "second", change)
    alone = made(settings, tmp_path, "alone", change, cache="other")
    assert trained_in(second) == str((first / "seed-1/pretrain").resolve())
    assert trained_in(first) is None and trained_in(alone) is None
    assert content(second) == content(alone) != {}
    weights = "seed-1/pretrain/best.ckpt"
    assert (first / weights).samefile(second / weights)  # no second copy on the disk


@pytest.mark.parametrize("change", ["encoder.hidden_size=7", "pretrain.checkpoint=last", "variant=attention"])
def test_a_run_with_another_stage_1_trains_its_own(settings: list[str], tmp_path: Path, change: str) -> None:
    made(settings, tmp_path, "first")
    second = made(settings, tmp_path, "second", change)
    (done,) = second.glob("seed-*/pretrain/done.json")
    assert "trained_in" not in json.loads(done.read_text(encoding="utf-8"))


def config(*settings: str) -> Config:
    return job(["suite=klej-sample", *settings]).config


def test_the_key_has_what_stage_1_reads() -> None:
    key = stage1_key(config(), {"data": "a"}, 1)
    for same in (
        ["finetune.patience=3", "preset=paper", "submission.header=target", "trainer.threads=3", "seeds=[1,2]"],
        ["variant=finetune", "run_dir=elsewhere", "cache_dir=elsewhere", "seeds_in_parallel=2"],
    ):
        assert stage1_key(config(*same), {"data": "a"}, 1) == key
    others = [
        stage1_key(config(setting), {"data": "a"}, 1)
        for setting in (
            "head.dropout=0.3",
            "max_length=9",
            "boundary_words=true",
            "loss.class_weights=1",
            "held_out=0.3",
            "pretrain.checkpoint=last",
        )
    ]
    others += [stage1_key(config(), {"data": "b"}, 1), stage1_key(config(), {"data": "a"}, 2)]
    assert len({key, *others}) == len(others) + 1


def finished(folder: Path, shared: SharedStage1) -> Path:
    folder.mkdir(parents=True)
    (folder / "best.ckpt").write_text("weights", encoding="utf-8")
    write_json(folder / "done.json", {"key": shared.key, "average": 2.0})
    shared.record(folder)
    return folder


def test_the_record_says_where_it_was_trained(tmp_path: Path) -> None:
    shared = SharedStage1(tmp_path / "records", "k")
    source = finished(tmp_path / "one", shared)
    assert shared.take(tmp_path / "two", "best", "stage 1")
    done = json.loads((tmp_path / "two/done.json").read_text(encoding="utf-8"))
    assert done == {"key": "k", "average": 2.0, "trained_in": str(source)}


@pytest.mark.parametrize("damage", ["removed", "no weights", "another key", "another record", "no JSON"])
def test_what_is_not_there_whole_is_trained_again(tmp_path: Path, damage: str) -> None:
    shared = SharedStage1(tmp_path / "records", "k")
    assert not shared.take(tmp_path / "two", "best", "stage 1")
    source = finished(tmp_path / "one", shared)
    if damage == "removed":
        source.rename(tmp_path / "moved")
    elif damage == "no weights":
        (source / "best.ckpt").unlink()
    elif damage == "another key":
        write_json(source / "done.json", {"key": "other"})
    elif damage == "another record":
        write_json(tmp_path / "records/k.json", ["x"])
    else:
        (tmp_path / "records/k.json").write_text("{", encoding="utf-8")
    assert not shared.take(tmp_path / "two", "best", "stage 1") and not (tmp_path / "two").exists()
