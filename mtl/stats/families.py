"""Tests of every two runs on every column at once, which are one family.

Holm's correction (`mtl.stats.holm`) reads small p-values alone, and the seeds of two runs cannot give them. So it reads the tails, which take from
the family what the seeds of one run cannot say; docs/explanation/intervals-and-tests.md says how and why. A verdict holds if it is one at 5 % alone
and its tail is one with Holm's correction. benchmarks/false_verdicts.py counts families with a false verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr, stdtr

from mtl.stats.comparison import NEGLIGIBLE, Sample, bessel, total_variance
from mtl.stats.seed_parts import Column, Run, SeedParts, seed_parts

NODES = 48  # the points at which the mean over χ² is computed
RARE = 1e-12  # the probability of a χ² beyond the nodes, on each side; no smaller p is computed
BLOCK = 2**16  # the most values that are computed at once


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

        Where the variance over seeds is not 0, it is cut at RARE, and Student's t of the rows has `rows_freedom` degrees whatever the share of
        rows is, which errs on the safe side. The t is approximated by the normal distribution (Wallace 1959): by at most 1 % too small for
        ten degrees and more, and 10 % too large down to p = 1e-6."""
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


def family_tests(columns: Mapping[Column, Mapping[Run, Sample]]) -> dict[Column, ColumnTests]:
    """The tests of every two runs of each column, which are one family. The samples of a column's runs are all on the same rows, and all have a
    verdict (`Sample.is_tested`)."""
    parts = seed_parts(columns)
    return {column: _column_tests(list(samples.values()), parts[column]) for column, samples in columns.items()}


def _column_tests(samples: Sequence[Sample], parts: SeedParts) -> ColumnTests:
    """The tests of every two of these runs on one column."""
    scores = np.array([sample.by_seed.mean() for sample in samples])
    difference = scores[:, None] - scores
    rows, spread = rows_variance(samples)
    least = 2.0 ** (1 - min(rows.count for rows in samples[0].means))

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
    for rows in samples[0].means:
        means = np.stack([sample.means[rows] for sample in samples])
        means -= means.mean(axis=1, keepdims=True)
        products = means @ means.T / means.shape[1]
        diagonal = np.diag(products)
        part = bessel(rows) * np.maximum(diagonal[:, None] + diagonal - 2 * products, 0.0)
        variance += part
        spread += part**2 / (rows.count - 1) if rows.count > 1 else 0.0
    return variance, spread


def _p_alone(samples: Sequence[Sample], difference: np.ndarray, rows: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The p-values of the tests alone, (runs, runs), as `mtl.stats.comparison.compare` computes them, but without their lower bound. `rows` and
    `spread` are those of `rows_variance`."""
    seeds = np.array([sample.seed_variance for sample in samples])
    not_counted = np.array([max(0.0, sample.seed_variance - sample.counted_with_rows) for sample in samples])
    seeds_spread = seeds**2 / [max(1, len(sample.by_seed) - 1) for sample in samples]
    spread = spread + (seeds_spread[:, None] + seeds_spread)
    variance = total_variance(rows + (not_counted[:, None] + not_counted), rows + (seeds[:, None] + seeds), spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(spread > 0, variance**2 / spread, 1.0)
        p = 2 * stdtr(freedom, -np.abs(difference) / np.sqrt(variance))
    return np.where(variance > 0, p, 0.0)
