"""What `mtl.training.trainer.train` trains: a LightningModule with a curve of its validations, which ends its training when it diverges."""

import math
import time
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor

from mtl.base.errors import DivergedError


class ValidatedModule(pl.LightningModule):
    """A module that notices when its training diverges. A subclass adds to `curve` at each validation, and to `losses` at each step."""

    def __init__(self) -> None:
        super().__init__()
        self.curve: list[dict[str, float]] = []  # a row for each validation
        self.losses: list[tuple[str, Tensor]] = []  # what each step since the last validation trained, and its loss
        self.mean_loss = math.nan  # between the last two validations
        self._begun: float | None = None  # when training would have begun without interruptions, by `time.monotonic`

    @property
    def seconds(self) -> float:
        """How long training has lasted. Time before an interruption counts, too."""
        if self._begun is not None:
            return time.monotonic() - self._begun
        return self.curve[-1].get("seconds", 0.0) if self.curve else 0.0

    def on_fit_start(self) -> None:
        self._begun = time.monotonic() - self.seconds

    def check_losses(self, step: int) -> None:
        """Set `mean_loss` from the losses since the last validation, and forget these; `step` is the number of steps that are done. Raises
        DivergedError, which names the step, if a loss or a weight is not finite. This waits for the GPU, so it is called at validations alone."""
        trained = [name for name, _ in self.losses]
        losses = torch.stack([loss for _, loss in self.losses])
        self.losses = []
        diverged = (~losses.isfinite()).nonzero()
        if len(diverged):
            first = int(diverged[0])
            first_step = step - len(losses) + first + 1
            raise DivergedError(f"{trained[first]}step {first_step}: the loss is {float(losses[first])}")
        weights = [parameter for parameter in self.parameters() if parameter.requires_grad]
        are_finite = torch.stack([weight.isfinite().all() for weight in weights])
        if not are_finite.all():
            raise DivergedError(f"{trained[-1]}step {step}: weights are not finite")
        self.mean_loss = float(losses.mean())

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["curve"] = self.curve

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.curve = checkpoint["curve"]
