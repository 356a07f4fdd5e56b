"""Predictions that do not depend on the texts."""

from collections.abc import Callable

import numpy as np

from mtl.data.dataset import Split
from mtl.tasks.constant import best_constant
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

# task, its training rows, the rows to predict, random generator -> predicted targets (rows,).
Guess = Callable[[Task, Split, Split, np.random.Generator], np.ndarray]


def random_targets(task: Task, train: Split, rows: Split, rng: np.random.Generator) -> np.ndarray:
    """Targets drawn from the targets of the training rows: the row "Random" of KLEJ's Table 3."""
    return target_kind(task).draw(train.targets, rows.sizes, len(rows), rng)


def constant(task: Task, train: Split, rows: Split, rng: np.random.Generator) -> np.ndarray:
    """The best constant answer on the training rows, by the task's metric."""
    return target_kind(task).repeat(best_constant(task, train.scored), len(rows), rows.sizes)


def uniform(task: Task, train: Split, rows: Split, rng: np.random.Generator) -> np.ndarray:
    """Each possible answer is equally probable: "Random" in the Superlim paper."""
    return target_kind(task).uniform(train.targets, rows.sizes, len(rows), rng)


def majority(task: Task, train: Split, rows: Split, rng: np.random.Generator) -> np.ndarray:
    """The most frequent target of the training rows; for numbers, their mean: "MaxFreq/Avg" in the Superlim paper."""
    kind = target_kind(task)
    return kind.repeat(kind.commonest(train.targets), len(rows), rows.sizes)


GUESSES: dict[str, Guess] = {
    "random": random_targets,
    "constant": constant,
    "uniform": uniform,
    "majority": majority,
}


def guess_for(method: str, task: Task) -> Guess | None:
    """The guess that a method makes for a task, or None if it reads the texts.

    A single text has no overlap: for a task without pairs, the method `overlap` predicts what `constant` predicts.
    """
    if method == "overlap" and not task.is_pair:
        return constant
    return GUESSES.get(method)
