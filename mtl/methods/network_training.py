"""The training of a network on its tasks, with the losses that the configuration asks for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mtl.base.device import device_of
from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import Config, FinetuneConfig, LossConfig, PretrainConfig, TransformerConfig
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
        if task.id in network.head_targets:
            codes = data.splits[task.id]["train"].targets
            weighted = with_weights(network.head_targets[task.id], codes, loss)
            network.head_targets[task.id] = weighted.separated() if loss.choice == "pairs" else weighted


def with_weights(targets: HeadTargets, codes: np.ndarray, loss: LossConfig) -> HeadTargets:
    """The targets with a loss that weights labels by their share in these codes, if `loss` asks for it and single labels are scored."""
    if not loss.class_weights or not metric_named(targets.task.metric).threshold:
        return targets
    return targets.balanced(codes, loss.class_weights)


@dataclass(frozen=True, kw_only=True)
class Training:
    """What `fit_tasks` trains a network on, and how."""

    input: TaskInput
    rows: Mapping[str, Split]  # to train on, by task id
    optimization: Optimization
    section: Literal["pretrain", "finetune", "transformer"]  # of the configuration: batch size, patience …
    epoch_steps: int  # between two validations
    total_steps: int
    seed: int
    sampling: float = 1.0  # a step draws a task in proportion to its number of rows to this power
    pool: int = POOL  # the number of batches that are drawn and sorted by length together
    parts: int = 1  # of a batch, which go through the network one after another, to save memory
    dev_batch_size: int | None = None  # model inputs in a batch of validation; None: as in training
    pin_memory: bool = True  # whether a GPU copies batches from page-locked memory; they must not be on the GPU yet


def fit_tasks(
    config: Config, data: Coded, network: TaskNetwork, training: Training, title: str, folder: Path, **options: Any
) -> None:
    """Train a network on rows of its tasks; each batch has rows of one task. Title, folder and options are fields of the `Stage`."""
    set_losses(data, network, config.loss)
    tasks = [task for task in data.dataset.trained_tasks if task.id in training.rows]
    dev_rows = {task.id: data.dev_rows(task) for task in tasks}
    dev_scores = {task.id: data.dev_score(task) for task in tasks}
    section: PretrainConfig | FinetuneConfig | TransformerConfig = getattr(config, training.section)
    epochs = math.ceil(training.total_steps / training.epoch_steps)
    pin_memory = training.pin_memory and device_of(config.trainer.accelerator).type == "cuda"
    lengths = training.input.row_lengths(training.rows)
    batch_sizes = {id: batch_rows(split, section.batch_size) for id, split in training.rows.items()}
    schedule = Schedule(lengths, batch_sizes, training.total_steps, training.seed, training.sampling, training.pool)
    batches, steps = training.input.batches(training.rows), training.epoch_steps
    dev_order = training.input.ordered(dev_rows, training.dev_batch_size or section.batch_size)
    stage = Stage(
        title=title,
        section=training.section,
        folder=folder,
        seed=training.seed,
        epochs=epochs,
        total_steps=training.total_steps,
        patience=section.patience or epochs,
        gradient_clip=section.gradient_clip,
        train=lambda epoch: batches.loader(schedule.steps(epoch * steps, (epoch + 1) * steps), pin_memory),
        dev=training.input.batches(dev_rows).loader(dev_order, pin_memory),
        scale=data.scale,
        settings=flatten_config(config),
        **options,
    )
    fit(MultitaskModule(network, dev_scores, training.optimization, training.parts), stage, config.trainer)
