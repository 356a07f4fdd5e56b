"""Tests of every two runs on every column at once, which are one family.
Holm's correction (`mtl.stats.holm`) reads small p-values alone, and the seeds of two runs cannot give them. So it reads the tails, which take from
the family what the seeds of one run cannot say; docs/explanation/intervals-and-tests.md says how and why. A verdict holds if it is one at 5 % alone
and its tail is one with Holm's correction. benchmarks/false_verdicts.py counts families with a false verdict."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr, stdtr

from mtl.stats.comparison import NEGLIGIBLE, Sample, bessel, total_variance

PRIOR_FREEDOM = 8.0  # with 16, runs with unlike spreads and numbers of seeds have false verdicts in 6 % of the families
NODES = 48  # the points at which the mean over χ² is computed
RARE = 1e-12  # the probability of a χ² beyond the nodes, on each side; no smaller p is computed
BLOCK = 2**16  # the most values that are computed at once

Run = TypeVar("Run", bound=Hashable)
Column = TypeVar("Column", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Variance:
    """The variance of differences × 100, in the parts of rows and of seeds, each array (values,)."""

    rows: np.ndarray  # over rows
    rows_freedom: np.ndarray  # the degrees of freedom of `rows`
    seeds: np.ndarray  # over seeds
    seeds_freedom: np.ndarray  # the degrees of freedom of `seeds`; not read where it is 0
    counted: np.ndarray  # the part of `seeds` that `rows` includes

    def p(self, values: np.ndarray) -> np.ndarray:
        """The probability of a value at least as far from 0 if 0 is expected, (values,). Without a variance it is 0.
        With a variance over seeds, it is cut at RARE, and Student's t of the rows has `rows_freedom` degrees, which errs on the safe side. The t is
        approximated by the normal distribution (Wallace 1959): at most 1 % too small for ten degrees and more, 10 % too large down to p = 1e-6."""
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
        seeds = np.maximum(0.0, half * np.exp(-logarithm) * self.seeds - self.counted)
        return self.rows + seeds, weights / weights.sum(axis=0)


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """The tests of every two of some runs on one column, each array (runs, runs)."""

    difference: np.ndarray  # × 100, each run (first axis) minus each other one (second axis)
    p: np.ndarray  # of the test alone, as `mtl.stats.comparison.compare` computes it
    tail: np.ndarray  # the p-value for Holm's correction


@dataclass(frozen=True, eq=False)
class SeedParts:
    """What seeds add to the variance of each run's mean on one column, each array (runs,)."""

    variance: np.ndarray  # S² / n as the family estimates it; 0 for a run without a variance over seeds
    counted: np.ndarray  # I, the part of it that the variance over rows includes
    freedom: np.ndarray  # the degrees of freedom of S²; infinite for a run without a variance over seeds

    def of_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The variance, its degrees of freedom (the fewer ones) and the counted part of every two runs together, each (runs, runs)."""
        freedom = np.minimum(self.freedom[:, None], self.freedom)
        return self.variance[:, None] + self.variance, freedom, self.counted[:, None] + self.counted


def family_tests(columns: Mapping[Column, Mapping[Run, Sample]]) -> dict[Column, ColumnTests]:
    """The tests of every two runs of each column. The samples of a column's runs are all on the same rows, and all `Sample.is_tested`."""
    parts = seed_parts(columns)
    return {column: _column_tests(list(samples.values()), parts[column]) for column, samples in columns.items()}


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
    """The prior of each run: the errors of its single seeds, which resamples tell, and the rest of S², which is pooled."""
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


def _column_tests(samples: Sequence[Sample], parts: SeedParts) -> ColumnTests:
    """The tests of every two of these runs on one column."""
    scores = np.array([sample.by_seed.mean() for sample in samples])
    difference = scores[:, None] - scores
    rows, spread = rows_variance(samples)
    least = 2.0 ** (1 - min(row_set.count for row_set in samples[0].means))

    def bounded(p: np.ndarray) -> np.ndarray:
        """p, but not below that of a sign test in which one run is better on every group, and 1 for equal scores."""
        return np.where(np.abs(difference) < NEGLIGIBLE, 1.0, np.maximum(p, least))

    p = bounded(_p_alone(samples, difference, rows, spread))
    upper = np.triu_indices(len(p), 1)
    p.T[upper] = p[upper]  # a matrix product may round its two halves differently
    with np.errstate(divide="ignore", invalid="ignore"):
        rows_freedom = np.where(spread > 0, rows**2 / spread, np.inf)
    variance, freedom, counted = parts.of_pairs()
    pairs = np.triu(variance > 0, 1)
    variances = Variance(rows[pairs], rows_freedom[pairs], variance[pairs], freedom[pairs], counted[pairs])
    tail = p.copy()
    tail[pairs] = tail.T[pairs] = variances.p(difference[pairs])
    return ColumnTests(difference, p, bounded(tail))


def rows_variance(samples: Sequence[Sample]) -> tuple[np.ndarray, np.ndarray]:
    """The variance of each difference over rows, and Σ v² / f, both (runs, runs): v is the part of a set of rows, and f its degrees of freedom."""
    variance = np.zeros((len(samples), len(samples)))
    spread = np.zeros_like(variance)
    for row_set in samples[0].means:
        means = np.stack([sample.means[row_set] for sample in samples])
        means -= means.mean(axis=1, keepdims=True)
        products = means @ means.T / means.shape[1]
        diagonal = np.diag(products)
        part = bessel(row_set) * np.maximum(diagonal[:, None] + diagonal - 2 * products, 0.0)
        variance += part
        spread += part**2 / (row_set.count - 1) if row_set.count > 1 else 0.0
    return variance, spread


def _p_alone(samples: Sequence[Sample], difference: np.ndarray, rows: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The p-values of the tests alone, (runs, runs), but without their lower bound. `rows` and `spread` are those of `rows_variance`."""
    seeds = np.array([sample.seed_variance for sample in samples])
    not_counted = np.array([max(0.0, sample.seed_variance - sample.counted_with_rows) for sample in samples])
    seeds_spread = seeds**2 / [max(1, len(sample.by_seed) - 1) for sample in samples]
    spread = spread + (seeds_spread[:, None] + seeds_spread)
    variance = total_variance(rows + (not_counted[:, None] + not_counted), rows + (seeds[:, None] + seeds), spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(spread > 0, variance**2 / spread, 1.0)
        p = 2 * stdtr(freedom, -np.abs(difference) / np.sqrt(variance))
    return np.where(variance > 0, p, 0.0)
