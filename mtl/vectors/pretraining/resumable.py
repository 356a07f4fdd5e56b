"""Trainings without tasks: each epoch ends with held-out figures and a checkpoint, from which they continue, even after SIGKILL. Until such a
training is complete, its files are in the folder `{out}.unfinished`, where a file, the claim, names the training."""

import ctypes
import math
import shutil
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader

from mtl.base.device import threads_of_torch
from mtl.base.errors import DivergedError, InputError
from mtl.base.files import write_json
from mtl.base.folders import check_new_folder
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.base.progress import Progress
from mtl.base.untrusted import read_json
from mtl.training.trainer import ValidatedModule, read_state, train

FORMAT = 3  # of unfinished trainings: increase it whenever their files change, or what a step does
LOCK, CLAIM, CHECKPOINT = ".lock", "claim.json", "last.ckpt"
MOST_HELD_OUT = 1000  # lines or segments
RELEASE_EVERY = 10  # steps between two returns of freed memory: each costs the page faults of the next step


def unfinished_folder(out: Path) -> Path:
    """The folder of a training that has not finished."""
    return out.resolve().with_name(f"{out.resolve().name}.unfinished")


def train_once(out: Path, settings: Any, source: str, train_in: Callable[[Path], None], **software: str) -> None:
    """Make the new folder `out` by a training; continue a training that was interrupted, if it is the same one.
    `train_in` trains with the files in the folder that it gets, and writes `out`. The settings are a dataclass with `threads`, which alone may
    differ from those of the interrupted training. `source` identifies the texts; `software` has the versions of what makes tokens of them.
    Raises InputError for an `out` that is not empty, and for an unfinished folder of another training, or of none."""
    check_new_folder(out)
    folder = unfinished_folder(out)
    message = f"{folder}: another process is training this model"
    with lock(folder / LOCK, message), threads_of_torch(settings.threads):
        files = [path for path in folder.iterdir() if path.name != CLAIM and not path.name.startswith(".")]
        if files and not (folder / CLAIM).exists():
            problem = "holds files of no unfinished training; move them away or name another folder with out="
            raise InputError(problem, path=folder)
        _claim(folder, {**asdict(settings), "source": source, "format": FORMAT, **software}, files)
        try:
            check_new_folder(out)  # another process may have made it before the lock was taken
            train_in(folder)
        except InputError:
            if not (folder / CHECKPOINT).exists():
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def _claim(folder: Path, training: dict[str, Any], files: list[Path]) -> None:
    """Claim the folder for a training, and remove what another one without a checkpoint left. Raises InputError for the checkpoint of another one,
    and for a damaged claim."""
    claim = folder / CLAIM
    claimed = read_json(claim, dict[str, Any], f"delete {folder}, and run this again") if claim.exists() else {}
    if (folder / CHECKPOINT).exists():
        changed = [key for key in {**training, **claimed} if claimed.get(key) != training.get(key) and key != "threads"]
        if changed:
            titles = ", ".join({"source": "texts", "format": "format of mtl"}.get(key, key) for key in changed)
            problem = f"holds an unfinished training with another {titles}; delete the folder or set out="
            raise InputError(problem, path=folder)
    elif claimed != training:
        for path in files:
            path.unlink()
        write_json(claim, training)  # last: files of another training never have it


class ResumableTraining(ValidatedModule, ABC):
    """Trains one network. What a step does must follow from the settings, the data and the step's number alone. Then a
    training that was interrupted and continues from its last checkpoint ends as one without interruption."""

    automatic_optimization = False  # Lightning's own has one optimizer, and one loss in a step
    operation: str  # what progress calls the training
    steps: int  # of the whole training

    def __init__(
        self, network: nn.Module, optimizers: list[Optimizer], settings: Any, folder: Path, parts: int
    ) -> None:
        """The network is on the device that trains it. The settings have a `seed`, `validate_every` in steps, and `held_out`, the share
        of the text that is not trained on. `parts` is the number of its lines or segments. The folder gets the checkpoint."""
        super().__init__()
        self.network, self.optimizer_list = network, optimizers
        self.settings, self.checkpoint = settings, folder / CHECKPOINT
        self.step = 0  # steps done; Lightning would count those of each optimizer
        shuffled = np.random.default_rng([settings.seed, 0]).permutation(parts)
        held_out = min(MOST_HELD_OUT, math.ceil(settings.held_out * parts))
        self.held_out, self.trained = np.sort(shuffled[:held_out]), np.sort(shuffled[held_out:])  # indices of parts

    @abstractmethod
    def batches(self) -> Iterator[np.ndarray]:
        """The batches of the remaining steps: at least up to the last step."""

    @abstractmethod
    def learning_rate(self) -> float:
        """The learning rate of the step that begins."""

    @abstractmethod
    def compute(self, batch: np.ndarray) -> Tensor:
        """The loss of step number `step` (from 0), (), after its clipped gradients have been computed."""

    @abstractmethod
    def validate(self) -> tuple[dict[str, float], str]:
        """The row of a validation, which has the step and held-out figures; and the row in a few words."""

    def run(self, title: str) -> None:
        """Train to the last step; `curve` gets a row for each validation. Raises DivergedError for what is not finite, which no checkpoint gets."""
        continues = self.checkpoint.exists()
        if continues:
            self.on_load_checkpoint(dict(read_state(self.checkpoint, self)))
            logger.info("%s: continuing after step %d", title, self.step)
        device = next(self.network.parameters()).device.type
        try:
            with Progress(self.operation, self.steps, "steps", self.step) as self.bar:
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
        self.losses.append(("", self.compute(batch).detach()))
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


def release_memory() -> None:
    """Return freed memory to the system, with glibc: between batches of changing length, freed blocks of one size are too small for the next."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
