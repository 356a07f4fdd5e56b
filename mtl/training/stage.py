"""One training stage with Lightning's Trainer: validations, the best weights, early stopping, progress, resuming.

A Lightning epoch is the training between two validations. Everything random in an epoch depends only on the seed, the
stage and the epoch's number, and each epoch ends with a checkpoint. So a stage that resumes from its last checkpoint continues
exactly as if it had not been interrupted.
"""

import logging
import os
import shutil
import signal
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import pytorch_lightning as pl
import torch
from lightning_fabric.plugins.io.torch_io import TorchCheckpointIO
from pytorch_lightning.callbacks import Callback, EarlyStopping, ModelCheckpoint, ProgressBar
from pytorch_lightning.loggers import CSVLogger, Logger, TensorBoardLogger
from torch.utils.data import DataLoader

from mtl.base.clock import format_duration
from mtl.base.device import device_of
from mtl.base.errors import DivergedError, InputError, resource_problem
from mtl.base.events import Scored
from mtl.base.extras import missing_package
from mtl.base.files import naming, write_checkpoint, write_json
from mtl.base.progress import Progress, detail, show
from mtl.base.untrusted import Count, read_checkpoint
from mtl.model.network import Batch
from mtl.settings.schema import TrainerConfig
from mtl.tasks.metrics import TIE
from mtl.tasks.task import PERCENT, Scale
from mtl.training.averaging import AveragedWeights, changing
from mtl.training.checkpoints import DONE, RESUME, WEIGHTS, are_weights_of, load_weights
from mtl.training.module import MultitaskModule
from mtl.training.precision import training_precision

MONITOR = "dev/average"

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class Stage:
    """What one call of `fit` trains.

    Args:
        section: the section of the configuration with the stage's learning rate.
        train: returns the loader of an epoch's batches for the epoch's number.
        epochs: the maximum.
        validate_first: whether to validate before the first step too, so that the initial weights can be the best
            ones.
    """

    title: str
    section: str
    folder: Path
    seed: int
    epochs: int
    total_steps: int
    patience: int
    gradient_clip: float
    train: Callable[[int], DataLoader[Batch]]
    dev: DataLoader[Batch]
    resumable: bool = True  # whether to save the whole state after each epoch
    trained_only: bool = False  # whether to save only the weights that are trained
    checkpoint: str = "best"  # the validation whose weights are saved: best or last
    validate_first: bool = False
    start: str = "before training"  # when the validation before the first step takes place, for messages
    average: float = (
        0.0  # the last part of all steps whose mean weights validate and are saved; 0: the weights themselves
    )
    scale: Scale = PERCENT  # how progress shows scores
    facts: Mapping[str, Any] = field(default_factory=dict)  # entries that done.json gets besides the training's record

    @property
    def weights(self) -> Path:
        return self.folder / WEIGHTS[self.checkpoint]


def fit(module: MultitaskModule, stage: Stage, config: TrainerConfig) -> None:
    """Train until the epochs or the patience are used up, then load the best (or last) weights into the module.

    `stage.folder` receives the weights (best.ckpt, or final.ckpt for the last ones), the logs, and done.json (`stage.facts`, the
    average × 100 of the validation that the weights come from, and `MultitaskModule.record`). A stage that was interrupted resumes from last.ckpt,
    which is removed at the end.
    Raises InputError if last.ckpt is damaged, or of another model.
    Raises DivergedError, with the task and the step, if losses, weights or outputs are no longer finite. best.ckpt and last.ckpt
    are then those of earlier validations.
    """
    kept = (BestWeights if stage.checkpoint == "best" else LastWeights)(stage.weights, stage.trained_only)
    resume = stage.folder / RESUME
    start = _epochs_done(resume, module, stage) if stage.resumable and resume.exists() else 0
    if start:
        logger.info("%s · continuing after validation %d", stage.title, start)
    else:
        shutil.rmtree(stage.folder, ignore_errors=True)
    with _quiet(), naming(stage.folder), deterministic():
        begun = TrainingBegun()
        trainer = _trainer(stage, config, kept, start, begun)
        module.train()  # the heads of stage 1 are in evaluation mode, and Lightning would leave them without dropout
        try:
            trainer.fit(module, datamodule=_StageData(stage), ckpt_path=resume if start else None, weights_only=True)
        except DivergedError as error:
            raise _explained(error, stage) from None
        except (RuntimeError, SystemExit) as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                # Lightning exits on Ctrl-C, or its own shutdown fails, as while it makes the loader of an epoch.
                raise KeyboardInterrupt from None
            if not trainer.received_sigterm:
                unread = start and not begun.value and isinstance(error, RuntimeError) and not resource_problem(error)
                raise (_cannot_continue(resume, error) if unread else error) from None
        except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
            raise (_cannot_continue(resume, error) if start and not begun.value else error) from None
        if trainer.received_sigterm:  # in the moment before `OwnSigterm`
            signal.raise_signal(signal.SIGTERM)
        if trainer.received_sigterm or trainer.interrupted:
            raise KeyboardInterrupt
    load_weights(module.network, stage.weights)
    module.to("cpu").eval()
    write_json(stage.folder / DONE, {**stage.facts, "average": kept.score, **module.record()})
    detail(_outcome(module, stage, kept))
    resume.unlink(missing_ok=True)  # only now: a stage that is killed before this line resumes and does not start over


@contextmanager
def deterministic() -> Iterator[None]:
    """Within the block, torch computes deterministically. Afterwards it is as before: it may be a user's own session."""
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    memory: Any = torch.utils.deterministic
    filled = memory.fill_uninitialized_memory
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # without which cuBLAS is not deterministic
    torch.use_deterministic_algorithms(True)
    # Deterministic mode would fill every new tensor with NaN. Nothing here reads a tensor before writing to it.
    memory.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        memory.fill_uninitialized_memory = filled


def _outcome(module: MultitaskModule, stage: Stage, kept: "BestWeights") -> str:
    """A line on a stage that has ended."""
    assert kept.score is not None
    first, last = module.curve[0], module.curve[-1]
    before = f", {stage.scale.show(first[MONITOR])} {stage.start}" if stage.validate_first else ""
    trained = f"{last['step']:,.0f} steps in {format_duration(last['seconds'])}"
    score = f"{'average ' if len(module.scores) > 1 else ''}{stage.scale.show(kept.score)}"
    return f"{stage.title} · finished: {score}{before} · {trained}"


def _explained(error: DivergedError, stage: Stage) -> DivergedError:
    """The same error, with the seed, the stage and advice added."""
    kept = f"{stage.weights} keeps the last good weights; " if stage.weights.exists() else ""
    return DivergedError(
        f"training diverged ({error}); {kept}set a smaller {stage.section}.learning_rate=,"
        " and remove the run's folder or set run_dir=",
        unit=stage.title,
    )


def _cannot_continue(resume: Path, error: BaseException) -> InputError:
    """Lightning's error while it read the state of a stage."""
    said = " ".join(str(error).split())[:200]
    return InputError(f"{resume}: training cannot continue from it ({type(error).__name__}: {said}); delete it")


def _trainer(
    stage: Stage, config: TrainerConfig, kept: "BestWeights", start: int, begun: "TrainingBegun"
) -> pl.Trainer:
    """start: the number of epochs that were done before this process started."""
    last = ModelCheckpoint(
        stage.folder, RESUME.removesuffix(".ckpt"), save_on_train_epoch_end=True, enable_version_counter=False
    )
    loggers: list[Logger] = [CSVLogger(stage.folder, name="log", version=f"from-epoch-{start}")]
    if missing_package("tensorboard") is None:
        loggers.append(TensorBoardLogger(stage.folder, name="tensorboard", version=""))
    return pl.Trainer(
        accelerator=device_of(config.accelerator).type,
        devices=1,
        precision=training_precision(config),  # type: ignore[arg-type]
        max_epochs=stage.epochs,
        reload_dataloaders_every_n_epochs=1,
        gradient_clip_val=stage.gradient_clip,
        # Lightning calls a validation before the first step a sanity check; -1 means all batches.
        num_sanity_val_steps=-1 if stage.validate_first and not start else 0,
        log_every_n_steps=50,
        logger=loggers,
        callbacks=[
            OwnSigterm(),
            SeedEachEpoch(stage.seed, stage.folder.name),
            Patience(MONITOR, mode="max", min_delta=TIE, patience=stage.patience, check_on_train_epoch_end=True),
            StageProgress(stage),
            kept,
            *([AveragedWeights(stage.average, stage.total_steps)] if stage.average else []),
            begun,
            *([last] if stage.resumable else []),
        ],
        plugins=[AtomicCheckpointIO()],
        enable_model_summary=False,
        enable_checkpointing=stage.resumable,  # otherwise Lightning saves its own checkpoints
    )


class _StageData(pl.LightningDataModule):
    """Gives Lightning a new training loader for each epoch."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self.stage = stage

    def train_dataloader(self) -> DataLoader[Batch]:
        assert self.trainer is not None
        return self.stage.train(self.trainer.current_epoch)

    def val_dataloader(self) -> DataLoader[Batch]:
        return self.stage.dev


class SeedEachEpoch(Callback):
    """Makes dropout depend on the seed, the stage and the epoch, not on what ran before."""

    def __init__(self, seed: int, stage: str) -> None:
        self.key = f"{seed} {stage}"

    def on_train_batch_start(
        self, trainer: pl.Trainer, module: pl.LightningModule, batch: Batch, batch_idx: int
    ) -> None:
        # Not at the epoch's start: Lightning does not call that hook in the first epoch after resuming.
        if batch_idx == 0:
            torch.manual_seed(zlib.crc32(f"{self.key} {trainer.current_epoch}".encode()))


class TrainingBegun(Callback):
    """Whether training has begun: the state of an interrupted stage has then been read."""

    value = False

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.value = True


class OwnSigterm(Callback):
    """Leaves SIGTERM to the program: Lightning's handler would let the training end as if it had been finished."""

    def __init__(self) -> None:
        self.handler = signal.getsignal(signal.SIGTERM)

    def on_sanity_check_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.on_train_start(trainer, module)

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if self.handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self.handler)


class StageProgress(ProgressBar):
    """Shows how far a stage is, and the scores of each validation."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage
        self._bar: Progress | None = None
        self._average = ""

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        stage = self._stage
        self._bar = Progress(stage.title, stage.total_steps, "steps", trainer.global_step, at_most=True)

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert self._bar is not None
        self._bar.reach(trainer.global_step, f"{self._average}{batch.task}")

    def on_validation_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        scores = {
            name.removeprefix("dev/"): self._stage.scale.show(float(value))
            for name, value in trainer.callback_metrics.items()
            if name.startswith("dev/")
        }
        average = scores.pop("average")
        self._average = f"average {average}, "
        show(Scored(self._stage.seed, scores, average if len(scores) > 1 else ""))

    def teardown(self, trainer: pl.Trainer, module: pl.LightningModule, stage: str) -> None:
        self._end(failed=False)

    def on_exception(self, trainer: pl.Trainer, module: pl.LightningModule, exception: BaseException) -> None:
        self._end(failed=True)

    def _end(self, failed: bool) -> None:
        if self._bar is not None:
            self._bar.end(failed)
            self._bar = None


class BestWeights(Callback):
    """Saves the weights of the validation with the best average; among equal averages, the first one."""

    def __init__(self, path: Path, trained_only: bool) -> None:
        self.path = path
        self.trained_only = trained_only
        self.score: float | None = None

    def on_sanity_check_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.on_train_epoch_end(trainer, module)

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        average = float(trainer.callback_metrics[MONITOR])
        if self.keeps(average):
            self.score = average
            assert isinstance(module, MultitaskModule)
            state = changing(module.network) if self.trained_only else module.network.state_dict()
            write_checkpoint(self.path, {"state_dict": state, "epoch": trainer.current_epoch, "average": average})

    def keeps(self, average: float) -> bool:
        """Whether the weights of a validation with this average replace the saved ones."""
        return self.score is None or average > self.score + TIE

    def state_dict(self) -> dict[str, Any]:
        return {"score": self.score}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.score = state["score"]


class LastWeights(BestWeights):
    """Saves the weights of the last validation, for any average."""

    def keeps(self, average: float) -> bool:
        return True


class Patience(EarlyStopping):
    """Early stopping that starts from the score of the validation before the first step, if there is one.

    If a stage is killed when its patience is already used up, it does not continue training when it resumes.
    """

    def on_sanity_check_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.best_score = trainer.callback_metrics[MONITOR]

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if self.wait_count >= self.patience:
            trainer.should_stop = True


class AtomicCheckpointIO(TorchCheckpointIO):
    """Writes each checkpoint to a temporary file, then renames that."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        write_checkpoint(Path(path), checkpoint)

    def load_checkpoint(self, path: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
        """The state of a stage, on the CPU. Raises InputError if it is damaged."""
        return _read_state(Path(path), "cpu")


# What Lightning needs to continue, with the learning curve that `MultitaskModule` adds.
State = TypedDict(
    "State",
    {
        "epoch": Count,
        "global_step": Count,
        "pytorch-lightning_version": str,
        "state_dict": dict[str, Any],
        "loops": dict[str, Any],
        "callbacks": dict[str, Any],
        "optimizer_states": list[dict[str, Any]],
        "lr_schedulers": list[dict[str, Any]],
        "curve": list[dict[str, float]],
    },
)


def _epochs_done(checkpoint: Path, module: MultitaskModule, stage: Stage) -> int:
    """Raises InputError for a damaged checkpoint, and for that of another model."""
    state = _read_state(checkpoint, "meta")
    if not are_weights_of(module, state["state_dict"]):
        raise InputError(f"{checkpoint}: is the state of another model; delete it")
    done = int(state["epoch"]) + 1
    if done > stage.epochs or not all({"step", "seconds", MONITOR} <= set(row) for row in state["curve"]):
        raise InputError(f"{checkpoint}: is the state of another training; delete it")
    return done


def _read_state(checkpoint: Path, device: str) -> dict[str, Any]:
    """The content of last.ckpt. A stage without this file starts again."""
    return dict(read_checkpoint(checkpoint, State, "; delete it", device))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Lightning's messages about the hardware and about loaders without workers: both are intended here. Silence the traceback of
    an OSError in the thread that writes TensorBoard's log: the next call of the logger raises it."""
    loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning_fabric", "lightning.pytorch")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    hook = threading.excepthook
    threading.excepthook = lambda of: None if isinstance(of.exc_value, OSError) else hook(of)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="pytorch_lightning|lightning_fabric|torch.utils.data|torchmetrics")
            warnings.filterwarnings(
                "ignore", message=".*(num_workers|logging interval|Checkpoint directory|LeafSpec|lr_scheduler.step).*"
            )
            yield
    finally:
        threading.excepthook = hook
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
