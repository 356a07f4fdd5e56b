"""Honest LSTM baselines for any language-understanding benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
