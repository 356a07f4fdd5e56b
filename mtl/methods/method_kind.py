"""The interface of a method's registry entry: how the method describes itself, what it needs, and how it is built and loaded."""

from abc import ABC, abstractmethod
from pathlib import Path

from mtl.base.settings.layers import matches
from mtl.base.settings.schema import Config
from mtl.base.wings import resolve
from mtl.embedders.find import Vectors, find_vectors
from mtl.methods.method import BuildRequest, LoadRequest, Method, Model
from mtl.runs.records import MethodFacts
from mtl.tasks.suite import Suite
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import Task

# Configuration keys that every method reads; a name that ends in a dot means all keys that begin with it.
COMMON_KEYS = (
    *("suite", "data_dir", "cache_dir", "run_dir", "runs_dir", "tasks", "seeds", "seeds_in_parallel", "max_length"),
    *("held_out", "choose_on_repeats", "choosing_share", "baselines", "trainer.threads", "submission."),
    *("engine", "resources."),
)


class MethodKind(ABC):
    """One method: an entry of `mtl.methods.METHODS`, in which a subclass says what is special about it."""

    family: str  # the group of its rows in tables (floor, lstm, transformer, …), where `family_of` says no other
    reads: tuple[str, ...] = ()  # the configuration keys that it reads in addition to `COMMON_KEYS`, in the same form
    # What makes the `Method` of a `BuildRequest`, by a name as `mtl.base.wings.resolve` takes it, since most are slow to import; None: it
    # trains nothing, and a job builds it from runs or predictions (`mtl.jobs.inputs`).
    builds: str | None = None
    loads: str | None = None  # what makes the `Model` of a `LoadRequest`, by such a name; None if models are not kept
    is_constant: bool = False  # whether it is the best constant answer, with which tables compare other methods
    is_deterministic: bool = False  # whether its result is the same with every seed, so that one seed is enough
    reads_units: bool = False  # whether it answers tasks with a target for each unit (`mtl.tasks.target_kind`)
    named_values: dict[str, object] = {}  # settings that its titles name where they have these values
    computes: bool = True  # whether its runs compute anything, with torch or without it; others record no machine and do not import torch

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

    def check(self, config: Config, suite: Suite) -> None:  # noqa: B027
        """Raise InputError, before any data is read, for settings that contradict each other and for a file or package that is missing."""

    def vectors(self, config: Config, suite: Suite) -> Vectors | None:
        """The word vectors that a run reads, which need not exist; None if it reads no file of them. Raises InputError if none are named."""
        if not self.reads_key("embeddings") or "embeddings" in self.unread(config):
            return None
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

    def find_inputs(self, config: Config, suite: Suite) -> Vectors | None:
        """Check, before any data is read, what a run needs beside the data. Returns the word vectors that it reads, if any. Raises InputError."""
        self.check(config, suite)
        if (vectors := self.vectors(config, suite)) is not None:
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
