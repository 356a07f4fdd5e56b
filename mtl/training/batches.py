"""Batches of one task each: which rows come when, and how they become tensors.

Every draw follows from the seed and the step's number alone, so training can be taken up again at any step.
"""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from mtl.data.dataset import Split

Chosen = tuple[str, np.ndarray]  # a task's id, and indices of rows in its split: int64 (rows,)

# Rows of like length meet in one batch: a pool of this many batches is drawn, sorted by length, and cut.
POOL = 32


@dataclass
class Batch:
    """Rows of one task.

    A pair's two texts are two sequences: first all rows' first texts, then all their second texts.
    Either tokens and lengths are set (texts to encode, or their encoded tokens), or vectors (texts encoded before).

    targets: float32 (rows,), NaN where unknown. tokens: (sides * rows, time), word numbers, or (sides * rows, time, dim),
    0 past a text's end. lengths: int64 (sides * rows,), tokens. vectors: (sides * rows, dim).
    """

    task: str
    targets: Tensor
    tokens: Tensor | None = None
    lengths: Tensor | None = None
    vectors: Tensor | None = None

    def to(self, device: torch.device, non_blocking: bool = False) -> "Batch":
        """The same batch on a device; lengths stay on the CPU, where packing needs them."""

        def move(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device, non_blocking=non_blocking)

        targets = self.targets.to(device, non_blocking=non_blocking)
        return Batch(self.task, targets, move(self.tokens), self.lengths, move(self.vectors))

    def pin_memory(self) -> "Batch":
        """The same batch in page-locked memory, for copies to a GPU that do not block."""

        def pin(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.pin_memory()

        return Batch(self.task, self.targets.pin_memory(), pin(self.tokens), self.lengths, pin(self.vectors))


class Table(Protocol):
    """Texts as an embedder or a head reads them, ready to be gathered into padded batches.

    lengths: int64 (texts,), tokens.
    """

    lengths: Tensor

    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Texts (batch,) as numbers (batch, time, …), 0 past their ends, and their lengths (batch,)."""


class Rows(Protocol):
    """An array by its first dimension: row numbers (…,) in, rows out. NumPy arrays are, memory-mapped ones too."""

    def __getitem__(self, places: np.ndarray) -> np.ndarray: ...


class TokenTable:
    """Texts as slices of one long array: word numbers, or vectors of tokens.

    rows: int64 (all tokens,), or floating (all tokens, width). starts, lengths: int64 (texts,), of each text in it.
    """

    def __init__(self, rows: Rows, starts: np.ndarray, lengths: np.ndarray) -> None:
        self.rows = rows
        self.starts = starts
        self.lengths = torch.from_numpy(lengths)

    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Texts (batch,) as word numbers (batch, time) or vectors (batch, time, width), and their lengths (batch,)."""
        lengths = self.lengths[texts]
        steps = np.arange(int(lengths.max()))
        inside = steps < lengths.numpy()[:, None]
        places = np.where(inside, self.starts[texts.numpy()][:, None] + steps, 0)
        gathered = self.rows[places]
        gathered[~inside] = 0
        return torch.from_numpy(gathered), lengths


class BatchDataset(Dataset[Batch]):
    """Makes the batch that a task and row indices name. Texts come as tokens, or as vectors if there are any."""

    def __init__(self, splits: Mapping[str, Split], table: Table | None = None, vectors: Tensor | None = None) -> None:
        self.texts = {task: torch.from_numpy(split.texts) for task, split in splits.items()}
        self.targets = {task: torch.from_numpy(split.targets).float() for task, split in splits.items()}
        self.table = table
        self.vectors = vectors

    def __getitem__(self, rows: Chosen) -> Batch:
        task, places = rows
        chosen = torch.from_numpy(places)
        texts = self.texts[task][chosen].T.reshape(-1)
        targets = self.targets[task][chosen]
        if self.vectors is not None:
            return Batch(task, targets, vectors=self.vectors[texts])
        assert self.table is not None
        tokens, lengths = self.table.gather(texts)
        return Batch(task, targets, tokens, lengths)

    def loader(self, sampler: Sampler[Chosen], pin_memory: bool = False) -> DataLoader[Batch]:
        """A loader of whole batches as the sampler names them, in this process: gathering one costs microseconds."""
        return DataLoader(self, batch_size=None, sampler=sampler, pin_memory=pin_memory)


class Schedule:
    """Which rows of which task are trained on at each step.

    Each step draws one task with probability proportional to its training rows (jiant's proportional sampling) and
    takes that task's next batch. A task's rows are shuffled anew each time they have all been seen.
    """

    def __init__(self, lengths: Mapping[str, np.ndarray], batch_size: int, steps: int, seed: int) -> None:
        """lengths: for each task its training rows' lengths in tokens, int64 (rows,)."""
        self.lengths = lengths
        self.batch_size = batch_size
        self.seed = seed
        self.tasks = list(lengths)
        sizes = np.array([len(rows) for rows in lengths.values()], dtype=np.float64)
        draws = np.random.default_rng([seed, 0]).random(steps)
        self._draws = np.searchsorted(np.cumsum(sizes / sizes.sum())[:-1], draws, side="right")
        # The how-manieth draw of its task each step is.
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
        batches = -(-len(self.lengths[task]) // self.batch_size)
        number, place = divmod(int(self._turns[step]), batches)
        return task, self._passes(task, number)[place]

    def _pass(self, task: str, number: int) -> list[np.ndarray]:
        """The batches of one pass over a task's rows."""
        rng = np.random.default_rng([self.seed, 1, zlib.crc32(task.encode()), number])
        lengths = self.lengths[task]
        batches = []
        order = rng.permutation(len(lengths))
        for start in range(0, len(order), POOL * self.batch_size):
            pool = order[start : start + POOL * self.batch_size]
            pool = pool[np.argsort(lengths[pool], kind="stable")]
            batches += [pool[i : i + self.batch_size] for i in range(0, len(pool), self.batch_size)]
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

    def __init__(self, lengths: Mapping[str, np.ndarray], batch_size: int) -> None:
        """lengths: for each task its rows' lengths in tokens, int64 (rows,)."""
        self.batches = [
            (task, rows)
            for task, sizes in lengths.items()
            for rows in np.split(np.argsort(sizes, kind="stable"), range(batch_size, len(sizes), batch_size))
        ]

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Chosen]:
        return iter(self.batches)


def row_lengths(split: Split, lengths: np.ndarray) -> np.ndarray:
    """The length of each row, int64 (rows,): its longest text's, in tokens. lengths: of all the suite's texts."""
    return lengths[split.texts].max(axis=1)
