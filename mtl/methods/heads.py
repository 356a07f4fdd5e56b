"""The heads that a configuration describes, and what one of them reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from mtl.base.device import device_of
from mtl.base.memory import check_fits
from mtl.base.settings.schema import Config, TrainerConfig
from mtl.data.dataset import Split
from mtl.methods.overlap import FEATURES
from mtl.model.encoder import Encoder
from mtl.model.network import Heads, TaskNetwork
from mtl.model.sequences import Sequences
from mtl.tasks.task import Task
from mtl.training.batches import BatchDataset, TaskRows, batch_rows, predict_rows, row_lengths, sorted_batches
from mtl.training.precision import mixed_precision

FLOAT = 4  # bytes of a number


def new_heads(config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], dim: int) -> Heads:
    """The heads that the configuration describes, for an encoder whose outputs have the size `dim`; `outputs` are those for one input, by task id.
    Raises InputError if they do not fit this machine's memory."""
    head = config.head
    attention, features = head.attention_size if head.attention else None, len(FEATURES) if head.overlap else 0
    sizes = (head.hidden_size, head.dropout, attention, head.projection, features)
    make = partial(Heads, tasks, outputs, dim, *sizes, head.pair == "cosine", head.crf)
    check_size(make)
    return make()


def check_size(make: Callable[[], nn.Module], copies: int = 1, further: int = 0) -> None:
    """Raise InputError if so many copies of the weights of what `make` returns, and further numbers, do not fit this machine's memory."""
    with torch.device("meta"):  # it computes sizes alone, and draws no random numbers
        weights = sum(weight.numel() for weight in make().parameters())
    remedy = "set smaller sizes in encoder., embeddings. and head."
    check_fits(FLOAT * (copies * weights + further), "a network of these sizes", remedy)


@dataclass(frozen=True)
class TaskInput:
    """What one task's head reads.

    Args:
        sequences: texts for the encoder, or its outputs for their tokens. Batches hold rows of similar length.
        vectors: float32 (texts, dim), for heads that read a vector of each whole text. Rows are shuffled freely.
        encoder: the encoder that runs in each step, because it is trained with the head; None if the texts are already encoded.
    """

    sequences: Sequences | None = None
    vectors: Tensor | None = None
    encoder: Encoder | None = None

    def batches(self, rows: Mapping[str, Split]) -> BatchDataset:
        """The dataset that makes batches of these rows, which are by the id of the task whose head reads them."""
        return BatchDataset(rows, self.sequences, self.vectors)

    def row_lengths(self, rows: Mapping[str, Split]) -> dict[str, np.ndarray]:
        """The rows' lengths for making batches; all 0 if rows are shuffled freely."""
        lengths = None if self.sequences is None else self.sequences.lengths.numpy()
        return {id: np.zeros(len(part)) if lengths is None else row_lengths(part, lengths) for id, part in rows.items()}

    def ordered(self, rows: Mapping[str, Split], size: int) -> list[TaskRows]:
        """All rows, for a network that is not trained, in batches of `size` model inputs."""
        return sorted_batches(self.row_lengths(rows), {id: batch_rows(part, size) for id, part in rows.items()})

    def computed(
        self,
        compute: Callable[..., np.ndarray],
        network: TaskNetwork,
        head: str,
        split: Split,
        size: int,
        trainer: TrainerConfig,
    ) -> np.ndarray:
        """The results of a network for the rows of a split, in row order, computed on its device: codes (`predict_rows`) or outputs (`row_outputs`).
        `head` is the id of the task whose head reads the rows, `size` the number of model inputs in a batch."""
        device, rows = next(network.parameters()).device, {head: split}
        with mixed_precision(trainer, device):
            return compute(network, self.batches(rows), self.ordered(rows, size), device)

    def codes(
        self, network: TaskNetwork, head: str, splits: Mapping[str, Split], size: int, trainer: TrainerConfig
    ) -> dict[str, np.ndarray]:
        """The codes that a network predicts for all splits but train: (rows,) or (rows, codes) by split. The network is on the CPU before and after,
        and on the device of `trainer` meanwhile. The arguments are as in `computed`."""
        network.to(device_of(trainer.accelerator))
        wanted = {name: split for name, split in splits.items() if name != "train"}
        codes = {id: self.computed(predict_rows, network, head, split, size, trainer) for id, split in wanted.items()}
        network.to("cpu")
        return codes
