"""The probability of a large difference by chance, where its variance has a part of rows and a part of seeds.

Both parts are estimates. That of rows has as many degrees of freedom as there are groups of rows, less one; that of seeds often has two to four.
So the probability of a value is the mean over what the variance over seeds may be: its estimate times its degrees of freedom over a χ², less
what the variance over rows includes. This is the Behrens-Fisher solution, which errs on the safe side where two variances are unequal (Robinson 1976,
"Properties of Student's t and of the Behrens-Fisher solution to the two means problem"). Satterthwaite's degrees of freedom, as in Welch's
test, do not: where the scores of a run's few seeds are nearly equal by chance, they are those of the rows, and a difference looks certain.

With one part alone, the distribution is Student's t.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr, stdtr

NODES = 48  # of the mean over χ²
RARE = 1e-12  # the probability of a χ² beyond the nodes, on each side; no smaller p is computed
BLOCK = 2**16  # the most values that are computed at once


@dataclass(frozen=True, eq=False)
class Variance:
    """The variance of differences × 100, each array (values,).

    Args:
        rows: over rows.
        rows_freedom: the degrees of freedom of `rows`.
        seeds: over seeds.
        seeds_freedom: the degrees of freedom of `seeds`; not read where it is 0.
        counted: the part of `seeds` that `rows` includes.
    """

    rows: np.ndarray
    rows_freedom: np.ndarray
    seeds: np.ndarray
    seeds_freedom: np.ndarray
    counted: np.ndarray

    def p(self, values: np.ndarray) -> np.ndarray:
        """The probability of a value at least as far from 0 if 0 is expected, (values,). Without a variance it is 0.

        Where the variance over seeds is not 0, it is cut at RARE, and Student's t of the rows has `rows_freedom` degrees whatever the share of
        rows is, which errs on the safe side. The t is approximated by the normal distribution (Wallace 1959): by at most 1 % too small for
        ten degrees and more, and 10 % too large down to p = 1e-6.
        """
        if len(values) > BLOCK:
            arrays = self.rows, self.rows_freedom, self.seeds, self.seeds_freedom, self.counted
            parts = [slice(start, start + BLOCK) for start in range(0, len(values), BLOCK)]
            return np.concatenate([Variance(*(array[part] for array in arrays)).p(values[part]) for part in parts])
        distance = np.abs(values)
        variances, weights = self._mixture
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = np.where(self.rows > 0, 2 * stdtr(self.rows_freedom, -distance / np.sqrt(self.rows)), 0.0)
            squared, freedom = distance**2 / variances, self.rows_freedom
            wallace = (8 * freedom + 1) / (8 * freedom + 3) * np.sqrt(freedom * np.log1p(squared / freedom))
            normal = np.where((self.rows > 0) & (freedom < 1e8), wallace, np.sqrt(squared))
        return np.where(self.seeds > 0, np.maximum(RARE, (weights * 2 * ndtr(-normal)).sum(axis=0)), alone)

    @cached_property
    def _mixture(self) -> tuple[np.ndarray, np.ndarray]:
        """What the whole variance may be, and with which weight, both (NODES, values)."""
        # The trapezoidal rule on the logarithm of half the χ², whose density is e^(half · x - e^x) up to a factor.
        half = np.where(self.seeds > 0, self.seeds_freedom, 2.0) / 2
        low, high = np.log(gammaincinv(half, RARE)), np.log(gammainccinv(half, RARE))
        logarithm = np.linspace(low, high, NODES)
        weights = np.exp(half * (logarithm - np.log(half) + 1) - np.exp(logarithm))
        of_seeds = np.maximum(0.0, half * np.exp(-logarithm) * self.seeds - self.counted)
        return self.rows + of_seeds, weights / weights.sum(axis=0)
