"""The training of a network on its tasks, with the losses that the configuration asks for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mtl.base.device import device_of
from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import Config, LossConfig
from mtl.data.dataset import Split
from mtl.methods.coded import Coded
from mtl.methods.networks import TaskInput
from mtl.model.network import TaskNetwork
from mtl.tasks.head_targets import HeadTargets
from mtl.tasks.metrics import metric_named
from mtl.training.module import MultitaskModule
from mtl.training.optimizers import Optimization
from mtl.training.schedule import POOL, Schedule, batch_rows
from mtl.training.stage import Stage, fit


def set_losses(data: Coded, network: TaskNetwork, loss: LossConfig) -> None:
    """Give the network's tasks the losses that `loss` asks for: labels may have weights (`with_weights`), candidates may be judged one by one."""
    for task in data.dataset.trained_tasks:
        if task.id in network.kinds:
            kind = with_weights(network.kinds[task.id], data.splits[task.id]["train"].targets, loss)
            network.kinds[task.id] = kind.separated() if loss.choice == "pairs" else kind


def with_weights(head: HeadTargets, codes: np.ndarray, loss: LossConfig) -> HeadTargets:
    """The head's targets with a loss that weights labels by their share in these codes, if `loss` asks for it and single labels are scored."""
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
