"""Batches of one task each: which rows come when, and how they become tensors.

Every draw depends only on the seed and the number of the step, so training can resume at any step.
"""

import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from mtl.data.dataset import Split
from mtl.embedders.sequences import Sequences
from mtl.model.batch import Batch
from mtl.model.network import Network
from mtl.progress import progress

Chosen = tuple[str, np.ndarray]  # a task's id, and indices of rows in its split: int64 (rows,)

# Rows of like length meet in one batch: a pool of this many batches is drawn, sorted by length, and cut.
POOL = 32


class BatchDataset(Dataset[Batch]):
    """Makes the batch of a task and row numbers. Texts come as sequences to encode, or as vectors where there are any."""

    def __init__(
        self, splits: Mapping[str, Split], sequences: Sequences | None = None, vectors: Tensor | None = None
    ) -> None:
        """splits: by task id, their targets as codes (`mtl.tasks.targets`)."""
        self.splits = splits
        self.texts = {task: torch.from_numpy(split.texts) for task, split in splits.items()}
        self.targets = {task: torch.from_numpy(split.targets).float() for task, split in splits.items()}
        self.sequences = sequences
        self.vectors = vectors

    def __getitem__(self, rows: Chosen) -> Batch:
        task, places = rows
        split, chosen = self.splits[task], torch.from_numpy(places)
        texts = self.texts[task][torch.from_numpy(split.inputs(places))].T.reshape(-1)
        targets = self.targets[task][chosen]
        sizes = None if split.sizes is None else torch.from_numpy(split.sizes[places])
        if self.vectors is not None:
            return Batch(task, chosen, targets, vectors=self.vectors[texts], sizes=sizes)
        assert self.sequences is not None
        tokens, lengths = self.sequences.gather(texts)
        return Batch(task, chosen, targets, tokens, lengths, sizes=sizes)

    def loader(self, sampler: Sampler[Chosen], pin_memory: bool = False) -> DataLoader[Batch]:
        """A loader of whole batches as the sampler names them, in this process: gathering one costs microseconds."""
        return DataLoader(self, batch_size=None, sampler=sampler, pin_memory=pin_memory)


class Schedule:
    """Which rows of which task are trained on at each step.

    Each step draws one task with probability proportional to its training rows (jiant's proportional sampling) and
    takes that task's next batch. A task's rows are shuffled anew each time they have all been seen.
    """

    def __init__(
        self, lengths: Mapping[str, np.ndarray], batch_sizes: Mapping[str, int], steps: int, seed: int
    ) -> None:
        """lengths: for each task its training rows' lengths in tokens, int64 (rows,). batch_sizes: for each task, rows."""
        self.lengths = lengths
        self.batch_sizes = batch_sizes
        self.seed = seed
        self.tasks = list(lengths)
        sizes = np.array([len(rows) for rows in lengths.values()], dtype=np.float64)
        draws = np.random.default_rng([seed, 0]).random(steps)
        self._draws = np.searchsorted(np.cumsum(sizes / sizes.sum())[:-1], draws, side="right")
        # How often each step's task was drawn before.
        self._turns = np.zeros(steps, dtype=np.int64)
        for task in range(len(self.tasks)):
            mine = self._draws == task
            self._turns[mine] = np.arange(mine.sum())
        self._passes = lru_cache(maxsize=2 * len(self.tasks))(self._pass)

    def __len__(self) -> int:
        """Steps."""
        return len(self._draws)

    def rows(self, step: int) -> Chosen:
        """The task and rows of a step, counted from 0."""
        task = self.tasks[self._draws[step]]
        batches = -(-len(self.lengths[task]) // self.batch_sizes[task])
        number, place = divmod(int(self._turns[step]), batches)
        return task, self._passes(task, number)[place]

    def _pass(self, task: str, number: int) -> list[np.ndarray]:
        """The batches of one pass over a task's rows."""
        rng = np.random.default_rng([self.seed, 1, zlib.crc32(task.encode()), number])
        lengths, size = self.lengths[task], self.batch_sizes[task]
        batches = []
        order = rng.permutation(len(lengths))
        for start in range(0, len(order), POOL * size):
            pool = order[start : start + POOL * size]
            pool = pool[np.argsort(lengths[pool], kind="stable")]
            batches += [pool[i : i + size] for i in range(0, len(pool), size)]
        return [batches[i] for i in rng.permutation(len(batches))]


class ScheduleSampler(Sampler[Chosen]):
    """The rows of a schedule's steps from `start` to `stop`."""

    def __init__(self, schedule: Schedule, start: int, stop: int) -> None:
        self.schedule = schedule
        self.steps = range(start, min(stop, len(schedule)))

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Chosen]:
        return map(self.schedule.rows, self.steps)


class SortedSampler(Sampler[Chosen]):
    """Every row of every task once, by length, so that hardly anything is padded."""

    def __init__(self, lengths: Mapping[str, np.ndarray], batch_sizes: Mapping[str, int]) -> None:
        """lengths: for each task its rows' lengths in tokens, int64 (rows,). batch_sizes: for each task, rows."""
        self.batches = [
            (task, rows)
            for task, sizes in lengths.items()
            for rows in np.split(
                np.argsort(sizes, kind="stable"), range(batch_sizes[task], len(sizes), batch_sizes[task])
            )
        ]

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Chosen]:
        return iter(self.batches)


def row_lengths(split: Split, lengths: np.ndarray) -> np.ndarray:
    """The length of each row, int64 (rows,): its longest text's, in tokens. lengths: of all texts."""
    of_inputs: np.ndarray = lengths[split.texts].max(axis=1)
    if split.sizes is None:
        return of_inputs
    return np.maximum.reduceat(of_inputs, np.cumsum(split.sizes) - split.sizes)


def batch_rows(split: Split, batch_size: int) -> int:
    """Rows of a split in one batch: `batch_size`, or fewer of a choice, so that a batch has about as many inputs on average."""
    return batch_size if split.sizes is None else max(1, round(batch_size / split.sizes.mean()))


@torch.no_grad()
def predict_rows(network: Network, batches: BatchDataset, sampler: SortedSampler, device: torch.device) -> np.ndarray:
    """The codes (rows,), float64, that a network predicts for all rows of one task, in their order. Without dropout."""
    network.eval()
    codes = np.empty(sum(len(rows) for _, rows in sampler))
    for task, rows in progress(sampler.batches, "predicting", "batches"):
        batch = batches[(task, rows)].to(device)
        codes[rows] = network.predict(batch, network(batch)).cpu().numpy()
    return codes
