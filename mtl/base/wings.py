"""What the wings of mtl add to its core, which names no wing. A wing is a folder of mtl with a file `wing.py`, whose `WING` is a `Wing`."""

from collections import UserDict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

PACKAGE = Path(__file__).parent.parent
Entry = TypeVar("Entry")

# What wings add, as types. Any stands for types of packages that import this one.
Commands = Callable[[Any], None]  # adds commands to argparse's actions
Boards = Callable[[Path], list[Any]]  # the leaderboards (`mtl.reports.board.Leaderboard`) on what lies below a folder
Notes = Callable[[Any, Any, Any, Any], list[str]]  # on tests: a leaderboard's columns, rows, tests and scale -> notes
FetchCopy = Callable[[Any, Any, Path], None]  # writes a task's files, from this copy on the Hub, to the data folder
TagSpans = Callable[[Path, Any, str], Any]  # a file, its rows, `Reading.spans` -> the rows with tokens and tags
TextVectors = Callable[[str], Any]  # `static.path` -> the vectors of texts, as `mtl.methods.floors.static.WordFile`
# Texts, their language, a folder, the name of settings -> the folder of a transformer, which is trained if it is missing.
TrainedBody = Callable[[Any, str, Path, str], Path]


@dataclass(frozen=True)
class Importer:
    """Files of predictions that a wing turns into runs."""

    help: str  # which files, for the help of `mtl import`
    takes: Callable[[Path], bool]  # whether a path is such a file, by its name
    # The name of the run, the paths and the settings -> the jobs, which can be run in the context, and remarks for the user.
    jobs: Callable[[Any, Any, Any], AbstractContextManager[tuple[list[Any], list[str]]]]


@dataclass(frozen=True)
class Trainings:
    """Trainings of word vectors."""

    extras: Mapping[str, str]  # by the kind of embeddings that can be trained, the extra that its training needs
    # A recipe (`mtl.embedders.recipes.Recipe`), a suite, its data, the share of held-out rows, a path, a device: trains the vectors at the path.
    train_recipe: Callable[[Any, Any, Path, float, Path, Any], None]
    add_command: Commands  # `mtl embeddings train`


@dataclass(frozen=True)
class Wing:
    """What a wing adds, beside what others add. Everything here is imported when it is first used (`lazy`)."""

    commands: Commands | None = None
    names: Mapping[str, str] = field(default_factory=dict)  # what it adds to `import mtl`, each as "module:name"
    boards: Boards | None = None
    notes: Notes | None = None
    importers: tuple[Importer, ...] = ()  # files that `mtl import` takes
    data_notes: Mapping[str, str] = field(default_factory=dict)  # by a name that is no suite, what `mtl data` answers
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # packages, as in `mtl.base.extras.EXTRAS`
    # What only one wing adds, the first that sets it (`hook`).
    fetch_copy: FetchCopy | None = None
    trainings: Trainings | None = None  # of word vectors
    tag_spans: TagSpans | None = None
    trained_body: TrainedBody | None = None
    text_vectors: TextVectors | None = None
    # Further entries of registries of the core (`Registry`), by name, each as "module:name".
    engines: Mapping[str, str] = field(default_factory=dict)  # ways to execute units of work (`mtl.jobs.engines`)
    methods: Mapping[str, str] = field(default_factory=dict)  # `mtl.methods.method_kind.MethodKind`
    target_kinds: Mapping[str, str] = field(default_factory=dict)  # `mtl.tasks.target_kind.TargetKind`
    metrics: Mapping[str, str] = field(default_factory=dict)  # `mtl.tasks.metrics.Metric`


@cache
def wings() -> tuple[Wing, ...]:
    """The wings that are there, in order of their names."""
    names = sorted(file.parent.name for file in PACKAGE.glob("*/wing.py"))
    return tuple(import_module(f"mtl.{name}.wing").WING for name in names)


class Registry(UserDict[str, Entry]):
    """A registry of the core that wings add to. What they add is imported when the registry is first read."""

    def __init__(self, core: Mapping[str, Entry], wing_field: str) -> None:
        """The core's entries are by name; the field of `Wing` with this name has further ones."""
        self.core, self._wing_field = core, wing_field

    @cached_property
    def data(self) -> dict[str, Entry]:  # type: ignore[override]
        """All entries by name, the core's first: what `UserDict` reads. They are made late, because a wing may import the registry's module."""
        added = {name: resolve(where) for wing in wings() for name, where in getattr(wing, self._wing_field).items()}
        return {**self.core, **added}


def hook(name: str) -> Any:
    """What the field of `Wing` with this name has in the first wing that sets it; None if none does, as where that wing is missing."""
    return next((value for wing in wings() if (value := getattr(wing, name)) is not None), None)


def resolve(name: str) -> Any:
    """Import what a name such as "mtl.methods.lstm.two_stages:TwoStages" stands for."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def lazy(name: str) -> Callable[..., Any]:
    """A function that imports another one, or a class, by its name (as in `resolve`) when it is called, and calls it."""
    return lambda *arguments, **named: resolve(name)(*arguments, **named)
