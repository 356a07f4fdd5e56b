"""Batches of all tasks' rows, for training that is joint."""

from torch.utils.data import DataLoader

from mtl.config.schema import Config
from mtl.device import device_of
from mtl.embedders.sequences import Sequences
from mtl.methods.coded import Coded
from mtl.training.batches import (
    POOL,
    Batch,
    BatchDataset,
    Schedule,
    ScheduleSampler,
    SortedSampler,
    batch_rows,
    row_lengths,
)


class JointBatches:
    """Batches of the training and dev rows of every trained task; each batch has rows of one task.

    parts: the rows by "train" or "dev" and task id.
    """

    def __init__(
        self, config: Config, data: Coded, sequences: Sequences, seed: int, batch_size: int, dev_batch_size: int
    ) -> None:
        """sequences: the texts. seed: of rows that are drawn for training. Batch sizes: see `batch_rows`."""
        tasks = data.dataset.trained_tasks
        self.parts = {
            "train": {task.id: data.train(task, config.loss, seed) for task in tasks},
            "dev": {task.id: data.splits[task.id]["dev"] for task in tasks},
        }
        token_counts = sequences.lengths.numpy()
        self._lengths = {
            split: {id: row_lengths(part, token_counts) for id, part in of.items()} for split, of in self.parts.items()
        }
        sizes = {"train": batch_size, "dev": dev_batch_size}
        self._sizes = {
            split: {id: batch_rows(part, sizes[split]) for id, part in of.items()} for split, of in self.parts.items()
        }
        self._batches = {split: BatchDataset(of, sequences) for split, of in self.parts.items()}
        self._pin_memory = device_of(config.trainer.accelerator).type == "cuda"

    def schedule(self, batches: int, seed: int, sampling: float, pool: int = POOL) -> Schedule:
        """The order of the training's batches. See `mtl.training.batches.Schedule`."""
        return Schedule(self._lengths["train"], self._sizes["train"], batches, seed, sampling, pool)

    def train(self, schedule: Schedule, start: int, stop: int) -> DataLoader[Batch]:
        """The schedule's batches from `start` to `stop`, which is excluded."""
        return self._batches["train"].loader(ScheduleSampler(schedule, start, stop), self._pin_memory)

    def dev(self) -> DataLoader[Batch]:
        """All dev rows."""
        return self._batches["dev"].loader(SortedSampler(self._lengths["dev"], self._sizes["dev"]), self._pin_memory)
