"""How rows of a task become the tensors of a batch, and what a network computes for batches, in the order of the rows."""

from collections.abc import Iterator, Mapping, Sequence
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
