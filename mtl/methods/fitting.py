"""The training of a network on the rows of its tasks: what all stages have in common."""

from collections.abc import Mapping
from typing import Any

from mtl.base.device import device_of
from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import Config
from mtl.data.dataset import Split
from mtl.methods.coded import Coded
from mtl.methods.task_input import TaskInput
from mtl.model.network import TaskNetwork
from mtl.training.batches import POOL, Schedule, batch_rows
from mtl.training.module import MultitaskModule, Optimization
from mtl.training.stage import Stage, fit


def fit_tasks(
    config: Config,
    data: Coded,
    network: TaskNetwork,
    task_input: TaskInput,
    rows: Mapping[str, Split],
    optimization: Optimization,
    *,
    batch_size: int,
    dev_batch_size: int,
    epoch_steps: int,
    total_steps: int,
    seed: int,
    sampling: float = 1.0,
    pool: int = POOL,
    parts: int = 1,
    pin_memory: bool = True,
    **stage: Any,
) -> None:
    """Train a network on rows of its tasks, each batch on those of one task.

    Args:
        rows: those to train on, by task id.
        batch_size: model inputs in a batch of training; `dev_batch_size`: in a batch of validation.
        epoch_steps: the steps between two validations.
        sampling, pool: see `mtl.training.batches.Schedule`.
        parts: see `MultitaskModule`.
        pin_memory: whether batches for a GPU are copied from page-locked memory; they must not lie on the GPU already.
        stage: the fields of a `Stage` that do not follow from the other arguments.
    """
    tasks = [task for task in data.dataset.trained_tasks if task.id in rows]
    data.set_loss(network, config.loss)
    sizes = {id: batch_rows(split, batch_size) for id, split in rows.items()}
    schedule = Schedule(task_input.row_lengths(rows), sizes, total_steps, seed, sampling, pool)
    dev = {task.id: data.dev(task) for task in tasks}
    pinned = pin_memory and device_of(config.trainer.accelerator).type == "cuda"
    train_batches, dev_batches = task_input.batches(rows), task_input.batches(dev)
    fit(
        MultitaskModule(network, {task.id: data.dev_score(task) for task in tasks}, optimization, parts),
        Stage(
            seed=seed,
            total_steps=total_steps,
            train=lambda epoch: train_batches.loader(
                schedule.chosen(epoch * epoch_steps, (epoch + 1) * epoch_steps), pinned
            ),
            dev=dev_batches.loader(task_input.ordered(dev, dev_batch_size), pinned),
            scale=data.scale,
            settings=flatten_config(config),
            **stage,
        ),
        config.trainer,
    )
