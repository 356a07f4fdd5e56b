"""The dataset's targets as the codes that heads are trained on, and the training of a network on them."""

import logging
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import Config, LossConfig
from mtl.data.dataset import Dataset, Split, last_texts, with_one_wrong
from mtl.methods.heads import TaskInput
from mtl.methods.overlap import with_overlap
from mtl.model.network import TaskNetwork
from mtl.tasks.metrics import metric_named
from mtl.tasks.scale import PERCENT, Scale
from mtl.tasks.target_kind import PAST, HeadTargets
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.batches import POOL, Schedule, batch_rows
from mtl.training.module import MultitaskModule, TaskScore
from mtl.training.optimizers import Optimization
from mtl.training.stage import Stage, fit

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class Coded:
    """A dataset with its targets as codes (`mtl.tasks.target_kind`).

    Args:
        overlap: whether the rows of pairs have their overlap.
        scale: how progress shows scores.
        base: see `mtl.methods.lstm.linear.LinearModels.outputs`.
    """

    dataset: Dataset
    overlap: bool = False
    scale: Scale = PERCENT
    base: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)

    @cached_property
    def splits(self) -> dict[str, dict[str, Split]]:
        """The dataset's splits by task id and split name, with codes as targets."""
        coded = {}
        for task in self.dataset.tasks:
            kind, answers = target_kind(task), self.answers(task)
            splits = self.dataset.splits[task.id]
            if self.overlap and task.is_pair:
                splits = {name: with_overlap(split, self.dataset.texts) for name, split in splits.items()}
            base = self.base.get(task.id, {})
            coded[task.id] = {
                name: replace(
                    split,
                    targets=kind.head.encode(split.targets, answers, last_texts(task, split, self.dataset.texts)),
                    base=base.get(name),
                )
                for name, split in splits.items()
            }
            if "train" in coded[task.id]:
                coded[task.id]["train"] = _learnable(kind.head, coded[task.id]["train"])
        return coded

    @cached_property
    def outputs(self) -> dict[str, int]:
        """The number of outputs of each task's head for one input, by task id."""
        return {task.id: target_kind(task).head.outputs(self.answers(task)) for task in self.dataset.tasks}

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
            codes = self.splits[task.id]["train"].targets
            network.kinds[task.id] = with_weights(network.kinds[task.id], task, codes, loss)
            if loss.choice == "pairs":
                network.kinds[task.id] = network.kinds[task.id].separated()

    def dev(self, task: Task) -> Split:
        """The task's dev rows that choose checkpoints and thresholds."""
        return self._choosing(self.splits[task.id], task)

    def dev_score(self, task: Task) -> TaskScore:
        """The task's metric on these rows."""
        dev = self._choosing(self.dataset.splits[task.id], task)
        return TaskScore(task, dev.scored, self.answers(task), last_texts(task, dev, self.dataset.texts))

    def _choosing(self, splits: Mapping[str, Split], task: Task) -> Split:
        """The rows among a task's splits that choose."""
        return splits[self.dataset.choosing_split(task)].take(self.dataset.choosing_rows(task))


def _learnable(head: HeadTargets, train: Split) -> Split:
    """The training rows without those that `HeadTargets.unlearnable` names, with a warning. Raises InputError if they are all."""
    if train.steps is None:
        return train
    lost = head.unlearnable(train.targets, (train.steps != PAST).sum(axis=1))
    if lost.any():
        message = f"task {head.task.id}: max_length cuts the targets of {lost.sum()} of {len(train)} training rows"
        if lost.all():
            raise InputError(f"{message}; set a larger one")
        logger.warning("%s, which are not learnt from", message)
    return train.take(np.flatnonzero(~lost)) if lost.any() else train


def with_weights(head: HeadTargets, task: Task, codes: np.ndarray, loss: LossConfig) -> HeadTargets:
    """The same with a loss that weights labels by these codes of training rows, if the task is scored by single ones and `loss` says so."""
    weighted = loss.class_weights and metric_named(task.metric).threshold
    return head.balanced(codes, loss.class_weights) if weighted else head


def fit_tasks(
    config: Config,
    data: Coded,
    network: TaskNetwork,
    task_input: TaskInput,
    rows: Mapping[str, Split],
    optimization: Optimization,
    batch_sizes: tuple[int, int],
    *,
    steps: int,
    total_steps: int,
    seed: int,
    sampling: float = 1.0,
    pool: int = POOL,
    parts: int = 1,
    pin_memory: bool = True,
    **stage: Any,
) -> None:
    """Train a network on rows of its tasks, each batch on those of one task, with what a `Stage` has that does not follow from these.

    Args:
        rows: those to train on, by task id.
        batch_sizes: model inputs in a batch of training and of validation.
        steps: those of an epoch.
        sampling, pool: see `mtl.training.batches.Schedule`.
        parts: see `MultitaskModule`.
        pin_memory: whether batches for a GPU are copied from page-locked memory; they must not lie on the GPU already.
    """
    tasks = [task for task in data.dataset.trained_tasks if task.id in rows]
    data.set_loss(network, config.loss)
    sizes = {id: batch_rows(part, batch_sizes[0]) for id, part in rows.items()}
    schedule = Schedule(task_input.row_lengths(rows), sizes, total_steps, seed, sampling, pool)
    dev = {task.id: data.dev(task) for task in tasks}
    pinned = pin_memory and device_of(config.trainer.accelerator).type == "cuda"
    train, validation = task_input.batches(rows), task_input.batches(dev)
    fit(
        MultitaskModule(network, {task.id: data.dev_score(task) for task in tasks}, optimization, parts),
        Stage(
            seed=seed,
            total_steps=total_steps,
            train=lambda epoch: train.loader(schedule.steps(epoch * steps, (epoch + 1) * steps), pinned),
            dev=validation.loader(task_input.ordered(dev, batch_sizes[1]), pinned),
            scale=data.scale,
            settings=flatten_config(config),
            **stage,
        ),
        config.trainer,
    )
