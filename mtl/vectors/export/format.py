"""The interface of an export format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mtl.base.errors import InputError
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task
from mtl.vectors.encoders.encoder import Description
from mtl.vectors.export.parts import EncoderParts

if TYPE_CHECKING:
    from mtl.methods.transformer.trained import TrainedTransformer

TOLERANCE = 1e-5


@dataclass(frozen=True)
class CardFacts:
    """What the model card of an export says beside the model itself: the run's summary.json, and the licence if it is stated."""

    suite: Suite
    summary: Mapping[str, Any]
    license: str | None
    command: str


@dataclass(frozen=True)
class Export(CardFacts):
    """An encoder to export. Its centre, float32 (dim,), is subtracted from each vector; None: nothing is."""

    parts: EncoderParts
    pooling: str
    centre: np.ndarray | None
    description: Description


@dataclass(frozen=True)
class TaskExport(CardFacts):
    """A fine-tuned transformer with its head for a task to export, of one seed of the run."""

    model: "TrainedTransformer"
    task: Task
    seed: int


@dataclass(frozen=True)
class ExportFormat:
    """One format. It has either `write` or `write_task`.

    Attributes:
        keys: the settings that it reads.
        extra: the extra of mtl-baselines with the packages that it needs (`mtl.base.extras`); None if there are none.
        problem: says why an encoder cannot be exported, or returns None.
        write: writes an encoder's files to a folder. Raises InputError if they do not give the vectors of the encoder.
        write_task: writes a task's whole model to a folder. Raises InputError also if the format has no such head.
    """

    keys: tuple[str, ...]
    extra: str | None = None
    problem: Callable[[EncoderParts], str | None] = lambda parts: None
    write: Callable[[Export, Path], None] | None = None
    write_task: Callable[[TaskExport, Path], None] | None = None


def check_difference(values: np.ndarray, wanted: np.ndarray, name: str, format: str, scale: float = 1.0) -> None:
    """Raise InputError if the exported model gives other values than the run, by more than TOLERANCE of this scale."""
    difference = float(np.abs(values - wanted).max())
    if not difference <= TOLERANCE * scale:
        raise InputError(
            f"the exported model gives other {name} than the run (they differ by up to {difference:.2g}), so nothing is written;"
            " use the versions of constraints.txt",
            key=f"--format {format}",
        )
