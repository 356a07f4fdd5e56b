"""The dataset's targets as the codes that heads are trained on, the losses of heads, and the training of networks."""

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import Config, LossConfig
from mtl.data.dataset import Dataset, Split, last_texts, with_one_wrong
from mtl.methods.networks import TaskInput
from mtl.methods.overlap import with_overlap
from mtl.model.network import TaskNetwork
from mtl.tasks.head_targets import PAST, HeadTargets
from mtl.tasks.metrics import metric_named
from mtl.tasks.scale import PERCENT, Scale
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.module import MultitaskModule, TaskScore
from mtl.training.optimizers import Optimization
from mtl.training.schedule import POOL, Schedule, batch_rows
from mtl.training.stage import Stage, fit


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
    units_read = (train.steps != PAST).sum(axis=1)
    lost = head.unlearnable(train.targets, units_read)
    if not lost.any():
        return train
    message = f"task {head.task.id}: max_length cuts the targets of {lost.sum()} of {len(train)} training rows"
    if lost.all():
        raise InputError(f"{message}; set a larger one")
    logger.warning("%s, which are not learnt from", message)
    return train.take(np.flatnonzero(~lost))


def set_losses(data: Coded, network: TaskNetwork, loss: LossConfig) -> None:
    """Give the network's tasks the losses that `loss` asks for: labels may have weights (`with_weights`), candidates may be judged one by one."""
    for task in data.dataset.trained_tasks:
        if task.id in network.kinds:
            kind = with_weights(network.kinds[task.id], data.splits[task.id]["train"].targets, loss)
            network.kinds[task.id] = kind.separated() if loss.choice == "pairs" else kind


def with_weights(head: HeadTargets, codes: np.ndarray, loss: LossConfig) -> HeadTargets:
    """The head's targets with a loss that weights labels by how often these codes of training rows have them; unchanged unless `loss` asks for
    weights and the task is scored by single labels."""
    if not loss.class_weights or not metric_named(head.task.metric).threshold:
        return head
    return head.balanced(codes, loss.class_weights)


@dataclass(frozen=True, kw_only=True)
class Training:
    """What `fit_tasks` trains a network on, and how."""

    input: TaskInput
    rows: Mapping[str, Split]  # to train on, by task id
    optimization: Optimization
    section: str  # of the configuration: with the batch size, the patience and the clipping of gradients
    epoch_steps: int  # between two validations
    total_steps: int
    seed: int
    sampling: float = 1.0  # see `Schedule`
    pool: int = POOL  # see `Schedule`
    parts: int = 1  # see `MultitaskModule`
    dev_batch_size: int | None = None  # model inputs in a batch of validation; None: as in training
    pin_memory: bool = True  # whether a GPU copies batches from page-locked memory; they must not be on the GPU yet


def fit_tasks(config: Config, data: Coded, network: TaskNetwork, training: Training, **stage: Any) -> None:
    """Train a network on rows of its tasks; each batch has rows of one task. `stage` are further fields of the `Stage`, such as its title."""
    settings = getattr(config, training.section)
    set_losses(data, network, config.loss)
    sizes = {id: batch_rows(split, settings.batch_size) for id, split in training.rows.items()}
    lengths = training.input.row_lengths(training.rows)
    schedule = Schedule(lengths, sizes, training.total_steps, training.seed, training.sampling, training.pool)
    batches = training.input.batches(training.rows)
    tasks = [task for task in data.dataset.trained_tasks if task.id in training.rows]
    dev = {task.id: data.dev_rows(task) for task in tasks}
    dev_order = training.input.ordered(dev, training.dev_batch_size or settings.batch_size)
    scores = {task.id: data.dev_score(task) for task in tasks}
    pinned = training.pin_memory and device_of(config.trainer.accelerator).type == "cuda"
    steps, epochs = training.epoch_steps, math.ceil(training.total_steps / training.epoch_steps)
    fit(
        MultitaskModule(network, scores, training.optimization, training.parts),
        Stage(
            section=training.section,
            seed=training.seed,
            epochs=epochs,
            total_steps=training.total_steps,
            patience=settings.patience or epochs,
            gradient_clip=settings.gradient_clip,
            train=lambda epoch: batches.loader(schedule.steps(epoch * steps, (epoch + 1) * steps), pinned),
            dev=training.input.batches(dev).loader(dev_order, pinned),
            scale=data.scale,
            settings=flatten_config(config),
            **stage,
        ),
        config.trainer,
    )
