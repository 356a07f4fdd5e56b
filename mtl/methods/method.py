"""A method in a run and its models in a finished one, and what both are made from."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from mtl.base.settings.schema import Config
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

if TYPE_CHECKING:
    import torch

    from mtl.data.dataset import Dataset, Split
    from mtl.data.examples import Row

Answers = Mapping[str, Sequence[str]]  # see `mtl.data.dataset.Dataset`
Predictions = dict[str, np.ndarray]  # by split other than train: targets (rows,), see `mtl.tasks.targets`


class Method(ABC):
    """One way to predict a suite's targets. It is built once for a run and then trained for each seed."""

    def __init__(self, request: "BuildRequest") -> None:
        self.config, self.suite, self.dataset = request.config, request.suite, request.dataset
        self.fingerprints: dict[str, str] = {}  # hashes, by name, of all but the data that predictions depend on
        self.facts: dict[str, Any] = {}  # what it adds to the summary; sentences under "notes" stand below the table

    def to_predict(self, task: Task) -> "dict[str, Split]":
        """The rows of a task that are predicted, by split: all but its training rows."""
        return {name: split for name, split in self.dataset.splits[task.id].items() if name != "train"}

    @abstractmethod
    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        """Train, or continue from the files in the seed's folder, and predict. Yields each task with its predictions."""

    @abstractmethod
    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """The cost of a seed, which is known only after `predictions`: the fields of a `SeedCost` by name."""

    def save(self, folder: Path) -> None:  # noqa: B027
        """Write to the run's folder what loading the run needs in addition to the files of the seeds: here, nothing."""

    def shared(self, seed: int) -> str | None:
        """A hash of what the seed shares with seeds of other runs that train this part of it exactly alike; None if it shares nothing."""
        return None


class SeedCost(NamedTuple):
    """The cost of a seed; None for what is not known. `_asdict` is what `Method.cost` returns."""

    parameters: int | None  # the number of weights
    parameters_without_embeddings: int | None
    pretrain_seconds: float | None = None  # None also without a stage 1
    finetune_seconds: float | None = None
    peak_memory: int | None = None  # in bytes
    sentences_per_second: float | None = None  # texts, on one core


class Model(Protocol):
    """The trained models of one seed of a finished run."""

    pooling: str  # of text vectors, unless another one is asked for
    dim: int  # the size of text vectors
    parameters: int  # those of the encoder, without heads
    parameters_without_embeddings: int  # those of them that are not in word vectors
    trained_on: Sequence[str]  # ids of the suite's tasks whose training rows the encoder saw, with labels or without

    def predict(self, task: Task, rows: Sequence["Row"]) -> np.ndarray:
        """Predicted targets (rows,) of at least one row. Raises ValueError for a row that is not one of this task."""

    def outputs(self, task: Task, rows: Sequence["Row"]) -> np.ndarray:
        """The head's outputs, float32 (inputs, outputs): a row has one input, or in a choice one for each candidate. As `predict`."""

    def encode(self, texts: Sequence[str], pooling: str) -> np.ndarray:
        """The vectors of at least one text, float32 (texts, dim): the max or the mean of its tokens' vectors, as `pooling` says."""

    def fingerprint(self) -> str:
        """A hash of everything that text vectors depend on, apart from the pooling and the software."""

    def versions(self) -> dict[str, str]:
        """The versions of the software that text vectors depend on, by name: mtl, and what makes tokens."""


@dataclass(frozen=True)
class BuildRequest:
    """What a method is built from."""

    config: Config
    suite: Suite
    data_dir: Path
    dataset: "Dataset"
    folder: Path  # of the run
    vectors: Path | None = None  # the file or folder of word vectors (`MethodKind.vectors`), which exists; None: none


@dataclass(frozen=True)
class LoadRequest:
    """What the models of one seed are loaded from."""

    config: Config
    suite: Suite
    folder: Path  # of the run
    seed_folder: Path
    inputs: Mapping[str, str]  # the run's fingerprints
    answers: Answers
    device: "torch.device"
    tasks: Sequence[str]  # ids of the run's tasks
    task: str | None = None  # whose encoder encodes texts, where each task has its own; None: the one that all share

    @property
    def trained_tasks(self) -> list[str]:
        """The ids of the run's tasks that have heads of their own."""
        return [id for id in self.tasks if self.suite.tasks[id].answered_by is None]
