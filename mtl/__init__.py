"""Honest LSTM baselines for any language-understanding benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtl.base.version import VERSION

if TYPE_CHECKING:
    from mtl.api.comparison import Comparison, compare, report
    from mtl.api.run import Run, import_predictions, open, run
    from mtl.api.suites import AuditReport, Suite, audit
    from mtl.base.errors import InputError
    from mtl.encoders.run import Predictor

__version__ = VERSION

__all__ = [
    "AuditReport",
    "Comparison",
    "InputError",
    "Run",
    "Suite",
    "audit",
    "compare",
    "import_predictions",
    "load",
    "open",
    "report",
    "run",
]

# Imported when they are first used: `import mtl` reads nothing else.
_LAZY = {
    "AuditReport": "mtl.api.suites",
    "Comparison": "mtl.api.comparison",
    "InputError": "mtl.base.errors",
    "Run": "mtl.api.run",
    "Suite": "mtl.api.suites",
    "audit": "mtl.api.suites",
    "compare": "mtl.api.comparison",
    "import_predictions": "mtl.api.run",
    "open": "mtl.api.run",
    "report": "mtl.api.comparison",
    "run": "mtl.api.run",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'mtl' has no attribute {name!r}")
    from mtl.base.lazy import resolve

    return resolve(f"{_LAZY[name]}:{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load(run_dir: str | Path, seed: int | None = None, device: str = "cpu") -> Predictor:
    """The trained encoder and heads of a run folder; see `mtl.encoders.run.Predictor`.

    Args:
        seed: by default the best one on the validation data.
        device: cpu, cuda, or auto: a GPU where there is one.
    """
    from mtl.encoders.run import Predictor

    return Predictor.load(Path(run_dir), seed, device=device)
