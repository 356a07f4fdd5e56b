"""Fine-tune a transformer on one task, and keep what it predicts."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtl.config.schema import Config
from mtl.data.dataset import Split
from mtl.device import device_of
from mtl.embedders.sequences import ArraySequences
from mtl.errors import InputError
from mtl.files import replacing
from mtl.methods.coded import Coded
from mtl.methods.kind import Predictions
from mtl.methods.transformer.network import TransformerNetwork
from mtl.methods.transformer.optimization import fine_tuning, freeze_layers
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.batches import (
    BatchDataset,
    Schedule,
    ScheduleSampler,
    SortedSampler,
    batch_rows,
    pass_batches,
    pool_size,
    predict_rows,
    row_lengths,
)
from mtl.training.checkpoints import load_finished
from mtl.training.fit import Stage, fit
from mtl.training.module import MultitaskModule
from mtl.training.precision import mixed_precision
from mtl.untrusted import read_arrays

PREDICTED = "predicted.npz"  # in a task's folder: the codes of its predictions, by "{task}/{split}"


@dataclass(frozen=True)
class FineTuning:
    """Fine-tuning on one task with one seed.

    data: with model inputs in place of texts. sequences: of all model inputs. folder: receives what `fit` writes, and PREDICTED.
    validate_first: whether the weights before the first step can be the best ones, too.
    """

    config: Config
    data: Coded
    sequences: ArraySequences
    task: Task
    seed: int
    folder: Path
    validate_first: bool = False

    def train(self, network: TransformerNetwork) -> None:
        """Train the network, or load its weights if this stage has finished."""
        if load_finished(network, self.folder, self.config.transformer.checkpoint):
            return
        settings, split = self.config.transformer, self.data.train(self.task, self.config.loss, self.seed)
        self.data.set_loss(network, self.config.loss)
        freeze_layers(network, settings.freeze)
        steps = pass_batches(split, settings.batch_size)
        total_steps = steps * settings.epochs
        sizes = {self.task.id: batch_rows(split, settings.batch_size)}
        schedule = Schedule(self._lengths(split), sizes, total_steps, self.seed, pool=pool_size(steps))
        train, dev = self._batches(split), self.data.splits[self.task.id]["dev"]
        pin_memory = device_of(self.config.trainer.accelerator).type == "cuda"
        fit(
            MultitaskModule(
                network,
                {self.task.id: self.data.dev_score(self.task)},
                fine_tuning(settings, total_steps),
                settings.accumulate,
            ),
            Stage(
                title=f"seed {self.seed} · {self.task.id}",
                section="transformer",
                folder=self.folder,
                seed=self.seed,
                epochs=settings.epochs,
                total_steps=total_steps,
                patience=settings.patience or settings.epochs,
                gradient_clip=settings.gradient_clip,
                train=lambda epoch: train.loader(
                    ScheduleSampler(schedule, epoch * steps, (epoch + 1) * steps), pin_memory
                ),
                dev=self._batches(dev).loader(self._in_order(dev), pin_memory),
                checkpoint=settings.checkpoint,
                validate_first=self.validate_first,
                scale=self.data.scale,
            ),
            self.config.trainer,
        )

    def codes(self, network: TransformerNetwork, answered: Task) -> dict[str, np.ndarray]:
        """The codes that the network predicts for `answered`, which is this task or one that its head answers: (rows,) by split,
        without train."""
        device = device_of(self.config.trainer.accelerator)
        network.to(device)
        codes = {}
        for name, split in self.data.splits[answered.id].items():
            if name != "train":
                with mixed_precision(self.config.trainer, device):
                    codes[name] = predict_rows(network, self._batches(split), self._in_order(split), device)
        network.to("cpu")
        return codes

    def _batches(self, split: Split) -> BatchDataset:
        return BatchDataset({self.task.id: split}, self.sequences)

    def _in_order(self, split: Split) -> SortedSampler:
        return SortedSampler(
            self._lengths(split), {self.task.id: batch_rows(split, self.config.transformer.rows_at_once)}
        )

    def _lengths(self, split: Split) -> dict[str, np.ndarray]:
        return {self.task.id: row_lengths(split, self.sequences.lengths.numpy())}


def write_codes(folder: Path, codes: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Write the codes of predictions, by task and split."""
    arrays: dict[str, Any] = {f"{task}/{split}": values for task, of in codes.items() for split, values in of.items()}
    with replacing(folder / PREDICTED) as partial, partial.open("wb") as file:
        np.savez(file, **arrays)


def read_predictions(folder: Path, data: Coded, task: Task) -> Predictions | None:
    """The predictions (rows,) by split that `write_codes` kept for a task; None if there are none.

    Raises InputError for a damaged file, and for one with predictions of other rows.
    """
    path = folder / PREDICTED
    if not path.exists():
        return None
    kind, answers = target_kind(task), data.answers(task)
    rows = {name: len(split) for name, split in data.splits[task.id].items() if name != "train"}
    try:
        arrays = read_arrays(path)
        codes = {name: arrays[f"{task.id}/{name}"] for name in rows}
        if all(codes[name].shape == (count,) for name, count in rows.items()):
            found = {name: kind.decode(codes[name], answers) for name in rows}
            if all(np.isfinite(codes[name]).all() for name in rows):
                for targets in found.values():  # a code that stands for nothing raises LookupError
                    deque(map(kind.format, targets), maxlen=0)
                return found
    except (OSError, ValueError, LookupError, TypeError, OverflowError):
        pass
    raise InputError(f"{path}: is damaged, or of other rows; delete {folder}, and run this again")
