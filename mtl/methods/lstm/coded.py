"""The dataset's targets as the codes that heads are trained on."""

from dataclasses import dataclass, replace
from functools import cached_property

from mtl.data.dataset import Dataset, Split
from mtl.data.overlap import with_overlap
from mtl.model.network import Network
from mtl.tasks.metrics import METRICS
from mtl.tasks.scale import PERCENT, Scale
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.module import TaskScore


@dataclass(frozen=True)
class Coded:
    """A dataset with its targets as codes (`mtl.tasks.kind`).

    overlap: whether the rows of pairs have their overlap. scale: how progress shows scores.
    """

    dataset: Dataset
    overlap: bool = False
    scale: Scale = PERCENT

    @cached_property
    def splits(self) -> dict[str, dict[str, Split]]:
        """The dataset's splits by task id and split name, with codes as targets, float64 (rows,)."""
        coded = {}
        for task in self.dataset.tasks:
            kind, answers = target_kind(task), self.answers(task)
            splits = self.dataset.splits[task.id]
            if self.overlap and task.is_pair:
                splits = {name: with_overlap(split, self.dataset.texts) for name, split in splits.items()}
            coded[task.id] = {
                name: replace(split, targets=kind.encode(split.targets, answers)) for name, split in splits.items()
            }
        return coded

    @cached_property
    def outputs(self) -> dict[str, int]:
        """The number of outputs of each task's head for one input, by task id."""
        return {task.id: target_kind(task).outputs(self.answers(task)) for task in self.dataset.tasks}

    def answers(self, task: Task) -> list[str]:
        """The words that the outputs of the task's head mean; empty for kinds without words. The head may be another task's."""
        return self.dataset.answers.get(task.answered_by or task.id, [])

    def balance(self, network: Network, power: float) -> None:
        """Weight the labels of tasks scored by one label in the network's loss; see `loss.class_weights`."""
        for task in self.dataset.trained_tasks:
            if power and task.id in network.kinds and METRICS[task.metric].one_label:
                network.kinds[task.id].balance(self.splits[task.id]["train"].targets, power)

    def dev_score(self, task: Task) -> TaskScore:
        """The task's metric on its dev rows."""
        return TaskScore(task, self.dataset.splits[task.id]["dev"].scored, self.answers(task))
