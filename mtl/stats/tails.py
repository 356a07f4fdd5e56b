"""The tails of the tests of a family (`mtl.stats.families`): p-values that are right far below 5 %, for Holm's correction.
The estimate of a variance over seeds is uncertain: the true one may be the estimate times its degrees of freedom over a χ². A tail is the mean of p
over all these variances (the Behrens-Fisher solution, which errs on the safe side)."""

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr

from mtl.stats.rows_variance import RowsVariance
from mtl.stats.seed_variance import SeedVariance

NODES = 48  # the number of possible variances over seeds that a tail is the mean over
RARE = 1e-12  # the probability of a χ² below the nodes, and of one above them; no tail is smaller
NORMAL_FREEDOM = 1e8  # with so many degrees of freedom, Student's t is normal
BLOCK = 2**16  # the most pairs of runs whose tails are computed at once, as each pair has NODES numbers


def tails(p_alone: np.ndarray, difference: np.ndarray, over_rows: RowsVariance, over_seeds: SeedVariance) -> np.ndarray:
    """The tails of the tests, (runs, runs), in the upper half. Two runs without a variance over seeds have `p_alone`, that of the test alone."""
    tail = p_alone.copy()
    over_both_seeds = _of_differences(over_seeds)
    rows_freedom = over_rows.freedom
    first_runs, second_runs = np.nonzero(np.triu(over_both_seeds.variance > 0, 1))
    for start in range(0, len(first_runs), BLOCK):
        pairs = first_runs[start : start + BLOCK], second_runs[start : start + BLOCK]
        # The possible variances, and what follows from them, are (NODES, pairs).
        factors, weights = _possible_factors(over_both_seeds.freedom[pairs])
        beyond_rows = np.maximum(0.0, factors * over_both_seeds.variance[pairs] - over_both_seeds.counted[pairs])
        variances = over_rows.variance[pairs] + beyond_rows
        with np.errstate(divide="ignore", invalid="ignore"):
            quotients = _as_normal(difference[pairs] ** 2 / variances, rows_freedom[pairs])
        tail[pairs] = np.maximum(RARE, (weights * 2 * ndtr(-quotients)).sum(axis=0))
    return tail


def _of_differences(over_seeds: SeedVariance) -> SeedVariance:
    """What seeds add to the variance of the difference of every two runs: the same facts, but each array is (runs, runs)."""
    return SeedVariance(
        variance=np.add.outer(over_seeds.variance, over_seeds.variance),
        counted=np.add.outer(over_seeds.counted, over_seeds.counted),
        freedom=np.minimum.outer(over_seeds.freedom, over_seeds.freedom),
    )


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
