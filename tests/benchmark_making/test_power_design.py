"""The smallest difference and the rows and seeds it needs, against the noncentral t distribution, simulated tests and the laws of scaling."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from mtl.benchmark_making.power_design import NEVER, Design, SeedSpread, other_rows, same_rows
from mtl.stats.comparison import Sample, estimate, sample
from mtl.stats.resampling import RowSet

ROWS = Design(400, 400, 4.0, 399.0, [])
SEEDS = Design(400, 400, 0.0, 399.0, [SeedSpread(5, 10.0, 0.0), SeedSpread(5, 10.0, 0.0)])
BOTH = Design(400, 400, 4.0, 399.0, [SeedSpread(5, 10.0, 2.0), SeedSpread(5, 10.0, 2.0)])


def power_of(difference: float, error: float, freedom: float) -> float:
    """The probability that the test shows this difference, by scipy's noncentral t."""
    critical = stats.t.ppf(0.975, freedom)
    return float(stats.nct.sf(critical, freedom, difference / error))


@cache
def weights(rows: int) -> np.ndarray:
    """How often each of 300 resamples draws each row, (rows, 300)."""
    return np.random.default_rng(0).multinomial(rows, np.full(rows, 1 / rows), 300).T.astype(float)


def pair(rng: np.random.Generator, skills: tuple[float, float], seeds: int, rows: int) -> tuple[Sample, Sample]:
    """Two runs on the same new rows, with the accuracy of each seed on 300 resamples."""
    difficulty = rng.normal(size=rows)
    runs = []
    for skill in skills:
        noise = 0.1 * rng.normal(size=(seeds, 1)) + 0.5 * rng.normal(size=(seeds, rows))
        right = skill + noise > difficulty
        runs.append(sample(100 * right.mean(axis=1), {RowSet("t", rows): 100 * right @ weights(rows) / rows}))
    return runs[0], runs[1]


def test_rows_alone_and_seeds_alone_follow_the_noncentral_t() -> None:
    smallest = ROWS.smallest_difference()
    assert power_of(smallest, 2.0, 399) == pytest.approx(0.8, abs=1e-4)
    assert smallest == pytest.approx((stats.t.ppf(0.975, 399) + stats.t.ppf(0.8, 399)) * 2, rel=1e-3)
    assert power_of(SEEDS.smallest_difference(), 2.0, 8) == pytest.approx(0.8, abs=1e-4)
    assert power_of(SEEDS.smallest_difference(seeds=3), (20 / 3) ** 0.5, 4) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize(("rows", "seeds"), [(150, 4), (15, 3)])
def test_the_present_numbers_give_the_error_and_freedom_of_the_test(rows: int, seeds: int) -> None:
    rng = np.random.default_rng(1)
    one, other = pair(rng, (0.9, 0.6), seeds, rows)
    found = estimate(one, other)
    smallest = same_rows(one, other).smallest_difference()
    assert power_of(smallest, found.error, found.freedom) == pytest.approx(0.8, abs=1e-4)
    assert same_rows(one, other).smallest_difference(rows, seeds) == pytest.approx(smallest)


def test_on_other_rows_the_variances_of_both_scores_add() -> None:
    one, other = pair(np.random.default_rng(2), (0.9, 0.6), 4, 150)
    first, second = estimate(one), estimate(other)
    variance = first.error**2 + second.error**2
    freedom = variance**2 / (first.error**4 / first.freedom + second.error**4 / second.freedom)
    smallest = other_rows(one, other).smallest_difference()
    assert power_of(smallest, variance**0.5, freedom) == pytest.approx(0.8, abs=1e-4)
    assert smallest > same_rows(one, other).smallest_difference()


def test_each_part_follows_the_number_of_rows_and_of_seeds() -> None:
    assert ROWS.smallest_difference(1600) == pytest.approx(ROWS.smallest_difference() / 2, rel=0.01)
    assert SEEDS.smallest_difference(1600) == pytest.approx(SEEDS.smallest_difference())
    # The variance on infinitely many rows is skill / 5 for each system; for infinitely many seeds, that of rows without errors of single seeds.
    assert power_of(BOTH.smallest_difference(math.inf), (2 * 8 / 5) ** 0.5, 8) == pytest.approx(0.8, abs=1e-4)
    without = BOTH.smallest_difference(seeds=math.inf)
    assert power_of(without, (4 - 2 * 2 / 5) ** 0.5, 300) == pytest.approx(0.8, abs=2e-3)
    # At four times the rows and seeds: rows 4 - 0.8 over 4, single seeds' errors 0.8 over 16, skill 3.2 over 4.
    many = replace(BOTH, rows_freedom=1e5).smallest_difference(1600, 20)
    variance = 3.2 / 4 + 0.8 / 16 + 3.2 / 4
    assert many == pytest.approx((1.96 + 0.8416) * variance**0.5, rel=0.03)


def test_the_fewest_rows_and_seeds_are_enough_and_what_they_do_not_reach() -> None:
    for design, difference in ((ROWS, 2.0), (ROWS, 9.0), (BOTH, 8.0), (BOTH, 6.5)):
        groups = design.groups_for(difference)
        assert design.smallest_difference(groups) <= difference < design.smallest_difference(groups - 1)
    for design, difference in ((SEEDS, 2.0), (BOTH, 6.5)):
        seeds = design.seeds_for(difference)
        assert design.smallest_difference(seeds=seeds) <= difference < design.smallest_difference(seeds=seeds - 1)
    assert BOTH.groups_for(2.0) == BOTH.seeds_for(2.0) == ROWS.seeds_for(2.0) == SEEDS.groups_for(2.0) == NEVER
    assert BOTH.groups_for(2.0, seeds=50) < NEVER
    assert ROWS.groups_for(1e-300) == NEVER  # more than any number of rows
    assert SEEDS.seeds_for(50.0) == 3 and ROWS.groups_for(90.0) == 6
    few = replace(ROWS, groups=10, least_groups=5)  # an average over tasks of two sets of rows
    assert few.smallest_difference() == NEVER and few.groups_for(50.0) == 12
    same = sample(np.array([80.0, 80.0, 80.0]), {RowSet("t", 50): np.full((3, 300), 80.0)})
    assert same_rows(same, same).smallest_difference() == 0
