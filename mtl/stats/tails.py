"""The p-values of differences between runs that Holm's correction reads (`mtl.stats.holm`): their tails, which must be right far below 5 %.

With a known variance, a difference divided by its standard error is normally distributed. The variance over seeds is an estimate from few seeds: the
true one may be the estimate times its degrees of freedom over a χ². A tail is the mean of the p-values over all variances that are possible so (the
Behrens-Fisher solution, which errs on the safe side). docs/explanation/intervals-and-tests.md names the sources."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr

NODES = 48  # the number of possible variances that the mean is computed over
RARE = 1e-12  # the probability of a χ² below the nodes, and of one above them; no tail is smaller
NORMAL_FREEDOM = 1e8  # with so many degrees of freedom, Student's t is normal


@dataclass(frozen=True, eq=False)
class DifferenceVariance:
    """The variance of differences × 100 between two runs, in the parts of rows and of seeds. Each array is (differences,)."""

    rows: np.ndarray  # the variance over rows
    rows_freedom: np.ndarray  # its degrees of freedom; infinite without a variance over rows
    seeds: np.ndarray  # the variance over seeds, which is above 0
    seeds_freedom: np.ndarray  # its degrees of freedom
    counted: np.ndarray  # the part of `seeds` that `rows` includes


def tails(differences: np.ndarray, variance: DifferenceVariance) -> np.ndarray:
    """The probability of a difference at least as far from 0 as each of these if 0 is expected, but at least RARE: (differences,)."""
    factors, weights = _possible_factors(variance.seeds_freedom)
    possible_variances = variance.rows + np.maximum(0.0, factors * variance.seeds - variance.counted)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = _as_normal(differences**2 / possible_variances, variance.rows_freedom)
    return np.maximum(RARE, (weights * 2 * ndtr(-quotients)).sum(axis=0))


def _possible_factors(freedom: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factors from an estimated variance to the true one, the degrees of freedom over a χ², and their weights: both (NODES, differences)."""
    # The trapezoidal rule on the logarithm of half the χ², whose density is e^(half · x - e^x) up to a factor.
    half = freedom / 2
    lowest, highest = np.log(gammaincinv(half, RARE)), np.log(gammainccinv(half, RARE))
    logarithms = np.linspace(lowest, highest, NODES)
    density = np.exp(half * (logarithms - np.log(half) + 1) - np.exp(logarithms))
    return half * np.exp(-logarithms), density / density.sum(axis=0)


def _as_normal(squared: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """For squared values of Student's t, the normally distributed values that are as rare (Wallace 1959).
    Their p is at most 1 % too small for ten degrees of freedom and more, and 10 % too large down to p = 1e-6. The degrees of freedom are those of the
    rows although the variance is that of seeds, too: this errs on the safe side."""
    values = (8 * freedom + 1) / (8 * freedom + 3) * np.sqrt(freedom * np.log1p(squared / freedom))
    return np.where(freedom < NORMAL_FREEDOM, values, np.sqrt(squared))
