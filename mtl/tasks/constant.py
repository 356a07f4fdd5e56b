"""The best constant answer to a task: the score that every model must stand above."""

import numpy as np
import torch

from mtl.tasks.metrics import score
from mtl.tasks.suite import Task

DIGITS = 9  # scores that agree so far are equal: rounding must not choose between answers


def best_constant(task: Task, targets: np.ndarray) -> float:
    """The one answer with the best score if every row gets it, under the task's own metric; the first candidate of equals.

    targets: float64 (rows,), of the training rows. Returns a label's index or a number.
    """
    return max(_candidates(task, targets), key=lambda answer: round(constant_score(task, answer, targets), DIGITS))


def constant_score(task: Task, answer: float, targets: np.ndarray) -> float:
    """The metric × 100 where every row gets the same answer. targets: float64 (rows,)."""
    return score(task, torch.full((len(targets),), answer, dtype=torch.float64), torch.from_numpy(targets))


def _candidates(task: Task, targets: np.ndarray) -> list[float]:
    """The answers to try: every label, the commonest first; of a regression the mean, then the median of the distinct targets.

    To a correlation all constants are equal. In 1 - wMAE a constant a errs by |a - c| on each row of rating c, so its
    error is the mean of |a - c| over the distinct ratings, which is least at their median.
    """
    if task.is_regression:
        return [float(targets.mean()), float(np.median(np.unique(targets)))]
    counts = np.bincount(targets.astype(np.int64), minlength=task.outputs)
    return [float(label) for label in np.argsort(-counts, kind="stable")]
