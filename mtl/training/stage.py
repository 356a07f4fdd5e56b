"""One training stage with Lightning's Trainer: validations, the best weights, early stopping, progress, resuming.
A Lightning epoch is the training between two validations. Everything random in an epoch depends only on the seed, the stage and the epoch's number,
and each epoch ends with a checkpoint. So a stage that resumes from its last checkpoint continues exactly as if it had not been interrupted."""

import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, EarlyStopping
from pytorch_lightning.utilities.exceptions import MisconfigurationException
from torch.utils.data import DataLoader

from mtl.base.arrays import write_checkpoint
from mtl.base.device import device_of
from mtl.base.display import show
from mtl.base.errors import DivergedError, InputError, reason_of
from mtl.base.events import Detail, Scored
from mtl.base.files import write_json
from mtl.base.log import logger
from mtl.base.memory import peak_memory
from mtl.base.progress import Progress
from mtl.base.settings.schema import TrainerConfig
from mtl.base.wording import format_duration
from mtl.model.network import Batch
from mtl.tasks.metrics import TIE
from mtl.tasks.scale import PERCENT, Scale
from mtl.training.attached import user_callbacks
from mtl.training.checkpoints import DONE_FILE, STATE_FILE, WEIGHTS_FILES, load_weights
from mtl.training.loggers import stage_loggers
from mtl.training.module import MultitaskModule
from mtl.training.precision import training_precision
from mtl.training.trainer import read_state, train

MONITOR = "dev/average"


@dataclass(frozen=True)
class Stage:
    """What one call of `fit` trains."""

    title: str  # what messages call it
    section: str  # the section of the configuration with the stage's learning rate
    folder: Path
    seed: int
    epochs: int  # the most that it may have
    total_steps: int  # in so many epochs
    patience: int  # the number of validations without a better average after which training stops
    gradient_clip: float  # the largest norm of all gradients together
    train: Callable[[int], DataLoader[Batch]]  # an epoch's number, from 0 -> the loader of its batches
    dev: DataLoader[Batch]  # the batches of dev
    resumable: bool = True  # whether to save the whole state after each epoch
    trained_only: bool = False  # whether to save only the weights that are trained
    checkpoint: str = "best"  # the validation whose weights are saved: best or last
    validate_first: bool = False  # whether to validate before the first step, too: the initial weights may be the best
    start: str = "before training"  # when the validation before the first step takes place, for messages
    scale: Scale = PERCENT  # how progress shows scores
    facts: Mapping[str, Any] = field(default_factory=dict)  # entries that done.json gets besides the training's record
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the run, by dotted key, for loggers that show them

    @property
    def weights(self) -> Path:
        """The file of the weights that are saved."""
        return self.folder / WEIGHTS_FILES[self.checkpoint]


def fit(module: MultitaskModule, stage: Stage, config: TrainerConfig) -> None:
    """Train until the epochs or the patience are used up, then load the best (or last) weights into the module. `stage.folder` receives the weights
    (best.ckpt, or final.ckpt for the last ones), the logs, and done.json (`stage.facts`, the average × 100 of the validation that the weights come
    from, the seconds, the peak memory in bytes, and the curve). A stage that was interrupted resumes from last.ckpt, which is removed at the end.
    Raises InputError if last.ckpt is damaged, or of another model, and DivergedError, which names the task and the step, if losses, weights or
    outputs are no longer finite: best.ckpt and last.ckpt are then those of earlier validations."""
    resume = stage.folder / STATE_FILE
    epochs, steps = _progress_of(resume, module, stage) if stage.resumable and resume.exists() else (0, 0)
    if epochs:
        logger.info("%s · continuing after validation %d", stage.title, epochs)
    else:
        shutil.rmtree(stage.folder, ignore_errors=True)
    bar = Progress(stage.title, stage.total_steps, "steps", steps, at_most=True)
    saving_class = BestWeights if stage.checkpoint == "best" else LastWeights
    saving = saving_class(stage.weights, stage.trained_only)
    patience = Patience(MONITOR, mode="max", min_delta=TIE, patience=stage.patience, check_on_train_epoch_end=True)
    seeding = SeedEachEpoch(stage.seed, stage.folder.name)
    callbacks = [seeding, patience, StageProgress(stage, bar), saving, *user_callbacks(config)]
    try:
        with deterministic(), bar, stage_loggers(config, stage.folder, stage.seed, epochs, stage.settings) as loggers:
            train(
                module, resume, continues=epochs > 0, callbacks=callbacks, data=_StageData(stage), resumable=stage.resumable,
                accelerator=device_of(config.accelerator).type, precision=training_precision(config),
                max_epochs=stage.epochs, gradient_clip_val=stage.gradient_clip, log_every_n_steps=50, logger=loggers,
                # Lightning calls a validation before the first step a sanity check; -1 means all batches.
                num_sanity_val_steps=-1 if stage.validate_first and not epochs else 0,
            )  # fmt: skip
    except DivergedError as error:
        raise _explained(error, stage) from None
    except MisconfigurationException as error:
        raise InputError(reason_of(error), key="trainer.callbacks") from None
    load_weights(module.network, stage.weights)
    module.to("cpu").eval()
    record = {"seconds": module.curve[-1]["seconds"], "peak_memory": peak_memory(), "curve": module.curve}
    write_json(stage.folder / DONE_FILE, {**stage.facts, "average": saving.score, **record})
    show(Detail(_outcome(module, stage, saving)))
    resume.unlink(missing_ok=True)  # only now: a stage that is killed before this line resumes and does not start over


def _progress_of(resume: Path, module: MultitaskModule, stage: Stage) -> tuple[int, int]:
    """The numbers of epochs and of steps after which the state was saved. Raises InputError if it is damaged, or of another model or training."""
    state = read_state(resume, module)
    epochs = int(state["epoch"]) + 1
    if epochs > stage.epochs or not all({"step", "seconds", MONITOR} <= set(row) for row in state["curve"]):
        raise InputError("is the state of another training; delete it", path=resume)
    return epochs, int(state["global_step"])


def _explained(error: DivergedError, stage: Stage) -> DivergedError:
    """The error of a stage that diverged, with the stage's title, the weights that are left and a remedy."""
    last_good = f"{stage.weights} keeps the last good weights; " if stage.weights.exists() else ""
    remedy = f"set a smaller {stage.section}.learning_rate=, and remove the run's folder or set run_dir="
    return DivergedError(f"training diverged ({error}); {last_good}{remedy}", unit=stage.title)


def _outcome(module: MultitaskModule, stage: Stage, saving: "BestWeights") -> str:
    """A line on a stage that has ended."""
    assert saving.score is not None
    first, last = module.curve[0], module.curve[-1]
    score = f"{'average ' if len(module.scores) > 1 else ''}{stage.scale.show(saving.score)}"
    first_score = f", {stage.scale.show(first[MONITOR])} {stage.start}" if stage.validate_first else ""
    trained = f"{last['step']:,.0f} steps in {format_duration(last['seconds'])}"
    return f"{stage.title} · finished: {score}{first_score} · {trained}"


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


class StageProgress(Callback):
    """Shows how far a stage is, and the scores of each validation."""

    def __init__(self, stage: Stage, bar: Progress) -> None:
        self.stage, self.bar = stage, bar
        self.average = ""  # of the last validation, as the bar shows it

    def on_train_batch_end(self, trainer: pl.Trainer, module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        self.bar.reach(trainer.global_step, f"{self.average}{batch.task}")

    def on_validation_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        scores = {
            name.removeprefix("dev/"): self.stage.scale.show(float(value))
            for name, value in trainer.callback_metrics.items()
            if name.startswith("dev/")
        }
        average = scores.pop("average")
        self.average = f"average {average}, "
        show(Scored(self.stage.seed, scores, average if len(scores) > 1 else ""))


class SeedEachEpoch(Callback):
    """Makes dropout depend on the seed, the stage and the epoch, not on what ran before."""

    def __init__(self, seed: int, stage: str) -> None:
        self.key = f"{seed} {stage}"

    def on_train_batch_start(self, trainer: pl.Trainer, module: Any, batch: Batch, batch_idx: int) -> None:
        # Not at the epoch's start: Lightning does not call that hook in the first epoch after resuming.
        if batch_idx == 0:
            torch.manual_seed(zlib.crc32(f"{self.key} {trainer.current_epoch}".encode()))


class BestWeights(Callback):
    """Saves the weights of the validation with the best average, of equal ones the first; with `trained_only`, only those that are trained."""

    def __init__(self, path: Path, trained_only: bool) -> None:
        self.path, self.trained_only = path, trained_only
        self.score: float | None = None  # the average × 100 of the validation whose weights were saved

    def on_sanity_check_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.on_train_epoch_end(trainer, module)

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        average = float(trainer.callback_metrics[MONITOR])
        if self.keeps(average):
            self.score = average
            assert isinstance(module, MultitaskModule)
            state = module.network.state_dict()
            if self.trained_only:
                fixed = {name for name, parameter in module.network.named_parameters() if not parameter.requires_grad}
                state = {name: value for name, value in state.items() if name not in fixed}
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
    """Early stopping that starts from the score before the first step, if there is one. A stage whose patience is used up does not train on."""

    def on_sanity_check_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.best_score = trainer.callback_metrics[MONITOR]

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if self.wait_count >= self.patience:
            trainer.should_stop = True


@contextmanager
def deterministic() -> Iterator[None]:
    """Within the block, torch computes deterministically. Afterwards all but cuBLAS's variable is as before: a user may call it in a notebook."""
    was_enabled = torch.are_deterministic_algorithms_enabled()
    only_warned = torch.is_deterministic_algorithms_warn_only_enabled()
    options: Any = torch.utils.deterministic
    filled = options.fill_uninitialized_memory
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # without which cuBLAS is not deterministic
    torch.use_deterministic_algorithms(True)
    # Deterministic mode would fill every new tensor with NaN. Nothing here reads a tensor before writing to it.
    options.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(was_enabled, warn_only=only_warned)
        options.fill_uninitialized_memory = filled
