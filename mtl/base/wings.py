"""What the wings of mtl add to its core: the core asks here, and names no wing. A wing is a folder of mtl with a file `wing.py`, whose `WING` is a
`Wing`. Without the folder, the core works, and lacks what the wing adds."""

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


@dataclass(frozen=True)
class Importer:
    """Files of predictions that a wing turns into runs."""

    help: str  # which files, for the help of `mtl import`
    takes: Callable[[Path], bool]  # whether a path is such a file, by its name
    # Called with the name of the run, the paths and the settings. In its context, the jobs can be run; its second value is what the user should
    # know, one line each.
    jobs: Callable[..., AbstractContextManager[tuple[list[Any], list[str]]]]


@dataclass(frozen=True)
class Trainings:
    """Trainings of word vectors."""

    # By the kind of embeddings that can be trained, the extra with the packages that its training needs.
    extras: Mapping[str, str]
    # Called with a recipe (`mtl.embedders.recipes.Recipe`), a suite, its folder of data, the share of held-out rows, a path and a device; trains
    # the vectors at the path on the suite's training text, unless another process has done so.
    train_recipe: Callable[..., None]
    add_command: Callable[[Any], None]  # adds `mtl embeddings train`; gets the actions of `mtl embeddings`


@dataclass(frozen=True)
class Wing:
    """What a wing adds. Everything here is imported when it is first used (`lazy`)."""

    # Adds its commands to the command line; gets what `mtl.api.commands.add_commands` gets.
    commands: Callable[[Any], None] | None = None
    names: Mapping[str, str] = field(default_factory=dict)  # what it adds to `import mtl`, each as "module:name"
    # Called with a folder; returns the leaderboards (`mtl.reports.board.Leaderboard`) that it adds to a report on what lies below it.
    boards: Callable[[Path], list[Any]] | None = None
    # Notes on the tests of a leaderboard of runs; called with its columns, its rows, their tests and its scale.
    notes: Callable[..., list[str]] | None = None
    importers: tuple[Importer, ...] = ()  # files that `mtl import` takes
    # Writes a task's files from its copy on the Hugging Face Hub; called with the task, the source and the data folder.
    fetch_copy: Callable[..., None] | None = None
    # By a name that is no suite, where its data comes from: what `mtl data` answers.
    data_notes: Mapping[str, str] = field(default_factory=dict)
    trainings: Trainings | None = None  # of word vectors
    # Makes tokens with tags of texts with marked spans (`mtl.tasks.task.Reading.spans`): called with a path, its rows with their lines, and the
    # columns; returns the rows with two further columns.
    tag_spans: Callable[..., Any] | None = None
    # Called with texts, their language, a folder and the name of settings; returns the folder below it of a transformer that was trained on the
    # texts, after training it if it is not there.
    trained_body: Callable[..., Path] | None = None
    # Called with the setting `static.path`; returns the vectors of whole texts by this model (as `mtl.methods.floors.static.WordFile` does).
    text_vectors: Callable[[str], Any] | None = None
    # Further entries of registries of the core, by name, each as "module:name".
    engines: Mapping[str, str] = field(default_factory=dict)  # ways to execute units of work (`mtl.jobs.engines`)
    methods: Mapping[str, str] = field(default_factory=dict)  # `mtl.methods.method_kind.MethodKind`
    target_kinds: Mapping[str, str] = field(default_factory=dict)  # `mtl.tasks.target_kind.TargetKind`
    metrics: Mapping[str, str] = field(default_factory=dict)  # `mtl.tasks.metrics.Metric`
    # By extra, the packages to import, as in `mtl.base.extras.EXTRAS`.
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@cache
def wings() -> tuple[Wing, ...]:
    """The wings that are there, in order of their names."""
    names = sorted(file.parent.name for file in PACKAGE.glob("*/wing.py"))
    return tuple(import_module(f"mtl.{name}.wing").WING for name in names)


class Registry(UserDict[str, Entry]):
    """A registry of the core that wings add to. What they add is imported when the registry is first read."""

    def __init__(self, core: Mapping[str, Entry], wing_field: str) -> None:
        """The core's entries are by name; the field of `Wing` with this name has further ones, each as "module:name"."""
        self.core, self._wing_field = core, wing_field

    @cached_property
    def data(self) -> dict[str, Entry]:  # type: ignore[override]
        """All entries by name, the core's first."""
        added = {name: resolve(where) for wing in wings() for name, where in getattr(wing, self._wing_field).items()}
        return {**self.core, **added}


def trainings() -> Trainings | None:
    """The trainings of word vectors; None without the wing that has them."""
    return next((wing.trainings for wing in wings() if wing.trainings), None)


def text_vectors() -> Callable[[str], Any] | None:
    """Opens models of whole texts' vectors (`Wing.text_vectors`); None without the wing that does."""
    return next((wing.text_vectors for wing in wings() if wing.text_vectors), None)


def resolve(name: str) -> Any:
    """Import what a name such as "mtl.methods.lstm.two_stages:TwoStages" stands for."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def lazy(name: str) -> Callable[..., Any]:
    """A function that imports another one, or a class, by its name (as in `resolve`) when it is called, and calls it."""

    def call(*arguments: Any, **named: Any) -> Any:
        return resolve(name)(*arguments, **named)

    return call
