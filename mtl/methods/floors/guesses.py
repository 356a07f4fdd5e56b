"""Predictions that read no text."""

from collections.abc import Callable

import numpy as np

from mtl.data.dataset import Split
from mtl.tasks.constant import best_constant
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

# A task, its training rows, the rows to predict -> targets (rows,).
Guess = Callable[[Task, Split, Split, np.random.Generator], np.ndarray]


def random_targets(task: Task, train: Split, rows: Split, rng: np.random.Generator) -> np.ndarray:
    """Targets drawn from those of the training rows: the row "Random" of KLEJ's Table 3."""
    return target_kind(task).draw(train.targets, rows.sizes, len(rows), rng)


def constant(task: Task, train: Split, rows: Split, rng: np.random.Generator) -> np.ndarray:
    """The best constant answer on the training rows under the task's own metric."""
    return target_kind(task).repeat(best_constant(task, train.scored), len(rows), rows.sizes)


GUESSES: dict[str, Guess] = {"random": random_targets, "constant": constant}


def guess_for(method: str, task: Task) -> Guess | None:
    """The guess that a method makes for a task, or None where it reads the texts.

    The overlap of a pair's texts means nothing for a single text: there the method answers as `constant` does.
    """
    if method == "overlap" and not task.is_pair:
        return constant
    return GUESSES.get(method)
