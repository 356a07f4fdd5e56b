"""Which rows form a batch, and the order of the batches; a batch has rows of one task.
Every random draw depends only on the seed and the number of the step, so training can resume at any step."""

import math
import zlib
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from mtl.data.dataset import Split
from mtl.training.batches import TaskRows

# To give a batch rows of similar length, a pool of this many batches is drawn, sorted by length, and cut into batches.
POOL = 32
LEAST_POOLS = 8  # in a pass over the rows: fewer would make nearly the same batches in each pass


class Schedule:
    """The task and the rows of each training step. A step draws one task, and takes its next batch. Rows are shuffled again after each pass.
    A task is drawn in proportion to its number of training rows to the power of `sampling` (1: jiant's; 0: all tasks equally often). By task id,
    `lengths` has the length of each training row in tokens, int64 (rows,); `batch_sizes` is in rows; `pool` is as in `pooled_batches`."""

    def __init__(
        self,
        lengths: Mapping[str, np.ndarray],
        batch_sizes: Mapping[str, int],
        steps: int,
        seed: int,
        sampling: float = 1.0,
        pool: int = POOL,
    ) -> None:
        self.lengths, self.batch_sizes, self.seed, self.pool = lengths, batch_sizes, seed, pool
        self.tasks = list(lengths)
        sizes = np.array([len(rows) for rows in lengths.values()], dtype=np.float64) ** sampling
        draws = np.random.default_rng([seed, 0]).random(steps)
        # For each step, the index of its task, and how often the task was drawn before.
        self.draws = np.searchsorted(np.cumsum(sizes / sizes.sum())[:-1], draws, side="right")
        self._turns = np.zeros(steps, dtype=np.int64)
        for index in range(len(self.tasks)):
            drawn = self.draws == index
            self._turns[drawn] = np.arange(drawn.sum())
        self._cached_pass = lru_cache(maxsize=2 * len(self.tasks))(self._pass)

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.draws)

    def rows(self, step: int) -> TaskRows:
        """The task and the rows of a step. Steps are counted from 0."""
        task = self.tasks[self.draws[step]]
        batches_per_pass = math.ceil(len(self.lengths[task]) / self.batch_sizes[task])
        number, batch = divmod(int(self._turns[step]), batches_per_pass)
        return task, self._cached_pass(task, number)[batch]

    def steps(self, start: int, stop: int) -> list[TaskRows]:
        """The tasks and rows of the steps from `start` to `stop`, which is excluded, or to the last step."""
        return [self.rows(step) for step in range(start, min(stop, len(self)))]

    def _pass(self, task: str, number: int) -> list[np.ndarray]:
        """The batches of one pass over a task's rows, in order. Passes are counted from 0."""
        rng = np.random.default_rng([self.seed, 1, zlib.crc32(task.encode()), number])
        return pooled_batches(self.lengths[task], self.batch_sizes[task], rng, self.pool)


def pool_size(batches: int) -> int:
    """The number of batches in a pool, where a pass has so many batches."""
    return max(1, min(POOL, batches // LEAST_POOLS))


def pooled_batches(lengths: np.ndarray, size: int, rng: np.random.Generator, pool: int = POOL) -> list[np.ndarray]:
    """Batches of `size` rows of similar length, in random order, with every row once. Lengths are int64 (rows,). A pool has `pool` batches."""
    batches = []
    order = rng.permutation(len(lengths))
    for start in range(0, len(order), pool * size):
        drawn = order[start : start + pool * size]
        drawn = drawn[np.argsort(lengths[drawn], kind="stable")]
        batches += [drawn[i : i + size] for i in range(0, len(drawn), size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def sorted_batches(lengths: Mapping[str, np.ndarray], batch_sizes: Mapping[str, int]) -> list[TaskRows]:
    """Batches with every row of every task once, in order of length, so that they need little padding. The arguments are as in `Schedule`."""
    batches = []
    for task, task_lengths in lengths.items():
        order, size = np.argsort(task_lengths, kind="stable"), batch_sizes[task]
        batches += [(task, rows) for rows in np.split(order, range(size, len(order), size))]
    return batches


def row_lengths(split: Split, lengths: np.ndarray) -> np.ndarray:
    """The length of the longest text of each row, int64 (rows,), from the lengths of all texts, int64 (texts,)."""
    input_lengths: np.ndarray = lengths[split.texts].max(axis=1)
    if split.sizes is None:
        return input_lengths
    return np.maximum.reduceat(input_lengths, np.cumsum(split.sizes) - split.sizes)


def batch_rows(split: Split, batch_size: int) -> int:
    """The number of rows in a batch: `batch_size`; fewer for a choice, so that batches have about `batch_size` inputs on average."""
    return batch_size if split.sizes is None else max(1, round(batch_size / split.sizes.mean()))


def pass_batches(split: Split, batch_size: int) -> int:
    """The number of batches in a pass over the rows."""
    return math.ceil(len(split) / batch_rows(split, batch_size))
