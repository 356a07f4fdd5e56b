"""The model inputs of a task's training rows that an estimator is trained on."""

import zlib
from typing import NamedTuple

import numpy as np

from mtl.data.dataset import Split
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


class TrainingInputs(NamedTuple):
    """places: int64 (inputs,), in the split's `texts`. targets: (inputs,), as scikit-learn's estimators take them."""

    places: np.ndarray
    targets: np.ndarray


def training_inputs(task: Task, train: Split, most_rows: int | None, in_pairs: bool) -> TrainingInputs:
    """The inputs of the training rows, or of `most_rows` of them that are evenly spread over the file.

    in_pairs: of a choice, each row has two inputs: its right candidate, and a wrong one that is drawn at random, equally for all seeds.
    """
    rows = np.arange(len(train))
    if most_rows is not None and most_rows < len(train):
        rows = np.arange(most_rows) * len(train) // most_rows
    places = _right_and_wrong(task, train, rows) if in_pairs and train.sizes is not None else train.inputs(rows)
    return TrainingInputs(places, target_kind(task).fit_targets(train.targets, train.sizes)[places])


def _right_and_wrong(task: Task, train: Split, rows: np.ndarray) -> np.ndarray:
    """The inputs of each row's right candidate and of one of its wrong ones, int64. A row with one candidate has no wrong one."""
    rng = np.random.default_rng(zlib.crc32(task.id.encode()))
    places: list[int] = []
    for row in rows.tolist():
        inputs, right = train.inputs(np.array([row])), int(train.targets[row])
        places.append(inputs[right])
        if len(inputs) > 1:
            places.append(rng.choice(np.delete(inputs, right)))
    return np.array(places)
