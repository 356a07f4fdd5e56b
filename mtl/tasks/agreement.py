"""Krippendorff's α (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability") for two coders, gold and system, without gaps.

α is 1 without any disagreement, and 0 where the coders disagree as often as their pooled values, paired at random. With two
coders, α of N rows is at least -1 + 1 / N.
"""

import numpy as np

from mtl.tasks.scored import ScoredRows
from mtl.tasks.task import Task

LOWEST = -100.0  # × 100


def alpha_nominal(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """α of values that are equal or different.

    The disagreement is the share of rows that differ. The one to expect is the probability that two of the 2N pooled values differ,
    drawn without replacement.
    """
    _, codes = np.unique(np.concatenate([rows.targets, predicted]), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    first = np.unique(codes[order], return_index=True)[1]
    counts = np.add.reduceat(np.hstack([weights, weights])[:, order], first, axis=1)  # of each value, (sets, values)
    values = counts.sum(axis=1)
    differing = weights @ (predicted != rows.targets).astype(np.float64) / weights.sum(axis=1)
    return _alpha(differing, (values**2 - (counts**2).sum(axis=1)) / (values * (values - 1)))


def alpha_interval(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """α of numbers whose disagreement is the squared difference. The one to expect is twice the variance of the 2N pooled values."""
    gold, total = rows.targets, weights.sum(axis=1)
    differing = weights @ (gold - predicted) ** 2 / total
    mean = (weights @ (gold + predicted) / (2 * total))[:, None]
    # Deviations are squared after the mean is subtracted: rounding would hide the differences of large, nearly equal numbers.
    squares = (weights * ((gold - mean) ** 2 + (predicted - mean) ** 2)).sum(axis=1)
    return _alpha(differing, 2 * squares / (2 * total - 1))


def _alpha(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """1 minus the observed disagreement as a share of the expected one, (sets,); 1 without any disagreement."""
    share = np.divide(observed, expected, out=np.zeros_like(observed), where=(observed > 0) & (expected > 0))
    return 1 - share
