"""Batches of one task each: which rows come when, and how they become tensors.

Every draw follows from the seed and the step's number alone, so training can be taken up again at any step.
"""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from mtl.data.dataset import Split

Rows = tuple[str, np.ndarray]  # a task's id, and indices of rows in its split: int64 (rows,)

# Rows of like length meet in one batch: a pool of this many batches is drawn, sorted by length, and cut.
POOL = 32


@dataclass
class Batch:
    """Rows of one task.

    A pair's two texts are two sequences: first all rows' first texts, then all their second texts.
    Either tokens and lengths are set (texts to encode), or vectors (texts encoded before).

    targets: float32 (rows,), NaN where unknown. tokens: int64 (sides * rows, time), 0 past a text's end.
    lengths: int64 (sides * rows,), tokens. vectors: (sides * rows, dim).
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


class TokenTable:
    """The suite's texts as word numbers, ready to be gathered into padded batches.

    tokens: int64 (all tokens,), the texts' word numbers one after another. starts: int64 (texts + 1,).
    """

    def __init__(self, tokens: np.ndarray, starts: np.ndarray) -> None:
        self.tokens = torch.from_numpy(tokens)
        self.starts = torch.from_numpy(starts)
        self.lengths = self.starts.diff()

    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Texts (batch,) as word numbers (batch, time), 0 past their ends, and their lengths (batch,)."""
        lengths = self.lengths[texts]
        steps = torch.arange(int(lengths.max()))
        inside = steps < lengths[:, None]
        places = torch.where(inside, self.starts[texts][:, None] + steps, 0)
        return torch.where(inside, self.tokens[places], 0), lengths


class BatchDataset(Dataset[Batch]):
    """Makes the batch that a task and row indices name. Texts come as tokens, or as vectors if there are any."""

    def __init__(
        self, splits: Mapping[str, Split], table: TokenTable | None = None, vectors: Tensor | None = None
    ) -> None:
        self.texts = {task: torch.from_numpy(split.texts) for task, split in splits.items()}
        self.targets = {task: torch.from_numpy(split.targets).float() for task, split in splits.items()}
        self.table = table
        self.vectors = vectors

    def __getitem__(self, rows: Rows) -> Batch:
        task, places = rows
        chosen = torch.from_numpy(places)
        texts = self.texts[task][chosen].T.reshape(-1)
        targets = self.targets[task][chosen]
        if self.vectors is not None:
            return Batch(task, targets, vectors=self.vectors[texts])
        assert self.table is not None
        tokens, lengths = self.table.gather(texts)
        return Batch(task, targets, tokens, lengths)

    def loader(self, sampler: Sampler[Rows], pin_memory: bool = False) -> DataLoader[Batch]:
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

    def rows(self, step: int) -> Rows:
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


class ScheduleSampler(Sampler[Rows]):
    """The rows of a schedule's steps from `start` to `stop`."""

    def __init__(self, schedule: Schedule, start: int, stop: int) -> None:
        self.schedule = schedule
        self.steps = range(start, min(stop, len(schedule)))

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Rows]:
        return map(self.schedule.rows, self.steps)


class SortedSampler(Sampler[Rows]):
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

    def __iter__(self) -> Iterator[Rows]:
        return iter(self.batches)


def row_lengths(split: Split, lengths: np.ndarray) -> np.ndarray:
    """The length of each row, int64 (rows,): its longest text's, in tokens. lengths: of all the suite's texts."""
    return lengths[split.texts].max(axis=1)
