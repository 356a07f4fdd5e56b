"""The input of the heads in stage 2: outputs of the frozen encoder, computed once, or texts for an encoder that runs in each step."""

import logging
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtl.config.schema import Config
from mtl.data.dataset import Dataset
from mtl.data.text import TokenizedTexts
from mtl.device import device_of
from mtl.embedders.sequences import ArraySequences, Sequences
from mtl.files import check_space, format_bytes, reserve
from mtl.model.encoder import Encoder
from mtl.model.network import Heads, Network
from mtl.tasks.task import Task

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class TaskInput:
    """What one task's head reads in stage 2.

    encoder: runs in each step, either trained with the head or with dropout; None if the texts are already encoded.
    sequences: texts for the encoder, or its token outputs. vectors: float32 (texts, dim), for heads that read vectors of whole texts.
    lengths: int64 (texts,), in tokens, if batches hold rows of similar length; None if rows are shuffled freely.
    """

    encoder: Encoder | None
    sequences: Sequences | None
    vectors: Tensor | None
    lengths: np.ndarray | None


@dataclass(frozen=True)
class Encoded:
    """The frozen encoder's output for all texts, computed once for all tasks.

    vectors: float32 (texts, dim), for heads that read vectors of whole texts. tokens: for heads that read tokens. None if no head
    reads them.
    """

    vectors: Tensor | None
    tokens: ArraySequences | None

    def for_head(self, reads_tokens: bool) -> TaskInput:
        """The input of a head. reads_tokens: whether it reads tokens, not vectors of whole texts."""
        if reads_tokens:
            assert self.tokens is not None
            return TaskInput(None, self.tokens, None, self.tokens.lengths.numpy())
        return TaskInput(None, None, self.vectors, None)


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
    """The frozen encoder's output for the texts of all tasks.

    folder: token outputs, if any head reads them, are in an unnamed temporary file on the disk of this folder while they are used.
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
        tokens = _encode_tokens(encoder, sequences, read, len(dataset.texts), seed, folder)
    return Encoded(vectors, tokens)


def reads_tokens(heads: Heads, task: Task) -> bool:
    """Whether the head that answers a task reads tokens, not vectors of whole texts."""
    return heads[task.answered_by or task.id].reads_tokens


def _encode_tokens(
    encoder: Encoder, sequences: Sequences, texts: Tensor, count: int, seed: int, folder: Path
) -> ArraySequences:
    """The encoder's token outputs for these texts. count: the number of texts in the dataset."""
    lengths = sequences.lengths[texts].numpy()
    shape = (int(lengths.sum()), encoder.output_size)
    # The file's name is removed when the block ends; its content exists as long as the array.
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".partial") as file:
        rows = np.memmap(file, dtype=np.float32, mode="w+", shape=shape)
        reserve(Path(file.name))
    encoder.encode_tokens(sequences, texts, rows, title=f"seed {seed} · encoding tokens")
    starts = np.zeros(count, dtype=np.int64)
    starts[texts.numpy()] = np.cumsum(lengths) - lengths
    return ArraySequences(rows, starts, sequences.lengths.numpy())


def check_disk(config: Config, dataset: Dataset, texts: TokenizedTexts, folder: Path) -> None:
    """Log how much disk space stage 2 needs for token outputs, if it needs any. Raises InputError if there is too little."""
    if not config.head.attention or encoder_runs(config):
        return
    tokens = int(texts.lengths[_texts(dataset, [task for task in dataset.tasks if task.is_pair]).numpy()].sum())
    size = 4 * tokens * 2 * config.encoder.hidden_size
    logger.info("stage 2 keeps the encoder's outputs for %d tokens on disk: %s", tokens, format_bytes(size))
    check_space(folder, size, "set fewer tasks=, a smaller max_length= or encoder.hidden_size=")


def _texts(dataset: Dataset, tasks: Sequence[Task]) -> Tensor:
    """The texts of these tasks, int64 (texts,), ascending."""
    rows = [part.texts.ravel() for task in tasks for part in dataset.splits[task.id].values()]
    return torch.from_numpy(np.unique(np.concatenate([np.empty(0, dtype=np.int64), *rows])))
