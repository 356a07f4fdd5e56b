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
    """A set of scored rows in groups."""

    row_set: RowSet
    group_of_row: np.ndarray = field(compare=False)  # int64 (rows,), from 0 to one less than the number of groups

    @property
    def in_average(self) -> "RowGroups":
        """The groups that the average over tasks resamples: these, or if they are FEW_GROUPS or fewer, each row. So few groups leave the task without
        a verdict. In the average they would leave all runs undecided, so there its groups are taken as they are, and rows as drawn from them."""
        if self.row_set.count > FEW_GROUPS:
            return self
        return row_groups(f"{self.row_set.key} by row", np.arange(len(self.group_of_row)))


def row_groups(key: str, group_of_row: np.ndarray) -> RowGroups:
    """The set of rows with this key and these groups."""
    return RowGroups(RowSet(key, int(group_of_row.max()) + 1), group_of_row)


def resampled_scores(task: Task, predictions: np.ndarray, rows: ScoredRows, groups: RowGroups) -> np.ndarray:
    """The task's metric × 100 of each seed's predictions, (seeds, rows), on each resample, (seeds, RESAMPLES)."""
    blocks = [
        [weighted_scores(task, predicted, rows, weights) for predicted in predictions]
        for weights in row_weights(groups)
    ]
    return np.concatenate(blocks, axis=1)


def row_weights(groups: RowGroups) -> Iterator[np.ndarray]:
    """Yield blocks of weights, float64 (resamples, rows): how often each resample draws each row. Equal groups give equal weights."""
    count = groups.row_set.count
    rng = np.random.default_rng([zlib.crc32(groups.row_set.key.encode()), count])
    size = max(1, BLOCK // len(groups.group_of_row))
    for start in range(0, RESAMPLES, size):
        block = min(size, RESAMPLES - start)
        draws = rng.integers(count, size=(block, count)) + count * np.arange(block)[:, None]
        drawn = np.bincount(draws.ravel(), minlength=block * count).reshape(block, count)
        yield drawn.astype(np.float64)[:, groups.group_of_row]
