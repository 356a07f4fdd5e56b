"""The interface of a method: how it describes itself, is built for a run, and is loaded from a finished run."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mtl.base.settings.layers import matches
from mtl.base.settings.schema import Config
from mtl.base.wings import resolve
from mtl.runs.records import MethodFacts
from mtl.tasks.suite import Suite
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import Task

if TYPE_CHECKING:
    import torch

    from mtl.data.dataset import Dataset, Split
    from mtl.data.examples import Row
    from mtl.embedders.find import Vectors

# Configuration keys that every method reads; a name that ends in a dot means all keys that begin with it.
COMMON_KEYS = (
    *("suite", "data_dir", "cache_dir", "run_dir", "runs_dir", "tasks", "seeds", "seeds_in_parallel", "max_length"),
    *("held_out", "choose_on_repeats", "choosing_share", "baselines", "statistic", "trainer.threads", "submission."),
    *("engine", "resources."),
)

Predictions = dict[str, np.ndarray]  # by split other than train: targets (rows,), see `mtl.tasks.targets`


class Method(ABC):
    """One way to predict a suite's targets. It is built once for a run and then trained for each seed."""

    def __init__(self, request: "BuildRequest") -> None:
        self.config, self.suite, self.dataset = request.config, request.suite, request.dataset
        # Hashes, by name, of everything except the data that its predictions depend on.
        self.fingerprints: dict[str, str] = {}
        # Entries that it adds to the summary; sentences under "notes" are printed below the table.
        self.facts: dict[str, Any] = {}

    def to_predict(self, task: Task) -> "dict[str, Split]":
        """The rows of a task that are predicted, by split: all but its training rows."""
        return {name: split for name, split in self.dataset.splits[task.id].items() if name != "train"}

    @abstractmethod
    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        """Train, or continue from the files in the seed's folder, and predict. Yields each task with its predictions."""

    @abstractmethod
    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """The cost of a seed, which is known only after `predictions`, by name: `parameters` and `parameters_without_embeddings`, numbers of weights;
        `pretrain_seconds`, None without a stage 1; `finetune_seconds`; `peak_memory` in bytes; `sentences_per_second`: texts, on one core."""

    def save(self, folder: Path) -> None:  # noqa: B027
        """Write to the run's folder what loading the run needs in addition to the files of the seeds: here, nothing."""

    def shared(self, seed: int) -> str | None:
        """A hash of what the seed shares with seeds of other runs that train this part of it exactly alike; None if it shares nothing."""
        return None


class Model(Protocol):
    """The trained models of one seed of a finished run."""

    pooling: str  # of text vectors, unless another one is asked for
    dim: int  # the size of text vectors
    parameters: int  # those of the encoder, without heads
    parameters_without_embeddings: int  # those of them that are not in word vectors
    # Ids of the suite's tasks whose training rows the encoder has seen, with labels or without.
    trained_on: Sequence[str]

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
    vectors: Path | None = (
        None  # the word vectors' file or folder (`MethodKind.vectors`), which exists; None: no vectors
    )


@dataclass(frozen=True)
class LoadRequest:
    """What the models of one seed are loaded from."""

    config: Config
    suite: Suite
    folder: Path  # of the run
    seed_folder: Path
    inputs: Mapping[str, str]  # the run's fingerprints
    answers: Mapping[str, Sequence[str]]  # see `mtl.data.dataset.Dataset`
    device: "torch.device"
    tasks: Sequence[str]  # ids of the run's tasks
    task: str | None = None  # whose encoder encodes texts, where each task has its own; None: the one that all share

    @property
    def trained_tasks(self) -> list[str]:
        """The ids of the run's tasks that have heads of their own."""
        return [id for id in self.tasks if self.suite.tasks[id].answered_by is None]


class MethodKind(ABC):
    """One method: an entry of `mtl.methods.METHODS`, in which a subclass says what is special about it."""

    family: str  # the group of its rows in tables (floor, lstm, transformer, …), where `family_of` says no other
    # The configuration keys that it reads in addition to `COMMON_KEYS`; a name that ends in a dot means all keys that begin with it.
    reads: tuple[str, ...] = ()
    # What makes the `Method` of a `BuildRequest`, by a name as `mtl.base.wings.resolve` takes it, since most are slow to import; None: it
    # trains nothing, and a job builds it from runs or predictions (`mtl.jobs.inputs`).
    builds: str | None = None
    loads: str | None = None  # what makes the `Model` of a `LoadRequest`, by such a name; None if models are not kept
    is_constant: bool = False  # whether it is the best constant answer, with which tables compare other methods
    is_deterministic: bool = False  # whether its result is the same with every seed, so that one seed is enough
    reads_units: bool = False  # whether it answers tasks with a target for each unit (`mtl.tasks.target_kind`)
    # Whether its runs compute anything, with torch or without it. Those of other methods record no machine and do not import torch.
    computes: bool = True

    @abstractmethod
    def title(self, config: Config) -> str:
        """The title of its rows."""

    @abstractmethod
    def folder(self, config: Config) -> str:
        """The name of a run's folder, below the suite's."""

    def build(self, request: BuildRequest) -> Method:
        """The method for a run that has passed `find_inputs`. Raises InputError."""
        assert self.builds is not None
        return resolve(self.builds)(request)

    def load(self, request: LoadRequest) -> Model:
        """The models of a finished run, if they are kept. Raises InputError if a file is missing or damaged."""
        assert self.loads is not None
        return resolve(self.loads)(request)

    def chosen_run(self, config: Config, folder: Path, task: str | None) -> Path | None:
        """The folder of the other run whose models answer a task (None: all) of this run, if one does. Raises InputError if several do."""
        return None

    def check(self, config: Config, suite: Suite) -> None:  # noqa: B027
        """Raise InputError, before any data is read, for settings that contradict each other and for a file or package that is missing."""

    def vectors(self, config: Config, suite: Suite) -> "Vectors | None":
        """The word vectors that a run reads, which need not exist; None if it reads no file of them. Raises InputError if none are named."""
        if not self.reads_key("embeddings") or "embeddings" in self.unread(config):
            return None
        from mtl.embedders.find import find_vectors  # most methods read none

        return find_vectors(config, suite)

    def sources(self, config: Config) -> list[Path]:
        """The files and folders beside the data and the word vectors that a run is made from, which need not exist."""
        return []

    def answers(self, task: Task) -> bool:
        """Whether it can answer a task; its runs leave out the others. Here, those whose targets a head or an estimator predicts from texts."""
        kind = TARGET_KINDS[task.kind]
        return task.level == "text" and kind.head_type is not None and (self.reads_units or not kind.by_unit)

    def unread(self, config: Config) -> tuple[str, ...]:
        """The configuration keys in `reads` that only other variants of a configuration read."""
        return ()

    def describe(self, config: Config) -> dict[str, str]:
        """The summary's values of `embeddings`, `variant`, `architecture` and `preset`, if the method has them."""
        return {}

    def chosen_on_dev(self, config: Config) -> str:
        """What is chosen on dev, as tables name it; empty: nothing."""
        return ""

    def family_of(self, config: Config) -> str:
        """The group of a run's rows in tables."""
        return self.family

    def is_one_system(self, config: Config) -> bool:
        """Whether a run of one seed with this configuration is a whole system, so that tests of it need no further seeds."""
        return self.is_deterministic

    def find_inputs(self, config: Config, suite: Suite) -> "Vectors | None":
        """Check, before any data is read, that a run has what it needs beside the data. Returns the word vectors that it reads, if any. Raises
        InputError as `check` does, and for vectors that do not exist and cannot be trained."""
        self.check(config, suite)
        vectors = self.vectors(config, suite)
        if vectors is not None:
            vectors.check_obtainable()
        return vectors

    def reads_key(self, key: str) -> bool:
        """Whether this method reads a configuration key."""
        return matches(key, (*COMMON_KEYS, *self.reads))

    def summary(self, config: Config, suite: Suite) -> MethodFacts:
        """What a run's summary says of its method, so that tables, tests and reports never ask which method it was."""
        described = self.describe(config)
        return MethodFacts(
            embeddings=described.get("embeddings"),
            variant=described.get("variant"),
            architecture=described.get("architecture"),
            preset=described.get("preset"),
            family=self.family_of(config),
            title=self.title(config),
            folder=self.folder(config),
            chosen_on_dev=self.chosen_on_dev(config),
            is_constant=self.is_constant,
            is_one_system=self.is_one_system(config),
            reads=[*COMMON_KEYS, *self.reads],
            unanswered=self.unanswered(suite),
        )

    def unanswered(self, suite: Suite) -> list[str]:
        """The ids of the suite's tasks that it cannot answer, among them tasks that such a task's head would answer."""
        answers = {id: self.answers(task) for id, task in suite.tasks.items()}
        return [id for id, task in suite.tasks.items() if not (answers[id] and answers[task.answered_by or id])]
