"""The registry entry of predictions that another system made: `mtl import` makes a run of them."""

from pathlib import Path

from mtl.base.errors import InputError
from mtl.methods.method import MethodKind
from mtl.settings.schema import Config
from mtl.tasks.suite import Suite


def check(config: Config, suite: Suite) -> None:
    """Raise InputError unless all paths with predictions exist."""
    if missing := [path for path in config.imported.predictions if not Path(path).exists()]:
        raise InputError("no such file or folder", path=missing[0])


def sources(config: Config, suite: Suite) -> list[Path]:
    """The paths with predictions, and the folders in them."""
    paths = [Path(path) for path in config.imported.predictions]
    return [*paths, *(inner for path in paths for inner in path.rglob("*") if inner.is_dir())]


IMPORTED = MethodKind(
    family="imported",
    title=lambda config: f"{config.imported.title or 'another system'}, imported",
    folder=lambda config: "imported",
    reads=("imported.",),
    check=check,
    sources=sources,
    computes=False,
    is_one_system=lambda config: True,
    family_of=lambda config: config.imported.family,
)
