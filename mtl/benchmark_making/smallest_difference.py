"""The smallest difference between two systems that a test shows in most cases, and the numbers of rows and seeds that another one needs.
The test is that of `mtl.stats.comparison`, without Holm's correction: a difference over its standard error, which follows a noncentral t
distribution around the true difference. docs/explanation/intervals-and-tests.md says how its variance follows from the numbers of rows and seeds,
and benchmarks/power.py measures how often differences of the stated size are shown."""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.special import nctdtrinc, stdtrit

from mtl.base.typed import LARGEST_NUMBER
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, Sample, rows_parts, total_variance

POWER = 0.8  # the share of cases in which the smallest difference is shown
LEAST_GROUPS = 6  # of rows: with fewer, the test's p is never below 5 %
NEVER = math.inf  # where no difference is shown, or no number of rows or seeds is enough
LEAST_FREEDOM, MOST_FREEDOM = 1.0, 1e6  # below, scipy finds no noncentrality; above, t is normal


@dataclass(frozen=True)
class SeedSpread:
    """How the scores × 100 of one system's seeds differ."""

    seeds: int  # their number n
    variance: float  # S², of the scores
    errors: float  # the part of S² from errors on different rows, n times I of `mtl.stats.comparison.Sample`

    @property
    def skill(self) -> float:
        """The part of S² that more rows do not lower: some seeds are better on all rows."""
        return max(0.0, self.variance - self.errors)


@dataclass(frozen=True)
class Design:
    """A comparison of two systems: how many rows and seeds each has, and the variance of the difference of their scores × 100."""

    groups: int  # of scored rows; of an average, of all its sets of rows
    least_groups: int  # those of the smallest set of rows
    rows_variance: float  # the part of the variance that rows give at these numbers
    rows_freedom: float  # its degrees of freedom
    systems: Sequence[SeedSpread]  # the spread of each system's seeds

    def smallest_difference(self, groups: float | None = None, seeds: float | None = None) -> float:
        """The smallest difference × 100 that the test shows in 80 % of the cases, or NEVER: with so many `groups` of scored rows, and `seeds` of each
        system, in place of the present ones. Both may be infinite; sets of rows keep their proportions."""
        factor = 1.0 if groups is None else groups / self.groups
        if self.least_groups * factor < LEAST_GROUPS:
            return NEVER
        rows_variance = self._rows_variance(seeds) / factor
        parts = [(rows_variance, self.rows_freedom * factor)]  # of the variance, each with its degrees of freedom
        subtracted = rows_variance
        for system in self.systems:
            count = system.seeds if seeds is None else seeds
            seed_variance = (system.skill + min(system.variance, system.errors) / factor) / count
            parts.append((seed_variance, count - 1))
            subtracted += system.skill / count
        spread = sum(part**2 / freedom for part, freedom in parts)
        variance = float(total_variance(subtracted, sum(part for part, _ in parts), spread))
        return _noncentrality(variance**2 / spread if spread else MOST_FREEDOM) * variance**0.5

    def _rows_variance(self, seeds: float | None) -> float:
        """The part of the variance that rows give with so many seeds of each system. More seeds lower what errors of single seeds add to it."""
        errors = sum(system.errors / system.seeds for system in self.systems)
        if seeds is None or not errors:
            return self.rows_variance
        present = min(errors, self.rows_variance)
        return self.rows_variance - present + present * sum(system.errors / seeds for system in self.systems) / errors

    def groups_for(self, difference: float, seeds: int | None = None) -> float:
        """The fewest groups with which the smallest difference × 100 is at most this one, or NEVER. `seeds`: as in `smallest_difference`."""
        return _fewest(lambda groups: self.smallest_difference(groups, seeds) <= difference, 1)

    def seeds_for(self, difference: float) -> float:
        """The fewest seeds of each system with which the smallest difference × 100 is at most this one, a whole number or NEVER."""
        return _fewest(lambda seeds: self.smallest_difference(seeds=seeds) <= difference, LEAST_SEEDS)


def same_rows(first: Sample, second: Sample) -> Design:
    """The comparison of two runs on their rows, which are the same. Each is one system or has three seeds or more."""
    return _design(first, second, rows_parts(first, second))


def other_rows(first: Sample, second: Sample) -> Design:
    """The comparison of two runs that are each scored on as many rows of the same kind, but not on the same."""
    return _design(first, second, [*rows_parts(first), *rows_parts(second)])


def _design(first: Sample, second: Sample, parts: Sequence[tuple[float, int]]) -> Design:
    """The comparison of two runs whose variance over rows has these parts, each with its degrees of freedom."""
    systems = []
    for run in (first, second):
        if not run.is_one_system:  # which has no seeds
            seeds = len(run.by_seed)
            systems.append(SeedSpread(seeds, seeds * run.seed_variance, seeds * run.counted_with_rows))
    variance = sum(part for part, _ in parts)
    spread = sum(part**2 / freedom for part, freedom in parts if freedom)
    groups = [rows.count for rows in first.means]
    return Design(sum(groups), min(groups), variance, variance**2 / spread if spread else 1.0, systems)


def _noncentrality(freedom: float) -> float:
    """The true difference in standard errors with which the test's quotient exceeds its critical value in 80 % of the cases."""
    freedom = min(max(freedom, LEAST_FREEDOM), MOST_FREEDOM)
    return float(nctdtrinc(freedom, 1 - POWER, stdtrit(freedom, 1 - LEVEL / 2)))


def _fewest(is_enough: Callable[[float], bool], least: int) -> float:
    """The smallest whole number, at least `least`, that is enough, or NEVER. Larger numbers are enough, too."""
    if not is_enough(math.inf):
        return NEVER
    numbers = range(least, LARGEST_NUMBER + 1)
    position = bisect_left(numbers, True, key=is_enough)
    return numbers[position] if position < len(numbers) else NEVER
