"""The tests of every two runs on every column of a leaderboard, which are one family.
Each test has two p-values. That of the test alone is the one of `mtl.stats.comparison`. Holm's correction (`mtl.stats.holm`) needs p-values that are
right far below 5 %, which the few seeds of two runs cannot give. It reads the tail, whose variance over seeds comes from all runs of the family
(`mtl.stats.seed_variance`). A verdict holds if it is one at 5 % alone and its tail is one with Holm's correction.
docs/explanation/intervals-and-tests.md says how and why, and benchmarks/false_verdicts.py counts families with a false verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr, stdtr

from mtl.stats.comparison import NEGLIGIBLE, Sample, bessel, total_variance
from mtl.stats.seed_variance import Column, Run, SeedVariance, seed_variances

NODES = 48  # the number of possible variances over seeds that a tail is the mean over
RARE = 1e-12  # the probability of a χ² below the nodes, and of one above them; no tail is smaller
NORMAL_FREEDOM = 1e8  # with so many degrees of freedom, Student's t is normal
BLOCK = 2**16  # the most pairs of runs whose tails are computed at once, as each pair has NODES numbers


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """The tests of every two of some runs on one column. Each array is (runs, runs)."""

    difference: np.ndarray  # × 100, the first run minus the second
    p: np.ndarray  # of the test alone, as `mtl.stats.comparison.compare` computes it
    tail: np.ndarray  # the p-value for Holm's correction


@dataclass(frozen=True, eq=False)
class RowsVariance:
    """The variance over rows of the difference × 100 of every two runs. Each array is (runs, runs)."""

    variance: np.ndarray  # V, the sum of the parts v that the sets of rows give, each with f degrees of freedom
    denominator: np.ndarray  # Σ v² / f over these parts; V² over it are the degrees of freedom of V (Satterthwaite)


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
    over_seeds = np.array([sample.seed_variance for sample in samples])
    beyond_rows = np.array([max(0.0, sample.seed_variance - sample.counted_with_rows) for sample in samples])
    seeds_freedom = np.array([max(1, len(sample.by_seed) - 1) for sample in samples])
    seeds_denominator = over_seeds**2 / seeds_freedom
    subtracted = over_rows.variance + np.add.outer(beyond_rows, beyond_rows)  # of each difference, (runs, runs)
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


def rows_variance(samples: Sequence[Sample]) -> RowsVariance:
    """The variance over rows of every two of these runs, which are all on the same sets of rows."""
    variance, denominator = np.zeros((2, len(samples), len(samples)))
    for row_set in samples[0].means:
        deviations = np.stack([sample.means[row_set] for sample in samples])  # of runs over resamples
        deviations -= deviations.mean(axis=1, keepdims=True)
        covariances = deviations @ deviations.T / deviations.shape[1]
        run_variances = np.diag(covariances)
        # A difference has the sum of the two variances less twice the covariance, which rounding may make negative.
        part = bessel(row_set) * np.maximum(np.add.outer(run_variances, run_variances) - 2 * covariances, 0.0)
        variance += part
        if row_set.count > 1:
            denominator += part**2 / (row_set.count - 1)
    return RowsVariance(variance, denominator)


def tails(p_alone: np.ndarray, difference: np.ndarray, over_rows: RowsVariance, over_seeds: SeedVariance) -> np.ndarray:
    """The tails of the tests, (runs, runs), in the upper half. Two runs without a variance over seeds have `p_alone`, that of the test alone.
    The true variance over seeds may be its estimate times the degrees of freedom over a χ². The tail is the mean of p over all these variances (the
    Behrens-Fisher solution, which errs on the safe side), and at least RARE."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rows_freedom = np.where(over_rows.denominator > 0, over_rows.variance**2 / over_rows.denominator, np.inf)
    seeds_freedom = np.minimum.outer(over_seeds.freedom, over_seeds.freedom)
    seeds_variance = np.add.outer(over_seeds.variance, over_seeds.variance)
    counted_with_rows = np.add.outer(over_seeds.counted, over_seeds.counted)
    first_runs, second_runs = np.nonzero(np.triu(seeds_variance > 0, 1))
    tail = p_alone.copy()
    for start in range(0, len(first_runs), BLOCK):
        pairs = first_runs[start : start + BLOCK], second_runs[start : start + BLOCK]
        factors, weights = _possible_factors(seeds_freedom[pairs])  # (NODES, pairs), as all that follows from them
        beyond_rows = np.maximum(0.0, factors * seeds_variance[pairs] - counted_with_rows[pairs])
        variances = over_rows.variance[pairs] + beyond_rows
        with np.errstate(divide="ignore", invalid="ignore"):
            quotients = _as_normal(difference[pairs] ** 2 / variances, rows_freedom[pairs])
        tail[pairs] = np.maximum(RARE, (weights * 2 * ndtr(-quotients)).sum(axis=0))
    return tail


def _possible_factors(freedom: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factors from an estimated variance to the true one, the degrees of freedom over a χ², and their weights: both (NODES, pairs)."""
    # The trapezoidal rule on x, the logarithm of half the χ², whose density is e^(half_freedom · x - e^x) up to a factor.
    half_freedom = freedom / 2
    lowest, highest = np.log(gammaincinv(half_freedom, RARE)), np.log(gammainccinv(half_freedom, RARE))
    nodes = np.linspace(lowest, highest, NODES)
    density = np.exp(half_freedom * (nodes - np.log(half_freedom) + 1) - np.exp(nodes))
    return half_freedom * np.exp(-nodes), density / density.sum(axis=0)


def _as_normal(squared: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """For squared values of Student's t, the normally distributed values that are as rare (Wallace 1959).
    Their p is at most 1 % too small for ten degrees of freedom and more, and 10 % too large down to p = 1e-6. The degrees of freedom are those of the
    rows although the variance is that of seeds, too: this errs on the safe side."""
    values = (8 * freedom + 1) / (8 * freedom + 3) * np.sqrt(freedom * np.log1p(squared / freedom))
    return np.where(freedom < NORMAL_FREEDOM, values, np.sqrt(squared))
