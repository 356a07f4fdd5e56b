"""Stage 2: each task's head on the frozen encoder, or with it, by the task's own metric (KLEJ, section 4.1)."""

import logging
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtl.config.load import Config
from mtl.data.dataset import Dataset
from mtl.device import device_of
from mtl.files import check_space, format_bytes, reserve
from mtl.methods.lstm.stage1 import new_heads
from mtl.model.encoder import Encoder
from mtl.model.multitask import Heads, Multitask
from mtl.tasks.suite import Task
from mtl.training.batches import BatchDataset, Schedule, ScheduleSampler, SortedSampler, Table, TokenTable, row_lengths
from mtl.training.fit import Stage, fit, load_finished

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class Inputs:
    """What stage 2 reads of the dataset's texts.

    vectors: float32 (texts, dim), the frozen encoder's, for heads that need no more. table: of texts where there is an encoder
    to run, or the frozen encoder's outputs for heads that read tokens.
    """

    vectors: Tensor | None
    table: Table | None
    encoder: Encoder | None  # stage 1's, where each task trains its own, or where its dropout stays on


def stage_inputs(
    config: Config, dataset: Dataset, table: Table, encoder: Encoder, heads: Heads, seed: int, folder: Path
) -> Inputs:
    """What a frozen encoder can compute once for all tasks, computed; with an encoder to run, the texts as they are.

    folder: where a file without a name holds token outputs, if there are any, until nobody reads them any more.
    """
    if config.finetune.train_encoder or config.finetune.encoder_dropout:
        return Inputs(None, table, encoder)
    encoder.to(device_of(config.trainer.accelerator))
    vectors = outputs = None
    pooled = _texts(dataset, [task for task in dataset.tasks if not heads[task.id].reads_tokens])
    if len(pooled):
        vectors = torch.zeros(len(dataset.texts), encoder.output_size)
        vectors[pooled] = encoder.encode(table, pooled, title=f"seed {seed} · encoding texts")
    read = _texts(dataset, [task for task in dataset.tasks if heads[task.id].reads_tokens])
    if len(read):
        lengths = table.lengths[read].numpy()
        shape = (int(lengths.sum()), encoder.output_size)
        # The file is gone when the block ends; its content lives as long as the array.
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".partial") as file:
            rows = np.memmap(file, dtype=np.float32, mode="w+", shape=shape)
            reserve(Path(file.name))
        encoder.encode_tokens(table, read, rows, title=f"seed {seed} · encoding tokens")
        starts = np.zeros(len(dataset.texts), dtype=np.int64)
        starts[read.numpy()] = np.cumsum(lengths) - lengths
        outputs = TokenTable(rows, starts, table.lengths.numpy())
    return Inputs(vectors, outputs, None)


def check_disk(config: Config, dataset: Dataset, folder: Path) -> None:
    """Say how much disk stage 2 takes for a while, where it takes any. Raises InputError where there is not as much."""
    if not config.head.attention or config.finetune.train_encoder or config.finetune.encoder_dropout:
        return
    tokens = int(dataset.texts.lengths[_texts(dataset, [task for task in dataset.tasks if task.is_pair]).numpy()].sum())
    size = 4 * tokens * 2 * config.encoder.hidden_size
    logger.info("stage 2 keeps the encoder's outputs for %d tokens on disk: %s", tokens, format_bytes(size))
    check_space(folder, size, "set fewer tasks=, a smaller max_length= or encoder.hidden_size=")


def _texts(dataset: Dataset, tasks: Sequence[Task]) -> Tensor:
    """The texts of these tasks, int64 (texts,), ascending."""
    rows = [part.texts.ravel() for task in tasks for part in dataset.splits[task.id].values()]
    return torch.from_numpy(np.unique(np.concatenate([np.empty(0, dtype=np.int64), *rows])))


def finetune(
    config: Config, dataset: Dataset, task: Task, inputs: Inputs, heads: Heads, seed: int, folder: Path
) -> dict[str, np.ndarray]:
    """Train a task's head from that of stage 1, and its encoder where the configuration says so, and predict.

    What stage 1 left is the first candidate for the best weights: on dev, stage 2 never ends below it.
    The head in `heads` is changed to the best one; an encoder to train is copied.
    `folder` receives what `fit` leaves. A task whose stage 2 has finished is only predicted, not trained again.
    Returns predictions by split ("dev", and "test" if there is one): (rows,), label indices or numbers.
    """
    settings = config.finetune
    splits = dataset.splits[task.id]
    encoder = inputs.encoder
    if encoder is not None and settings.train_encoder:
        encoder = encoder.for_task()
    elif encoder is not None:
        encoder.requires_grad_(False)
    lone = new_heads(config, [task], heads.dim)
    lone.layers[0] = heads[task.id]
    steps = math.ceil(len(splits["train"]) / settings.batch_size)  # of an epoch
    module = Multitask(
        [task], lone, encoder, settings.learning_rate, settings.final_learning_rate, steps * settings.max_epochs
    )
    pooled = not settings.train_encoder and not heads[task.id].reads_tokens
    if pooled:
        # Vectors have no length: rows are shuffled freely, and the same where the encoder runs for its dropout.
        lengths = {split: {task.id: np.zeros(len(part))} for split, part in splits.items()}
    else:
        lengths = {split: {task.id: row_lengths(part, dataset.texts.lengths)} for split, part in splits.items()}
    on_vectors = pooled and encoder is None
    if on_vectors:
        batches = {split: BatchDataset({task.id: part}, vectors=inputs.vectors) for split, part in splits.items()}
    else:
        batches = {split: BatchDataset({task.id: part}, inputs.table) for split, part in splits.items()}
    inorder = {split: SortedSampler(by_task, settings.batch_size) for split, by_task in lengths.items()}
    if not load_finished(module, folder):
        title = f"seed {seed} · stage 2 · {task.id}"
        schedule = Schedule(lengths["train"], settings.batch_size, steps * settings.max_epochs, seed)
        fit(
            module,
            Stage(
                title=title,
                section="finetune",
                folder=folder,
                seed=seed,
                epochs=settings.max_epochs,
                total_steps=steps * settings.max_epochs,
                patience=settings.patience,
                gradient_clip=settings.gradient_clip,
                train=lambda epoch: batches["train"].loader(
                    ScheduleSampler(schedule, epoch * steps, (epoch + 1) * steps)
                ),
                dev=batches["dev"].loader(inorder["dev"]),
                resumable=not on_vectors,  # training a head anew takes seconds
                lines=not on_vectors,
                trained_only=True,
                validate_first=True,  # no task may end below what stage 1 left
            ),
            config.trainer,
        )
        averages = [row["dev/average"] for row in module.curve]
        logger.info("%s · %.1f, %.1f after stage 1", title, max(averages), averages[0])
    module.to(device_of(config.trainer.accelerator))
    predictions: dict[str, np.ndarray] = {
        split: module.predict_rows(batches[split], inorder[split]) for split in ("dev", "test") if split in splits
    }
    module.to("cpu")
    return predictions
