"""Standard errors, tests and corrections against closed formulas, scipy, and what simulated runs show."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binomtest
from simulated_runs import sample

from mtl.stats.comparison import Resampled, Sample, compare, estimate, mean_over_tasks
from mtl.stats.resampling import RowGroups, RowSet, row_groups, row_weights

Scores = tuple[np.ndarray, Resampled]  # by seed, and on resamples


def mean_scores(right: np.ndarray, rows: RowGroups) -> Scores:
    """The mean of (seeds, rows), × 100."""
    weights = np.concatenate(list(row_weights(rows)))
    return 100 * right.mean(axis=1), {rows.row_set: 100 * right @ weights.T / weights.sum(axis=1)}


def of_means(right: np.ndarray, rows: RowGroups) -> Sample:
    """A sample whose score is the mean of (seeds, rows), × 100."""
    return sample(*mean_scores(right, rows))


def average(tasks: Sequence[Scores]) -> Sample:
    """The sample of the mean over tasks."""
    return sample(
        np.mean([by_seed for by_seed, _ in tasks], axis=0),
        mean_over_tasks([resampled for _, resampled in tasks], [len(tasks)] * len(tasks)),
    )


def constant_scores(scores: Sequence[float], key: str = "t") -> Scores:
    """Scores that depend on the seed alone."""
    return np.array(scores), {RowSet(key, 100): np.repeat(np.array(scores)[:, None], 1000, axis=1)}


def constant(scores: Sequence[float]) -> Sample:
    """A sample whose scores depend on the seed alone."""
    return sample(*constant_scores(scores))


def test_where_seeds_or_rows_alone_differ_it_is_welch_s_or_the_paired_test() -> None:
    one, other = [81.0, 83.5, 82.0, 84.0, 82.5], [79.0, 82.0, 80.0]
    found = compare(constant(one), constant(other))
    expected = stats.ttest_ind(one, other, equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert found.p == pytest.approx(expected.pvalue) and found.difference == pytest.approx(82.6 - 80.3333333)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    rng = np.random.default_rng(1)
    right = rng.random((2, 1, 200)) < np.array([0.8, 0.7])[:, None, None]
    one, other = (of_means(np.repeat(run, 3, axis=0), row_groups("t", np.arange(200))) for run in right)
    expected = stats.ttest_rel(*right[:, 0].astype(float))
    found = estimate(one, other)
    assert found.freedom == pytest.approx(199)
    assert found.error == pytest.approx(found.value / expected.statistic, rel=0.08)  # 1,000 resamples: 2 % at 1 sigma
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.value) / found.error, 199))


def test_what_rows_and_seeds_have_in_common_counts_once_and_groups_as_copies() -> None:
    """Every seed errs on rows of its own: the variance of a mean over n seeds and R rows is p (1 - p) / (n R)."""
    rng = np.random.default_rng(2)
    errors = []
    for _ in range(20):
        found = of_means((rng.random((10, 400)) < 0.8).astype(float), row_groups("t", np.arange(400)))
        errors.append(estimate(found).error)
    assert np.mean(errors) == pytest.approx(100 * (0.8 * 0.2 / 4000) ** 0.5, rel=0.15)
    right = (np.random.default_rng(3).random((1, 60)) < 0.6).astype(float)
    copies = of_means(np.repeat(right, 5, axis=1), row_groups("t", np.repeat(np.arange(60), 5)))
    once = of_means(right, row_groups("t", np.arange(60)))
    assert estimate(copies) == estimate(once)
    assert estimate(once).error == pytest.approx(100 * right.std(ddof=1) / 60**0.5, rel=0.08)


def test_no_verdict_below_three_seeds() -> None:
    found = compare(constant([90, 91]), constant([10, 11, 12]))
    assert (found.verdict, found.verdict_holm, found.p) == ("too few seeds",) * 2 + (None,)
    assert compare(constant([90, 91, 92]), constant([10, 11, 12])).verdict == "better"
    assert compare(constant([10, 11, 12]), constant([90, 91, 92])).verdict == "worse"
    # With one or two seeds, the interval covers only the variance over rows.
    rng = np.random.default_rng(4)
    rows = row_groups("t", np.arange(100))
    few = of_means((rng.random((2, 100)) < [[0.9], [0.2]]).astype(float), rows)
    assert estimate(few).error == pytest.approx(np.std(few.means[rows.row_set]) * (100 / 99) ** 0.5)


@pytest.mark.parametrize(("count", "verdict"), [(1, "undecided"), (5, "undecided"), (6, "better")])
def test_few_groups_show_what_a_sign_test_can(count: int, verdict: str) -> None:
    """One run is right on all rows and the other on none, so that all resamples are alike."""
    rows = row_groups("t", np.repeat(np.arange(count), 3))
    found = compare(*(of_means(np.full((3, 3 * count), right), rows) for right in (1.0, 0.0)))
    assert found.p is not None and found.p >= binomtest(count, count).pvalue * (1 - 1e-9) and found.verdict == verdict


def test_a_method_that_does_not_depend_on_the_seed() -> None:
    right = (np.random.default_rng(5).random((1, 300)) < 0.7).astype(float)
    rows = row_groups("t", np.arange(300))
    same = [of_means(np.repeat(right, seeds, axis=0), rows) for seeds in (3, 5)]
    assert (compare(*same).verdict, compare(*same).p) == ("undecided", 1.0)
    assert estimate(same[0]).error == pytest.approx(estimate(same[1]).error)


def test_the_average_follows_seeds_over_tasks_and_shared_rows() -> None:
    # The seed that is better on one task is worse on the other.
    mean = average([constant_scores([80, 82, 84], "a"), constant_scores([64, 62, 60], "b")])
    assert mean.by_seed.tolist() == [72, 72, 72] and estimate(mean).error == 0
    rng = np.random.default_rng(6)
    rows = row_groups("shared", np.arange(200))
    right = (rng.random((1, 200)) < 0.7).astype(float)
    opposite = [mean_scores(some, rows) for some in (right, 1 - right)]
    assert estimate(average(opposite)).error == pytest.approx(0, abs=1e-9)
    apart = [mean_scores(right, rows), mean_scores(1 - right, row_groups("other", np.arange(200)))]
    one = estimate(of_means(right, rows)).error
    assert estimate(average(apart)).error == pytest.approx(one / 2**0.5, rel=0.08)
    assert estimate(average(apart)).freedom == pytest.approx(2 * 199, rel=0.05)


def test_a_sample_keeps_what_the_tests_need_of_each_seed_s_resamples() -> None:
    """Against the formulas on the resamples of every seed, of three tasks of which two are on the same rows."""
    rng = np.random.default_rng(8)
    shared, apart = row_groups("shared", np.arange(80)), row_groups("apart", np.repeat(np.arange(30), 2))
    runs = []
    for _ in range(2):
        sets = (shared, shared, apart)
        runs.append([mean_scores((rng.random((4, len(of.group_of_row))) < 0.7).astype(float), of) for of in sets])
    variances, counted = [], []
    for rows in (shared.row_set, apart.row_set):
        # (seeds, RESAMPLES) of each run: the sum of the rows' tasks, over the number of all tasks
        one, other = (sum(resampled[rows] for _, resampled in run if rows in resampled) / 3 for run in runs)
        factor = rows.count / (rows.count - 1)
        variances.append(factor * np.var(one.mean(axis=0) - other.mean(axis=0)))
        counted.append([factor * np.var(of - of.mean(axis=0), axis=1).sum() / (4 * 3) for of in (one, other)])
    seeds = [np.mean([by_seed for by_seed, _ in run], axis=0).var(ddof=1) / 4 for run in runs]
    left = [max(0.0, of - sum(part)) for of, part in zip(seeds, zip(*counted, strict=True), strict=True)]
    found = estimate(*map(average, runs))
    freedom = sum(v**2 / (rows.count - 1) for v, rows in zip(variances, (shared.row_set, apart.row_set), strict=True))
    freedom += sum(of**2 / 3 for of in seeds)
    least = min(sum(variances) + sum(seeds), (5.8 * freedom) ** 0.5)
    assert sum(variances) + sum(left) < least < sum(variances) + sum(seeds)  # the case in which less is subtracted
    assert found.error == pytest.approx(least**0.5, abs=1e-12)
    assert found.freedom == pytest.approx(found.error**4 / freedom, rel=1e-12)


@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize("differing", [0.0, 0.5])
def test_equal_runs_are_seldom_told_apart(seeds: int, differing: float) -> None:
    """Rates of a fixed random state; 5 % of 400 has a standard error of 1.1 points."""
    rng = np.random.default_rng([seeds, int(10 * differing)])
    rows = row_groups("t", np.repeat(np.arange(60), 2))
    weights = np.concatenate(list(row_weights(rows))).T / 120
    decided = with_rows_alone = 0
    for _ in range(400):
        difficulty = np.repeat(rng.normal(size=60), 2) + differing * rng.normal(size=(2, 1, 120))
        right = (
            1 + difficulty + 0.3 * rng.normal(size=(2, seeds, 1)) + 0.5 * rng.normal(size=(2, seeds, 120)) > 0
        ).astype(float)
        one, other = (sample(100 * run.mean(axis=1), {rows.row_set: 100 * run @ weights}) for run in right)
        decided += compare(one, other).verdict != "undecided"
        low, high = np.percentile(one.means[rows.row_set] - other.means[rows.row_set], [2.5, 97.5])
        with_rows_alone += low > 0 or high < 0
    assert 0.015 * 400 <= decided <= 0.08 * 400
    assert with_rows_alone > 0.15 * 400
