"""The uncertainty of a score, or of the difference between two runs: standard errors, intervals, p-values and verdicts.
The quantity of interest is the score that a configuration is expected to have with another seed, on other rows of the same kind; its estimate is
the mean over seeds. docs/explanation/intervals-and-tests.md has the formulas, whose names the code has: S², I and V. Many tests at once need
more than these p-values: `mtl.stats.families`. benchmarks/false_verdicts.py measures how often equal configurations get better or worse."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from mtl.stats.resampling import RowSet

COVERAGE = 95.0  # of an interval, in per cent
LEVEL = 1 - COVERAGE / 100  # the significance level of a test
LEAST_SEEDS = 3  # the number of seeds that each run needs for a verdict
FREEDOM = 5.8  # the degrees of freedom f at which t(f) ∜f is smallest, with t(f) the 97.5 % quantile of Student's t; f grows with V²
NEGLIGIBLE = 1e-6  # a difference × 100 that may come from rounding
SAME = 0.01  # a standard deviation × 100 of seeds that give the same answers but for a few rows, as of an SVM's solver

# What tasks contribute to a score × 100 of each seed on each resample, (seeds, RESAMPLES), by their set of scored rows.
Resampled = Mapping[RowSet, np.ndarray]


@dataclass(frozen=True, eq=False)
class Sample:
    """A run's scores × 100 on one task, or their average over tasks: what estimates and tests need."""

    by_seed: np.ndarray  # (seeds,), on the scored rows
    # For each set of scored rows, the mean over seeds of what its tasks contribute to the score on each resample, (RESAMPLES,).
    means: Mapping[RowSet, np.ndarray]
    counted_with_rows: float  # I, the part of S² / n that the variance over rows already includes
    # Whether the scores are those of one system, not of a configuration with one of many seeds: no variance over seeds is missing.
    is_one_system: bool = False

    @property
    def is_tested(self) -> bool:
        """Whether tests have a verdict: of one system, and of a configuration with three or more seeds."""
        return self.is_one_system or len(self.by_seed) >= LEAST_SEEDS

    @cached_property
    def variance(self) -> float:
        """S², for three or more seeds. Fewer seeds are too few to estimate it, and it counts as 0."""
        return float(self.by_seed.var(ddof=1)) if len(self.by_seed) >= LEAST_SEEDS else 0.0

    @property
    def seed_variance(self) -> float:
        """S² / n."""
        return self.variance / len(self.by_seed)

    @property
    def varies(self) -> bool:
        """Whether seeds differ, in their scores or in the rows that they answer right: not those of a method without randomness."""
        errors = len(self.by_seed) * self.counted_with_rows
        return len(self.by_seed) >= LEAST_SEEDS and max(self.variance, errors) > SAME**2


@dataclass(frozen=True)
class Estimate:
    """A score × 100 or the difference of two, with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: float
    groups: int  # the number of groups of scored rows, of the set with the fewest

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % CI: Student's t around the value."""
        reach = float(stdtrit(self.freedom, (1 + COVERAGE / 100) / 2)) * self.error
        return self.value - reach, self.value + reach

    @property
    def p(self) -> float:
        """The probability of a value at least as far from 0 if 0 is expected; at least that of a sign test: resamples of few groups may be equal."""
        if abs(self.value) < NEGLIGIBLE:
            return 1.0
        p = 2 * float(stdtr(self.freedom, -abs(self.value) / self.error)) if self.error else 0.0
        return max(p, 2.0 ** (1 - self.groups))


@dataclass(frozen=True)
class PairTest:
    """One run minus another: the difference × 100 of the means over seeds, its interval, and the result of the test."""

    difference: float
    low: float
    high: float
    p: float | None  # None if either run has fewer than three seeds
    p_holm: float | None = None  # p with Holm's correction; None until `mtl.stats.holm.with_holm` has set it

    @property
    def verdict(self) -> str:
        """The words better or worse if p is below 0.05, else undecided; too few seeds if there is no p."""
        return self._verdict(self.p)

    @property
    def verdict_holm(self) -> str:
        return self._verdict(self.p_holm)

    @property
    def probability(self) -> float | None:
        """The probability, under a flat prior, that the first run is better with other seeds on other rows; None without a test."""
        if self.p is None:
            return None
        return 1 - self.p / 2 if self.difference > 0 else self.p / 2

    @property
    def holds(self) -> bool:
        """Whether the verdict with Holm's correction is better or worse, too."""
        return self.verdict_holm in ("better", "worse")

    def _verdict(self, p: float | None) -> str:
        if p is None:
            return "too few seeds"
        if p >= LEVEL:
            return "undecided"
        return "better" if self.difference > 0 else "worse"


def part_counted_with_rows(resampled: Resampled) -> float:
    """I of `Sample`: the variance over resamples of the seeds' scores around their mean, summed over seeds, divided by n (n - 1)."""
    seeds = len(next(iter(resampled.values())))
    if seeds == 1:
        return 0.0
    around_mean = {rows: scores - scores.mean(axis=0) for rows, scores in resampled.items()}
    total = sum(bessel(rows) * float(deviations.var(axis=1).sum()) for rows, deviations in around_mean.items())
    return total / (seeds * (seeds - 1))


def mean_over_tasks(contributions: Sequence[Resampled], divisors: Collection[int]) -> dict[RowSet, np.ndarray]:
    """The mean over tasks of their scores on resamples, (…, RESAMPLES), by set of scored rows. Each task has a contribution, whose scores are divided
    by the task's divisor (`mtl.tasks.suite.Suite.divisors`), and summed with those of other tasks on the same rows."""
    means: dict[RowSet, np.ndarray] = {}
    for contribution, divisor in zip(contributions, divisors, strict=True):
        for rows, scores in contribution.items():
            means[rows] = means.get(rows, np.zeros(1)) + scores / divisor
    return means


def estimate(run: Sample, baseline: Sample | None = None) -> Estimate:
    """The mean over seeds, or the difference of the means of two runs on the same scored rows (run minus baseline)."""
    runs = [run] if baseline is None else [run, baseline]
    of_rows = rows_parts(run, baseline)
    of_seeds = [(sample.seed_variance, len(sample.by_seed) - 1) for sample in runs]
    over_rows = sum(part for part, _ in of_rows)
    beyond_rows = sum(max(0.0, sample.seed_variance - sample.counted_with_rows) for sample in runs)
    unsubtracted = over_rows + sum(part for part, _ in of_seeds)
    denominator = sum(part**2 / freedom for part, freedom in [*of_rows, *of_seeds] if freedom)
    variance = float(total_variance(over_rows + beyond_rows, unsubtracted, denominator))
    value = float(run.by_seed.mean()) - (float(baseline.by_seed.mean()) if baseline else 0.0)
    groups = min(rows.count for rows in run.means)
    return Estimate(value, variance**0.5, variance**2 / denominator if denominator else 1.0, groups)


def total_variance(subtracted: ArrayLike, unsubtracted: ArrayLike, denominator: ArrayLike) -> np.ndarray:
    """V, from the variance after the subtraction of I and without it, and from Σ (v² / f), the denominator of V's degrees of freedom."""
    return np.maximum(subtracted, np.minimum(unsubtracted, (FREEDOM * np.asarray(denominator)) ** 0.5))


def rows_parts(run: Sample, baseline: Sample | None = None) -> list[tuple[float, int]]:
    """The variance that each set of rows gives to `estimate`, with its degrees of freedom."""
    parts = []
    for rows, means in run.means.items():
        differences = means - baseline.means[rows] if baseline else means
        parts.append((bessel(rows) * float(np.var(differences)), rows.count - 1))
    return parts


def compare(run: Sample, baseline: Sample) -> PairTest:
    """One run minus another on the same scored rows, with a test if both have enough seeds."""
    difference = estimate(run, baseline)
    is_tested = run.is_tested and baseline.is_tested
    return PairTest(difference.value, *difference.interval, difference.p if is_tested else None)


def bessel(rows: RowSet) -> float:
    """The factor that makes the variance over resamples of G groups unbiased."""
    return rows.count / (rows.count - 1) if rows.count > 1 else 1.0
