"""The outputs of a frozen encoder, as the heads of stage 2 read them: computed once and kept, or computed when they are read."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtl.base.device import device_of
from mtl.base.display import Remark, show
from mtl.base.files import check_space, reserve
from mtl.base.settings.schema import Config, TrainerConfig
from mtl.base.wording import format_bytes
from mtl.data.dataset import Dataset
from mtl.methods.heads import TaskInput
from mtl.model.encoder import Encoder
from mtl.model.network import Heads, Network
from mtl.model.sequences import ArraySequences, Sequences
from mtl.tasks.task import Task
from mtl.training.precision import mixed_precision


class ComputedOutputs:
    """The token outputs of a frozen encoder for new texts, without dropout, computed each time they are read. They are those that `encode_once` would
    keep, except for the rounding of sums. No network holds this encoder, so that training a head further does not turn its dropout on."""

    def __init__(self, encoder: Encoder, sequences: Sequences, trainer: TrainerConfig, kept: str) -> None:
        """For `finetune.token_outputs=float16`, outputs are rounded as they would be on disk."""
        self.encoder, self.trainer = encoder, trainer
        self.dtype = torch.float16 if kept == "float16" else torch.float32
        self.sequences, self.lengths = sequences, sequences.lengths

    @torch.no_grad()
    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Text indices (batch,) -> outputs, float32 (batch, time, output_size) on the encoder's device, and lengths in tokens (batch,)."""
        device = self.encoder.device
        tokens, lengths = self.sequences.gather(texts)
        self.encoder.eval()
        with mixed_precision(self.trainer, device):  # a loader gathers batches outside the precision of the training
            return self.encoder.outputs(tokens.to(device), lengths).to(self.dtype).float(), lengths


def encode_once(
    config: Config, dataset: Dataset, sequences: Sequences, network: Network, seed: int, folder: Path
) -> dict[bool, TaskInput]:
    """The frozen encoder's output for the texts of all tasks, as heads read it: those that read tokens (True), and those that read vectors. Token
    outputs are in an unnamed temporary file on the disk of this folder while they are used. Raises InputError if the disk has too little space."""
    encoder, heads = network.encoder, network.heads
    assert encoder is not None
    encoder.to(device_of(config.trainer.accelerator))
    vectors = tokens = None
    pooled = _texts(dataset, [task for task in dataset.tasks if not reads_tokens(heads, task)])
    if len(pooled):
        vectors = torch.zeros(len(dataset.texts), encoder.output_size)
        vectors[pooled] = encoder.encode(sequences, pooled, title=f"seed {seed} · encoding texts")
    unpooled = _texts(dataset, [task for task in dataset.tasks if reads_tokens(heads, task)])
    if len(unpooled):
        tokens = _token_outputs(config, encoder, sequences, unpooled, seed, folder)
    return {True: TaskInput(tokens), False: TaskInput(vectors=vectors)}


def reads_tokens(heads: Heads, task: Task) -> bool:
    """Whether the head that answers a task reads tokens, not vectors of whole texts."""
    return heads[task.answered_by or task.id].reads_tokens


def _token_outputs(
    config: Config, encoder: Encoder, sequences: Sequences, texts: Tensor, seed: int, folder: Path
) -> Sequences:
    """The encoder's token outputs for these texts, as `finetune.token_outputs` says. Raises InputError if the disk has too little space for them."""
    lengths = sequences.lengths[texts].numpy()
    shape, dtype = (int(lengths.sum()), encoder.output_size), np.dtype(config.finetune.token_outputs)
    size = dtype.itemsize * shape[0] * shape[1]
    check_space(folder, size, "set finetune.token_outputs=float16, or run_dir= on another disk")
    # The file's name is removed when the block ends; its content exists as long as the array.
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".partial") as file:
        rows = np.memmap(file, dtype=dtype, mode="w+", shape=shape)
        reserve(Path(file.name))
    show(Remark(f"stage 2 keeps the encoder's outputs for {shape[0]} tokens on disk: {format_bytes(size)}"))
    encoder.encode_tokens(sequences, texts, rows, title=f"seed {seed} · encoding tokens")
    starts = np.zeros(len(sequences.lengths), dtype=np.int64)
    starts[texts.numpy()] = np.cumsum(lengths) - lengths
    return ArraySequences(rows, starts, sequences.lengths.numpy())


def _texts(dataset: Dataset, tasks: Sequence[Task]) -> Tensor:
    """The texts of these tasks, int64 (texts,), ascending."""
    parts = [part for task in tasks for part in dataset.splits[task.id].values()]
    rows = [part.texts.ravel() for part in parts]
    return torch.from_numpy(np.unique(np.concatenate([np.empty(0, dtype=np.int64), *rows])))
