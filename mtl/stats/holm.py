"""Holm's correction (1979) of a family's tests, and the ranks that the tests leave open: the probability of even one false verdict is at most 5 %."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from mtl.stats.comparison import LEVEL, PairTest
from mtl.stats.families import Column, ColumnTests

Key = TypeVar("Key", bound=Hashable)


def with_holm(
    tests: Mapping[Key, PairTest], tails: Mapping[Key, float], family_tails: np.ndarray
) -> dict[Key, PairTest]:
    """The tests with Holm's step-down correction (1979) of their tails: the probability that any of the verdicts is false is at most 5 %. The
    corrected p is never below that of the test alone. `tails` has the tail of each test with a p, `family_tails` those of all tests that count."""
    ordered = np.sort(family_tails)
    corrected = _stepped_down(ordered)
    holm = {key: float(corrected[np.searchsorted(ordered, tail)]) for key, tail in tails.items()}
    with_p = {key: replace(test, p_holm=max(test.p, holm[key])) for key, test in tests.items() if test.p is not None}
    return {**tests, **with_p}


def all_tails(family: Mapping[Column, ColumnTests]) -> np.ndarray:
    """The tails of every two runs of all columns, (tests,)."""
    tails = [tests.tail[np.triu_indices(len(tests.tail), 1)] for tests in family.values()]
    return np.concatenate([*tails, np.empty(0)])


def largest_rejected(tails: np.ndarray) -> float:
    """The largest tail whose verdict holds with Holm's correction for all of these tests; -1 if none does."""
    ordered = np.sort(tails)
    rejected = int(np.searchsorted(_stepped_down(ordered), LEVEL))
    return float(ordered[rejected - 1]) if rejected else -1.0


def rank_intervals(family: Mapping[Column, ColumnTests]) -> dict[Column, list[tuple[int, int]]]:
    """The lowest and the highest rank of each run in each column, 1 for the best, in the order of the tests' runs: 1 plus the number of runs that are
    better than it, and the number of runs less the number that are worse, with Holm's correction for all columns together (Mogstad, Romano, Shaikh
    and Wilhelm 2024, "Inference for ranks"). benchmarks/rank_coverage.py measures how often the true ranks lie between."""
    largest = largest_rejected(all_tails(family))
    intervals = {}
    for column, tests in family.items():
        # Whether the run of the first axis is better than the run of the second axis.
        better = (tests.difference > 0) & (tests.tail <= largest) & (tests.p < LEVEL)
        lows, highs = 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
        intervals[column] = list(zip(lows.tolist(), highs.tolist(), strict=True))
    return intervals


def _stepped_down(ordered: np.ndarray) -> np.ndarray:
    """Holm's correction of p-values in ascending order."""
    return np.minimum(1.0, np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1)))
