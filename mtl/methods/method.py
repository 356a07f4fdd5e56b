"""What makes a run's predictions: the LSTM's two stages, or a floor."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mtl.config.load import Config
from mtl.data.dataset import Dataset
from mtl.runs.folder import RunFolder
from mtl.tasks.suite import Suite, Task


class Method(Protocol):
    """One way to predict a suite's targets. It is made once and then trained for each seed.

    fingerprints: of whatever beside the data its predictions follow from. facts: what the summary says of it.
    """

    fingerprints: dict[str, str]
    facts: dict[str, Any]

    def record(self, folder: RunFolder) -> None:
        """Keep in the folder what using the run needs beside the seeds' own files."""

    def predictions(self, seed: int, folder: RunFolder) -> Iterator[tuple[Task, dict[str, np.ndarray]]]:
        """Train, or take up what is there of the seed, and predict.

        Yields each task with its predictions by split ("dev", and "test" if there is one): (rows,), label indices or numbers.
        """

    def cost(self, seed: int, folder: RunFolder) -> dict[str, Any]:
        """What the seed took, once its predictions are made.

        parameters, parameters_without_embeddings (numbers), pretrain_seconds (None where there is no stage 1),
        finetune_seconds, peak_memory (bytes), sentences_per_second (texts, on one core, from text to prediction).
        """


def new_method(config: Config, suite: Suite, dataset: Dataset, run_dir: Path) -> Method:
    """What the configuration says. Raises InputError, before anything is trained, for what it lacks."""
    if config.method == "lstm":
        from mtl.methods.lstm.two_stages import TwoStages

        return TwoStages(config, suite, dataset, run_dir)
    from mtl.methods.floors.floor import Floor

    return Floor(config, suite.language, dataset)
