"""Trained networks in use: how new rows become the outputs of a head, and these become predictions. The same for all methods with heads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mtl.data.dataset import Split, make_split
from mtl.data.examples import Row, make_example
from mtl.model.network import TaskNetwork
from mtl.model.sequences import Sequences
from mtl.settings.schema import Config
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.batches import BatchDataset, SortedSampler, batch_rows, predict_rows, row_outputs
from mtl.training.precision import mixed_precision


class Inputs(NamedTuple):
    """New rows as a network reads them.

    Args:
        split: without targets.
        lengths: of the rows, int64 (rows,): rows of similar length make a batch.
        sequences: of the split's texts, if the network reads any.
        vectors: of the split's texts, float32 (texts, dim), if the network reads any.
    """

    split: Split
    lengths: np.ndarray
    sequences: Sequences | None = None
    vectors: Tensor | None = None


class TrainedNetworks:
    """What `mtl.methods.method.Model` of each method with heads has for predictions.

    Args:
        config: of the run.
        device: where the networks compute.
        batch_size: model inputs in a batch.
        open_network: returns the network with a task's head and its weights, on the device; the task has training rows.
        answers: see `mtl.data.dataset.Dataset`.
    """

    def __init__(
        self,
        config: Config,
        device: torch.device,
        batch_size: int,
        open_network: Callable[[Task], TaskNetwork],
        answers: Mapping[str, Sequence[str]],
    ) -> None:
        self.config = config
        self.device = device
        self.batch_size = batch_size
        self.answers = answers
        self._open_network = open_network
        self._networks: dict[str, TaskNetwork] = {}  # of the last task that was predicted

    def read(self, task: Task, rows: Sequence[Row], split: Split, texts: list[str]) -> Inputs:
        """What the network reads of new rows.

        Args:
            split: the rows, without targets.
            texts: their distinct texts, to which the numbers in the split refer.
        """
        raise NotImplementedError

    def predict(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """Predicted targets (rows,).

        Args:
            rows: at least one.

        Raises:
            ValueError: for a row that is not one of this task.
        """
        codes = self._compute(predict_rows, task, rows)
        return target_kind(task).head.decode(codes, self.answers.get(task.answered_by or task.id, []))

    def outputs(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """The head's outputs, float32 (inputs, outputs). Arguments and errors: as in `predict`."""
        return self._compute(row_outputs, task, rows)

    def network(self, task: Task) -> TaskNetwork:
        """The network with the head that answers a task, under whose id it knows the task."""
        head = task.answered_by or task.id
        if head not in self._networks:
            self._networks = {head: self._open_network(replace(task, id=head))}
        return self._networks[head]

    def _compute(self, compute: Callable[..., np.ndarray], task: Task, rows: Sequence[Row]) -> np.ndarray:
        """What `predict_rows` or `row_outputs` returns for new rows."""
        head = task.answered_by or task.id
        examples = [make_example(task, row) for row in rows]
        index = {text: number for number, text in enumerate(dict.fromkeys(t for row in examples for t in row.texts))}
        split = replace(make_split(task, examples, index), targets=np.full(len(rows), np.nan))
        inputs = self.read(task, rows, split, list(index))
        batches = BatchDataset({head: inputs.split}, inputs.sequences, inputs.vectors)
        order = SortedSampler({head: inputs.lengths}, {head: batch_rows(inputs.split, self.batch_size)})
        network = self.network(task)
        with mixed_precision(self.config.trainer, self.device):
            return compute(network, batches, order, self.device)
