"""Batches, each of one task: the order of the rows, and how rows become tensors.

Every random draw depends only on the seed and the number of the step, so training can resume at any step."""

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from mtl.base.progress import progress
from mtl.data.dataset import Split, first_equal
from mtl.model.network import Batch, TaskNetwork
from mtl.model.sequences import Sequences
from mtl.tasks.target_kind import PAST

Chosen = tuple[str, np.ndarray]  # a task's id, and indices of rows in its split: int64 (rows,)

# To give a batch rows of similar length, a pool of this many batches is drawn, sorted by length, and cut into batches.
POOL = 32
POOLS = 8  # of a pass over the rows, at least: fewer would make nearly the same batches in each pass


class BatchDataset(Dataset[Batch]):
    """Makes a batch from a task and row numbers. It holds sequences for the encoder, or the texts' vectors if they are given."""

    def __init__(
        self, splits: Mapping[str, Split], sequences: Sequences | None = None, vectors: Tensor | None = None
    ) -> None:
        """The splits are by task id, with codes as targets (`mtl.tasks.target_kind`); the vectors are (texts, dim)."""
        self.splits = splits
        self.texts = {task: torch.from_numpy(split.texts) for task, split in splits.items()}
        self.targets = {task: torch.from_numpy(split.targets).float() for task, split in splits.items()}
        self.sequences, self.vectors = sequences, vectors

    def __getitem__(self, chosen: Chosen) -> Batch:
        task, numbers = chosen
        split, rows = self.splits[task], torch.from_numpy(numbers)
        inputs = split.inputs(numbers)

        def taken(array: np.ndarray | None) -> Tensor | None:
            return None if array is None else torch.from_numpy(array[inputs])

        batch = Batch(
            *(task, rows, self.targets[task][rows]),
            overlap=taken(split.overlap),
            base=taken(split.base),
            units=None if split.steps is None else torch.from_numpy(split.steps[numbers]),
        )
        if split.sizes is not None:
            firsts = first_equal(split.texts[inputs], split.sizes[numbers])
            differ = (firsts != np.arange(len(firsts))).any()
            sizes = torch.from_numpy(split.sizes[numbers])
            batch = replace(batch, sizes=sizes, firsts=torch.from_numpy(firsts) if differ else None)
        texts = self.texts[task][torch.from_numpy(inputs)].T.reshape(-1)
        if self.vectors is not None:
            return replace(batch, vectors=self.vectors[texts])
        assert self.sequences is not None
        tokens, lengths = self.sequences.gather(texts)
        return replace(batch, tokens=tokens, lengths=lengths, spans=taken(split.token_spans))

    def loader(self, order: list[Chosen], pin_memory: bool = False) -> DataLoader[Batch]:
        """A loader of these batches. It runs in this process, because gathering a batch takes microseconds."""
        return DataLoader(self, batch_size=None, sampler=order, pin_memory=pin_memory)


class Schedule:
    """The task and the rows of each training step. A step draws one task, with probability proportional to its number of training rows to the power
    of `sampling` (1: jiant's; 0: all tasks equally often), and takes its next batch. Rows are shuffled again after each pass over them."""

    def __init__(
        self,
        lengths: Mapping[str, np.ndarray],
        batch_sizes: Mapping[str, int],
        steps: int,
        seed: int,
        sampling: float = 1.0,
        pool: int = POOL,
    ) -> None:
        """Lengths are those of each task's training rows in tokens, int64 (rows,), batch sizes are in rows. A batch with rows of similar length is
        made from the rows of `pool` batches; 1: rows are shuffled freely."""
        self.lengths, self.batch_sizes, self.seed, self.pool = lengths, batch_sizes, seed, pool
        self.tasks = list(lengths)
        sizes = np.array([len(rows) for rows in lengths.values()], dtype=np.float64) ** sampling
        draws = np.random.default_rng([seed, 0]).random(steps)
        self.draws = np.searchsorted(np.cumsum(sizes / sizes.sum())[:-1], draws, side="right")
        self._turns = np.zeros(steps, dtype=np.int64)  # for each step, how often its task was drawn before
        for task in range(len(self.tasks)):
            drawn = self.draws == task
            self._turns[drawn] = np.arange(drawn.sum())
        self._passes = lru_cache(maxsize=2 * len(self.tasks))(self._pass)

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.draws)

    def rows(self, step: int) -> Chosen:
        """The task and rows of a step. Steps are counted from 0."""
        task = self.tasks[self.draws[step]]
        batches = -(-len(self.lengths[task]) // self.batch_sizes[task])
        number, batch = divmod(int(self._turns[step]), batches)
        return task, self._passes(task, number)[batch]

    def chosen(self, start: int, stop: int) -> list[Chosen]:
        """The tasks and rows of the steps from `start` to `stop`, which is excluded, or to the last step."""
        return [self.rows(step) for step in range(start, min(stop, len(self)))]

    def _pass(self, task: str, number: int) -> list[np.ndarray]:
        rng = np.random.default_rng([self.seed, 1, zlib.crc32(task.encode()), number])
        return pooled_batches(self.lengths[task], self.batch_sizes[task], rng, self.pool)


def pool_size(batches: int) -> int:
    """From how many batches' rows those of similar length are put together: few, where a pass has few batches."""
    return max(1, min(POOL, batches // POOLS))


def pooled_batches(lengths: np.ndarray, size: int, rng: np.random.Generator, pool: int = POOL) -> list[np.ndarray]:
    """Every row once, in batches of rows of similar length, in random order. Lengths are int64 (rows,); a batch has `size` rows, the last one drawn
    perhaps fewer, and is made from the rows of `pool` batches."""
    batches = []
    order = rng.permutation(len(lengths))
    for start in range(0, len(order), pool * size):
        drawn = order[start : start + pool * size]
        drawn = drawn[np.argsort(lengths[drawn], kind="stable")]
        batches += [drawn[i : i + size] for i in range(0, len(drawn), size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def sorted_batches(lengths: Mapping[str, np.ndarray], batch_sizes: Mapping[str, int]) -> list[Chosen]:
    """Every row of every task once, in order of length, so that batches need little padding. The arguments are as in `Schedule`."""
    return [
        (task, rows)
        for task, sizes in lengths.items()
        for rows in np.split(np.argsort(sizes, kind="stable"), range(batch_sizes[task], len(sizes), batch_sizes[task]))
    ]


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
    """The number of batches in a pass over the rows. The last one drawn may have fewer rows."""
    return math.ceil(len(split) / batch_rows(split, batch_size))


def predict_rows(network: TaskNetwork, batches: BatchDataset, order: list[Chosen], device: torch.device) -> np.ndarray:
    """The codes, float64 (rows,) or (rows, codes), that a network without dropout predicts for all rows of one task, in row order."""
    parts = [(batch.rows, network.predict(batch, outputs)) for batch, outputs in _run(network, batches, order, device)]
    return codes_in_order(parts)


def codes_in_order(parts: Sequence[tuple[Tensor, Tensor]]) -> np.ndarray:
    """Codes of all rows, float64 (rows,) or (rows, codes), from the numbers of some rows and their codes, part by part."""
    numbers = torch.cat([rows for rows, _ in parts]).cpu().numpy()
    codes = [part.cpu().double() for _, part in parts]
    if codes[0].ndim == 2:
        most = max(part.shape[1] for part in codes)
        codes = [functional.pad(part, (0, most - part.shape[1]), value=PAST) for part in codes]
    result: np.ndarray = torch.cat(codes).numpy()
    result[numbers] = result.copy()
    return result


def row_outputs(network: TaskNetwork, batches: BatchDataset, order: list[Chosen], device: torch.device) -> np.ndarray:
    """The outputs of a network without dropout, float32 (inputs, outputs), for all rows of a task without units, in row order."""
    by_row: dict[int, Tensor] = {}
    for batch, outputs in _run(network, batches, order, device):
        sizes = [1] * len(batch.rows) if batch.sizes is None else batch.sizes.tolist()
        by_row.update(zip(batch.rows.tolist(), outputs.float().cpu().split(sizes), strict=True))
    return torch.cat([by_row[row] for row in sorted(by_row)]).numpy()


@torch.no_grad()
def _run(
    network: TaskNetwork, batches: BatchDataset, order: list[Chosen], device: torch.device
) -> Iterator[tuple[Batch, Tensor]]:
    network.eval()
    for chosen in progress(order, "predicting", "batches"):
        batch = batches[chosen].to(device)
        yield batch, network(batch)
