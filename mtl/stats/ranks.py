"""The interval of a run's rank among runs that were tested against each other.

A run's rank is 1 plus the number of runs whose expected score is higher. With pairwise tests of which even one errs with a probability of at most 5 %
(Holm's correction), the true rank lies between 1 plus the number of runs that are better than it and the number of runs less the number that are
worse, for all runs at once with a probability of at least 95 % (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks"; Al Mohamad,
Goeman and van Zwet 2022). Runs that no test separates share their ranks: "2–5", not "3". benchmarks/rank_coverage.py measures the coverage.
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

from mtl.stats.comparison import LEVEL
from mtl.stats.families import ColumnTests, all_tails, largest_rejected

Column = TypeVar("Column", bound=Hashable)


def rank_intervals(family: Mapping[Column, ColumnTests]) -> dict[Column, list[tuple[int, int]]]:
    """The lowest and the highest rank of each run in each column, 1 for the best, in the order of the tests' runs.

    Args:
        family: by column, the tests of every two of its runs (`mtl.stats.families.family_tests`). Holm's correction is for all columns together.
    """
    largest = largest_rejected(all_tails(family))
    intervals = {}
    for column, tests in family.items():
        # run (first axis) than run (second axis)
        better = (tests.difference > 0) & (tests.tail <= largest) & (tests.p < LEVEL)
        lows, highs = 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
        intervals[column] = list(zip(lows.tolist(), highs.tolist(), strict=True))
    return intervals
