"""Power: the smallest difference that a test shows in most cases, and how many rows or seeds a difference needs.

The test is that of `mtl.stats.comparison`: a difference over its standard error, at 5 %, two-sided, without Holm's correction. If the true
difference is d and its standard error e, the quotient follows a noncentral t distribution with noncentrality d / e. The smallest difference is
the d with which the quotient exceeds the critical value in 80 % of the cases (Cohen 1988, section 2.3; for benchmarks of language understanding,
Card et al. 2020, "With little power comes great responsibility"). The common approximation of d / e as the sum of two quantiles of Student's t
is too small below about five degrees of freedom: with two, as of three seeds, it reaches a power of 77 %.

Rows and seeds give the variance of a difference, and each part follows their number:

- rows: what both systems' rows have in common for all seeds is divided by the number of groups of rows;
- errors that a seed makes on rows of its own: divided by the number of groups and by that of seeds;
- seeds that are better or worse on all rows: divided by the number of seeds.

On the same rows, the part of rows is the variance of the paired difference. On other rows, each system has rows of its own of the same kind, and the
variances of both scores add. benchmarks/power.py measures how often differences of the stated size are shown.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta
from scipy.special import nctdtrinc, stdtrit

from mtl.base.errors import InputError
from mtl.base.typed import LARGEST_NUMBER
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, Sample, rows_parts, total_variance

POWER = 0.8  # the share of cases in which the smallest difference is shown
LEAST_GROUPS = 6  # of rows: with fewer, the test's p is never below 5 %
NEVER = math.inf  # where no difference is shown, or no number of rows or seeds is enough
LEAST_FREEDOM, MOST_FREEDOM = 1.0, 1e6  # below, scipy finds no noncentrality; above, t is normal


@dataclass(frozen=True)
class SeedSpread:
    """How the scores × 100 of one system's seeds differ.

    Args:
        seeds: their number n.
        variance: S², of the scores.
        own_errors: the part of S² that comes from errors on different rows, n times I of `mtl.stats.comparison.Sample`.
    """

    seeds: int
    variance: float
    own_errors: float

    @property
    def skill(self) -> float:
        """The part of S² that more rows do not lower: some seeds are better on all rows."""
        return max(0.0, self.variance - self.own_errors)


@dataclass(frozen=True)
class Design:
    """A comparison of two systems: how many rows and seeds each has, and the variance of the difference of their scores × 100."""

    groups: int  # of scored rows; of an average, of all its sets of rows
    least_groups: int  # those of the smallest set of rows
    rows_variance: float  # the part of the variance that rows give at these numbers
    rows_freedom: float  # its degrees of freedom
    systems: Sequence[SeedSpread]  # the spread of each system's seeds

    def smallest_difference(self, groups: float | None = None, seeds: float | None = None) -> float:
        """The smallest difference × 100 that the test shows in 80 % of the cases, or NEVER.

        Args:
            groups: of scored rows in place of the present ones, which may be infinite; sets of rows keep their proportions.
            seeds: of each system in place of the present ones, which may be infinite.
        """
        more = 1.0 if groups is None else groups / self.groups
        if self.least_groups * more < LEAST_GROUPS:
            return NEVER
        present = sum(system.own_errors / system.seeds for system in self.systems)
        own_errors = min(present, self.rows_variance)
        common = self.rows_variance - own_errors
        if seeds is not None and present:
            own_errors *= sum(system.own_errors / seeds for system in self.systems) / present
        rows = (common + own_errors) / more
        variance, whole, spread = rows, rows, rows**2 / (self.rows_freedom * more)
        for system in self.systems:
            count = system.seeds if seeds is None else seeds
            variance += system.skill / count
            total = system.skill + min(system.variance, system.own_errors) / more
            whole += total / count
            spread += (total / count) ** 2 / (count - 1)
        variance = float(total_variance(variance, whole, spread))
        freedom = variance**2 / spread if spread else MOST_FREEDOM
        return _noncentrality(freedom) * variance**0.5

    def groups_for(self, difference: float, seeds: int | None = None) -> float:
        """The fewest groups of rows with which the smallest difference is at most this one, a whole number or NEVER.

        Args:
            difference: × 100.
            seeds: as in `smallest_difference`.
        """
        return _fewest(lambda groups: self.smallest_difference(groups, seeds) <= difference, 1)

    def seeds_for(self, difference: float) -> float:
        """The fewest seeds of each system with which the smallest difference × 100 is at most this one, a whole number or NEVER."""
        return _fewest(lambda seeds: self.smallest_difference(seeds=seeds) <= difference, LEAST_SEEDS)


def same_rows(one: Sample, other: Sample) -> Design:
    """The comparison of two runs on their rows, which are the same. Each is one system or has three seeds or more."""
    return _sampled(one, other, rows_parts(one, other))


def other_rows(one: Sample, other: Sample) -> Design:
    """The comparison of two runs that are each scored on as many rows of the same kind, but not on the same."""
    return _sampled(one, other, [*rows_parts(one), *rows_parts(other)])


@dataclass
class Expectation:
    """What is expected of two systems without seeds on a benchmark that does not exist yet. Its metric is accuracy, and each row is a group.

    Args:
        rows: their number.
        accuracy: the share of right answers in per cent: one number for both systems, or one for each.
        agreement: the share of rows in per cent that both systems answer right or both answer wrong.
    """

    rows: Annotated[int, Meta(ge=LEAST_GROUPS, le=LARGEST_NUMBER)]
    accuracy: list[float]
    agreement: Annotated[float, Meta(ge=0, lt=100)]

    def check(self) -> None:
        """Raise InputError for shares that contradict each other."""
        if len(self.accuracy) not in (1, 2) or not all(0 <= share <= 100 for share in self.accuracy):
            problem = "must be one share in per cent, or one for each system, as in [80,83]"
            raise InputError(problem, key="accuracy", value=self.accuracy)
        one, other = self.accuracy[0], self.accuracy[-1]
        low, high = abs(one + other - 100), 100 - abs(one - other)
        if not low <= self.agreement <= high:
            right = f"where the systems answer {one:g} and {other:g} % of the rows right"
            problem = f"must lie between {low:,} and {high:,} {right}"
            raise InputError(problem, key="agreement", value=self.agreement)

    def same_rows(self) -> Design:
        """The comparison on the same rows: McNemar's, as the rows with one right answer alone make the difference."""
        one, other = (share / 100 for share in (self.accuracy[0], self.accuracy[-1]))
        return self._design([1 - self.agreement / 100 - (one - other) ** 2])

    def other_rows(self) -> Design:
        """The comparison of the systems' scores on as many other rows of the same kind."""
        shares = [share / 100 for share in (self.accuracy[0], self.accuracy[-1])]
        return self._design([share * (1 - share) for share in shares])

    def _design(self, variances: Sequence[float]) -> Design:
        """variances: of a row's contribution to each of the scores that are compared, not × 100."""
        parts = [(100**2 * variance / self.rows, self.rows - 1) for variance in variances]
        return _design(parts, [self.rows], [])


def _sampled(one: Sample, other: Sample, parts: Sequence[tuple[float, int]]) -> Design:
    systems = []
    for run in (run for run in (one, other) if not run.is_one_system):  # one system has no seeds
        seeds = len(run.by_seed)
        systems.append(SeedSpread(seeds, seeds * run.seed_variance, seeds * run.counted_with_rows))
    return _design(parts, [rows.count for rows in one.means], systems)


def _design(parts: Sequence[tuple[float, int]], groups: Sequence[int], systems: Sequence[SeedSpread]) -> Design:
    """parts: of the rows' variance, each with its degrees of freedom. groups: of each set of rows."""
    variance = sum(part for part, _ in parts)
    spread = sum(part**2 / freedom for part, freedom in parts if freedom)
    return Design(sum(groups), min(groups), variance, variance**2 / spread if spread else 1.0, systems)


def _noncentrality(freedom: float) -> float:
    """The true difference in standard errors with which the test's quotient exceeds its critical value in 80 % of the cases."""
    freedom = min(max(freedom, LEAST_FREEDOM), MOST_FREEDOM)
    return float(nctdtrinc(freedom, 1 - POWER, stdtrit(freedom, 1 - LEVEL / 2)))


def _fewest(enough: Callable[[float], bool], least: int) -> float:
    """The smallest whole number, at least `least`, that is enough, or NEVER. Larger numbers are enough, too."""
    if not enough(math.inf):
        return NEVER
    numbers = range(least, LARGEST_NUMBER + 1)
    place = bisect_left(numbers, True, key=enough)
    return numbers[place] if place < len(numbers) else NEVER
