"""What seeds add to the variance of runs' means, estimated from the seeds of all runs of a family (`mtl.stats.families`).
The few seeds of one run may have nearly equal scores by chance. So the seeds of the other runs on the same column count, too:
1. They say which S² to expect of the run: its prior.
2. Where the seeds of a run differ more than its priors say, over all columns together, each of its priors is multiplied by this excess.
3. S² of the run is that of its seeds or its prior, whichever is larger. It has more degrees of freedom than those of the run's seeds alone.
A run without a variance over seeds, by `Sample.varies`, has none here, and says nothing about other runs."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mtl.stats.comparison import Sample

PRIOR_FREEDOM = 8.0  # with 16, runs with unlike spreads and numbers of seeds have false verdicts in 6 % of the families

Run = TypeVar("Run", bound=Hashable)
Column = TypeVar("Column", bound=Hashable)


@dataclass(frozen=True, eq=False)
class SeedVariance:
    """What seeds add to the variance of each run's mean on one column. Each array is (runs,)."""

    variance: np.ndarray  # S² / n; 0 for a run without a variance over seeds
    counted: np.ndarray  # I, the part of it that the variance over rows includes
    freedom: np.ndarray  # the degrees of freedom of S²; infinite for a run without a variance over seeds


@dataclass(frozen=True, eq=False)
class Prior:
    """What the seeds of a column's other runs let expect of each run's S². Each array is (runs,), and 0 where nothing does."""

    variance: np.ndarray  # the S² to expect
    freedom: np.ndarray  # the degrees of freedom of this expectation


def seed_variances(columns: Mapping[Column, Mapping[Run, Sample]]) -> dict[Column, SeedVariance]:
    """The variance over seeds of each run on each column, from the runs' samples by column."""
    priors = {column: _prior(list(samples.values())) for column, samples in columns.items()}
    excess = _excess(columns, priors)
    variances = {}
    for column, samples in columns.items():
        raised = priors[column].variance * [excess.get(run, 1.0) for run in samples]
        variances[column] = _seed_variance(list(samples.values()), priors[column], raised)
    return variances


def _prior(samples: Sequence[Sample]) -> Prior:
    """The prior of each run: the errors of its single seeds, which its resamples tell, and the rest of S², pooled over the other runs."""
    freedom = np.array([len(sample.by_seed) - 1 if sample.varies else 0 for sample in samples], dtype=np.float64)
    errors = np.array([len(sample.by_seed) * sample.counted_with_rows for sample in samples])
    rest = freedom * (np.array([sample.variance for sample in samples]) - errors)
    # For each run, the sums over all other runs.
    others = np.count_nonzero(freedom) - (freedom > 0)
    others_freedom = freedom.sum() - freedom
    others_rest = rest.sum() - rest
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(0.0, others_rest / others_freedom) + errors
        # The others' own degrees of freedom, but at most PRIOR_FREEDOM of each run, and of all: a run need not be like them.
        prior_freedom = 1 / (1 / PRIOR_FREEDOM + 1 / (PRIOR_FREEDOM * others) + 1 / others_freedom)
    has_prior = (freedom > 0) & (others_freedom > 0)
    return Prior(np.where(has_prior, variance, 0.0), np.where(has_prior, prior_freedom, 0.0))


def _excess(columns: Mapping[Column, Mapping[Run, Sample]], priors: Mapping[Column, Prior]) -> dict[Run, float]:
    """For each run with a prior, S² of its seeds over that of its priors, both summed over columns, but at least 1."""
    observed: dict[Run, float] = defaultdict(float)
    expected: dict[Run, float] = defaultdict(float)
    for column, samples in columns.items():
        variances = [sample.variance for sample in samples.values() if sample.varies]
        scale = float(np.median(variances or [0.0])) or 1.0  # so that no column weighs more than another
        prior = priors[column]
        for number, (run, sample) in enumerate(samples.items()):
            if prior.freedom[number] > 0:
                observed[run] += sample.variance / scale
                expected[run] += float(prior.variance[number]) / scale
    return {run: max(1.0, observed[run] / expected[run]) for run in expected if expected[run]}


def _seed_variance(samples: Sequence[Sample], prior: Prior, raised: np.ndarray) -> SeedVariance:
    """The variance over seeds of the runs of one column. `raised` are the S² of the prior times the excess of each run."""
    seeds = np.array([len(sample.by_seed) for sample in samples])
    varies = np.array([sample.varies for sample in samples])
    alone = np.array([sample.variance for sample in samples])
    # The more S² of a run's seeds exceeds that of the other runs, the less these say about it.
    similarity = np.divide(prior.variance, alone, out=np.ones_like(alone), where=alone > prior.variance)
    return SeedVariance(
        np.where(varies, np.maximum(alone, raised) / seeds, 0.0),
        np.where(varies, [sample.counted_with_rows for sample in samples], 0.0),
        np.where(varies, prior.freedom * similarity + seeds - 1, np.inf),
    )
