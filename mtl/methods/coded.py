"""A dataset with its targets as the codes that heads are trained on."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.settings.schema import LossConfig
from mtl.data.dataset import Dataset, Split, last_texts, with_one_wrong
from mtl.methods.overlap import with_overlap
from mtl.tasks.head_targets import PAST, HeadTargets
from mtl.tasks.scale import PERCENT, Scale
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.module import TaskScore


@dataclass(frozen=True)
class Coded:
    """A dataset with its targets as the codes that heads are trained on (`mtl.tasks.target_kind`)."""

    dataset: Dataset
    overlap: bool = False  # whether the rows of pairs have their overlap
    scale: Scale = PERCENT  # how progress shows scores
    # The outputs of linear models that heads add theirs to: `mtl.methods.lstm.linear.LinearModels.outputs`.
    base: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)

    @cached_property
    def splits(self) -> dict[str, dict[str, Split]]:
        """The dataset's splits by task id and split name, with codes as targets. Training rows are those that a head can learn from."""
        return {task.id: self._coded(task) for task in self.dataset.tasks}

    def _coded(self, task: Task) -> dict[str, Split]:
        head, answers = target_kind(task).head, self.answers(task)
        coded = {}
        for name, split in self.dataset.splits[task.id].items():
            if self.overlap and task.is_pair:
                split = with_overlap(split, self.dataset.texts)
            codes = head.encode(split.targets, answers, last_texts(task, split, self.dataset.texts))
            coded[name] = replace(split, targets=codes, base=self.base.get(task.id, {}).get(name))
        if "train" in coded:
            coded["train"] = _learnable(head, coded["train"])
        return coded

    @cached_property
    def outputs(self) -> dict[str, int]:
        """The number of outputs of each task's head for one input, by task id."""
        return {task.id: target_kind(task).head.outputs(self.answers(task)) for task in self.dataset.tasks}

    def answers(self, task: Task) -> list[str]:
        """The words that the outputs of the task's head mean; empty for kinds without words. The head may be another task's."""
        return self.dataset.answers.get(task.answered_by or task.id, [])

    def train_rows(self, task: Task, loss: LossConfig, seed: int) -> Split:
        """The task's training rows. With `loss.choice=pairs`, rows with candidates have two of them, the same in both stages."""
        split = self.splits[task.id]["train"]
        if split.sizes is None or loss.choice != "pairs":
            return split
        rng = np.random.default_rng([seed, 2, zlib.crc32(task.id.encode())])  # 0 and 1 are the streams of `Schedule`
        return with_one_wrong(split, rng)

    def dev_rows(self, task: Task) -> Split:
        """The task's dev rows that choose checkpoints and thresholds."""
        return self._choosing(self.splits[task.id], task)

    def dev_score(self, task: Task) -> TaskScore:
        """The task's metric on the rows of `dev_rows`."""
        dev = self._choosing(self.dataset.splits[task.id], task)
        return TaskScore(task, dev.scored_rows, self.answers(task), last_texts(task, dev, self.dataset.texts))

    def _choosing(self, splits: Mapping[str, Split], task: Task) -> Split:
        return splits[self.dataset.choosing_split(task)].take(self.dataset.choosing_rows(task))


def _learnable(head: HeadTargets, train: Split) -> Split:
    """The training rows without those that `HeadTargets.unlearnable` names, with a warning. Raises InputError if no row is left."""
    if train.steps is None:
        return train
    lost = head.unlearnable(train.targets, units=(train.steps != PAST).sum(axis=1))
    if not lost.any():
        return train
    message = f"task {head.task.id}: max_length cuts the targets of {lost.sum()} of {len(train)} training rows"
    if lost.all():
        raise InputError(f"{message}; set a larger one")
    logger.warning("%s, which are not learnt from", message)
    return train.take(np.flatnonzero(~lost))
