"""What rows add to the variance of the difference of every two runs of a column (`mtl.stats.families`)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mtl.stats.comparison import Sample, bessel


@dataclass(frozen=True, eq=False)
class RowsVariance:
    """The variance over rows of the difference × 100 of every two runs. Each array is (runs, runs)."""

    variance: np.ndarray  # V, the sum of the parts v that the sets of rows give, each with f degrees of freedom
    denominator: np.ndarray  # Σ v² / f over these parts

    @property
    def freedom(self) -> np.ndarray:
        """The degrees of freedom of V (Satterthwaite); infinite where no part has any."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.denominator > 0, self.variance**2 / self.denominator, np.inf)


def rows_variance(samples: Sequence[Sample]) -> RowsVariance:
    """The variance over rows of every two of these runs, which are all on the same sets of rows."""
    variance = np.zeros((len(samples), len(samples)))
    denominator = np.zeros_like(variance)
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
