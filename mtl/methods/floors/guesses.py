"""Predictions that read no text."""

from collections.abc import Callable

import numpy as np

from mtl.tasks.constant import best_constant
from mtl.tasks.suite import Task

Guess = Callable[[Task, np.ndarray, int, np.random.Generator], np.ndarray]


def random_targets(task: Task, targets: np.ndarray, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Targets drawn from those of the training rows, (rows,): the row "Random" of KLEJ's Table 3."""
    return rng.choice(targets, size=rows)


def constant(task: Task, targets: np.ndarray, rows: int, rng: np.random.Generator) -> np.ndarray:
    """The best constant answer on the training rows under the task's own metric, (rows,)."""
    return np.full(rows, best_constant(task, targets))


GUESSES: dict[str, Guess] = {"random": random_targets, "constant": constant}


def guess_for(method: str, task: Task) -> Guess | None:
    """The guess that a method makes at a task, or None where it reads the texts.

    The overlap of a pair's texts means nothing for a single text: there the method answers as `constant` does.
    """
    if method == "overlap" and not task.is_pair:
        return constant
    return GUESSES.get(method)
