"""Gender parity (Berdicevskis et al. 2023; Rudinger et al. 2018): do rows that differ in a pronoun alone get the same label?

The rows of a triple have the same value in the task's one column of `columns`. In Superlim a triple has three rows, with han, hon
and hen; triples of another size count as well. Gold labels do not matter.

A resample draws groups of rows. If a task's `group` keeps triples together, all rows of a triple have the same weight, the number
of times that the triple is drawn, and so often it counts. Where rows are drawn one by one, each row counts as its share of its
triple, whose other rows are taken as they are. With two different rows of a triple drawn, it would else be a pair.
"""

import numpy as np

from mtl.tasks.scored import ScoredRows
from mtl.tasks.task import Task


def gender_parity(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of triples that get one and the same label."""
    alike, sizes = _triples(task, predicted, rows)
    triples = weights / sizes
    return triples @ alike / triples.sum(axis=1)


def gender_parity_by_row(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The number of triples that get one and the same label, divided by the number of rows, as the leaderboard's evaluator has it.

    With triples of three rows, the highest is 1/3.
    """
    alike, sizes = _triples(task, predicted, rows)
    return (weights / sizes) @ alike / weights.sum(axis=1)


def parity_problem(task: Task) -> str | None:
    """The error in a task's declaration for gender parity, as "key: message", or None."""
    if len(task.columns or ()) == 1:
        return None
    return f"columns: metric {task.metric} needs one column, in which the rows of a triple have the same value"


def _triples(task: Task, predicted: np.ndarray, rows: ScoredRows) -> tuple[np.ndarray, np.ndarray]:
    """For each row, whether its triple gets one label, as 1 or 0, and how many rows its triple has. Both float64, (rows,)."""
    assert task.columns is not None
    _, triple, sizes = np.unique(np.array(rows.columns[task.columns[0]]), return_inverse=True, return_counts=True)
    lowest, highest = np.full(len(sizes), np.inf), np.full(len(sizes), -np.inf)
    np.minimum.at(lowest, triple, predicted)
    np.maximum.at(highest, triple, predicted)
    return (lowest == highest).astype(np.float64)[triple], sizes.astype(np.float64)[triple]
