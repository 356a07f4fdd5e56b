"""What a method is: how it describes itself, how it is built for a run, and how a finished run of it is loaded."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mtl.config.schema import Config
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

if TYPE_CHECKING:
    import torch

    from mtl.data.dataset import Dataset

Predictions = dict[str, np.ndarray]  # by split other than train: targets (rows,), see `mtl.tasks.targets`


class Method(Protocol):
    """One way to predict a suite's targets. It is made once for a run and then trained for each seed.

    fingerprints: of whatever beside the data its predictions depend on. facts: what it adds to the summary; sentences
    under "notes" are printed below the table.
    """

    fingerprints: dict[str, str]
    facts: dict[str, Any]

    def save(self, folder: Path) -> None:
        """Write to the run's folder what loading the run needs beside the seeds' own files."""

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        """Train, or continue what the seed's folder holds, and predict. Yields each task with its predictions."""

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """What the seed took, once its predictions are made. folder: the seed's.

        parameters, parameters_without_embeddings (numbers), pretrain_seconds (None where there is no stage 1),
        finetune_seconds, peak_memory (bytes), sentences_per_second (texts, on one core, from text to prediction).
        """


class Model(Protocol):
    """The trained models of one seed of a finished run."""

    def predict(self, task: Task, rows: Sequence[Sequence[str]]) -> np.ndarray:
        """Predicted targets (rows,). rows: the texts of each, at least one, as `mtl.data.examples.Example.texts`."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Text vectors, float32 (texts, dim). texts: at least one."""


@dataclass(frozen=True)
class BuildRequest:
    """What a method is built from. folder: the run's."""

    config: Config
    suite: Suite
    data_dir: Path
    dataset: "Dataset"
    folder: Path


@dataclass(frozen=True)
class LoadRequest:
    """What the models of one seed are loaded from. folder: the run's. seed_folder: the seed's. inputs: the run's fingerprints.

    answers: see `mtl.data.dataset.Dataset`.
    """

    config: Config
    suite: Suite
    folder: Path
    seed_folder: Path
    inputs: Mapping[str, str]
    answers: Mapping[str, Sequence[str]]
    device: "torch.device"


def _nothing(config: Config, suite: Suite) -> None:
    return None


@dataclass(frozen=True)
class MethodKind:
    """One method: an entry of `mtl.methods.METHODS`.

    family: floor, lstm, transformer, …: the group of its rows in tables. title: of its rows. folder: of its runs, below the suite's.
    reads: the configuration keys that it reads beside `COMMON_KEYS`, or what they begin with.
    describe: what the summary names it by, with keys among embeddings and variant. chosen_on_dev: what of it dev selects.
    check: raises InputError, before anything is read, for what a run would lack.
    load: the models of a finished run; None where they are not kept.
    """

    family: str
    title: Callable[[Config], str]
    folder: Callable[[Config], str]
    reads: tuple[str, ...]
    build: Callable[[BuildRequest], Method]
    load: Callable[[LoadRequest], Model] | None = None
    describe: Callable[[Config], dict[str, str]] = lambda config: {}
    chosen_on_dev: str = "settings"
    check: Callable[[Config, Suite], None] = _nothing

    def reads_key(self, key: str) -> bool:
        """Whether a configuration key makes a difference to this method."""
        return key.startswith((*COMMON_KEYS, *self.reads))


# Configuration keys that every method reads, or what they begin with.
COMMON_KEYS = (
    *("suite", "data_dir", "cache_dir", "run_dir", "runs_dir", "tasks", "seeds", "seeds_in_parallel", "max_length"),
    *("held_out", "trainer.threads", "submission."),
)
