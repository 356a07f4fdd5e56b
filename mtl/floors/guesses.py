"""Predictions that read no text."""

from collections.abc import Callable

import numpy as np

from mtl.suite import Task

Guess = Callable[[Task, np.ndarray, int, np.random.Generator], np.ndarray]


def random_targets(task: Task, targets: np.ndarray, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Targets drawn from those of the training rows, (rows,): the row "Random" of KLEJ's Table 3."""
    return rng.choice(targets, size=rows)


def majority(task: Task, targets: np.ndarray, rows: int, rng: np.random.Generator) -> np.ndarray:
    """The commonest label of the training rows, the first in the suite file's order of equals, or their mean, (rows,)."""
    value = targets.mean() if task.is_regression else np.bincount(targets.astype(np.int64)).argmax()
    return np.full(rows, float(value))


GUESSES: dict[str, Guess] = {"random": random_targets, "majority": majority}
