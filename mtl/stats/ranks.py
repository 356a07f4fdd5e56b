"""The interval of a run's rank among runs that were tested against each other.

A run's rank is 1 plus the number of runs whose expected score is higher. With pairwise tests of which even one errs with a probability of at most 5 %
(Holm's correction), the true rank lies between 1 plus the number of runs that are better than it and the number of runs less the number that are
worse, for all runs at once with a probability of at least 95 % (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks"; Al Mohamad,
Goeman and van Zwet 2022). Runs that no test separates share their ranks: "2–5", not "3". benchmarks/rank_coverage.py measures the coverage.
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from mtl.stats.comparison import LEVEL, Sample, compare_all

Run = TypeVar("Run", bound=Hashable)
Column = TypeVar("Column", bound=Hashable)


def rank_intervals(columns: Mapping[Column, Mapping[Run, Sample]]) -> dict[Column, dict[Run, tuple[int, int]]]:
    """The lowest and the highest rank of each run in each column, 1 for the best.

    Every two runs of a column are tested, with Holm's correction for the tests of all columns together.

    Args:
        columns: by column, the samples of its runs, all on the same rows and all with a verdict (`Sample.is_tested`).
    """
    tests = {column: compare_all(list(samples.values())) for column, samples in columns.items()}
    pairs = [p[np.triu_indices(len(p), 1)] for _, p in tests.values()]
    largest = _largest_rejected(np.concatenate([*pairs, np.empty(0)]))
    intervals = {}
    for column, (difference, p) in tests.items():
        better = (difference > 0) & (p <= largest)  # run (first axis) than run (second axis)
        lows, highs = 1 + better.sum(axis=0), len(p) - better.sum(axis=1)
        intervals[column] = dict(zip(columns[column], zip(lows.tolist(), highs.tolist(), strict=True), strict=True))
    return intervals


def _largest_rejected(p: np.ndarray) -> float:
    """The largest p whose verdict holds with Holm's correction for all of these tests; -1 if none does."""
    ordered = np.sort(p)
    corrected = np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))
    rejected = int(np.searchsorted(corrected, LEVEL))
    return float(ordered[rejected - 1]) if rejected else -1.0
