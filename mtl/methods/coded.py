"""The dataset's targets as the codes that heads are trained on, and batches of all tasks' rows for joint training."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from torch.utils.data import DataLoader

from mtl.base.device import device_of
from mtl.data.dataset import Dataset, Split, with_further, with_one_wrong
from mtl.methods.heads import with_overlap
from mtl.model.network import Distillation, TaskNetwork
from mtl.model.sequences import Sequences
from mtl.settings.schema import Config, DistillConfig, LossConfig
from mtl.tasks.metrics import metric_named
from mtl.tasks.target_kind import HeadTargets
from mtl.tasks.targets import target_kind
from mtl.tasks.task import PERCENT, Scale, Task
from mtl.training.batches import (
    POOL,
    Batch,
    BatchDataset,
    Schedule,
    batch_rows,
    row_lengths,
    sorted_batches,
)
from mtl.training.module import TaskScore

UNLABELLED = "unlabelled"  # the name of unlabelled rows, beside those of splits


@dataclass(frozen=True)
class Coded:
    """A dataset with its targets as codes (`mtl.tasks.target_kind`).

    Args:
        overlap: whether the rows of pairs have their overlap.
        scale: how progress shows scores.
        teacher: the outputs of other models for the training rows and then for the unlabelled rows, by task id.
        base: see `mtl.methods.lstm.linear.LinearModels.outputs`.
    """

    dataset: Dataset
    overlap: bool = False
    scale: Scale = PERCENT
    teacher: Mapping[str, np.ndarray] = field(default_factory=dict)
    base: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)

    @cached_property
    def splits(self) -> dict[str, dict[str, Split]]:
        """The dataset's splits by task id and split name, with codes as targets, float64 (rows,)."""
        coded = {}
        for task in self.dataset.tasks:
            kind, answers = target_kind(task), self.answers(task)
            splits = self.dataset.splits[task.id]
            if self.overlap and task.is_pair:
                splits = {name: with_overlap(split, self.dataset.texts) for name, split in splits.items()}
            base = self.base.get(task.id, {})
            coded[task.id] = {
                name: replace(split, targets=kind.head.encode(split.targets, answers), base=base.get(name))
                for name, split in splits.items()
            }
            if task.id in self.teacher:
                train = coded[task.id]["train"]
                coded[task.id]["train"] = replace(train, teacher=self.teacher[task.id][: len(train.texts)])
        return coded

    @cached_property
    def unlabelled(self) -> dict[str, Split]:
        """The unlabelled rows that other models have outputs for, by task id, with unknown codes."""
        coded = {}
        for task in self.dataset.trained_tasks:
            if task.id in self.teacher and (split := self.dataset.unlabelled.get(task.id)) is not None:
                if self.overlap and task.is_pair:
                    split = with_overlap(split, self.dataset.texts)
                outputs = self.teacher[task.id][-len(split) :]
                base = self.base.get(task.id, {}).get(UNLABELLED)
                coded[task.id] = replace(split, targets=np.full(len(split), np.nan), teacher=outputs, base=base)
        return coded

    @cached_property
    def outputs(self) -> dict[str, int]:
        """The number of outputs of each task's head for one input, by task id."""
        return {task.id: target_kind(task).head.outputs(self.answers(task)) for task in self.dataset.tasks}

    def answers(self, task: Task) -> list[str]:
        """The words that the outputs of the task's head mean; empty for kinds without words. The head may be another task's."""
        return self.dataset.answers.get(task.answered_by or task.id, [])

    def train(self, task: Task, loss: LossConfig, seed: int) -> Split:
        """The task's training rows, then its unlabelled ones.

        With `loss.choice=pairs`, rows with candidates have two of them, the same in both stages.
        """
        split = self.splits[task.id]["train"]
        if task.id in self.unlabelled:
            return with_further(split, self.unlabelled[task.id])
        if split.sizes is None or loss.choice != "pairs":
            return split
        return with_one_wrong(split, np.random.default_rng([seed, 2, zlib.crc32(task.id.encode())]))

    def set_loss(self, network: TaskNetwork, loss: LossConfig, distill: DistillConfig | None = None) -> None:
        """Let the network's loss weight the labels of tasks scored by one label, and judge candidates one by one, if `loss` says so; and
        count the outputs of other models, where rows have them, as `distill` says."""
        if distill is not None:
            network.distillation = Distillation(distill.weight, distill.temperature)
        for task in self.dataset.trained_tasks:
            if task.id not in network.kinds:
                continue
            codes = self.splits[task.id]["train"].targets
            network.kinds[task.id] = with_weights(network.kinds[task.id], task, codes, loss)
            if loss.choice == "pairs":
                network.kinds[task.id] = network.kinds[task.id].separated()

    def dev(self, task: Task) -> Split:
        """The task's dev rows that choose checkpoints and thresholds."""
        return self.splits[task.id]["dev"].take(self.dataset.choosing_rows(task))

    def dev_score(self, task: Task) -> TaskScore:
        """The task's metric on these rows."""
        dev = self.dataset.splits[task.id]["dev"].take(self.dataset.choosing_rows(task))
        return TaskScore(task, dev.scored, self.answers(task))


def with_weights(head: HeadTargets, task: Task, codes: np.ndarray, loss: LossConfig) -> HeadTargets:
    """The same with a loss that weights labels by these codes of training rows, if the task is scored by one and `loss` says so."""
    weighted = loss.class_weights and metric_named(task.metric).one_label
    return head.balanced(codes, loss.class_weights) if weighted else head


class JointBatches:
    """Batches of the training rows of every trained task, and of its dev rows that choose; each batch has rows of one task.

    Args:
        parts: the rows by "train" or "dev" and task id.
    """

    def __init__(
        self, config: Config, data: Coded, sequences: Sequences, seed: int, batch_size: int, dev_batch_size: int
    ) -> None:
        """Batch sizes: see `batch_rows`. The seed is that of rows that are drawn for training."""
        tasks = data.dataset.trained_tasks
        self.parts = {
            "train": {task.id: data.train(task, config.loss, seed) for task in tasks},
            "dev": {task.id: data.dev(task) for task in tasks},
        }
        token_counts = sequences.lengths.numpy()
        self._lengths = {
            split: {id: row_lengths(part, token_counts) for id, part in rows.items()}
            for split, rows in self.parts.items()
        }
        sizes = {"train": batch_size, "dev": dev_batch_size}
        self._sizes = {
            split: {id: batch_rows(part, sizes[split]) for id, part in rows.items()}
            for split, rows in self.parts.items()
        }
        self._batches = {split: BatchDataset(rows, sequences) for split, rows in self.parts.items()}
        self._pin_memory = device_of(config.trainer.accelerator).type == "cuda"

    def schedule(self, batches: int, seed: int, sampling: float, pool: int = POOL) -> Schedule:
        """The order of the training's batches. See `mtl.training.batches.Schedule`."""
        return Schedule(self._lengths["train"], self._sizes["train"], batches, seed, sampling, pool)

    def train(self, schedule: Schedule, start: int, stop: int) -> DataLoader[Batch]:
        """The schedule's batches from `start` to `stop`, which is excluded."""
        return self._batches["train"].loader(schedule.between(start, stop), self._pin_memory)

    def dev(self) -> DataLoader[Batch]:
        """The dev rows that choose, of all tasks."""
        return self._batches["dev"].loader(sorted_batches(self._lengths["dev"], self._sizes["dev"]), self._pin_memory)
