"""A training loop with validations and checkpoints that continues where it was interrupted, even by SIGKILL."""

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from mtl.base.errors import DivergedError, InputError
from mtl.base.files import write_checkpoint
from mtl.base.memory import release_memory
from mtl.base.progress import Progress
from mtl.base.untrusted import Count, read_checkpoint, read_json

logger = logging.getLogger("mtl")

RELEASE_EVERY = 10  # steps between two returns of freed memory: each costs the page faults of the next step
FORMAT = 2  # of unfinished trainings: increase it whenever their files change, or what a step does

Batch = TypeVar("Batch")


class ResumableTraining(ABC, Generic[Batch]):
    """Trains one model. What a step does must follow from the settings, the data and the step's number alone.

    Then a training that was interrupted and continues from its last checkpoint ends as one without interruption.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizers: Sequence[Optimizer],
        checkpoint: Path,
        device: torch.device,
        validate_every: int,
    ) -> None:
        """
        Args:
            checkpoint: the file of the whole state, which may exist.
            validate_every: steps between validations.
        """
        self.model = model
        self.optimizers = list(optimizers)
        self.checkpoint = checkpoint
        self.device = device
        self.validate_every = validate_every
        self.step = 0  # steps done
        self.losses: list[Tensor] = []  # of the steps since the last validation
        self.mean_loss = math.nan  # between the last two validations
        self.validations: list[dict[str, float]] = []  # a row for each validation

    @property
    @abstractmethod
    def ended(self) -> bool:
        """Whether the last step is done."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """The batches of the remaining steps: none if the training has ended, else at least up to its last step."""

    @abstractmethod
    def train_step(self, batch: Batch) -> Tensor:
        """Make step number `step` (from 0) and return its loss, ()."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """The row of a validation: the step, and held-out figures. All must be finite."""

    @abstractmethod
    def describe(self, row: Mapping[str, float]) -> str:
        """The row of a validation in a few words."""

    @abstractmethod
    def shown(self) -> Progress:
        """The progress to show, with what was done before."""

    def show(self, bar: Progress) -> None:
        """Show how much is done after a step."""
        bar.reach(self.step)

    def run(self, title: str) -> None:
        """Train to the last step; `validations` gets a row for each validation, and each validation ends with a checkpoint.

        Raises DivergedError if losses, weights or held-out figures are no longer finite, before it replaces the checkpoint.
        """
        if self.checkpoint.exists():
            self._load()
            logger.info("%s: continuing after step %d", title, self.step)
        self.model.train()
        with self.shown() as bar:
            for batch in self.batches():
                self.losses.append(self.train_step(batch).detach())
                self.step += 1
                self.show(bar)
                if self.step % RELEASE_EVERY == 0:
                    release_memory()
                last = self.ended  # asked once: the limit may be a time
                if last or self.step % self.validate_every == 0:
                    self._check_training(title)
                    row = self._validation(title)
                    self.validations.append(row)
                    self._save()
                    bar.note(self.describe(row))
                if last:
                    break

    def _validation(self, title: str) -> dict[str, float]:
        self.model.eval()
        with torch.no_grad():
            row = self.validate()
        self.model.train()
        if not all(map(math.isfinite, row.values())):
            raise self._diverged(title, self.step, "the held-out perplexity is not finite")
        return row

    def _check_training(self, title: str) -> None:
        """Raise DivergedError if a loss since the last validation, or a weight, is not finite. Waits for the device."""
        losses, self.losses = torch.stack(self.losses), []
        if (wrong := (~losses.isfinite()).nonzero()[:, 0].tolist()) != []:
            step = self.step - len(losses) + wrong[0] + 1
            raise self._diverged(title, step, f"the loss is {float(losses[wrong[0]])}")
        if not torch.stack([parameter.isfinite().all() for parameter in self.model.parameters()]).all():
            raise self._diverged(title, self.step, "weights are not finite")
        self.mean_loss = float(losses.mean())

    def _diverged(self, title: str, step: int, what: str) -> DivergedError:
        kept = f"{self.checkpoint} keeps the last good weights; " if self.checkpoint.exists() else ""
        return DivergedError(
            f"{title}: training diverged (step {step}: {what}); {kept}set a smaller learning_rate=,"
            f" and delete {self.checkpoint.parent} or set out="
        )

    def _save(self) -> None:
        state: dict[str, Any] = {
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "step": self.step,
            "validations": self.validations,
        }
        write_checkpoint(self.checkpoint, state)

    def _load(self) -> None:
        state = read_checkpoint(self.checkpoint, _State, "; delete it", self.device)
        try:
            self.model.load_state_dict(state["model"])
            for optimizer, values in zip(self.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(values)
        except (RuntimeError, ValueError, KeyError, TypeError, AttributeError):  # with a line for each weight
            raise InputError("is the state of another model; delete it", path=self.checkpoint) from None
        self.step, self.validations = state["step"], state["validations"]


class _State(TypedDict):
    model: dict[str, Any]
    optimizers: list[dict[str, Any]]
    step: Count
    validations: list[dict[str, float]]


def claim_of(settings: Any, source: str) -> dict[str, Any]:
    """What an unfinished training is the training of.

    Args:
        settings: a dataclass.
        source: identifies the texts and their tokens.
    """
    return {**asdict(settings), "source": source, "format": FORMAT}


def check_claim(claim: Path, training: Mapping[str, Any]) -> None:
    """Raise InputError if the file exists and describes another training than this one; the number of threads may
    differ.

    Args:
        claim: a JSON file in the folder of an unfinished training.
        training: from `claim_of`, perhaps with further entries.

    Raises:
        InputError: for a damaged file, too.
    """
    if not claim.exists():
        return
    claimed = read_json(claim, dict[str, Any], f"delete {claim.parent}, and run this again")
    if changed := _changed(claimed, training):
        raise InputError(
            f"holds an unfinished training with other settings ({changed}); delete the folder or set out=",
            path=claim.parent,
        )


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """A list of the settings that differ, for a message."""
    named = {"source": "other texts or tokens", "format": "another version of mtl"}
    keys = [key for key in now if before.get(key) != now[key] and key != "threads"]
    return "; ".join(named.get(key, f"{key}: {before.get(key)} there, {now[key]} here") for key in keys)
