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
_LAZY = {
    **{name: f"mtl.api.comparison:{name}" for name in ("Comparison", "compare", "report")},
    **{name: f"mtl.api.making:{name}" for name in ("import_predictions", "run")},
    **{name: f"mtl.api.run:{name}" for name in ("Run", "load", "open")},
    **{"InputError": "mtl.base.errors:InputError", "Module": "mtl.methods.lstm.module:Module"},
}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'mtl' has no attribute {name!r}")
    from mtl.base.wings import resolve

    names = _names()
    if name not in names:
        raise AttributeError(f"module 'mtl' has no attribute {name!r}")
    return resolve(names[name])


def __dir__() -> list[str]:
    return sorted(_names())


def _names() -> dict[str, str]:
    """What this module has, with what wings add (`mtl.base.wings`), each as "module:name"."""
    from mtl.base.wings import wings

    return _LAZY | {name: path for wing in wings() for name, path in wing.names.items()}
