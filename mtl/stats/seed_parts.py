"""What seeds add to the variance of each run's score, as a whole family of runs lets it be estimated: the seeds of one run are few."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mtl.stats.comparison import Sample

PRIOR_FREEDOM = 8.0  # with 16, runs with unlike spreads and numbers of seeds have false verdicts in 6 % of the families

Run = TypeVar("Run", bound=Hashable)
Column = TypeVar("Column", bound=Hashable)


@dataclass(frozen=True, eq=False)
class SeedParts:
    """What seeds add to the variance of each run's mean on one column, each array (runs,)."""

    variance: np.ndarray  # S² / n as the family estimates it; 0 for a run without a variance over seeds
    counted: np.ndarray  # I, the part of it that the variance over rows includes
    freedom: np.ndarray  # the degrees of freedom of S²; infinite for a run without a variance over seeds

    def of_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The variance, its degrees of freedom and the counted part of every two runs together, each (runs, runs). The degrees of freedom are the
        fewer ones: a variance of the other run that is known better does not make this one's known."""
        freedom = np.minimum(self.freedom[:, None], self.freedom)
        return self.variance[:, None] + self.variance, freedom, self.counted[:, None] + self.counted


def seed_parts(columns: Mapping[Column, Mapping[Run, Sample]]) -> dict[Column, SeedParts]:
    """The variance over seeds of each run on each column, as the family estimates it."""
    priors = {column: _prior(list(by_run.values())) for column, by_run in columns.items()}
    excess = _excess(columns, priors)
    return {
        column: _column_parts(by_run.values(), priors[column], [excess.get(run, 1.0) for run in by_run])
        for column, by_run in columns.items()
    }


@dataclass(frozen=True, eq=False)
class Prior:
    """What the seeds of a column's other runs let expect of each run's S², each array (runs,); 0 without others."""

    variance: np.ndarray  # the S² to expect
    freedom: np.ndarray  # the degrees of freedom of this expectation


def _prior(samples: Sequence[Sample]) -> Prior:
    """The prior of each run. Runs differ in the errors of single seeds, which resamples tell. The rest of S², by which some seeds are better on all
    rows, is pooled."""
    freedom = np.array([(len(sample.by_seed) - 1) * sample.varies for sample in samples], dtype=np.float64)
    errors = np.array([len(sample.by_seed) * sample.counted_with_rows for sample in samples])
    skill = freedom * ([sample.variance for sample in samples] - errors)
    # For each run, the sums over all other runs.
    others_freedom = freedom.sum() - freedom
    others_count = np.count_nonzero(freedom) - (freedom > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(0.0, (skill.sum() - skill) / others_freedom) + errors
        prior = 1 / (1 / PRIOR_FREEDOM + 1 / (PRIOR_FREEDOM * others_count) + 1 / others_freedom)
    has_prior = (freedom > 0) & (others_freedom > 0)
    return Prior(np.where(has_prior, variance, 0.0), np.where(has_prior, prior, 0.0))


def _excess(columns: Mapping[Column, Mapping[Run, Sample]], priors: Mapping[Column, Prior]) -> dict[Run, float]:
    """How many times its expected S² each run has, summed over columns, but at least 1. Each column's S² count relative to their median in it."""
    observed: dict[Run, float] = defaultdict(float)
    expected: dict[Run, float] = defaultdict(float)
    for column, by_run in columns.items():
        scale = float(np.median([sample.variance for sample in by_run.values() if sample.varies] or [0.0])) or 1.0
        prior = priors[column]
        for (run, sample), variance, freedom in zip(by_run.items(), prior.variance, prior.freedom, strict=True):
            if freedom:
                observed[run] += sample.variance / scale
                expected[run] += float(variance) / scale
    return {run: max(1.0, observed[run] / expected[run]) for run in expected if expected[run]}


def _column_parts(samples: Collection[Sample], prior: Prior, excess: Sequence[float]) -> SeedParts:
    """What seeds add to the variance of the runs of one column, with their prior and their excess (`_excess`)."""
    seeds = np.array([len(sample.by_seed) for sample in samples])
    varies = np.array([sample.varies for sample in samples])
    alone = np.array([sample.variance for sample in samples])
    # The more a run's S² exceeds the others', the less they say about it.
    share = np.divide(prior.variance, alone, out=np.ones_like(alone), where=alone > prior.variance)
    return SeedParts(
        np.where(varies, np.maximum(alone, prior.variance * excess) / seeds, 0.0),
        np.where(varies, [sample.counted_with_rows for sample in samples], 0.0),
        np.where(varies, prior.freedom * share + seeds - 1, np.inf),
    )
