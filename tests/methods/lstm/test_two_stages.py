"""Whole runs of the LSTM."""

import gc

import numpy as np
import pytest
import torch
from command_line import job
from data_files import read_json

from mtl.jobs.baseline import run_baseline
from mtl.model.sequences import ArraySequences


@pytest.mark.slow
def test_the_cost_counts_one_encoder_all_heads_and_both_stages(settings: list[str]) -> None:
    run = job([*settings, "seeds=[1]", "head.attention_size=6"])
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
