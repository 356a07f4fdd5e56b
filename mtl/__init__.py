"""Honest LSTM baselines for any language-understanding benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mtl.base.version import VERSION

if TYPE_CHECKING:
    from mtl.api.comparison import Comparison, compare, report
    from mtl.api.making import import_predictions, run
    from mtl.api.run import Run, load, open
    from mtl.base.errors import InputError
    from mtl.methods.lstm.module import Module

__version__ = VERSION

__all__ = [
    "Comparison", "InputError", "Module", "Run", "compare", "import_predictions", "load", "open", "report", "run",
]  # fmt: skip

# Imported when they are first used: `import mtl` reads nothing else.
_PUBLIC = {
    "mtl.api.comparison": ("Comparison", "compare", "report"),
    "mtl.api.making": ("import_predictions", "run"),
    "mtl.api.run": ("Run", "load", "open"),
    "mtl.base.errors": ("InputError",),
    "mtl.methods.lstm.module": ("Module",),
}


def __getattr__(name: str) -> Any:
    path = None if name.startswith("_") else _paths().get(name)
    if path is None:
        raise AttributeError(f"module 'mtl' has no attribute {name!r}")
    from mtl.base.wings import resolve

    return resolve(path)


def __dir__() -> list[str]:
    return sorted(_paths())


def _paths() -> dict[str, str]:
    """The public names, with those that wings add (`mtl.base.wings`), and where each is, as "module:name"."""
    from mtl.base.wings import wings

    core = {name: f"{module}:{name}" for module, names in _PUBLIC.items() for name in names}
    return core | {name: path for wing in wings() for name, path in wing.names.items()}
