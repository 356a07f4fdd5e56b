"""Honest LSTM baselines for any language-understanding benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mtl.encoders.run import Predictor

__version__ = "0.1.0"


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
