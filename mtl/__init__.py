"""Honest LSTM baselines for any language-understanding benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mtl.api.comparison import Comparison, compare, report
    from mtl.api.run import Run, open, run
    from mtl.api.suites import AuditReport, Suite, audit
    from mtl.base.errors import InputError
    from mtl.encoders.run import Predictor

__version__ = "0.1.0"

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


def import_predictions(
    name: str,
    predictions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    suite: str | Path,
    seed: int | Sequence[int] | None = None,
    system: Mapping[str, Any] | str | Path | None = None,
    labels: Mapping[str, Mapping[str, Any]] | str | Path | None = None,
    **settings: Any,
) -> Path:
    """Make a run of the predictions of another system, as `mtl import` does. A finished run with the same predictions stays as it is.

    Args:
        name: of the run's folder, and of the system where `system` has no title.
        predictions: by task id, for the rows of the split that scores the task in their order: a list, an array or a Series; or such
            lists by split, dev and test; or a DataFrame with the column prediction and, if you like, id (then in any order) and split.
            For several seeds, a list with one such mapping for each.
        suite: its name, or the path of its file.
        seed: the seed, or one for each mapping; else 1, 2, ….
        system: what is known of the system, as in system.yaml, or the path of this file.
        labels: by task id, the label that each spelling of an answer means, or the path of a YAML file.
        settings: others of a run, such as data_dir, runs_dir and tasks.

    Returns:
        The run's folder.

    Raises:
        mtl.base.errors.InputError: for predictions that do not fit the rows, and bad settings. Then no run is made.
    """
    from mtl.jobs.given import import_given

    seeds = list(seed) if isinstance(seed, Sequence) else seed
    given = {"suite": str(suite), "seed": seeds, "system": system, "labels": labels, **settings}
    return import_given(name, predictions, {key: value for key, value in given.items() if value is not None})
