"""What the heads of networks read (`TaskInput`), for the splits of a run, and trained networks in use, for new rows (`TrainedNetworks`)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from mtl.base.device import device_of
from mtl.base.settings.schema import Config, TrainerConfig
from mtl.data.dataset import Split
from mtl.data.examples import Row, make_example
from mtl.data.loading import make_split
from mtl.methods.method import Answers
from mtl.methods.overlap import with_overlap
from mtl.model.encoder import Encoder
from mtl.model.network import TaskNetwork
from mtl.model.sequences import Sequences
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training import schedule
from mtl.training.batches import BatchDataset, TaskRows, predict_rows, row_outputs
from mtl.training.precision import mixed_precision

NetworkOf = Callable[[Task], TaskNetwork]  # a task with training rows -> the network with its head, with its weights
# `predict_rows`, which returns codes, or `row_outputs`
Inference = Callable[[TaskNetwork, BatchDataset, list[TaskRows], torch.device], np.ndarray]


@dataclass(frozen=True)
class TaskInput:
    """What one task's head reads: sequences, of which batches hold rows of similar length, or vectors, whose rows are shuffled freely.
    Rows of tasks (`rows_by_head`) are by the id of the task whose head reads them. A batch size is a number of model inputs."""

    sequences: Sequences | None = None  # texts for the encoder, or its outputs for their tokens
    vectors: Tensor | None = None  # float32 (texts, dim), one of each whole text
    encoder: Encoder | None = None  # it runs in each step, to be trained with the head; None: texts are encoded already

    def batches(self, rows_by_head: Mapping[str, Split]) -> BatchDataset:
        """The dataset that makes batches of these rows."""
        return BatchDataset(rows_by_head, self.sequences, self.vectors)

    def row_lengths(self, rows_by_head: Mapping[str, Split]) -> dict[str, np.ndarray]:
        """The rows' lengths for making batches; all 0 if rows are shuffled freely."""
        if self.sequences is None:
            return {id: np.zeros(len(split)) for id, split in rows_by_head.items()}
        text_lengths = self.sequences.lengths.numpy()
        return {id: schedule.row_lengths(split, text_lengths) for id, split in rows_by_head.items()}

    def ordered(self, rows_by_head: Mapping[str, Split], batch_size: int) -> list[TaskRows]:
        """All rows in batches, for a network that is not trained on them."""
        rows_in_batch = {id: schedule.batch_rows(split, batch_size) for id, split in rows_by_head.items()}
        return schedule.sorted_batches(self.row_lengths(rows_by_head), rows_in_batch)

    def results(
        self, infer: Inference, network: TaskNetwork, head: str, split: Split, batch_size: int, trainer: TrainerConfig
    ) -> np.ndarray:
        """What a network computes on its device for the rows of a split, in their order. `head` is the id of the task whose head reads them."""
        rows_by_head = {head: split}
        order = self.ordered(rows_by_head, batch_size)
        device = next(network.parameters()).device
        with mixed_precision(trainer, device):
            return infer(network, self.batches(rows_by_head), order, device)

    def codes(
        self, network: TaskNetwork, head: str, splits: Mapping[str, Split], batch_size: int, trainer: TrainerConfig
    ) -> dict[str, np.ndarray]:
        """The codes that a network predicts for all splits but train: (rows,) or (rows, codes) by split. The network is on the CPU before and after,
        and on the device of `trainer` meanwhile. The arguments are as in `results`."""
        network.to(device_of(trainer.accelerator))
        codes = {}
        for name, split in splits.items():
            if name != "train":
                codes[name] = self.results(predict_rows, network, head, split, batch_size, trainer)
        network.to("cpu")
        return codes


class TrainedNetworks(ABC):
    """Predictions with the networks of a run: the base of each `mtl.methods.method.Model` with heads."""

    def __init__(
        self, config: Config, device: torch.device, batch_size: int, open_network: NetworkOf, answers: Answers
    ) -> None:
        """A batch has `batch_size` model inputs. `open_network` returns a task's network on the device."""
        self.config, self.device, self.batch_size, self.answers = config, device, batch_size, answers
        self._open_network = open_network
        self._last_network: TaskNetwork | None = None  # which answered last, kept for the next rows
        self._last_id = ""  # of the task whose head it has

    @abstractmethod
    def read(self, task: Task, rows: Sequence[Row], split: Split, texts: list[str]) -> tuple[Split, TaskInput]:
        """The rows as the network takes them, and what it reads. `split` has these rows, without targets, with the numbers of `texts`."""

    def predict(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """Predicted targets (rows,) of at least one row. Raises ValueError for a row that is not one of this task."""
        codes = self._results(predict_rows, task, rows)
        kind = target_kind(task)
        last_texts = [make_example(task, row).inputs[0][-1] for row in rows] if kind.by_unit else []
        return kind.head.decode(codes, self.answers.get(task.answered_by or task.id, []), last_texts)

    def outputs(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """The head's outputs, float32 (inputs, outputs). Arguments and errors: as in `predict`."""
        return self._results(row_outputs, task, rows)

    def network(self, task: Task) -> TaskNetwork:
        """The network with the head that answers a task, under whose id it knows the task."""
        head = task.answered_by or task.id
        if self._last_network is None or self._last_id != head:
            # A task has the targets and the number of texts of the one whose head answers it: under that id, it opens the same.
            self._last_network, self._last_id = self._open_network(replace(task, id=head)), head
        return self._last_network

    def use(self, network: TaskNetwork) -> None:
        """Answer with this network from now on."""
        self._open_network, self._last_network = lambda task: network, None

    def task_input(self, task: Task, rows: Sequence[Row]) -> tuple[Split, TaskInput]:
        """Rows without targets, and what the task's network reads of them."""
        examples = [make_example(task, row) for row in rows]
        texts = list(dict.fromkeys(text for example in examples for text in example.texts))
        index = {text: number for number, text in enumerate(texts)}
        split = replace(make_split(task, examples, index), targets=np.full(len(rows), np.nan))
        if self.config.head.overlap and task.is_pair:
            split = with_overlap(split, texts)
        return self.read(task, rows, split, texts)

    def _results(self, infer: Inference, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """What the task's network computes for these rows, in their order."""
        split, task_input = self.task_input(task, rows)
        network, trainer = self.network(task), self.config.trainer
        return task_input.results(infer, network, task.answered_by or task.id, split, self.batch_size, trainer)
