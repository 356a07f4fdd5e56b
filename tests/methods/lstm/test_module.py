"""A checkpoint of a finished LSTM becomes a LightningModule that predicts as the run does, and that Lightning trains further."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from input_errors import refused
from small_suite import small_settings

import mtl

ROWS = [["solen skiner"], ["regnet faller i dag"], ["katten"], ["en lång rad om solen och regnet"]]
QUIET = {"accelerator": "cpu", "logger": False, "enable_progress_bar": False, "enable_model_summary": False}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> mtl.Run:
    return mtl.run(*small_settings(tmp_path_factory.mktemp("module")), seeds=2)


class DropoutOn(pl.Callback):
    """Fails if a step trains without dropout."""

    def on_train_batch_start(self, trainer: pl.Trainer, module: pl.LightningModule, batch: object, index: int) -> None:
        assert all(part.training for part in module.modules())


def loaded(run: mtl.Run, stage: str) -> mtl.Module:
    return mtl.Module.load_from_checkpoint(run.path / f"seed-2/{stage}/best.ckpt")


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["pretrain", "finetune/kansla"])
def test_its_weights_are_those_of_the_file(run: mtl.Run, stage: str) -> None:
    weights = torch.load(run.path / f"seed-2/{stage}/best.ckpt", weights_only=True)["state_dict"]
    own = loaded(run, stage).network.state_dict()
    assert all(torch.equal(own[name], weight) for name, weight in weights.items())
    missing = own.keys() - weights.keys()
    first = torch.load(run.path / "seed-2/pretrain/best.ckpt", weights_only=True)["state_dict"]
    assert all(name.startswith("encoder.") and torch.equal(own[name], first[name]) for name in missing)
    assert bool(missing) == (stage != "pretrain")


@pytest.mark.slow
def test_lightning_predicts_what_the_run_predicts(run: mtl.Run) -> None:
    module = loaded(run, "finetune/kansla")
    batches = module.loader("kansla", ROWS, batch_size=2)
    predicted = pl.Trainer(**QUIET).predict(module, batches)
    outputs = np.zeros((4, 2))
    for batch, part in zip(batches, predicted, strict=True):
        outputs[batch.rows] = part
    expected = mtl.load(run.path, seed=2).predict_proba("kansla", ROWS)
    np.testing.assert_allclose(torch.tensor(outputs).softmax(dim=1), expected, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["pretrain", "finetune/kansla"])
def test_lightning_trains_it_further(run: mtl.Run, stage: str) -> None:
    module = loaded(run, stage)
    labels = module.predictor.suite.tasks["kansla"].labels
    assert labels is not None
    before = {name: weight.clone() for name, weight in module.network.state_dict().items()}
    batches = module.loader("kansla", ROWS, [labels[0], labels[1], labels[0], labels[1]])
    module.predictor.predict("kansla", ROWS)  # without dropout
    trainer = pl.Trainer(max_epochs=2, enable_checkpointing=False, callbacks=[DropoutOn()], **QUIET)
    trainer.fit(module, batches)
    now = module.network.state_dict()
    changed = {name.partition(".")[0] for name, weight in now.items() if not weight.equal(before[name])}
    assert changed == ({"heads", "encoder"} if stage == "pretrain" else {"heads"})  # stage 2 has trained heads alone
    refused(lambda: trainer.validate(module, batches, verbose=False))
    outputs = torch.cat([module.eval()(batch)[batch.rows.argsort()] for batch in batches]).softmax(dim=1)
    np.testing.assert_allclose(module.predictor.predict_proba("kansla", ROWS), outputs.detach(), rtol=1e-5)


@pytest.mark.slow
def test_files_that_are_no_checkpoints_and_targets_of_another_form(run: mtl.Run, tmp_path: Path) -> None:
    outside = Path(shutil.copy(run.path / "seed-2/pretrain/best.ckpt", tmp_path))
    for path in (outside, tmp_path / "none.ckpt"):
        refused(mtl.Module.load_from_checkpoint, path, file=path.name)
    copy = Path(shutil.copytree(run.path, tmp_path / "copy"))
    torch.save({"state_dict": {"a": print}}, copy / "seed-2/pretrain/best.ckpt")
    refused(lambda: mtl.Module.load_from_checkpoint(copy / "seed-2/pretrain/best.ckpt"), file="best.ckpt")
    module = loaded(run, "pretrain")
    for targets in (["glad"], ["nix"] * 4):
        refused(module.loader, "kansla", ROWS, targets, key="targets")
    refused(lambda: module.loader("nix", ROWS))


def test_a_run_of_another_method_has_no_such_network(floor_settings: list[str]) -> None:
    run = mtl.run(*floor_settings, "method=logistic", "floor.keep=true", seeds=1)
    refused(lambda: mtl.Module.load_from_checkpoint(next(run.path.glob("seed-1/models/*.ckpt"))), key="method")
