"""How sure a score is: metrics on bootstrap resamples of the rows they were computed on.

Each resample draws as many rows as there are, with replacement (Efron and Tibshirani 1993). The same resamples serve every
run on the same rows, so that two runs are compared on the same draws (a paired bootstrap test; Berg-Kirkpatrick et al. 2012).
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mtl.suite import Task

RESAMPLES = 1000
COVERAGE = 95.0  # per cent, of an interval
BLOCK = 2**22  # numbers in one block of resamples' weights


@dataclass(frozen=True)
class Comparison:
    """One run minus another: the difference × 100, its interval, and what it says."""

    difference: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """better or worse where the interval leaves out 0, else undecided."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "undecided"


def resampled_scores(task: Task, predictions: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """The task's metric × 100 on each resample, the median over seeds: (RESAMPLES,).

    predictions: (seeds, rows), gold: (rows,); label indices or numbers, as `mtl.metrics.score` reads them.
    """
    weigh = _WEIGHERS[task.metric]
    scores = np.empty((len(predictions), RESAMPLES))
    done = 0
    for weights in _weights(task.id, len(gold)):
        for seed, predicted in enumerate(predictions):
            scores[seed, done : done + len(weights)] = 100 * weigh(task, predicted, gold, weights)
        done += len(weights)
    return np.median(scores, axis=0)


def interval(scores: np.ndarray) -> tuple[float, float]:
    """The 95 % percentile interval of resampled scores (RESAMPLES,)."""
    low, high = np.percentile(scores, [(100 - COVERAGE) / 2, (100 + COVERAGE) / 2])
    return float(low), float(high)


def compare(difference: float, one: np.ndarray, other: np.ndarray) -> Comparison:
    """One run against another, from their scores on the same resamples, (RESAMPLES,) each."""
    return Comparison(difference, *interval(one - other))


def _weights(name: str, rows: int) -> Iterator[np.ndarray]:
    """How often each row is drawn in each resample, float64 (block, rows), block after block: the same for the same name."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), rows])
    size = max(1, BLOCK // rows)
    for start in range(0, RESAMPLES, size):
        count = min(size, RESAMPLES - start)
        draws = rng.integers(rows, size=(count, rows)) + rows * np.arange(count)[:, None]
        yield np.bincount(draws.ravel(), minlength=count * rows).reshape(count, rows).astype(np.float64)


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
