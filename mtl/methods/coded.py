"""The dataset's targets as the codes that heads are trained on."""

import zlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mtl.config.schema import LossConfig
from mtl.data.dataset import Dataset, Split, with_one_wrong
from mtl.data.overlap import with_overlap
from mtl.model.network import TaskNetwork
from mtl.tasks.metrics import METRICS
from mtl.tasks.scale import PERCENT, Scale
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.module import TaskScore


@dataclass(frozen=True)
class Coded:
    """A dataset with its targets as codes (`mtl.tasks.kind`).

    overlap: whether the rows of pairs have their overlap. scale: how progress shows scores.
    """

    dataset: Dataset
    overlap: bool = False
    scale: Scale = PERCENT

    @cached_property
    def splits(self) -> dict[str, dict[str, Split]]:
        """The dataset's splits by task id and split name, with codes as targets, float64 (rows,)."""
        coded = {}
        for task in self.dataset.tasks:
            kind, answers = target_kind(task), self.answers(task)
            splits = self.dataset.splits[task.id]
            if self.overlap and task.is_pair:
                splits = {name: with_overlap(split, self.dataset.texts) for name, split in splits.items()}
            coded[task.id] = {
                name: replace(split, targets=kind.encode(split.targets, answers)) for name, split in splits.items()
            }
        return coded

    @cached_property
    def outputs(self) -> dict[str, int]:
        """The number of outputs of each task's head for one input, by task id."""
        return {task.id: target_kind(task).outputs(self.answers(task)) for task in self.dataset.tasks}

    def answers(self, task: Task) -> list[str]:
        """The words that the outputs of the task's head mean; empty for kinds without words. The head may be another task's."""
        return self.dataset.answers.get(task.answered_by or task.id, [])

    def train(self, task: Task, loss: LossConfig, seed: int) -> Split:
        """The task's training rows. With `loss.choice=pairs`, rows with candidates have two of them, the same in both stages."""
        split = self.splits[task.id]["train"]
        if split.sizes is None or loss.choice != "pairs":
            return split
        return with_one_wrong(split, np.random.default_rng([seed, 2, zlib.crc32(task.id.encode())]))

    def set_loss(self, network: TaskNetwork, loss: LossConfig) -> None:
        """Let the network's loss weight the labels of tasks scored by one label, and judge candidates one by one, if `loss` says so."""
        for task in self.dataset.trained_tasks:
            if task.id not in network.kinds:
                continue
            if loss.class_weights and METRICS[task.metric].one_label:
                network.kinds[task.id].balance(self.splits[task.id]["train"].targets, loss.class_weights)
            if loss.choice == "pairs":
                network.kinds[task.id].separate()

    def dev_score(self, task: Task) -> TaskScore:
        """The task's metric on its dev rows."""
        return TaskScore(task, self.dataset.splits[task.id]["dev"].scored, self.answers(task))
