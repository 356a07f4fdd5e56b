"""The input of the heads in stage 2: outputs of the frozen encoder, computed once, or texts for an encoder that runs in each step."""

import errno
import logging
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtl.config.schema import Config, TrainerConfig
from mtl.data.dataset import Dataset
from mtl.device import device_of
from mtl.embedders.sequences import ArraySequences, Sequences
from mtl.files import format_bytes, reserve
from mtl.methods.task_input import TaskInput
from mtl.model.encoder import Encoder
from mtl.model.network import Heads, Network
from mtl.tasks.task import Task
from mtl.training.precision import mixed_precision

MARGIN = 1 << 30  # bytes

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class Encoded:
    """The frozen encoder's output for all texts, the same for all tasks.

    vectors: float32 (texts, dim), for heads that read vectors of whole texts. tokens: the token outputs, for heads that read tokens:
    computed once, or in each step. None if no head reads them.
    """

    vectors: Tensor | None
    tokens: Sequences | None

    def for_head(self, reads_tokens: bool) -> TaskInput:
        """The input of a head. reads_tokens: whether it reads tokens, not vectors of whole texts."""
        if reads_tokens:
            assert self.tokens is not None
            return TaskInput(None, self.tokens, None, self.tokens.lengths.numpy())
        return TaskInput(None, None, self.vectors, None)


class ComputedOutputs:
    """The token outputs of a frozen encoder, without dropout, computed each time they are read.

    They are those that `encode_once` would keep, except for the rounding of sums. No network holds this encoder: a stage's
    checkpoints are the same as with outputs that are computed once, and training a head does not turn the encoder's dropout on.
    """

    def __init__(self, encoder: Encoder, sequences: Sequences, trainer: TrainerConfig, kept: str) -> None:
        """kept: `finetune.token_outputs`. For float16, outputs are rounded as they would be on disk."""
        self.encoder = encoder
        self.trainer = trainer
        self.dtype = torch.float16 if kept == "float16" else torch.float32
        self.sequences = sequences
        self.lengths = sequences.lengths

    @torch.no_grad()
    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Text indices (batch,) -> outputs, float32 (batch, time, output_size) on the encoder's device, and lengths in tokens (batch,)."""
        device = self.encoder.device
        tokens, lengths = self.sequences.gather(texts)
        self.encoder.eval()
        with mixed_precision(self.trainer, device):  # a loader gathers batches outside the precision of the training
            return self.encoder.outputs(tokens.to(device), lengths).to(self.dtype).float(), lengths


def encoder_runs(config: Config) -> bool:
    """Whether the encoder runs in each step of stage 2, because it is trained or uses dropout."""
    return config.finetune.train_encoder or config.finetune.encoder_dropout


def running_input(config: Config, encoder: Encoder, sequences: Sequences, reads_tokens: bool) -> TaskInput:
    """The input of a head with an encoder that runs in each step. If the encoder is trained, each task trains its own copy."""
    if config.finetune.train_encoder:
        return TaskInput(encoder.for_task(), sequences, None, sequences.lengths.numpy())
    # Vectors of whole texts have no length, so rows are shuffled freely, as with vectors that were computed once.
    lengths = sequences.lengths.numpy() if reads_tokens else None
    return TaskInput(encoder.requires_grad_(False), sequences, None, lengths)


def encode_once(
    config: Config, dataset: Dataset, sequences: Sequences, network: Network, seed: int, folder: Path
) -> Encoded:
    """The frozen encoder's output for the texts of all tasks: vectors of whole texts, and token outputs if a head reads them.

    Token outputs are computed in each step instead if `finetune.token_outputs` says so, or if the disk has too little space.
    folder: they are in an unnamed temporary file on the disk of this folder while they are used.
    """
    encoder, heads = network.encoder, network.heads
    assert encoder is not None
    encoder.to(device_of(config.trainer.accelerator))
    vectors = tokens = None
    pooled = _texts(dataset, [task for task in dataset.tasks if not reads_tokens(heads, task)])
    if len(pooled):
        vectors = torch.zeros(len(dataset.texts), encoder.output_size)
        vectors[pooled] = encoder.encode(sequences, pooled, title=f"seed {seed} · encoding texts")
    read = _texts(dataset, [task for task in dataset.tasks if reads_tokens(heads, task)])
    if len(read):
        tokens = _token_outputs(config, encoder, sequences, read, seed, folder)
    return Encoded(vectors, tokens)


def reads_tokens(heads: Heads, task: Task) -> bool:
    """Whether the head that answers a task reads tokens, not vectors of whole texts."""
    return heads[task.answered_by or task.id].reads_tokens


def _token_outputs(
    config: Config, encoder: Encoder, sequences: Sequences, texts: Tensor, seed: int, folder: Path
) -> Sequences:
    """The encoder's token outputs for these texts, as `finetune.token_outputs` says, or computed if the disk has too little space."""
    kept = config.finetune.token_outputs
    computed = ComputedOutputs(encoder, sequences, config.trainer, kept)
    if kept == "recompute":
        return computed
    lengths = sequences.lengths[texts].numpy()
    rows = _rows_on_disk(folder, np.dtype(kept), (int(lengths.sum()), encoder.output_size))
    if rows is None:
        return computed
    encoder.encode_tokens(sequences, texts, rows, title=f"seed {seed} · encoding tokens")
    starts = np.zeros(len(sequences.lengths), dtype=np.int64)
    starts[texts.numpy()] = np.cumsum(lengths) - lengths
    return ArraySequences(rows, starts, sequences.lengths.numpy())


def _rows_on_disk(folder: Path, dtype: np.dtype, shape: tuple[int, int]) -> np.ndarray | None:
    """An array in an unnamed temporary file, or None, with a warning, if the disk has too little space.

    MARGIN is left free for checkpoints and predictions.
    """
    size, free = dtype.itemsize * shape[0] * shape[1], shutil.disk_usage(folder).free
    if free >= size + MARGIN:
        # The file's name is removed when the block ends; its content exists as long as the array.
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".partial") as file:
            rows = np.memmap(file, dtype=dtype, mode="w+", shape=shape)
            try:
                reserve(Path(file.name))
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
            else:
                logger.info(
                    "stage 2 keeps the encoder's outputs for %d tokens on disk: %s", shape[0], format_bytes(size)
                )
                return rows
    logger.warning(
        "%s: the encoder's outputs for %d tokens need %s of disk space, but %s are free; stage 2 computes them in each step, which is slower",
        *(folder, shape[0], format_bytes(size), format_bytes(free)),
    )
    return None


def _texts(dataset: Dataset, tasks: Sequence[Task]) -> Tensor:
    """The texts of these tasks, int64 (texts,), ascending."""
    rows = [part.texts.ravel() for task in tasks for part in dataset.splits[task.id].values()]
    return torch.from_numpy(np.unique(np.concatenate([np.empty(0, dtype=np.int64), *rows])))
