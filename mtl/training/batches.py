"""Batches, each of one task: the order of the rows, how rows become tensors, and what a network predicts for them in the order of the rows.
Every random draw depends only on the seed and the number of the step, so training can resume at any step."""

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from mtl.base.progress import progress
from mtl.data.dataset import Split, first_equal
from mtl.model.network import Batch, TaskNetwork
from mtl.model.sequences import Sequences
from mtl.tasks.head_targets import PAST

TaskRows = tuple[str, np.ndarray]  # a task's id, and the numbers of some rows of its split, from 0: int64 (rows,)

# To give a batch rows of similar length, a pool of this many batches is drawn, sorted by length, and cut into batches.
POOL = 32
LEAST_POOLS = 8  # in a pass over the rows: fewer would make nearly the same batches in each pass


class BatchDataset(Dataset[Batch]):
    """Makes a batch from a task and the numbers of its rows. Splits have codes as targets. Texts are sequences, or vectors (texts, dim)."""

    def __init__(
        self, splits: Mapping[str, Split], sequences: Sequences | None = None, vectors: Tensor | None = None
    ) -> None:
        self.splits, self.sequences, self.vectors = splits, sequences, vectors

    def __getitem__(self, task_rows: TaskRows) -> Batch:
        task, rows = task_rows
        split = self.splits[task]
        inputs = split.inputs(rows)
        return Batch(
            task,
            torch.from_numpy(rows),
            torch.from_numpy(split.targets[rows]).float(),
            sizes=_tensor(split.sizes, rows),
            overlap=_tensor(split.overlap, inputs),
            base=_tensor(split.base, inputs),
            units=_tensor(split.steps, rows),
            firsts=_first_candidates(split, rows, inputs),
            **self._read(split, inputs),
        )

    def _read(self, split: Split, inputs: np.ndarray) -> dict[str, Any]:
        """The fields of a batch with what heads read of the texts of these inputs: all first texts first, then all second ones."""
        texts = torch.from_numpy(split.texts[inputs].T.reshape(-1))
        if self.vectors is not None:
            return {"vectors": self.vectors[texts]}
        assert self.sequences is not None
        tokens, lengths = self.sequences.gather(texts)
        return {"tokens": tokens, "lengths": lengths, "spans": _tensor(split.token_spans, inputs)}

    def loader(self, order: list[TaskRows], pin_memory: bool = False) -> DataLoader[Batch]:
        """A loader of these batches. It runs in this process, because gathering a batch takes microseconds."""
        return DataLoader(self, batch_size=None, sampler=order, pin_memory=pin_memory)


def _tensor(values: np.ndarray | None, numbers: np.ndarray) -> Tensor | None:
    """The values with these numbers; None without values."""
    return None if values is None else torch.from_numpy(values[numbers])


def _first_candidates(split: Split, rows: np.ndarray, inputs: np.ndarray) -> Tensor | None:
    """`Batch.firsts` of these rows with these inputs; None also for rows without candidates."""
    if split.sizes is None:
        return None
    firsts = first_equal(split.texts[inputs], split.sizes[rows])
    return torch.from_numpy(firsts) if (firsts != np.arange(len(firsts))).any() else None


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


def predict_rows(network: TaskNetwork, data: BatchDataset, order: list[TaskRows], device: torch.device) -> np.ndarray:
    """The codes that a network without dropout predicts, float64 (rows,) or (rows, codes). `order` has every row of one task once, batch by batch."""
    computed = _batch_outputs(network, data, order, device)
    return codes_in_order([(batch.rows, network.predict(batch, outputs)) for batch, outputs in computed])


def codes_in_order(parts: Sequence[tuple[Tensor, Tensor]]) -> np.ndarray:
    """Codes of all rows, float64 (rows,) or (rows, codes), from those of each batch: the numbers of its rows, and their codes."""
    numbers = torch.cat([rows for rows, _ in parts]).cpu().numpy()
    codes = [batch_codes.cpu().double() for _, batch_codes in parts]
    if codes[0].ndim == 2:
        most = max(batch_codes.shape[1] for batch_codes in codes)
        codes = [functional.pad(batch_codes, (0, most - batch_codes.shape[1]), value=PAST) for batch_codes in codes]
    in_order: np.ndarray = torch.cat(codes).numpy()
    in_order[numbers] = in_order.copy()
    return in_order


def row_outputs(network: TaskNetwork, data: BatchDataset, order: list[TaskRows], device: torch.device) -> np.ndarray:
    """The outputs of a network without dropout, float32 (inputs, outputs), for a task without units. The arguments are as in `predict_rows`."""
    by_row: dict[int, Tensor] = {}
    for batch, outputs in _batch_outputs(network, data, order, device):
        sizes = [1] * len(batch.rows) if batch.sizes is None else batch.sizes.tolist()
        by_row.update(zip(batch.rows.tolist(), outputs.float().cpu().split(sizes), strict=True))
    return torch.cat([by_row[row] for row in sorted(by_row)]).numpy()


@torch.no_grad()
def _batch_outputs(
    network: TaskNetwork, data: BatchDataset, order: list[TaskRows], device: torch.device
) -> Iterator[tuple[Batch, Tensor]]:
    """Yield each batch with the network's outputs."""
    network.eval()
    for task_rows in progress(order, "predicting", "batches"):
        batch = data[task_rows].to(device)
        yield batch, network(batch)
