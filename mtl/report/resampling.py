"""Metrics on bootstrap resamples of the scored rows.

A resample draws as many groups of rows as there are, with replacement, each with all its rows (Efron and Tibshirani 1993, chapter 8;
Davison and Hinkley 1997, section 3.8: of nested data, draw the outermost level alone). The same draws serve all seeds,
all runs and all tasks on the same scored rows, so that differences are taken draw by draw (Berg-Kirkpatrick et al. 2012).
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from mtl.tasks.metrics import ScoredRows, weighted_scores
from mtl.tasks.task import Task

RESAMPLES = 1000
BLOCK = 2**22  # numbers in one block of resamples' weights


@dataclass(frozen=True)
class RowGroups:
    """The groups of a set of scored rows. key: equal for the same rows in the same groups. groups: int64 (rows,), from 0 to count - 1."""

    key: str
    groups: np.ndarray = field(compare=False)

    @property
    def count(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1


def resampled_scores(task: Task, predictions: np.ndarray, rows: ScoredRows, groups: RowGroups) -> np.ndarray:
    """The task's metric × 100 of each seed on each resample: (seeds, RESAMPLES). predictions: (seeds, rows)."""
    scores = np.empty((len(predictions), RESAMPLES))
    done = 0
    for weights in row_weights(groups):
        for seed, predicted in enumerate(predictions):
            scores[seed, done : done + len(weights)] = weighted_scores(task, predicted, rows, weights)
        done += len(weights)
    return scores


def row_weights(groups: RowGroups) -> Iterator[np.ndarray]:
    """How often each row is drawn in each resample, float64 (block, rows), block after block: the same for equal groups."""
    count = groups.count
    rng = np.random.default_rng([zlib.crc32(groups.key.encode()), count])
    size = max(1, BLOCK // len(groups.groups))
    for start in range(0, RESAMPLES, size):
        block = min(size, RESAMPLES - start)
        draws = rng.integers(count, size=(block, count)) + count * np.arange(block)[:, None]
        drawn = np.bincount(draws.ravel(), minlength=block * count).reshape(block, count)
        yield drawn.astype(np.float64)[:, groups.groups]
