"""`mtl.stats.power` against closed forms, scaled data and simulation."""

import numpy as np
import pytest
from scipy import stats

from mtl.base.errors import InputError
from mtl.stats.comparison import Sample, compare, estimate
from mtl.stats.power import Parts, expected_parts, figures, median_figures, other_rows, same_rows, times
from mtl.stats.resampling import RowSet

ROWS = RowSet("rows", 400)


def drawn(number: int, seeds: int = 5, noise: float = 1.0) -> Sample:
    rng = np.random.default_rng(number)
    return Sample(70 + rng.normal(0, 0.5, seeds), {ROWS: 70 + rng.normal(0, noise, 1000)}, 0.01)


def test_the_smallest_difference_is_that_of_a_t_test_with_many_rows() -> None:
    error = 1.7
    smallest = Parts([(error**2, 10**6)]).smallest
    assert smallest == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error, rel=1e-4)


def test_with_few_degrees_of_freedom_it_is_near_the_noncentral_t() -> None:
    for freedom in (4, 10, 30):
        smallest = Parts([(1.0, freedom)]).smallest
        bound = stats.t.ppf(0.975, freedom)
        power = stats.nct.sf(bound, freedom, smallest) + stats.nct.cdf(-bound, freedom, smallest)
        assert power == pytest.approx(0.8, abs=0.03)


def test_the_error_is_that_of_the_comparison() -> None:
    one, other = drawn(1), drawn(2)
    parts = same_rows(one, other)
    assert sum(part for part, _ in (*parts.rows, *parts.seeds)) == pytest.approx(estimate(one, other).error ** 2)
    apart = other_rows(one, other)
    assert sum(part for part, _ in apart.rows) == pytest.approx(
        sum(np.var(run.means[ROWS]) * 400 / 399 for run in (one, other))
    )
    assert apart.seeds == parts.seeds


def test_a_difference_of_the_smallest_size_is_decided_about_four_times_in_five() -> None:
    rng = np.random.default_rng(0)
    smallest = Parts([(1.0, 399)]).smallest
    shown = 0
    for _ in range(400):
        means = {ROWS: rng.normal(0, 1, 300)}
        system = Sample(np.array([smallest + rng.normal()]), means, 0.0, True)
        shown += compare(system, Sample(np.zeros(1), {ROWS: np.zeros(300)}, 0.0, True)).verdict == "better"
    assert 0.7 < shown / 400 < 0.9


def test_needed_rows_and_seeds_make_the_difference_the_smallest() -> None:
    parts = same_rows(drawn(1), drawn(2))
    found = figures(parts, 1.5)
    assert found.smallest == parts.smallest
    assert found.rows is not None and found.seeds is None
    assert parts.scaled(rows=found.rows).smallest == pytest.approx(1.5)
    noisy = Parts([(0.1, 399)], [(1.0, 4), (1.0, 4)])
    needed = figures(noisy, 1.5).seeds
    assert needed is not None and noisy.scaled(seeds=needed).smallest == pytest.approx(1.5)
    assert parts.scaled(rows=4.0).rows[0] == pytest.approx((parts.rows[0][0] / 4, 1599))
    assert times(400, found.rows) == int(np.ceil(400 * found.rows)) and times(400, None) is None


def test_what_seeds_vary_by_cannot_be_mended_with_rows() -> None:
    parts = Parts([(1.0, 399)], [(4.0, 4), (4.0, 4)])
    assert figures(parts, 1.0).rows is None
    assert figures(Parts([(9.0, 399)], [(0.01, 4)] * 2), 1.0).seeds is None
    assert figures(Parts([(9.0, 399)]), 1.0).seeds is None  # one system has no seeds to add


def test_figures_of_many_runs_are_medians_over_pairs() -> None:
    samples = [drawn(number) for number in range(4)]
    each = [same_rows(one, other).smallest for n, one in enumerate(samples) for other in samples[:n]]
    assert median_figures(samples, 2.0, same_rows).smallest == pytest.approx(np.median(each))


def test_in_advance_it_is_mcnemars_and_two_proportions() -> None:
    same, apart = expected_parts(1000, 80.0, 85.0)
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert same.smallest == pytest.approx(z * 100 * (0.15 / 1000) ** 0.5, rel=0.01)
    assert apart.smallest == pytest.approx(z * 100 * (2 * 0.8 * 0.2 / 1000) ** 0.5, rel=0.01)
    assert figures(same, 2.0).rows == pytest.approx((same.smallest / 2) ** 2, rel=0.01)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1, 80.0, 85.0), "rows: 1 must be 2 or more"),
        ((100, 100.0, 85.0), "accuracy: 100 must be between 0 and 100"),
        ((100, 90.0, 70.0), "agreement: 70 must be at least 80"),
        ((100, 90.0, 100.0), "agreement: 100 must be at least 80"),
    ],
)
def test_shares_that_no_two_systems_have(given: tuple[int, float, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        expected_parts(*given)
