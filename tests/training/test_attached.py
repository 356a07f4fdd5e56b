"""Loggers and callbacks that settings name, or that are objects, are those of every training."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest
import pytorch_lightning as pl
import torch
from input_errors import raises_input_error, refused
from pytorch_lightning.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger, TensorBoardLogger
from small_suite import small_settings
from stage_parts import CPU, Cut, assert_same_weights, module, stage

import mtl
from mtl.jobs.job import load_job
from mtl.training.attached import attach, check_attached
from mtl.training.module import MultitaskModule
from mtl.training.stage import fit


class Steps(pl.Callback):
    """Counts the steps, across interruptions, and remembers who made it."""

    made = 0

    def __init__(self) -> None:
        Steps.made += 1
        self.steps = 0

    def on_train_batch_end(self, *_: Any) -> None:
        self.steps += 1

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.steps = state["steps"]


class Stop(EarlyStopping):
    """One that needs no arguments, as the documentation shows."""

    def __init__(self) -> None:
        super().__init__("dev/average", mode="max", patience=1)


class Saved(ModelCheckpoint):
    """Remembers what the best checkpoint of each training was."""

    best: ClassVar[list[float]] = []

    def __init__(self) -> None:
        super().__init__(monitor="dev/average", mode="max")

    def on_train_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        super().on_train_end(trainer, module)
        assert self.best_model_score is not None and len(self.best_k_models) == 1
        self.best.append(float(self.best_model_score))


class Trainings(pl.Callback):
    """Counts trainings, in an attribute that is no state of Lightning's."""

    count = 0

    def on_train_start(self, *_: Any) -> None:
        self.count += 1


NAME = f"{__name__}:Steps"


def fitted(folder: Path, cut: int | None = None, resumable: bool = True, **settings: Any) -> MultitaskModule:
    """What a stage trains with these values of `trainer`, some of which may be objects."""
    trained = module()
    with attach({f"trainer.{key}": value for key, value in settings.items()}) as (named, _):
        config = replace(CPU, **{key.removeprefix("trainer."): value for key, value in named.items()})
        check_attached(config)
        fit(trained, replace(stage(folder / "seed-1/pretrain", 100, cut), resumable=resumable), config)
    return trained


def test_objects_and_classes_see_every_step_and_change_nothing(tmp_path: Path) -> None:
    mine, loggers = Steps(), [CSVLogger(tmp_path / "mine"), CSVLogger(tmp_path / "further")]
    observed = fitted(tmp_path / "a", logger=loggers, callbacks=[mine, LearningRateMonitor()])
    assert mine.steps == 40
    made = Steps.made
    assert_same_weights(observed, fitted(tmp_path / "b", callbacks=[NAME]))
    assert Steps.made == made + 2  # the check makes one, too
    assert_same_weights(observed, fitted(tmp_path / "c"))
    assert len(list(tmp_path.glob("*/lightning_logs/*/metrics.csv"))) == 2
    assert not (tmp_path / "a/seed-1/pretrain/log").exists()


@pytest.mark.slow
def test_each_training_gets_an_object_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = [*small_settings(tmp_path), "finetune.max_epochs=6", "finetune.batch_size=16", "seeds=1"]
    settings += ["pretrain.max_steps=24", "pretrain.validate_every=4", "pretrain.learning_rate=0.01"]

    def trained(name: str, *callbacks: Any) -> tuple[Any, list[float]]:
        monkeypatch.setattr(Saved, "best", [])
        run = mtl.run(*settings, trainer={"callbacks": list(callbacks)}, run_dir=tmp_path / name)
        return run.curves.drop(columns="seconds"), Saved.best

    stop, saved, steps, trainings = Stop(), Saved(), Steps(), Trainings()
    classes, best = trained("classes", f"{__name__}:Stop", f"{__name__}:Saved")
    assert len(best) == 4 and stop.best_score == -torch.inf
    for name in ("objects", "again"):  # also those that an earlier run has used
        objects, kept = trained(name, stop, saved, steps, trainings)
        pd.testing.assert_frame_equal(objects, classes)
        assert kept == best
    assert trainings.count == 8
    assert saved.best_model_score == best[-1] and steps.steps == objects[objects.task == "betyg"].step.max()


def test_an_object_that_the_user_changes_between_runs_keeps_the_change(tmp_path: Path) -> None:
    stop = EarlyStopping("dev/average", mode="max", patience=100)
    for patience, name in ((100, "a"), (1, "b"), (1, "c")):
        stop.patience = patience
        trained = fitted(tmp_path / name, callbacks=[stop])
        assert (len(trained.curve) == 10) == (patience == 100) and stop.patience == patience


def test_an_interrupted_object_begins_as_it_was_given(tmp_path: Path) -> None:
    stop, expected = Stop(), fitted(tmp_path / "whole", callbacks=[Stop()])
    with pytest.raises(Cut):
        fitted(tmp_path / "other", cut=1, callbacks=[stop])
    assert_same_weights(fitted(tmp_path / "new", callbacks=[stop]), expected)
    assert_same_weights(fitted(tmp_path / "other", callbacks=[stop]), expected)


@pytest.mark.parametrize("kind", [CSVLogger, TensorBoardLogger])
def test_a_logger_object_has_a_folder_for_each_training(tmp_path: Path, kind: Any) -> None:
    numbered, named = kind(tmp_path / "numbered"), kind(tmp_path / "named", version="mine")
    with attach({"trainer.logger": [numbered, named]}) as (settings, _):
        for name in "ab":
            fit(module(), stage(tmp_path / name / "seed-1/pretrain"), replace(CPU, logger=settings["trainer.logger"]))
    fitted(tmp_path / "c", logger=numbered)
    assert {path.name for path in tmp_path.glob("numbered/*/*")} == {"version_0", "version_1", "version_2"}
    assert [path.name for path in tmp_path.glob("named/*/*")] == ["mine"]
    if kind is CSVLogger:
        rows = [len(pd.read_csv(path)) for path in tmp_path.glob("*/*/*/metrics.csv")]
        assert sorted(rows) == [10, 10, 10, 20]
    unused = kind(tmp_path / "unused")
    with attach({"trainer.logger": unused}):
        pass  # a run that trains nothing
    assert unused.version == 0 and fitted(tmp_path / "d", logger=unused) is not None


def test_one_callback_needs_no_list_and_a_list_may_name_classes_too(tmp_path: Path) -> None:
    mine, made = Steps(), Steps.made
    fitted(tmp_path / "one", callbacks=mine)
    assert mine.steps == 40
    fitted(tmp_path / "both", callbacks=[EarlyStopping("dev/average"), NAME])
    assert Steps.made == made + 2


@pytest.mark.parametrize(("value", "meant"), [(True, "auto"), (False, "none")])
def test_lightning_truth_values_of_loggers(value: bool, meant: str) -> None:
    assert load_job({"suite": "klej-sample", "trainer.logger": value}).config.trainer.logger == meant


def test_an_interrupted_training_gives_a_callback_its_state_back(tmp_path: Path) -> None:
    first, second = Steps(), Steps()
    with pytest.raises(Cut):
        fitted(tmp_path, cut=3, callbacks=[first])
    assert first.steps == 12
    resumed = fitted(tmp_path, callbacks=[second])
    assert second.steps == 40
    assert_same_weights(resumed, fitted(tmp_path / "plain"))


def test_a_callback_may_save_checkpoints_of_a_training_that_saves_no_state(tmp_path: Path) -> None:
    saves = ModelCheckpoint(tmp_path / "kept", monitor="dev/average", mode="max")
    fitted(tmp_path / "run", resumable=False, callbacks=[saves])
    assert Path(saves.best_model_path).exists()


@pytest.mark.parametrize(
    ("logger", "kept"), [("csv", {"log"}), ("none", set()), ("tensorboard", {"log", "tensorboard"})]
)
def test_each_logger_writes_its_files(tmp_path: Path, logger: str, kept: set[str]) -> None:
    fitted(tmp_path, logger=logger)
    folder = tmp_path / "seed-1/pretrain"
    assert {path.name for path in folder.iterdir()} == {"best.ckpt", "done.json", *kept}


@pytest.mark.parametrize("value", ["Steps", "nix:Nix", f"{__name__}:Nix", "os:system", "pathlib:Path", 3])
def test_a_name_that_is_no_class_of_callbacks(value: Any) -> None:
    refused(lambda: check_attached(replace(CPU, callbacks=[value])), key="trainer.callbacks")


def test_callbacks_that_lightning_does_not_take_and_what_is_no_logger(tmp_path: Path) -> None:
    for settings in ({"callbacks": [NAME, NAME]}, {"callbacks": [LearningRateMonitor()], "logger": "none"}):
        with raises_input_error(key="trainer.callbacks"):
            fitted(tmp_path, **settings)
    stops = replace(CPU, callbacks=["pytorch_lightning.callbacks:EarlyStopping"])
    refused(check_attached, stops, key="trainer.callbacks")
    refused(lambda: check_attached(replace(CPU, logger=NAME)), key="trainer.logger")
    for value in ("nix", ["csv", "wandb"], 3):
        refused(lambda value=value: mtl.run(suite="klej-sample", trainer={"logger": value}), key="trainer.logger")


@pytest.mark.parametrize("logger", ["wandb", "mlflow", "tensorboard"])
def test_a_missing_package_is_one_line(logger: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "wandb").mkdir()  # W&B's own folder is no package
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("mtl.training.attached.find_spec", lambda name: None)
    refused(lambda: check_attached(replace(CPU, logger=logger)), key="trainer.logger")


def test_an_object_does_not_reach_other_processes() -> None:
    given = {"suite": "klej-sample", "seeds": 2, "seeds_in_parallel": 2, "trainer": {"callbacks": [Steps()]}}
    refused(lambda: mtl.run(**given), key="trainer.callbacks")


def test_files_of_settings_name_no_code(tmp_path: Path) -> None:
    preset = tmp_path / "theirs.yaml"
    for line in ("callbacks: [os:system]", "callbacks: [os]", "logger: os:system"):
        preset.write_text(f"preset: theirs\ntrainer:\n  {line}\n", encoding="utf-8")
        refused(lambda: mtl.run(suite="klej-sample", preset=str(preset)), file="theirs.yaml")


def test_wandb_has_a_run_for_each_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    fitted(tmp_path / "run", logger="wandb")
    fitted(tmp_path / "run", logger="wandb")
    assert wandb.run is None and len(list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))) == 2
    assert not [path for path in (tmp_path / "run").rglob("*") if path.is_symlink()]


def test_mlflow_has_a_run_for_each_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    trained = fitted(tmp_path / "seed-1/run", logger="mlflow")  # of two folders seed-1, the last one is the run's
    client = mlflow.MlflowClient()
    (made,) = client.search_runs([client.get_experiment_by_name("mtl").experiment_id])
    assert made.info.status == "FINISHED" and made.info.run_name.endswith("run seed-1/pretrain")
    logged = [point.value for point in client.get_metric_history(made.info.run_id, "dev/average")]
    assert logged == pytest.approx([row["dev/average"] for row in trained.curve])
