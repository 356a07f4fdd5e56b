"""The training of a network on the rows of its tasks."""

import math
from collections.abc import Mapping
from typing import Any

from mtl.base.device import device_of
from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import Config
from mtl.data.dataset import Split
from mtl.methods.coded import Coded
from mtl.methods.networks import TaskInput
from mtl.model.network import TaskNetwork
from mtl.training.batches import POOL, Schedule, batch_rows
from mtl.training.module import MultitaskModule
from mtl.training.optimizers import Optimization
from mtl.training.stage import Stage, fit


def fit_tasks(
    config: Config,
    data: Coded,
    network: TaskNetwork,
    task_input: TaskInput,
    rows: Mapping[str, Split],
    optimization: Optimization,
    *,
    section: str,
    epoch_steps: int,
    total_steps: int,
    seed: int,
    dev_batch_size: int | None = None,
    sampling: float = 1.0,
    pool: int = POOL,
    parts: int = 1,
    pin_memory: bool = True,
    **stage: Any,
) -> None:
    """Train a network on rows of its tasks, each batch on those of one task.

    Args:
        rows: those to train on, by task id.
        section: of the configuration, with the batch size, the patience and the clipping of gradients.
        epoch_steps: the steps between two validations.
        dev_batch_size: model inputs in a batch of validation; None: as in training.
        sampling, pool, parts: see `mtl.training.batches.Schedule` and `MultitaskModule`.
        pin_memory: whether batches for a GPU are copied from page-locked memory; they must not lie on the GPU already.
        stage: the fields of a `Stage` that do not follow from the other arguments.
    """
    settings, epochs = getattr(config, section), math.ceil(total_steps / epoch_steps)
    tasks = [task for task in data.dataset.trained_tasks if task.id in rows]
    data.set_loss(network, config.loss)
    sizes = {id: batch_rows(split, settings.batch_size) for id, split in rows.items()}
    schedule = Schedule(task_input.row_lengths(rows), sizes, total_steps, seed, sampling, pool)
    dev = {task.id: data.dev(task) for task in tasks}
    pinned = pin_memory and device_of(config.trainer.accelerator).type == "cuda"
    batches, dev_batches = task_input.batches(rows), task_input.batches(dev)
    fit(
        MultitaskModule(network, {task.id: data.dev_score(task) for task in tasks}, optimization, parts),
        Stage(
            section=section,
            seed=seed,
            epochs=epochs,
            total_steps=total_steps,
            patience=settings.patience or epochs,
            gradient_clip=settings.gradient_clip,
            train=lambda epoch: batches.loader(schedule.steps(epoch * epoch_steps, (epoch + 1) * epoch_steps), pinned),
            dev=dev_batches.loader(task_input.ordered(dev, dev_batch_size or settings.batch_size), pinned),
            scale=data.scale,
            settings=flatten_config(config),
            **stage,
        ),
        config.trainer,
    )
