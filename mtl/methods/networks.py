"""What a task's head reads, and the results of a network for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from mtl.base.device import device_of
from mtl.base.settings.schema import TrainerConfig
from mtl.data.dataset import Split
from mtl.model.encoder import Encoder
from mtl.model.network import TaskNetwork
from mtl.model.sequences import Sequences
from mtl.training.batches import BatchDataset, TaskRows, batch_rows, predict_rows, row_lengths, sorted_batches
from mtl.training.precision import mixed_precision


@dataclass(frozen=True)
class TaskInput:
    """What one task's head reads: sequences, of which batches hold rows of similar length, or vectors, whose rows are shuffled freely."""

    sequences: Sequences | None = None  # texts for the encoder, or its outputs for their tokens
    vectors: Tensor | None = None  # float32 (texts, dim), one of each whole text
    encoder: Encoder | None = None  # it runs in each step, to be trained with the head; None: texts are encoded already

    def batches(self, rows: Mapping[str, Split]) -> BatchDataset:
        """The dataset that makes batches of these rows, which are by the id of the task whose head reads them."""
        return BatchDataset(rows, self.sequences, self.vectors)

    def row_lengths(self, rows: Mapping[str, Split]) -> dict[str, np.ndarray]:
        """The rows' lengths for making batches; all 0 if rows are shuffled freely."""
        if self.sequences is None:
            return {id: np.zeros(len(split)) for id, split in rows.items()}
        lengths = self.sequences.lengths.numpy()
        return {id: row_lengths(split, lengths) for id, split in rows.items()}

    def ordered(self, rows: Mapping[str, Split], size: int) -> list[TaskRows]:
        """All rows, for a network that is not trained, in batches of `size` model inputs."""
        return sorted_batches(self.row_lengths(rows), {id: batch_rows(split, size) for id, split in rows.items()})

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
        codes = {}
        for name, split in splits.items():
            if name != "train":
                codes[name] = self.computed(predict_rows, network, head, split, size, trainer)
        network.to("cpu")
        return codes
