"""Whole runs of the LSTM."""

import gc
from pathlib import Path

import numpy as np
import pytest
import torch
from command_line import job
from data_files import read_json
from elmo_files import write_elmo

from mtl.jobs.baseline import run_baseline
from mtl.methods import stage2
from mtl.model.sequences import ArraySequences

ELMO = {"lstm": {"dim": 24, "projection_dim": 10}}


def given(settings: list[str], name: str, folder: Path, *more: str) -> list[str]:
    """Settings of the small suite with random embeddings, or with an ELMo that is written."""
    if name == "elmo":
        write_elmo(folder / "elmo", **ELMO)
        settings = [setting for setting in settings if not setting.startswith("embeddings.dim")]
        settings += ["embeddings=elmo", f"embeddings.path={folder / 'elmo'}", f"cache_dir={folder / 'cache'}"]
    return [*settings, "seeds=[1]", "head.attention_size=6", *more]


@pytest.mark.slow
def test_the_cost_counts_one_encoder_all_heads_and_both_stages(settings: list[str], tmp_path: Path) -> None:
    run = job(given(settings, "random", tmp_path))
    run_baseline(run)
    cost = read_json(run.folder.scores(1))["cost"]
    kept = torch.load(run.folder.seed(1) / "pretrain/best.ckpt", weights_only=True)["state_dict"]
    assert cost["parameters"] == sum(value.numel() for value in kept.values())
    table = kept["encoder.embedder.table.weight"].numel()
    assert cost["parameters_without_embeddings"] == cost["parameters"] - table
    seconds = {
        str(path.parent.relative_to(run.folder.seed(1))): read_json(path)["seconds"]
        for path in run.folder.seed(1).rglob("done.json")
    }
    assert set(seconds) == {"pretrain", "finetune/kansla", "finetune/samma", "finetune/betyg"}
    assert cost["pretrain_seconds"] == seconds.pop("pretrain")
    assert cost["finetune_seconds"] >= sum(seconds.values())  # encoding the texts counts too
    assert cost["peak_memory"] > 0 and cost["sentences_per_second"] > 0


@pytest.mark.slow
def test_without_its_cache_elmo_gives_the_same(settings: list[str], tmp_path: Path) -> None:
    scores = []
    for cache in ("true", "false"):
        more = ("variant=finetune", f"embeddings.cache={cache}", f"run_dir={tmp_path / cache}")
        scores.append(run_baseline(job(given(settings, "elmo", tmp_path, *more)))["tasks"])
    assert scores[0] == scores[1]
    files = [tmp_path / cache / "seed-1/pretrain/best.ckpt" for cache in ("true", "false")]
    cached, computed = (torch.load(file, weights_only=True) for file in files)
    for name, value in cached["state_dict"].items():
        assert torch.equal(value, computed["state_dict"][name]), name
    assert list((tmp_path / "cache").glob("elmo-*-float16-*/*.rows.npy"))


@pytest.mark.slow
def test_a_threshold_has_the_precision(settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row_outputs, in_bfloat16 = stage2.row_outputs, []

    def spy(*arguments):  # type: ignore[no-untyped-def]
        in_bfloat16.append(torch.is_autocast_enabled("cpu"))
        return row_outputs(*arguments)

    monkeypatch.setattr(stage2, "row_outputs", spy)
    precision = ("trainer.accelerator=cpu", "trainer.precision=bf16-mixed", "trainer.force_precision=true")
    run_baseline(job(given(settings, "random", tmp_path, "tasks=[samma]", "finetune.threshold=dev", *precision)))
    assert in_bfloat16 == [True]


@pytest.mark.slow
def test_the_token_outputs_of_a_seed_do_not_outlast_the_next_seed(settings: list[str]) -> None:
    chosen = job([*settings, "seeds=[1,2]", "head.projection=6", "pretrain.max_steps=2", "finetune.max_epochs=1"])
    gc.collect()
    gc.disable()
    try:
        run_baseline(chosen)
        found = [each for each in gc.get_objects() if type(each) is ArraySequences]
        kept = [sequences for sequences in found if isinstance(sequences.rows, np.memmap)]
    finally:
        gc.enable()
    assert len(kept) <= 1
