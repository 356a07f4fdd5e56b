"""The interface of a method: how it describes itself, is built for a run, and is loaded from a finished run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mtl.runs.layout import MethodFacts
from mtl.settings.layers import matches
from mtl.settings.schema import Config
from mtl.tasks.suite import Suite
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import Task

if TYPE_CHECKING:
    import torch

    from mtl.data.dataset import Dataset
    from mtl.data.examples import Row
    from mtl.model.encoder import EncoderParts


Predictions = dict[str, np.ndarray]  # by split other than train: targets (rows,), see `mtl.tasks.targets`


@dataclass(frozen=True)
class Teacher:
    """What other models say of the training rows and of unlabelled rows.

    Args:
        key: a hash of all that the outputs follow from.
        outputs: by task id, float32 (inputs, outputs), the mean of their heads' outputs for the training rows, and then for the unlabelled
            ones (`mtl.data.dataset.Dataset.unlabelled`).
        about: who they are, in a sentence.
    """

    key: str
    outputs: Mapping[str, np.ndarray]
    about: str


class Method(Protocol):
    """One way to predict a suite's targets. It is built once for a run and then trained for each seed.

    Args:
        fingerprints: hashes, by name, of everything except the data that its predictions depend on.
        facts: entries that it adds to the summary; sentences under "notes" are printed below the table.
    """

    fingerprints: dict[str, str]
    facts: dict[str, Any]

    def save(self, folder: Path) -> None:
        """Write to the run's folder what loading the run needs in addition to the files of the seeds."""

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        """Train, or continue from the files in the seed's folder, and predict. Yields each task with its predictions."""

    def shared(self, seed: int) -> str | None:
        """A hash that is equal for seeds of other runs that train a part of the seed exactly alike, which they share; None: nothing."""

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """The cost of a seed. It is known only after `predictions`.

        parameters, parameters_without_embeddings (numbers), pretrain_seconds (None where there is no stage 1),
        finetune_seconds, peak_memory (bytes), sentences_per_second (texts, on one core, from text to prediction).

        Args:
            folder: the folder of the seed.
        """


class Model(Protocol):
    """The trained models of one seed of a finished run.

    Args:
        dim: the size of a text's vector.
        parameters: the parameters of the encoder, without heads.
        parameters_without_embeddings: those of them that are not in word vectors.
        pooling: that of text vectors unless another is asked for.
        trained_on: ids of the suite's tasks whose training rows the encoder has seen, with labels or without.
    """

    pooling: str
    dim: int
    parameters: int
    parameters_without_embeddings: int
    trained_on: Sequence[str]

    def predict(self, task: Task, rows: Sequence["Row"]) -> np.ndarray:
        """Predicted targets (rows,).

        Args:
            rows: at least one.

        Raises:
            ValueError: for a row that is not one of this task.
        """

    def outputs(self, task: Task, rows: Sequence["Row"]) -> np.ndarray:
        """The head's outputs, float32 (inputs, outputs): a row has one input, or in a choice one for each candidate.

        Args:
            rows: at least one.

        Raises:
            ValueError: for a row that is not one of this task.
        """

    def learn(self, texts: Sequence[str]) -> None:
        """Look up what `encode` needs of these texts at once. Without it, each block of texts reads a file of vectors again."""

    def encode(self, texts: Sequence[str], pooling: str) -> np.ndarray:
        """Text vectors, float32 (texts, dim).

        Args:
            texts: at least one.
            pooling: how the vectors of tokens become one: max or mean.
        """

    def fingerprint(self) -> str:
        """A hash of everything that text vectors depend on, apart from the pooling and the software."""

    def versions(self) -> dict[str, str]:
        """The versions of the software that text vectors depend on, by name: mtl, and what makes tokens."""

    def parts(self, words: Sequence[str]) -> "EncoderParts":
        """The encoder's weights, for other programs.

        Args:
            words: get vectors if they have one.

        Raises:
            InputError: if it has no fixed vector for each word.
        """


@dataclass(frozen=True)
class BuildRequest:
    """What a method is built from.

    Args:
        folder: the folder of the run.
        teacher: what other models say of the training rows (`distill.run`); None without any.
    """

    config: Config
    suite: Suite
    data_dir: Path
    dataset: "Dataset"
    folder: Path
    teacher: Teacher | None = None


@dataclass(frozen=True)
class LoadRequest:
    """What the models of one seed are loaded from.

    Args:
        folder: the folder of the run.
        seed_folder: the folder of the seed.
        inputs: the run's fingerprints.
        tasks: ids of the run's tasks.
        answers: see `mtl.data.dataset.Dataset`.
        task: the task whose own encoder encodes texts, where each task has one; None: the encoder that all tasks
            share.
    """

    config: Config
    suite: Suite
    folder: Path
    seed_folder: Path
    inputs: Mapping[str, str]
    answers: Mapping[str, Sequence[str]]
    device: "torch.device"
    tasks: Sequence[str]
    task: str | None = None

    @property
    def trained_tasks(self) -> list[str]:
        """The ids of the run's tasks that have heads of their own."""
        return [id for id in self.tasks if self.suite.tasks[id].answered_by is None]


def _nothing(config: Config, suite: Suite) -> None:
    return None


@dataclass(frozen=True)
class MethodKind:
    """One method: an entry of `mtl.methods.METHODS`.

    Args:
        family: the group of its rows in tables (floor, lstm, transformer, …), where `family_of` says no other.
        title: the title of its rows.
        folder: the name of a run's folder, below the suite's.
        reads: the configuration keys that it reads in addition to `COMMON_KEYS`; a name that ends in a dot means all
            keys that begin with it.
        build: builds it for a run; None: it trains nothing, and a job builds it from runs or predictions (`mtl.jobs.prepared`).
        unread: those of them that only other variants of a configuration read.
        describe: the summary's values of `embeddings`, `variant`, `architecture` and `preset`, if the method has
            them.
        chosen_on_dev: returns what is chosen on dev, as tables name it; empty: nothing.
        check: called before any data is read; raises InputError if the run could not find a file that it needs.
        sources: the files and folders beside the data that a run is made from, whose paths the configuration or the
            suite names; they need not exist.
        load: loads the models of a finished run; None if they are not kept.
        is_constant: whether it is the best constant answer itself, with which tables compare the other methods.
        is_one_system: whether a run of one seed with this configuration is a system of its own, whose tests need no further seeds.
        family_of: the group that a configuration names; None: `family`.
        computes: whether torch computes anything in its runs.
        answers: whether it can answer a task; its runs leave out the others.
        shared: `Method.shared` of any seed, estimated from the configuration alone, before any data is read; None:
            seeds share nothing.
    """

    family: str
    title: Callable[[Config], str]
    folder: Callable[[Config], str]
    reads: tuple[str, ...]
    build: Callable[[BuildRequest], Method] | None = None
    load: Callable[[LoadRequest], Model] | None = None
    unread: Callable[[Config], tuple[str, ...]] = lambda config: ()
    describe: Callable[[Config], dict[str, str]] = lambda config: {}
    chosen_on_dev: Callable[[Config], str] = lambda config: ""
    check: Callable[[Config, Suite], None] = _nothing
    sources: Callable[[Config, Suite], list[Path]] = lambda config, suite: []
    is_constant: bool = False
    is_one_system: Callable[[Config], bool] = lambda config: False
    family_of: Callable[[Config], str | None] = lambda config: None
    computes: bool = True
    answers: Callable[[Task], bool] = lambda task: True
    shared: Callable[[Config], str] | None = None

    def reads_key(self, key: str) -> bool:
        """Whether this method reads a configuration key."""
        return matches(key, (*COMMON_KEYS, *self.reads))

    def uses_device(self, config: Config) -> bool:
        """Whether its runs compute on the device that `trainer.accelerator` chooses, and that is not the CPU."""
        return self.reads_key("trainer.accelerator") and config.trainer.accelerator != "cpu"

    def summary(self, config: Config, suite: Suite) -> MethodFacts:
        """What a run's summary says of its method, so that tables, tests and reports never ask which method it was."""
        described = self.describe(config)
        return MethodFacts(
            embeddings=described.get("embeddings"),
            variant=described.get("variant"),
            architecture=described.get("architecture"),
            preset=described.get("preset"),
            family=self.family_of(config) or self.family,
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
        tasks = suite.tasks
        return [
            id for id, task in tasks.items() if not (self.answers(task) and self.answers(tasks[task.answered_by or id]))
        ]


def reads_texts(task: Task) -> bool:
    """Whether a method that reads texts, not single words, and predicts with heads or estimators can answer a task."""
    return task.level == "text" and TARGET_KINDS[task.kind].head is not None


# Configuration keys that every method reads; a name that ends in a dot means all keys that begin with it.
COMMON_KEYS = (
    *("suite", "data_dir", "cache_dir", "run_dir", "runs_dir", "tasks", "seeds", "seeds_in_parallel", "max_length"),
    *("held_out", "choose_on_repeats", "trainer.threads", "submission.", "engine", "resources."),
)
