"""Metrics on bootstrap resamples of dev rows.

A resample draws as many groups of rows as there are, with replacement, each with all its rows (Efron and Tibshirani 1993, chapter 8;
Davison and Hinkley 1997, section 3.8: of nested data, draw the outermost level alone). The same draws serve all seeds,
all runs and all tasks on the same dev rows, so that differences are taken draw by draw (Berg-Kirkpatrick et al. 2012).
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from mtl.tasks.suite import Task

RESAMPLES = 1000
BLOCK = 2**22  # numbers in one block of resamples' weights


@dataclass(frozen=True)
class DevRows:
    """A set of dev rows. key: equal for the same rows in the same groups. groups: int64 (rows,), from 0 to count - 1."""

    key: str
    groups: np.ndarray = field(compare=False)

    @property
    def count(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1


def resampled_scores(task: Task, predictions: np.ndarray, gold: np.ndarray, rows: DevRows) -> np.ndarray:
    """The task's metric × 100 of each seed on each resample: (seeds, RESAMPLES).

    predictions: (seeds, rows), gold: (rows,); label indices or numbers, as `mtl.tasks.metrics.score` reads them.
    """
    weigh = _WEIGHERS[task.metric]
    scores = np.empty((len(predictions), RESAMPLES))
    done = 0
    for weights in row_weights(rows):
        for seed, predicted in enumerate(predictions):
            scores[seed, done : done + len(weights)] = 100 * weigh(task, predicted, gold, weights)
        done += len(weights)
    return scores


def row_weights(rows: DevRows) -> Iterator[np.ndarray]:
    """How often each row is drawn in each resample, float64 (block, rows), block after block: the same for equal rows."""
    count = rows.count
    rng = np.random.default_rng([zlib.crc32(rows.key.encode()), count])
    size = max(1, BLOCK // len(rows.groups))
    for start in range(0, RESAMPLES, size):
        block = min(size, RESAMPLES - start)
        draws = rng.integers(count, size=(block, count)) + count * np.arange(block)[:, None]
        drawn = np.bincount(draws.ravel(), minlength=block * count).reshape(block, count)
        yield drawn.astype(np.float64)[:, rows.groups]


def _accuracy(task: Task, predicted: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return weights @ (predicted == gold) / weights.sum(axis=1)


def _f1(task: Task, predicted: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    assert task.labels is not None and task.positive is not None
    return _f1_of(task.labels.index(task.positive), predicted, gold, weights)[0]


def _macro_f1(task: Task, predicted: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Labels that neither occur nor are predicted take no part."""
    scores, there = zip(*(_f1_of(label, predicted, gold, weights) for label in range(task.outputs)), strict=True)
    return np.sum(scores, axis=0) / np.sum(there, axis=0)


def _f1_of(label: int, predicted: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F1 of one label, 0 where there is none; and whether it occurs or is predicted."""
    both = weights @ ((predicted == label) & (gold == label))
    either = weights @ (predicted == label) + weights @ (gold == label)
    return np.divide(2 * both, either, out=np.zeros_like(both), where=either > 0), either > 0


def _matthews(task: Task, predicted: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of any number of labels (Gorodkin 2004): the correlation of their indicators."""
    total = weights.sum(axis=1)
    counts = [(weights @ (gold == label), weights @ (predicted == label)) for label in range(task.outputs)]
    golds, guesses = (np.array(side) for side in zip(*counts, strict=True))
    covariance = total * (weights @ (predicted == gold)) - (golds * guesses).sum(axis=0)
    spread = np.sqrt((total**2 - (golds**2).sum(axis=0)) * (total**2 - (guesses**2).sum(axis=0)))
    return np.divide(covariance, spread, out=np.zeros_like(total), where=spread > 0)


def _pearson(task: Task, predicted: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return _correlation(predicted[None], gold[None], weights)


def _spearman(task: Task, predicted: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return _correlation(_ranks(predicted, weights), _ranks(gold, weights), weights)


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean rank of each row's value in each resample, (resamples, rows)."""
    _, first, place = np.unique(np.sort(values), return_index=True, return_inverse=True)
    order = np.argsort(values, kind="stable")
    counts = np.add.reduceat(weights[:, order], first, axis=1)
    ranks = np.empty_like(weights)
    ranks[:, order] = (np.cumsum(counts, axis=1) - (counts - 1) / 2)[:, place]
    return ranks


def _correlation(one: np.ndarray, other: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's, of each resample; 0 where one side is constant. one, other: (resamples or 1, rows)."""
    total = weights.sum(axis=1, keepdims=True)
    a = one - (weights * one).sum(axis=1, keepdims=True) / total
    b = other - (weights * other).sum(axis=1, keepdims=True) / total
    spread = np.sqrt((weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1))
    tiny = 1e-12 * total[:, 0]  # what rounding leaves of a constant
    return np.divide((weights * a * b).sum(axis=1), spread, out=np.zeros(len(weights)), where=spread > tiny)


def _one_minus_wmae(task: Task, predicted: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Ratings that a resample does not have take no part."""
    low, high = task.bounds
    errors = np.abs(predicted - gold)
    means, there = np.zeros(len(weights)), np.zeros(len(weights))
    for rating in np.unique(gold):
        rows = gold == rating
        count = weights[:, rows].sum(axis=1)
        means += np.divide(weights[:, rows] @ errors[rows], count, out=np.zeros_like(count), where=count > 0)
        there += count > 0
    return 1 - means / there / (high - low)


_WEIGHERS: dict[str, Callable[[Task, np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "accuracy": _accuracy,
    "f1": _f1,
    "macro_f1": _macro_f1,
    "matthews": _matthews,
    "pearson": _pearson,
    "spearman": _spearman,
    "one_minus_wmae": _one_minus_wmae,
}


def lowest(task: Task) -> float:
    """The least value × 100 that the task's metric can have; the greatest is 100."""
    return -100.0 if task.metric in ("matthews", "pearson", "spearman") else 0.0
