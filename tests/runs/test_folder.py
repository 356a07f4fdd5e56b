import json
import os
from pathlib import Path
from typing import Any

import pytest
from data_files import read_json
from input_errors import raises_input_error, refused
from run_folders import make_run, right

from mtl.base.files import write_json
from mtl.base.locks import Holder, holder_of
from mtl.base.settings.schema import Config
from mtl.jobs.job import load_job
from mtl.runs.folder import TRAINING, RunFolder, seed_lock

NEEDS_PROC = pytest.mark.skipif(not Path("/proc").is_dir(), reason="nobody can write to /proc")


def test_a_folder_is_held_by_one_and_what_a_killed_process_half_wrote_is_gone(tmp_path: Path) -> None:
    with RunFolder(tmp_path).locked(), raises_input_error(file="TMP"), RunFolder(tmp_path).locked():
        pass
    (tmp_path / "seed-1/.transformer.7.partial").mkdir(parents=True)
    for name in (".best.ckpt.7.partial", ".transformer.7.partial/.config.json.7.partial"):
        (tmp_path / "seed-1" / name).write_text("half", encoding="utf-8")
    with RunFolder(tmp_path).locked():
        assert list((tmp_path / "seed-1").iterdir()) == []


@pytest.mark.parametrize("path", ["file", pytest.param("/proc/none", marks=NEEDS_PROC)])
def test_a_folder_that_cannot_be_written(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    folder = RunFolder(tmp_path / path)
    with raises_input_error(), folder.locked():
        pass


def test_an_error_while_the_folder_is_held_is_not_one_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), RunFolder(tmp_path / "run").locked():
        raise PermissionError(13, "Permission denied", "data.tsv")


def configured(**settings: Any) -> Config:
    return load_job({"suite": "klej", **settings}).config


def test_the_claim_of_a_configuration_and_its_inputs(tmp_path: Path) -> None:
    folder, config = RunFolder(tmp_path), configured()
    folder.check(config)
    inputs = {"a.tsv": "1", "embeddings": "2", "tasks.a": "1"}
    folder.claim(config, inputs, "32-true")
    folder.check(config)
    folder.claim(config, inputs, "32-true")
    other = configured(**{"max_length": 7, "encoder.dropout": 0.1, "data_dir": "moved"})
    refused(lambda: folder.check(other), file="TMP")
    changed = {"a.tsv": "0", "b.tsv": "1", "embeddings": "2", "tasks.a": "1"}
    for other in (changed, {"a.tsv": "1", "embeddings": "2"}):  # the second lacks a task
        refused(folder.claim, config, other, "32-true", file="TMP")


def test_a_run_keeps_its_precision(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.check_same_precision("bf16-mixed")  # a new folder
    folder.claim(configured(), {"a.tsv": "1"}, "bf16-mixed")
    folder.check_same_precision("bf16-mixed")
    refused(lambda: folder.check_same_precision("32-true"))
    write_json(folder.inputs, {**read_json(folder.inputs), "precision": "32-true"})
    refused(lambda: folder.check_same_precision("bf16-mixed"))


def test_a_folder_of_another_version_is_refused(tmp_path: Path) -> None:
    folder, config = RunFolder(tmp_path), configured()
    folder.claim(config, {"a.tsv": "1"}, "32-true")
    inputs = read_json(folder.inputs)
    for older in ({**inputs, "format": "1"}, {"a.tsv": "1"}):
        write_json(folder.inputs, older)
        refused(lambda: folder.check(config), file="TMP")


def test_the_records_of_trainings(tmp_path: Path) -> None:
    folder = make_run(tmp_path, right(0.5), tasks=["cbd", "ar"], seeds=[3])
    stages = [file.parent.relative_to(tmp_path).as_posix() for file in folder.stages(3)]
    assert stages == ["seed-3/pretrain", "seed-3/finetune/ar", "seed-3/finetune/cbd"]
    assert folder.stages(1) == []


def test_who_waits_is_told_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("mtl.base.locks.RENEW_EVERY", 0.01)
    monkeypatch.setattr("mtl.base.locks.STALE_AFTER", 0.05)
    other = Holder("elsewhere", 1, "2026-01-31 12:00:00 UTC", "t")
    (tmp_path / TRAINING).write_text(json.dumps(vars(other)), encoding="utf-8")
    with caplog.at_level("INFO", logger="mtl"), seed_lock(tmp_path):
        held = holder_of(tmp_path / TRAINING)
        assert held is not None and held.pid == os.getpid()
    process = "process 1 on elsewhere since 2026-01-31 12:00:00 UTC"
    assert f"{tmp_path}: another process trains this seed ({process}); wait" in caplog.text
    assert list(tmp_path.iterdir()) == []
