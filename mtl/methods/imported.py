"""The registry entry of predictions that another system made: `mtl import` makes a run of them."""

from pathlib import Path

from mtl.base.errors import InputError
from mtl.methods.method import MethodKind
from mtl.settings.schema import Config
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


class ImportedKind(MethodKind):
    """Predictions in files."""

    family = "imported"
    reads = ("imported.",)
    computes = False

    def title(self, config: Config) -> str:
        return f"{config.imported.title or 'another system'}, imported"

    def folder(self, config: Config) -> str:
        return "imported"

    def family_of(self, config: Config) -> str:
        return config.imported.family or self.family

    def answers(self, task: Task) -> bool:
        return True

    def is_one_system(self, config: Config) -> bool:
        return True

    def check(self, config: Config, suite: Suite) -> None:
        """Raise InputError unless all paths with predictions exist."""
        if missing := [path for path in config.imported.predictions if not Path(path).exists()]:
            raise InputError("no such file or folder", path=missing[0])

    def sources(self, config: Config) -> list[Path]:
        """The paths with predictions, and the folders in them."""
        paths = [Path(path) for path in config.imported.predictions]
        return [*paths, *(inner for path in paths for inner in path.rglob("*") if inner.is_dir())]


IMPORTED = ImportedKind()
