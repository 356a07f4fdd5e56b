"""The smallest difference between two runs that a test shows, and how many rows or seeds a given difference needs.

A test at 5 % shows a true difference d in 80 % of the cases if d is (t₀.₉₇₅ + t₀.₈₀) times the standard error of the difference, with t the quantiles
of Student's distribution (Card et al. 2020, "With little power comes great responsibility"; Cohen 1988). The standard error and its degrees of
freedom are those of `mtl.stats.comparison`: the variance over rows shrinks with the number of groups of rows, that over seeds with the number of
seeds. benchmarks/power.py checks by simulation how often such differences are shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

import numpy as np
from scipy.special import stdtrit

from mtl.base.errors import InputError
from mtl.stats.comparison import LEVEL, Sample, bessel
from mtl.stats.resampling import RowSet

POWER = 0.8
MOST = 1e9  # times the rows or seeds at hand; a difference that needs more is never shown

Part = tuple[float, float]
"""A part of a variance × 100², and its degrees of freedom."""


@dataclass(frozen=True)
class Parts:
    """What the difference of two runs' means over seeds varies by.

    Args:
        rows: a part for each set of scored rows, and for each run where they are scored on other rows.
        seeds: a part for each run; its degrees of freedom are the number of seeds less 1.
    """

    rows: Sequence[Part]
    seeds: Sequence[Part] = ()

    def scaled(self, rows: float = 1.0, seeds: float = 1.0) -> "Parts":
        """The parts with so many times the rows and the seeds."""
        return Parts(
            [(part / rows, (freedom + 1) * rows - 1) for part, freedom in self.rows],
            [(part / seeds, (freedom + 1) * seeds - 1) for part, freedom in self.seeds],
        )

    @property
    def smallest(self) -> float:
        """The smallest difference × 100 that a test shows in 80 % of the cases."""
        parts = [*self.rows, *self.seeds]
        variance = sum(part for part, _ in parts)
        spread = sum(part**2 / freedom for part, freedom in parts if freedom > 0)
        freedom = variance**2 / spread if spread else 1.0
        reach = float(stdtrit(freedom, 1 - LEVEL / 2) + stdtrit(freedom, POWER))
        return reach * float(variance) ** 0.5


@dataclass(frozen=True)
class Figures:
    """The power of one kind of comparison.

    Args:
        smallest: the smallest difference × 100 that is shown in 80 % of the cases.
        rows: how many times the rows at hand the wanted difference needs, with the same seeds; None: no number of rows is enough.
        seeds: the same for seeds, with the same rows.
    """

    smallest: float
    rows: float | None
    seeds: float | None


def same_rows(one: Sample, other: Sample) -> Parts:
    """The parts where both runs are scored on the same rows, as their samples are."""
    rows = [_of_rows(set_of_rows, one.means[set_of_rows] - other.means[set_of_rows]) for set_of_rows in one.means]
    return Parts(rows, _of_seeds(one, other))


def other_rows(one: Sample, other: Sample) -> Parts:
    """The parts where each run is scored on rows of its own, as many as its sample has."""
    rows = [_of_rows(set_of_rows, run.means[set_of_rows]) for run in (one, other) for set_of_rows in run.means]
    return Parts(rows, _of_seeds(one, other))


def expected_parts(rows: int, accuracy: float, agreement: float) -> tuple[Parts, Parts]:
    """The parts of two systems on a benchmark that does not exist yet, scored by accuracy: on the same rows, and each on its own.

    On the same rows, the difference varies with the share of rows on which only one of the two is right: 1 less the agreement. (McNemar's test
    rests on the same rows.)

    Args:
        accuracy: the share of right answers of each system, × 100.
        agreement: the share of rows on which both are right or both are wrong, × 100.

    Raises:
        InputError: for shares that no two systems have.
    """
    if rows < 2:
        raise InputError(f"{rows} must be 2 or more", key="rows")
    if not 0 < accuracy < 100:
        raise InputError(f"{accuracy:g} must be between 0 and 100", key="accuracy")
    least = abs(2 * accuracy - 100)
    if not least <= agreement < 100:
        problem = f"{agreement:g} must be at least {least:g}, as of any two systems with {accuracy:g} % right answers, and below 100"
        raise InputError(problem, key="agreement")
    paired = 1e4 * (1 - agreement / 100) / rows
    alone = accuracy * (100 - accuracy) / rows
    return Parts([(paired, rows - 1)]), Parts([(alone, rows - 1)] * 2)


def figures(parts: Parts, difference: float) -> Figures:
    """The power of a comparison with these parts. difference: × 100, the wanted one."""
    return Figures(
        parts.smallest,
        _needed(lambda times: parts.scaled(rows=times).smallest, difference),
        _needed(lambda times: parts.scaled(seeds=times).smallest, difference) if parts.seeds else None,
    )


def median_figures(samples: Sequence[Sample], difference: float, kind: Callable[[Sample, Sample], Parts]) -> Figures:
    """The median of each figure over all pairs of runs; a difference that is never shown counts as one that needs the most.

    Args:
        samples: of two runs or more, on the same rows.
        kind: `same_rows` or `other_rows`.
    """
    pairs = [(one, other) for number, one in enumerate(samples) for other in samples[:number]]
    found = [figures(kind(one, other), difference) for one, other in pairs]

    def middle(values: Sequence[float | None]) -> float | None:
        times = median(np.inf if value is None else value for value in values)
        return None if np.isinf(times) else float(times)

    return Figures(
        median(each.smallest for each in found),
        middle([each.rows for each in found]),
        middle([each.seeds for each in found]),
    )


def times(count: int, factor: float | None) -> int | None:
    """So many times the rows or seeds, rounded up."""
    return None if factor is None else ceil(count * factor)


def _of_rows(rows: RowSet, means: np.ndarray) -> Part:
    return bessel(rows) * float(np.var(means)), rows.count - 1


def _of_seeds(one: Sample, other: Sample) -> list[Part]:
    """The part of each run that was trained with several seeds."""
    return [
        (max(0.0, run.seed_variance - run.counted_with_rows), len(run.by_seed) - 1)
        for run in (one, other)
        if len(run.by_seed) > 1
    ]


def _needed(smallest: Callable[[float], float], difference: float) -> float | None:
    """How many times the rows or seeds at hand make the smallest difference this one; None: no number of them.

    smallest: by how many times. It falls.
    """
    low, high = 1e-6, MOST
    if smallest(high) > difference:
        return None
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if smallest(middle) > difference else (low, middle)
    return high
