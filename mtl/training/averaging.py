"""The mean of a stage's weights over the last part of its training (Izmailov et al. 2018, "Averaging weights leads to wider optima and
better generalization").

In a validation, and in the weights that it saves, the mean stands in place of the weights; training goes on from the weights.
"""

from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor, nn

SAMPLES = 50  # the most steps whose weights are in the mean: copying all word vectors in each step would take longer than the step


def changing(network: nn.Module) -> dict[str, Tensor]:
    """The state of the network, by name, without the weights that are fixed."""
    fixed = {name for name, parameter in network.named_parameters() if not parameter.requires_grad}
    return {name: value for name, value in network.state_dict().items() if name not in fixed}


class AveragedWeights(Callback):
    """Averages the weights after every so many steps of the last part of the training.

    Its place is behind the callback that saves the weights of a validation.
    """

    def __init__(self, share: float, total_steps: int) -> None:
        """
        Args:
            share: the last part of all steps, from 0 to 1.
        """
        steps = max(1, round(share * total_steps))
        self.every = -(-steps // SAMPLES)
        self.first = total_steps - self.every * ((steps - 1) // self.every)
        self.count = 0
        self.mean: dict[str, Tensor] = {}
        self._exchanged = False

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if self.count:
            state = _averaged(module)
            self.mean = {name: self.mean[name].to(value.device).view_as(value) for name, value in state.items()}

    @torch.no_grad()
    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        step = trainer.global_step
        if step < self.first or (step - self.first) % self.every:
            return
        self.count += 1
        for name, value in _averaged(module).items():
            if self.count == 1:
                self.mean[name] = value.clone()
            else:
                self.mean[name].lerp_(value, 1 / self.count)

    def on_validation_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if self.count:
            self._exchange(module)
            self._exchanged = True

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if self._exchanged:
            self._exchange(module)
            self._exchanged = False

    @torch.no_grad()
    def _exchange(self, module: pl.LightningModule) -> None:
        for name, value in _averaged(module).items():
            weights = value.clone()
            value.copy_(self.mean[name])
            self.mean[name].copy_(weights)

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count, "mean": self.mean}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.count, self.mean = int(state["count"]), dict(state["mean"])


def _averaged(module: pl.LightningModule) -> dict[str, Tensor]:
    """What is averaged: weights that are trained, and running means."""
    assert isinstance(module.network, nn.Module)
    return {name: value for name, value in changing(module.network).items() if value.is_floating_point()}
