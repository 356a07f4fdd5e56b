"""Stage 1: everything jointly on all tasks (KLEJ, section 4.1)."""

import math
from collections.abc import Sequence
from pathlib import Path

import torch

from mtl.config.load import Config
from mtl.data.dataset import Dataset
from mtl.device import device_of
from mtl.embedders import Embedder, Embeddings
from mtl.model.encoder import Encoder
from mtl.model.multitask import Heads, Multitask
from mtl.tasks.suite import Task
from mtl.training.batches import BatchDataset, Schedule, ScheduleSampler, SortedSampler, Table, row_lengths
from mtl.training.fit import Stage, fit, load_finished


def new_encoder(config: Config, embedder: Embedder, dim: int) -> Encoder:
    """The encoder that the configuration says, on vectors of `dim` numbers."""
    return Encoder(
        embedder,
        dim,
        config.encoder.hidden_size,
        config.encoder.num_layers,
        config.embeddings.dropout,
        config.encoder.dropout,
    )


def new_heads(config: Config, tasks: Sequence[Task], dim: int) -> Heads:
    """Heads for these tasks as the configuration says, on encoder outputs of `dim` numbers."""
    attention_size = config.head.attention_size if config.head.attention else None
    return Heads(tasks, dim, config.head.hidden_size, config.head.dropout, attention_size)


def new_model(config: Config, tasks: Sequence[Task], embeddings: Embeddings, seed: int) -> tuple[Encoder, Heads]:
    """An encoder and heads as they are before training, the same for the same seed."""
    torch.manual_seed(seed)
    encoder = new_encoder(config, embeddings.embedder(), embeddings.dim)
    return encoder, new_heads(config, tasks, encoder.output_size)


def pretrain(
    config: Config, dataset: Dataset, table: Table, embeddings: Embeddings, seed: int, folder: Path
) -> tuple[Encoder, Heads]:
    """The encoder and heads at the best validation of stage 1, trained here or, if `folder` holds them, loaded.

    With `pretrain.checkpoint=last` they are those at the last validation.
    `folder` receives what `fit` leaves.
    """
    settings = config.pretrain
    encoder, heads = new_model(config, dataset.tasks, embeddings, seed)
    module = Multitask(
        dataset.tasks, heads, encoder, settings.learning_rate, settings.final_learning_rate, settings.max_steps
    )
    if load_finished(module, folder, settings.checkpoint):
        return encoder, heads
    parts = {
        split: {task.id: dataset.splits[task.id][split] for task in dataset.tasks}  # by task
        for split in ("train", "dev")
    }
    lengths = {
        split: {id: row_lengths(part, dataset.texts.lengths) for id, part in by_task.items()}
        for split, by_task in parts.items()
    }
    schedule = Schedule(lengths["train"], settings.batch_size, settings.max_steps, seed)
    pin_memory = device_of(config.trainer.accelerator).type == "cuda"
    batches = {split: BatchDataset(by_task, table) for split, by_task in parts.items()}
    every = min(settings.validate_every, settings.max_steps)
    fit(
        module,
        Stage(
            title=f"seed {seed} · stage 1",
            section="pretrain",
            folder=folder,
            seed=seed,
            epochs=math.ceil(settings.max_steps / every),
            total_steps=settings.max_steps,
            patience=settings.patience,
            gradient_clip=settings.gradient_clip,
            train=lambda epoch: batches["train"].loader(
                ScheduleSampler(schedule, epoch * every, (epoch + 1) * every), pin_memory
            ),
            dev=batches["dev"].loader(SortedSampler(lengths["dev"], settings.batch_size), pin_memory),
            checkpoint=settings.checkpoint,
        ),
        config.trainer,
    )
    return encoder, heads
