"""The interval of a run's rank among runs that were tested against each other.

A run's rank is 1 plus the number of runs whose expected score is higher. With pairwise tests of which even one errs with a probability of at most 5 %
(Holm's correction), the true rank lies between 1 plus the number of runs that are better than it and the number of runs less the number that are
worse, for all runs at once with a probability of at least 95 % (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks"; Al Mohamad,
Goeman and van Zwet 2022). Runs that no test separates share their ranks: "2–5", not "3". benchmarks/rank_coverage.py measures the coverage.
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

from mtl.stats.comparison import Comparison

Run = TypeVar("Run", bound=Hashable)


def rank_intervals(comparisons: Mapping[tuple[Run, Run], Comparison]) -> dict[Run, tuple[int, int]]:
    """The lowest and the highest rank of each run, 1 for the best.

    Args:
        comparisons: by pair (first minus second), with Holm's correction. Pairs without a verdict, as of runs with too few seeds, do not count.

    Returns:
        the intervals of the runs that were tested against each other one; none if a pair of the tested runs is missing.
    """
    tested = {pair: comparison for pair, comparison in comparisons.items() if comparison.p_holm is not None}
    runs = list(dict.fromkeys(run for pair in tested for run in pair))
    if len(tested) < len(runs) * (len(runs) - 1) // 2:
        return {}
    better, worse = dict.fromkeys(runs, 0), dict.fromkeys(runs, 0)  # how many runs are better than it, and worse
    for (one, other), comparison in tested.items():
        if comparison.holds:
            winner, loser = (one, other) if comparison.difference > 0 else (other, one)
            worse[winner] += 1
            better[loser] += 1
    return {run: (1 + better[run], len(runs) - worse[run]) for run in runs}
