"""Tails against Student's t, and against a mean over drawn variances."""

import numpy as np
import pytest
from scipy import stats

from mtl.stats.families import Variance


def variance(rows: float, rows_freedom: float, seeds: float, seeds_freedom: float, counted: float) -> Variance:
    numbers = (rows, rows_freedom, seeds, seeds_freedom, counted)
    return Variance(*(np.array([number], dtype=np.float64) for number in numbers))


@pytest.mark.parametrize("freedom", [2, 4, 7.3, 40])
@pytest.mark.parametrize("value", [0.0, 1.0, 3.0, -9.0])
def test_of_seeds_alone_it_is_student_s_t(freedom: float, value: float) -> None:
    found = variance(0.0, np.inf, 4.0, freedom, 0.0).p(np.array([2 * value]))
    assert found == pytest.approx(2 * stats.t.sf(abs(value), freedom), rel=1e-4)


@pytest.mark.parametrize("freedom", [1, 5, 11, 299])
@pytest.mark.parametrize("value", [0.0, 1.0, 3.0, 8.0])
def test_of_rows_alone_it_is_student_s_t(freedom: float, value: float) -> None:
    expected = 2 * stats.t.sf(value, freedom)
    assert variance(4.0, freedom, 0.0, np.inf, 0.0).p(np.array([2 * value])) == pytest.approx(expected, rel=1e-12)
    if freedom >= 5 and value < 5:  # with a little of seeds, where it is an approximation
        assert variance(4.0, freedom, 1e-9, 4, 0.0).p(np.array([2 * value])) == pytest.approx(expected, rel=0.025)


@pytest.mark.parametrize("counted", [0.0, 0.2, 3.0])
def test_both_parts_against_drawn_variances(counted: float) -> None:
    """2 million draws: 0.3 % at p = 0.05."""
    seeds_freedom, value = 3.0, 4.0
    drawn = seeds_freedom / np.random.default_rng(0).chisquare(seeds_freedom, 2_000_000)
    error = np.sqrt(1.5 + np.maximum(0.0, 2.0 * drawn - counted))
    expected = np.mean(2 * stats.norm.sf(value / error))
    assert variance(1.5, 1e9, 2.0, seeds_freedom, counted).p(np.array([value])) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("rows_freedom", [5, 11, 29, 199])
@pytest.mark.parametrize("value", [3.0, 6.0])
def test_with_few_groups_of_rows_it_is_not_below_the_mean_over_both_variances(rows_freedom: int, value: float) -> None:
    """2 million draws of both variances: the Behrens-Fisher solution."""
    rng = np.random.default_rng(0)
    of_rows = rows_freedom / rng.chisquare(rows_freedom, 2_000_000)
    of_seeds = 4.0 / rng.chisquare(4.0, 2_000_000)
    expected = np.mean(2 * stats.norm.sf(value / np.sqrt(of_rows + of_seeds)))
    found = variance(1.0, rows_freedom, 1.0, 4.0, 0.0).p(np.array([value]))[0]
    assert 0.98 * expected <= found <= (3.0 if rows_freedom < 29 else 1.3) * expected


def test_many_values_are_those_of_each_and_no_variance_leaves_no_chance() -> None:
    rng = np.random.default_rng(1)
    count = 70_000  # more than a block
    parts = [rng.uniform(0.5, 2, count), rng.uniform(20, 300, count), rng.choice([0.0, 0.3, 2.0], count)]
    parts += [rng.uniform(2, 9, count), rng.uniform(0, 0.3, count)]
    values = rng.normal(0, 3, count)
    found = Variance(*parts).p(values)
    for number in (0, 1, 65_535, 65_536, count - 1):
        alone = variance(*(float(part[number]) for part in parts)).p(values[number : number + 1])
        assert found[number] == pytest.approx(alone[0], rel=1e-12)
    assert variance(0.0, np.inf, 0.0, np.inf, 0.0).p(np.array([1.0])) == [0.0]
