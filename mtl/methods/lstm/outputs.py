"""The outputs of a frozen encoder, as the heads of stage 2 read them: computed once and stored, or computed when they are read."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtl.base.device import device_of
from mtl.base.display import show
from mtl.base.events import Remark
from mtl.base.files import check_space, reserve
from mtl.base.settings.schema import Config, TrainerConfig
from mtl.base.wording import format_bytes
from mtl.data.dataset import Dataset
from mtl.methods.networks import TaskInput
from mtl.model.encoder import Encoder
from mtl.model.network import Heads, Network
from mtl.model.sequences import ArraySequences, Sequences
from mtl.tasks.task import Task
from mtl.training.precision import mixed_precision


@dataclass(frozen=True)
class EncodedTexts:
    """A frozen encoder's outputs for the texts of all tasks: `tokens` for heads that read tokens, `vectors` of whole texts for all others."""

    tokens: TaskInput
    vectors: TaskInput

    def input_for(self, heads: Heads, task: Task) -> TaskInput:
        """What the head that answers a task reads."""
        return self.tokens if reads_tokens(heads, task) else self.vectors


class ComputedOutputs:
    """The token outputs of a frozen encoder for new texts, without dropout, computed each time they are read. They are those that `encode_once` would
    store, except for the rounding of sums. No network holds this encoder, so that training a head further does not turn its dropout on."""

    def __init__(self, encoder: Encoder, sequences: Sequences, trainer: TrainerConfig, precision: str) -> None:
        """The precision is that of `finetune.token_outputs`: for float16, outputs are rounded as they would be on disk."""
        self.encoder, self.trainer = encoder, trainer
        self.dtype = torch.float16 if precision == "float16" else torch.float32
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
) -> EncodedTexts:
    """Compute the outputs of the network's encoder for the texts of all tasks. Token outputs are in an unnamed temporary file on the disk of this
    folder while they are used. Raises InputError if the disk has too little space."""
    encoder, heads = network.encoder, network.heads
    assert encoder is not None
    encoder.to(device_of(config.trainer.accelerator))
    vectors = tokens = None
    whole_texts = _texts(dataset, [task for task in dataset.tasks if not reads_tokens(heads, task)])
    if len(whole_texts):
        vectors = torch.zeros(len(dataset.texts), encoder.output_size)
        vectors[whole_texts] = encoder.encode(sequences, whole_texts, title=f"seed {seed} · encoding texts")
    token_texts = _texts(dataset, [task for task in dataset.tasks if reads_tokens(heads, task)])
    if len(token_texts):
        tokens = _token_outputs(config, encoder, sequences, token_texts, seed, folder)
    return EncodedTexts(TaskInput(tokens), TaskInput(vectors=vectors))


def reads_tokens(heads: Heads, task: Task) -> bool:
    """Whether the head that answers a task reads tokens, not vectors of whole texts."""
    return heads[task.answered_by or task.id].reads_tokens


def _token_outputs(
    config: Config, encoder: Encoder, sequences: Sequences, texts: Tensor, seed: int, folder: Path
) -> Sequences:
    """The encoder's token outputs for these texts, as `finetune.token_outputs` says. Raises InputError if the disk has too little space for them."""
    lengths = sequences.lengths[texts].numpy()
    shape, dtype = (int(lengths.sum()), encoder.output_size), np.dtype(config.finetune.token_outputs)
    size = dtype.itemsize * shape[0] * shape[1]  # in bytes
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
    """The numbers of these tasks' texts, int64 (texts,), in ascending order."""
    numbers = [split.texts.ravel() for task in tasks for split in dataset.splits[task.id].values()]
    return torch.from_numpy(np.unique(np.concatenate([np.empty(0, dtype=np.int64), *numbers])))
