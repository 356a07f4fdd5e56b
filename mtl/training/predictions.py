"""What a network predicts for all rows of a task, in the order of its rows: codes or outputs."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mtl.base.progress import progress
from mtl.model.network import Batch, TaskNetwork
from mtl.tasks.target_kind import PAST
from mtl.training.batches import BatchDataset, TaskRows


def predict_rows(
    network: TaskNetwork, batches: BatchDataset, order: list[TaskRows], device: torch.device
) -> np.ndarray:
    """The codes that a network without dropout predicts, float64 (rows,) or (rows, codes).

    Args:
        order: batches of rows of one task, which have every row once.
        device: where the network is.
    """
    parts = [(batch.rows, network.predict(batch, outputs)) for batch, outputs in _run(network, batches, order, device)]
    return codes_in_order(parts)


def codes_in_order(parts: Sequence[tuple[Tensor, Tensor]]) -> np.ndarray:
    """Codes of all rows, float64 (rows,) or (rows, codes), from those of each batch: the numbers of its rows, and their codes."""
    numbers = torch.cat([rows for rows, _ in parts]).cpu().numpy()
    codes = [batch_codes.cpu().double() for _, batch_codes in parts]
    if codes[0].ndim == 2:
        most = max(batch_codes.shape[1] for batch_codes in codes)
        codes = [functional.pad(batch_codes, (0, most - batch_codes.shape[1]), value=PAST) for batch_codes in codes]
    batch_by_batch = torch.cat(codes).numpy()
    in_order: np.ndarray = np.empty_like(batch_by_batch)
    in_order[numbers] = batch_by_batch
    return in_order


def row_outputs(network: TaskNetwork, batches: BatchDataset, order: list[TaskRows], device: torch.device) -> np.ndarray:
    """The outputs of a network without dropout, float32 (inputs, outputs), for a task without units. The arguments are as in `predict_rows`."""
    by_row: dict[int, Tensor] = {}
    for batch, outputs in _run(network, batches, order, device):
        sizes = [1] * len(batch.rows) if batch.sizes is None else batch.sizes.tolist()
        by_row.update(zip(batch.rows.tolist(), outputs.float().cpu().split(sizes), strict=True))
    return torch.cat([by_row[row] for row in sorted(by_row)]).numpy()


@torch.no_grad()
def _run(
    network: TaskNetwork, batches: BatchDataset, order: list[TaskRows], device: torch.device
) -> Iterator[tuple[Batch, Tensor]]:
    """Yield each batch with the network's outputs."""
    network.eval()
    for task_rows in progress(order, "predicting", "batches"):
        batch = batches[task_rows].to(device)
        yield batch, network(batch)
