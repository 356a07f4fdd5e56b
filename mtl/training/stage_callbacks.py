"""What a stage's training calls at its steps and validations: the seeds of epochs, the weights that are saved, and early stopping."""

import zlib
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, EarlyStopping

from mtl.base.files import write_checkpoint
from mtl.model.network import Batch
from mtl.tasks.metrics import TIE
from mtl.training.module import MultitaskModule

MONITOR = "dev/average"


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
