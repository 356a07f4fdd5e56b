"""A checkpoint of a finished LSTM becomes a LightningModule that predicts as the run does, and that Lightning trains further."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from input_errors import refused
from scipy.stats import spearmanr
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
    outputs = torch.cat([module.eval()(batch)[batch.rows.argsort()] for batch in batches]).softmax(dim=1)
    np.testing.assert_allclose(module.predictor.predict_proba("kansla", ROWS), outputs.detach(), rtol=1e-5)


@pytest.mark.slow
def test_a_trainer_logs_losses_and_scores(run: mtl.Run) -> None:
    module = loaded(run, "pretrain")
    golds = {"kansla": ["glad", "arg", "arg", "arg"], "betyg": ["8", "0", "5", "1"]}
    loaders = {task: module.loader(task, ROWS, targets, batch_size=2) for task, targets in golds.items()}
    stop = pl.callbacks.EarlyStopping("train/loss", patience=1, min_delta=100.0)
    trainer = pl.Trainer(max_epochs=5, enable_checkpointing=False, callbacks=[stop], **QUIET)
    trainer.fit(module, loaders["kansla"], loaders["kansla"])
    assert trainer.current_epoch == 2
    assert {"train/loss", "dev/loss", "dev/kansla"} == trainer.callback_metrics.keys()
    (measured,) = trainer.validate(module, loaders["kansla"], verbose=False)
    logits = torch.tensor(module.predictor.model.outputs(module.predictor.suite.tasks["kansla"], ROWS))
    gold = torch.tensor([0, 1, 1, 1])
    assert measured["dev/kansla"] == pytest.approx(100 * float((logits.argmax(dim=1) == gold).float().mean()))
    assert measured["dev/loss"] == pytest.approx(float(torch.nn.functional.cross_entropy(logits, gold)), rel=1e-4)
    (measured,) = trainer.test(module, loaders["betyg"], verbose=False)
    expected = spearmanr([8, 0, 5, 1], [float(number) for number in module.predictor.predict("betyg", ROWS)])
    assert measured["test/betyg"] == pytest.approx(100 * expected.statistic, abs=0.01)
    unknown = module.loader("kansla", ROWS)
    refused(lambda: trainer.validate(module, unknown, verbose=False), key="targets")


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["pretrain", "finetune/kansla"])
def test_what_a_trainer_saves_is_loaded_again(run: mtl.Run, tmp_path: Path, stage: str) -> None:
    module = loaded(run, stage)
    trainer = pl.Trainer(max_epochs=2, enable_checkpointing=False, **QUIET)
    trainer.fit(module, module.loader("kansla", ROWS, ["glad", "arg", "arg", "arg"]))
    saved = tmp_path / "mine.ckpt"
    trainer.save_checkpoint(saved)
    again = mtl.Module.load_from_checkpoint(saved, map_location=torch.device("cpu"), strict=True, weights_only=None)
    for name, weight in module.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name])
    np.testing.assert_array_equal(
        again.predictor.predict_proba("kansla", ROWS), module.predictor.predict_proba("kansla", ROWS)
    )
    assert [weight.requires_grad for weight in again.parameters()] == [
        weight.requires_grad for weight in module.parameters()
    ]
    further = pl.Trainer(max_epochs=3, enable_checkpointing=False, **QUIET)
    further.fit(again, again.loader("kansla", ROWS, ["glad", "arg", "arg", "arg"]), ckpt_path=saved, weights_only=True)
    assert further.global_step == 3


@pytest.mark.slow
def test_what_a_trainer_saved_and_what_is_asked_of_it_must_fit(run: mtl.Run, tmp_path: Path) -> None:
    module = loaded(run, "finetune/kansla")
    trainer = pl.Trainer(max_epochs=1, enable_checkpointing=False, **QUIET)
    trainer.fit(module, module.loader("kansla", ROWS, ["glad", "arg", "arg", "arg"]))
    saved, changed = tmp_path / "mine.ckpt", tmp_path / "changed.ckpt"
    trainer.save_checkpoint(saved)
    content = torch.load(saved, weights_only=True)
    stages = (str(tmp_path / "gone/seed-1/pretrain/best.ckpt"), str(changed), "\0", "a" * 5000)
    other = str(run.path / "seed-2/pretrain/best.ckpt")
    for wrong in (*({"stage": stage} for stage in (*stages, 3, other)), {"state_dict": {"a": print}}):
        torch.save({**content, **wrong}, changed)
        refused(lambda: mtl.Module.load_from_checkpoint(changed), file="changed.ckpt")
    for option in ({"strict": False}, {"hparams_file": "x"}, {"weights_only": False}):
        refused(lambda option=option: mtl.Module.load_from_checkpoint(saved, **option), key=next(iter(option)))
    refused(lambda: mtl.Module.load_from_checkpoint(saved, map_location="nix"), key="device")
    refused(lambda: module.loader("betyg", ROWS), key="task")


@pytest.mark.slow
def test_files_that_are_no_checkpoints_and_targets_of_another_form(run: mtl.Run, tmp_path: Path) -> None:
    outside = Path(shutil.copy(run.path / "seed-2/pretrain/best.ckpt", tmp_path))
    for path in (outside, tmp_path / "none.ckpt"):
        refused(mtl.Module.load_from_checkpoint, path, file=path.name)
    copy = Path(shutil.copytree(run.path, tmp_path / "copy"))
    torch.save({"state_dict": {"a": print}}, copy / "seed-2/pretrain/best.ckpt")
    refused(lambda: mtl.Module.load_from_checkpoint(copy / "seed-2/pretrain/best.ckpt"), file="best.ckpt")
    beside = Path(shutil.copy(run.path / "seed-2/pretrain/best.ckpt", run.path / "seed-2/pretrain/epoch=1.ckpt"))
    refused(mtl.Module.load_from_checkpoint, beside, file=beside.name)  # another callback's
    beside.unlink()
    module = loaded(run, "pretrain")
    for targets in (["glad"], ["nix"] * 4):
        refused(module.loader, "kansla", ROWS, targets, key="targets")
    refused(lambda: module.loader("nix", ROWS))


def test_a_run_of_another_method_has_no_such_network(floor_settings: list[str]) -> None:
    run = mtl.run(*floor_settings, "method=logistic", "floor.keep=true", seeds=1)
    refused(lambda: mtl.Module.load_from_checkpoint(next(run.path.glob("seed-1/models/*.ckpt"))), key="method")
