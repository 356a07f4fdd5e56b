"""Processes that train together have equal weights, and those of one process that computes the same batches."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rank_work
import torch
from input_errors import raises_input_error, refused
from small_suite import small_settings
from stage_parts import CPU, network
from torch import nn

import mtl
from mtl.training.ranks import check_devices, train_together


def trained(folder: Path, devices: int, parts: int = 1) -> dict[str, Any]:
    """The weights of all ranks and the curve of rank 0, without dropout, whose draws differ by rank."""
    folder.mkdir()
    made = network()
    for layer in made.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    train_together(replace(CPU, devices=devices), rank_work.train, made, folder, parts)
    return torch.load(folder / "result.pt", weights_only=True)


@pytest.mark.slow
def test_all_ranks_end_with_the_weights_and_the_scores_of_one_process(tmp_path: Path) -> None:
    alone, made = trained(tmp_path / "alone", 1), trained(tmp_path / "three", 3, parts=2)
    assert len(made["weights"]) == 3
    assert all(torch.equal(weights, made["weights"][0]) for weights in made["weights"])
    torch.testing.assert_close(made["weights"][0], alone["weights"][0], rtol=1e-4, atol=1e-6)
    for row, expected in zip(made["curve"], alone["curve"], strict=True):
        assert row["dev/t"] == expected["dev/t"]
        assert row["train/loss"] == pytest.approx(expected["train/loss"], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "reason"), [("killed", "it ended with status -9"), ("raises", "ValueError: no such")])
def test_a_rank_that_fails_is_one_error(how: str, reason: str) -> None:
    with raises_input_error(key="trainer.devices") as caught:
        train_together(replace(CPU, devices=2), rank_work.fail, network(), how)
    assert reason in str(caught.value)


@pytest.mark.slow
def test_a_run_trains_stage_1_on_several_devices(tmp_path: Path) -> None:
    run = mtl.run(*small_settings(tmp_path), seeds=1, trainer={"devices": 2, "accelerator": "cpu"})
    stage = tmp_path / "run/seed-1/pretrain"
    assert run.summary["config"]["trainer.devices"] == 2
    assert (stage / "best.ckpt").exists() and not (stage / "last.ckpt").exists()


def test_a_machine_without_so_many_gpus_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.training.ranks.device_of", lambda accelerator: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    check_devices(replace(CPU, devices=2))
    refused(lambda: check_devices(replace(CPU, devices=3)), key="trainer.devices")


def test_sparse_gradients_and_callbacks_in_this_process_alone_are_refused(tmp_path: Path) -> None:
    settings = [*small_settings(tmp_path), "trainer.devices=2", "trainer.accelerator=cpu"]
    refused(mtl.run, *settings, "embeddings.sparse=true", "embeddings.trainable=true", key="trainer.devices")
    from pytorch_lightning.callbacks import LearningRateMonitor

    refused(lambda: mtl.run(*settings, trainer={"callbacks": [LearningRateMonitor()]}), key="trainer.callbacks")
