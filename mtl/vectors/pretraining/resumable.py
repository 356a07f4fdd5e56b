"""Trainings without tasks: each epoch ends with held-out figures and a checkpoint, from which they continue, even after SIGKILL."""

import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader

from mtl.base.errors import DivergedError
from mtl.base.log import logger
from mtl.base.memory import release_memory
from mtl.base.progress import Progress
from mtl.training.trainer import ValidatedModule, read_state, train
from mtl.vectors.pretraining.unfinished import CHECKPOINT

MOST_HELD_OUT = 1000  # lines or segments
RELEASE_EVERY = 10  # steps between two returns of freed memory: each costs the page faults of the next step


class ResumableTraining(ValidatedModule, ABC):
    """Trains one network. A step must follow from settings, data and number alone: a continued training then ends as one without interruption."""

    automatic_optimization = False  # Lightning's own has one optimizer, and one loss in a step
    operation: str  # what progress calls the training
    steps: int  # of the whole training
    bar: Progress  # of the steps, while `run` trains

    def __init__(self, network: nn.Module, optimizers: list[Optimizer], settings: Any, path: Path, parts: int) -> None:
        """The network is on its device. Settings have `seed`, `validate_every` (steps) and `held_out`, a share of the parts (lines or segments)."""
        super().__init__()
        self.network, self.optimizer_list = network, optimizers
        self.settings, self.checkpoint = settings, path / CHECKPOINT
        self.step = 0  # steps done; Lightning would count those of each optimizer
        shuffled = np.random.default_rng([settings.seed, 0]).permutation(parts)
        held_out_count = min(MOST_HELD_OUT, math.ceil(settings.held_out * parts))
        self.held_out_parts = np.sort(shuffled[:held_out_count])  # their indices, as of those that are trained on
        self.trained_parts = np.sort(shuffled[held_out_count:])

    @abstractmethod
    def batches(self) -> Iterator[np.ndarray]:
        """The batches of the remaining steps: at least up to the last step."""

    @abstractmethod
    def learning_rate(self) -> float:
        """The learning rate of the step that begins."""

    @abstractmethod
    def loss_and_gradients(self, batch: np.ndarray) -> Tensor:
        """The loss of step number `step` (from 0), (). The weights have its clipped gradients afterwards."""

    @abstractmethod
    def validate(self) -> tuple[dict[str, float], str]:
        """The row of a validation, which has the step and held-out figures; and the row in a few words."""

    def run(self, title: str) -> None:
        """Train to the last step; `curve` gets a row for each validation. Raises DivergedError for what is not finite, which no checkpoint gets."""
        continues = self.checkpoint.exists()
        if continues:
            # Lightning calls this hook only as training begins; the bar must know the step before.
            self.on_load_checkpoint(dict(read_state(self.checkpoint, self)))
            logger.info("%s: continuing after step %d", title, self.step)
        device = next(self.network.parameters()).device.type
        try:
            self.bar = Progress(self.operation, self.steps, "steps", self.step)
            with self.bar:
                train(self, self.checkpoint, continues, accelerator=device, max_epochs=-1, logger=False)
        except DivergedError as error:
            last_good = f"{self.checkpoint} keeps the last good weights; " if self.checkpoint.exists() else ""
            remedy = f"set a smaller learning_rate=, and delete {self.checkpoint.parent} or set out="
            raise DivergedError(f"{title}: training diverged ({error}); {last_good}{remedy}") from None

    def configure_optimizers(self) -> list[Optimizer]:
        return self.optimizer_list

    def train_dataloader(self) -> DataLoader[np.ndarray]:
        """The batches up to the next validation. Lightning asks twice for those after an interruption."""
        batches = list(islice(self.batches(), self.settings.validate_every))
        return DataLoader(batches, batch_size=None, collate_fn=lambda batch: batch)  # type: ignore[arg-type]

    def on_train_start(self) -> None:
        self.trainer.should_stop = self.step >= self.steps

    def training_step(self, batch: np.ndarray, batch_idx: int = 0) -> None:
        # The random numbers of a step depend on its number: an interrupted training gives the same result when it continues.
        torch.manual_seed(zlib.crc32(f"{self.settings.seed} {self.step}".encode()))
        rate = self.learning_rate()
        self.losses.append(("", self.loss_and_gradients(batch).detach()))
        for optimizer in self.optimizer_list:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad()
        self.step += 1

    def on_train_batch_end(self, outputs: Any, batch: np.ndarray, batch_idx: int) -> None:
        self.bar.reach(self.step)
        if self.step % RELEASE_EVERY == 0:
            release_memory()
        self.trainer.should_stop = self.step >= self.steps

    def on_train_epoch_end(self) -> None:
        self.check_losses(self.step)
        self.eval()
        with torch.no_grad():
            row, summary = self.validate()
        self.train()
        if not all(map(math.isfinite, row.values())):
            raise DivergedError(f"step {self.step}: the held-out perplexity is not finite")
        self.curve.append(row)
        self.bar.note(summary)

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        super().on_load_checkpoint(checkpoint)
        self.step = int(self.curve[-1]["step"])
