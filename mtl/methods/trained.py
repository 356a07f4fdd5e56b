"""Trained networks in use: how new rows become the outputs of a head, and these become predictions. The same for all methods with heads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from mtl.base.settings.schema import Config
from mtl.data.dataset import Split
from mtl.data.examples import Row, make_example
from mtl.data.loading import make_split
from mtl.methods.networks import TaskInput
from mtl.methods.overlap import with_overlap
from mtl.model.network import TaskNetwork
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.batches import predict_rows, row_outputs


class TrainedNetworks:
    """What `mtl.methods.method.Model` of each method with heads has for predictions."""

    def __init__(
        self,
        config: Config,
        device: torch.device,
        batch_size: int,  # model inputs
        open_network: Callable[[Task], TaskNetwork],
        answers: Mapping[str, Sequence[str]],
    ) -> None:
        """`open_network` returns the network with a task's head and its weights, on the device; the task has training rows. `answers` are as in
        `mtl.data.dataset.Dataset`."""
        self.config, self.device, self.batch_size, self.answers = config, device, batch_size, answers
        self._open_network = open_network
        self._networks: dict[str, TaskNetwork] = {}  # the one that answered last, by the id of its head

    def read(self, task: Task, rows: Sequence[Row], split: Split, texts: list[str]) -> tuple[Split, TaskInput]:
        """New rows as the network takes them, and what it reads. The split has the rows without targets, and numbers of `texts`."""
        raise NotImplementedError

    def predict(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """Predicted targets (rows,) of at least one row. Raises ValueError for a row that is not one of this task."""
        codes, kind = self._compute(predict_rows, task, rows), target_kind(task)
        texts = [make_example(task, row).inputs[0][-1] for row in rows] if kind.by_unit else []
        return kind.head.decode(codes, self.answers.get(task.answered_by or task.id, []), texts)

    def outputs(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """The head's outputs, float32 (inputs, outputs). Arguments and errors: as in `predict`."""
        return self._compute(row_outputs, task, rows)

    def network(self, task: Task) -> TaskNetwork:
        """The network with the head that answers a task, under whose id it knows the task."""
        head = task.answered_by or task.id
        if head not in self._networks:
            self._networks = {head: self._open_network(replace(task, id=head))}
        return self._networks[head]

    def use(self, network: TaskNetwork) -> None:
        """Answer with this network from now on."""
        self._networks, self._open_network = {}, lambda task: network

    def prepared(self, task: Task, rows: Sequence[Row]) -> tuple[Split, TaskInput]:
        """Rows without targets as the task's network reads them."""
        examples = [make_example(task, row) for row in rows]
        texts = list(dict.fromkeys(text for example in examples for text in example.texts))
        index = {text: number for number, text in enumerate(texts)}
        split = replace(make_split(task, examples, index), targets=np.full(len(rows), np.nan))
        if self.config.head.overlap and task.is_pair:
            split = with_overlap(split, texts)
        return self.read(task, rows, split, texts)

    def _compute(self, compute: Callable[..., np.ndarray], task: Task, rows: Sequence[Row]) -> np.ndarray:
        split, task_input = self.prepared(task, rows)
        head = task.answered_by or task.id
        return task_input.computed(compute, self.network(task), head, split, self.batch_size, self.config.trainer)
