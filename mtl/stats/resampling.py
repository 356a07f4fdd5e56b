"""Metrics on bootstrap resamples of the scored rows. From G groups of rows, a resample draws G groups with replacement, each with all its rows (Efron
and Tibshirani 1993, chapter 8; Davison and Hinkley 1997, section 3.8: with nested data, draw only the outermost level). All seeds, runs and tasks on
the same scored rows have the same resamples, so that differences are computed within each resample (Berg-Kirkpatrick et al. 2012)."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from mtl.tasks.metrics import weighted_scores
from mtl.tasks.task import ScoredRows, Task

RESAMPLES = 1000
FEW_GROUPS = 5  # no sign test on as few groups reaches 5 %
BLOCK = 2**22  # the most numbers in one block of weights


@dataclass(frozen=True)
class RowSet:
    """A set of scored rows."""

    key: str  # equal for the same rows in the same groups
    count: int = field(compare=False)  # the number of groups


@dataclass(frozen=True)
class RowGroups:
    """A set of scored rows, and the number of each row's group, int64 (rows,), from 0 to one less than the number of groups."""

    rows: RowSet
    groups: np.ndarray = field(compare=False)

    @property
    def in_average(self) -> "RowGroups":
        """The groups that the average over tasks resamples: these, or if they are FEW_GROUPS or fewer, each row. So few groups leave the task without
        a verdict. In the average they would leave all runs undecided, so there its groups are taken as they are, and rows as drawn from them."""
        if self.rows.count > FEW_GROUPS:
            return self
        return row_groups(f"{self.rows.key} by row", np.arange(len(self.groups)))


def row_groups(key: str, groups: np.ndarray) -> RowGroups:
    """The set of rows with this key and these groups."""
    return RowGroups(RowSet(key, int(groups.max()) + 1), groups)


def resampled_scores(task: Task, predictions: np.ndarray, rows: ScoredRows, groups: RowGroups) -> np.ndarray:
    """The task's metric × 100 of each seed's predictions, (seeds, rows), on each resample, (seeds, RESAMPLES)."""
    blocks = [
        [weighted_scores(task, predicted, rows, weights) for predicted in predictions]
        for weights in row_weights(groups)
    ]
    return np.concatenate(blocks, axis=1)


def row_weights(groups: RowGroups) -> Iterator[np.ndarray]:
    """Yield blocks of weights, float64 (resamples, rows): how often each resample draws each row. Equal groups give equal weights."""
    count = groups.rows.count
    rng = np.random.default_rng([zlib.crc32(groups.rows.key.encode()), count])
    size = max(1, BLOCK // len(groups.groups))
    for start in range(0, RESAMPLES, size):
        block = min(size, RESAMPLES - start)
        draws = rng.integers(count, size=(block, count)) + count * np.arange(block)[:, None]
        drawn = np.bincount(draws.ravel(), minlength=block * count).reshape(block, count)
        yield drawn.astype(np.float64)[:, groups.groups]
