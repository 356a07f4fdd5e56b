"""The interface of an export format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mtl.model.encoder import EncoderParts
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task
from mtl.vectors.encoders.encoder import Description

if TYPE_CHECKING:
    from mtl.methods.transformer.trained import TrainedTransformer


@dataclass(frozen=True)
class Export:
    """An encoder to export, and what its model card says.

    Args:
        pooling: see `mtl.model.encoder.POOLINGS`.
        centre: float32 (dim,), subtracted from each vector; None: nothing is.
        summary: the content of the run's summary.json.
        license: the license of the exported model; None: not stated.
        command: that exports it.
    """

    parts: EncoderParts
    pooling: str
    centre: np.ndarray | None
    description: Description
    suite: Suite
    summary: Mapping[str, Any]
    license: str | None
    command: str


@dataclass(frozen=True)
class TaskExport:
    """A fine-tuned transformer with its head to export, and what its model card says. The fields are as in `Export`.

    Args:
        task: whose head it is.
        seed: the seed of the run.
    """

    model: "TrainedTransformer"
    task: Task
    seed: int
    suite: Suite
    summary: Mapping[str, Any]
    license: str | None
    command: str


@dataclass(frozen=True)
class ExportFormat:
    """One format: an entry of `mtl.vectors.export.EXPORT_FORMATS`. It has either `write` or `write_task`.

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
