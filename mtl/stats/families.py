"""The tests of every two runs on every column of a leaderboard, which are one family.
Each test has two p-values. That of the test alone is the one of `mtl.stats.comparison`. Holm's correction (`mtl.stats.holm`) needs p-values that are
right far below 5 %, which the few seeds of two runs cannot give. It reads the tail (`mtl.stats.tails`), whose variance over seeds comes from all runs
of the family (`mtl.stats.seed_variance`). A verdict holds if it is one at 5 % alone and its tail is one with Holm's correction.
docs/explanation/intervals-and-tests.md says how and why, and benchmarks/false_verdicts.py counts families with a false verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from mtl.stats.comparison import NEGLIGIBLE, Sample, total_variance
from mtl.stats.rows_variance import RowsVariance, rows_variance
from mtl.stats.seed_variance import Column, Run, SeedVariance, seed_variances
from mtl.stats.tails import tails


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """The tests of every two of some runs on one column. Each array is (runs, runs)."""

    difference: np.ndarray  # × 100, the first run minus the second
    p: np.ndarray  # of the test alone, as `mtl.stats.comparison.compare` computes it
    tail: np.ndarray  # the p-value for Holm's correction


def family_tests(columns: Mapping[Column, Mapping[Run, Sample]]) -> dict[Column, ColumnTests]:
    """The tests of every two runs of each column. The samples of a column's runs are all on the same rows, and all `Sample.is_tested`."""
    over_seeds = seed_variances(columns)
    return {column: _column_tests(list(samples.values()), over_seeds[column]) for column, samples in columns.items()}


def _column_tests(samples: Sequence[Sample], over_seeds: SeedVariance) -> ColumnTests:
    scores = np.array([sample.by_seed.mean() for sample in samples])
    difference = np.subtract.outer(scores, scores)
    over_rows = rows_variance(samples)
    p_alone = _p_alone(samples, difference, over_rows)
    tail = tails(p_alone, difference, over_rows, over_seeds)
    groups = min(row_set.count for row_set in samples[0].means)
    return ColumnTests(difference, _bounded(p_alone, difference, groups), _bounded(tail, difference, groups))


def _p_alone(samples: Sequence[Sample], difference: np.ndarray, over_rows: RowsVariance) -> np.ndarray:
    """The p-values of the tests alone, (runs, runs), as `mtl.stats.comparison.estimate` computes them, but without their lower bound."""
    over_seeds = np.array([sample.seed_variance for sample in samples])  # what the seeds of each run add, (runs,)
    beyond_rows = np.array([max(0.0, sample.seed_variance - sample.counted_with_rows) for sample in samples])
    seeds_freedom = np.array([max(1, len(sample.by_seed) - 1) for sample in samples])
    seeds_denominator = over_seeds**2 / seeds_freedom
    # The variance of each difference, (runs, runs), which sums over the two runs.
    subtracted = over_rows.variance + np.add.outer(beyond_rows, beyond_rows)
    unsubtracted = over_rows.variance + np.add.outer(over_seeds, over_seeds)
    denominator = over_rows.denominator + np.add.outer(seeds_denominator, seeds_denominator)
    variance = total_variance(subtracted, unsubtracted, denominator)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(denominator > 0, variance**2 / denominator, 1.0)
        p_values = 2 * stdtr(freedom, -np.abs(difference) / np.sqrt(variance))
    return np.where(variance > 0, p_values, 0.0)


def _bounded(p_values: np.ndarray, difference: np.ndarray, groups: int) -> np.ndarray:
    """The p-values of the upper half, in both halves, but 1 for equal scores, and not below that of a sign test with one run better on all groups."""
    symmetric = np.triu(p_values) + np.triu(p_values, 1).T  # a matrix product may round its two halves differently
    return np.where(np.abs(difference) < NEGLIGIBLE, 1.0, np.maximum(symmetric, 2.0 ** (1 - groups)))
