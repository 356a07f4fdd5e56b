"""The tests of a family: against those of each pair, their definitions, and what simulated families show."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import hadamard

from mtl.stats.comparison import PairTest, Sample, compare
from mtl.stats.families import family_tests
from mtl.stats.holm import all_tails, largest_rejected, rank_intervals, with_holm
from mtl.stats.resampling import RowSet
from mtl.stats.rows_variance import RowsVariance
from mtl.stats.seed_variance import PRIOR_FREEDOM, SeedVariance, seed_variances
from mtl.stats.tails import tails

ROWS, OTHERS = RowSet("rows", 400), RowSet("others", 30)


def drawn(mean: float, number: int, seeds: int = 3, spread: float = 0.1, sets: tuple[RowSet, ...] = (ROWS,)) -> Sample:
    """A sample whose seeds have this standard deviation exactly."""
    rng = np.random.default_rng(number)
    by_seed = rng.normal(size=seeds)
    by_seed = mean + spread * (by_seed - by_seed.mean()) / by_seed.std(ddof=1)
    return Sample(by_seed, {rows: mean + rng.normal(0, 1, 1000) for rows in sets}, 0.0)


def system(mean: float, number: int) -> Sample:
    made = drawn(mean, number)
    return Sample(np.array([mean]), made.means, 0.0, is_one_system=True)


def test_p_of_all_pairs_is_that_of_each() -> None:
    samples = [drawn(70 + 2 * number, number, 3 + number % 4, sets=(ROWS, OTHERS)) for number in range(6)]
    samples.append(samples[0])  # equal answers
    found = family_tests({"task": dict(enumerate(samples))})["task"]
    for one, other in combinations(range(7), 2):
        test = compare(samples[one], samples[other])
        assert found.difference[one, other] == pytest.approx(test.difference, abs=1e-9)
        assert found.p[one, other] == pytest.approx(test.p, rel=1e-6, abs=1e-12)
        assert found.p[other, one] == pytest.approx(found.p[one, other])
        assert found.tail[other, one] == found.tail[one, other]
    assert found.p[0, 6] == found.tail[0, 6] == 1.0


def test_systems_and_runs_whose_seeds_agree_have_the_same_tail_as_alone() -> None:
    same = drawn(71, 9)
    fixed = Sample(np.full(3, 71.0), same.means, 0.0)
    columns = {"task": {"a": system(70, 1), "b": system(76, 2), "c": fixed, "d": drawn(72, 3), "e": drawn(73, 4)}}
    found, parts = family_tests(columns)["task"], seed_variances(columns)["task"]
    assert parts.variance[:3].tolist() == [0, 0, 0] and np.isinf(parts.freedom[:3]).all()
    np.testing.assert_array_equal(found.tail[:3, :3], found.p[:3, :3])
    assert (found.tail[3:, :3] != found.p[3:, :3]).all()
    # They are no evidence of how much other runs' seeds differ.
    two = seed_variances({"task": {name: columns["task"][name] for name in "de"}})["task"]
    np.testing.assert_allclose(parts.variance[3:], two.variance)
    np.testing.assert_allclose(parts.freedom[3:], two.freedom)


def test_a_run_has_at_least_the_others_pooled_variance_where_more_seeds_weigh_more() -> None:
    runs = {name: drawn(70, ord(name), spread=spread) for name, spread in {"a": 1.0, "b": 2.0, "c": 0.1}.items()}
    parts = seed_variances({"task": runs})["task"]
    expected = [(4 + 0.01) / 2, 4.0, (1 + 4) / 2]  # of a: the others'; of b: its own; of c: the others'
    np.testing.assert_allclose(parts.variance * 3, expected)
    # The others say less about a run whose seeds differ more.
    prior = 1 / (1 / PRIOR_FREEDOM + 1 / (2 * PRIOR_FREEDOM) + 1 / 4)
    np.testing.assert_allclose(parts.freedom, 2 + prior * np.array([1, (1 + 0.01) / 2 / 4, 1]))
    runs = {"a": drawn(70, 1, 3, 0.0), "b": drawn(70, 2, 3, 1.0), "c": drawn(70, 3, 5, 2.0)}
    runs["a"] = replace(runs["a"], counted_with_rows=0.02)
    runs["b"] = replace(runs["b"], counted_with_rows=0.1)
    parts = seed_variances({"task": runs})["task"]
    pooled = (2 * (1 - 0.3) + 4 * 4.0) / 6 + 3 * 0.02
    assert parts.variance[0] == pytest.approx(pooled / 3)


def test_a_run_that_differs_more_than_others_on_all_tasks_is_not_taken_for_one_of_them() -> None:
    """On the task where its seeds are nearly equal by chance, its other tasks warn."""
    columns = {
        task: {run: drawn(70, 10 * run + task, spread=5.0 if run == 0 and task else 0.2) for run in range(6)}
        for task in range(5)
    }
    parts = seed_variances(columns)[0]
    assert parts.variance[0] * 3 == pytest.approx(0.04 * (0.04 + 4 * 25) / (5 * 0.04), rel=0.01)
    assert parts.variance[1] > 0.04 / 3  # the others stay apart from it, too
    alone = seed_variances({0: columns[0]})[0]
    np.testing.assert_allclose(alone.variance * 3, 0.04)


def test_equal_seeds_by_chance_do_not_make_a_difference_certain() -> None:
    """Two of twelve runs have seeds that differ little, and means far apart for the others' spread. Rows matter little."""
    noise = np.random.default_rng(0).normal(0, 0.1, (12, 1000))
    runs = {}
    for number in range(12):
        mean, spread = (64 + number / 3, 3.0) if number < 10 else (60 + 6 * (number - 10), 0.05)
        made = drawn(mean, number, spread=spread)
        runs[number] = Sample(made.by_seed, {ROWS: mean + noise[number]}, 0.0)
    found = family_tests({"task": runs})["task"]
    assert found.p[10, 11] < 1e-6 and found.tail[10, 11] > 0.01


def test_seeds_of_a_method_without_randomness_are_no_seeds() -> None:
    """A solver's order of rows changes an answer or two."""
    almost = drawn(70, 1, spread=0.005)
    assert almost.variance > 0 and not almost.varies
    assert not Sample(almost.by_seed, almost.means, 1e-6).varies and Sample(almost.by_seed, almost.means, 1e-3).varies
    columns = {"task": {"almost": almost, "a": drawn(72, 2, spread=2.0), "b": drawn(72, 3, spread=2.0)}}
    assert seed_variances(columns)["task"].variance[0] == 0


def test_holm_against_its_definition() -> None:
    p_values = [0.01, 0.04, None, 0.03, 0.005, 0.6]
    family = {place: PairTest(1.0, 0.0, 0.0, p) for place, p in enumerate(p_values)}
    tails = {place: p for place, p in enumerate(p_values) if p is not None}
    corrected = with_holm(family, tails, np.array(list(tails.values())))
    assert [found.p_holm for found in corrected.values()] == pytest.approx([0.04, 0.09, None, 0.09, 0.025, 0.6])
    verdicts = [corrected[place].verdict_holm for place in (0, 1, 2, 4)]
    assert verdicts == ["better", "undecided", "too few seeds", "better"]
    assert [found.verdict for found in family.values()].count("better") == 4
    assert largest_rejected(np.array(list(tails.values()))) == 0.01
    assert largest_rejected(np.array([0.03, 0.04])) == -1.0 == largest_rejected(np.empty(0))
    # Of a larger family, some tests are shown.
    whole = {**family, **{place: PairTest(1.0, 0.0, 0.0, 1.0) for place in range(6, 9)}}
    more = {6: 0.001, 7: 0.04, 8: 1.0}
    every = np.array([*tails.values(), *more.values()])
    expected = [found.p_holm for found in with_holm(whole, {**tails, **more}, every).values()][:6]
    assert [found.p_holm for found in with_holm(family, tails, every).values()] == expected
    # No verdict holds that is none alone.
    corrected = with_holm({0: PairTest(1.0, -0.1, 2.1, 0.07)}, {0: 0.01}, np.array([0.01]))[0]
    assert corrected.p_holm == 0.07 and not corrected.holds


def runs_of_normal_scores(
    deviations: np.ndarray, seeds: list[int], rng: np.random.Generator
) -> dict[str, dict[int, Sample]]:
    """Equal runs. The difference of two runs has a variance over rows of 0.02 on each task, which is known.

    Args:
        deviations: of each run's seeds on each task, (runs, tasks).
    """
    runs, tasks = deviations.shape
    sets = [RowSet(f"task {task}", 2000) for task in range(tasks)]
    resampled = 0.1 * HADAMARD[1 : 1 + runs]  # uncorrelated, each with the mean 0
    scores = [[0.1 * rng.normal() + sd * rng.normal(size=seeds[run]) for sd in deviations[run]] for run in range(runs)]
    columns: dict[str, dict[int, Sample]] = {rows.key: {} for rows in sets} | ({"average": {}} if tasks > 1 else {})
    for run in range(runs):
        for task, rows in enumerate(sets):
            columns[rows.key][run] = Sample(scores[run][task], {rows: resampled[run]}, 0.0)
        if tasks > 1:
            shared = dict.fromkeys(sets, resampled[run] / tasks)
            columns["average"][run] = Sample(np.mean(scores[run], axis=0), shared, 0.0)
    return columns


HADAMARD = hadamard(16).astype(float)
NOISY_BY_TASK = np.where(np.arange(8)[:, None] == np.arange(9) % 8, 1.0, 0.1)


@pytest.mark.parametrize(
    ("deviations", "seeds"),
    [
        (np.ones((6, 4)), [3] * 6),
        (NOISY_BY_TASK, [3] * 8),  # another run on each task
        (np.where(np.arange(5)[:, None] == 0, 1.0, np.full((5, 9), 0.05)), [3] * 5),  # one run on all tasks
        (np.array([[1.0], [0.05]]), [3, 3]),
        (np.array([[3.0], [3.0], [0.3], [0.3]]), [3, 3, 12, 12]),
    ],
)
def test_families_with_unlike_seeds_seldom_have_a_verdict(deviations: np.ndarray, seeds: list[int]) -> None:
    """Rates of a fixed random state; 5 % of 300 has a standard error of 1.3 points."""
    rng = np.random.default_rng(3)
    upper = np.triu_indices(len(seeds), 1)
    false = 0
    for _ in range(300):
        found = family_tests(runs_of_normal_scores(deviations, seeds, rng))
        largest = largest_rejected(all_tails(found))
        false += any(((each.tail <= largest) & (each.p < 0.05))[upper].any() for each in found.values())
    assert false <= 0.05 * 300


def tail(value: float, rows: float, rows_freedom: float, seeds: float, seeds_freedom: float, counted: float) -> float:
    """The tail of a difference between a run whose seeds have this variance and one system."""
    of_rows = RowsVariance(np.full((2, 2), rows), np.full((2, 2), rows**2 / rows_freedom))
    of_seeds = SeedVariance(np.array([seeds, 0]), np.array([counted, 0]), np.array([seeds_freedom, np.inf]))
    return float(tails(np.zeros((2, 2)), np.array([[0, value], [-value, 0]]), of_rows, of_seeds)[0, 1])


@pytest.mark.parametrize("freedom", [2, 4, 7.3, 40])
@pytest.mark.parametrize("value", [0.0, 1.0, 3.0, -9.0])
def test_of_seeds_alone_it_is_student_s_t(freedom: float, value: float) -> None:
    found = tail(2 * value, 0.0, np.inf, 4.0, freedom, 0.0)
    assert found == pytest.approx(2 * stats.t.sf(abs(value), freedom), rel=1e-4)


@pytest.mark.parametrize("freedom", [5, 11, 299])
@pytest.mark.parametrize("value", [0.0, 1.0, 3.0])
def test_of_rows_and_hardly_any_seeds_it_is_student_s_t(freedom: float, value: float) -> None:
    expected = 2 * stats.t.sf(value, freedom)
    assert tail(2 * value, 4.0, freedom, 1e-9, 4, 0.0) == pytest.approx(expected, rel=0.025)


@pytest.mark.parametrize("counted", [0.0, 0.2, 3.0])
def test_both_parts_against_drawn_variances(counted: float) -> None:
    """2 million draws: 0.3 % at p = 0.05."""
    seeds_freedom, value = 3.0, 4.0
    drawn = seeds_freedom / np.random.default_rng(0).chisquare(seeds_freedom, 2_000_000)
    error = np.sqrt(1.5 + np.maximum(0.0, 2.0 * drawn - counted))
    expected = np.mean(2 * stats.norm.sf(value / error))
    assert tail(value, 1.5, 1e9, 2.0, seeds_freedom, counted) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("rows_freedom", [5, 11, 29, 199])
@pytest.mark.parametrize("value", [3.0, 6.0])
def test_with_few_groups_of_rows_it_is_not_below_the_mean_over_both_variances(rows_freedom: int, value: float) -> None:
    """2 million draws of both variances: the Behrens-Fisher solution."""
    rng = np.random.default_rng(0)
    of_rows = rows_freedom / rng.chisquare(rows_freedom, 2_000_000)
    of_seeds = 4.0 / rng.chisquare(4.0, 2_000_000)
    expected = np.mean(2 * stats.norm.sf(value / np.sqrt(of_rows + of_seeds)))
    found = tail(value, 1.0, rows_freedom, 1.0, 4.0, 0.0)
    assert 0.98 * expected <= found <= (3.0 if rows_freedom < 29 else 1.3) * expected


def test_the_tails_of_many_pairs_are_computed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"task": {number: drawn(70 + number, number) for number in range(6)}}
    whole = family_tests(columns)["task"].tail
    monkeypatch.setattr("mtl.stats.tails.BLOCK", 4)
    np.testing.assert_allclose(family_tests(columns)["task"].tail, whole, rtol=1e-12)


def ranks(columns: Mapping[str, Mapping[Any, Sample]]) -> dict[str, dict[Any, tuple[int, int]]]:
    """By column and run."""
    intervals = rank_intervals(family_tests(columns))
    return {column: dict(zip(runs, intervals[column], strict=True)) for column, runs in columns.items()}


def test_ranks_of_an_order_with_a_tie() -> None:
    runs = {"a": drawn(80, 1), "b": drawn(70.1, 2), "c": drawn(70, 3), "d": drawn(50, 4)}
    assert ranks({"task": runs}) == {"task": {"a": (1, 1), "b": (2, 3), "c": (2, 3), "d": (4, 4)}}


def test_ranks_are_those_of_the_tests_of_every_pair_in_all_columns() -> None:
    columns = {
        "one": {number: drawn(70 + number, number, seeds=2 + number % 3 + 1) for number in range(12)},
        "two": {number: drawn(70 + number / 3, 50 + number, sets=(ROWS, OTHERS)) for number in range(12)},
    }
    tests = {
        (column, pair): compare(runs[pair[0]], runs[pair[1]])
        for column, runs in columns.items()
        for pair in combinations(runs, 2)
    }
    family = family_tests(columns)
    tails = {(column, pair): family[column].tail[pair] for column, pair in tests}
    corrected = with_holm(tests, tails, np.array(list(tails.values())))
    assert 0 < sum(test.holds for test in corrected.values()) < len(corrected)
    for column, intervals in ranks(columns).items():
        for run, interval in intervals.items():
            won = lost = 0
            for (of, (first, second)), test in corrected.items():
                if of == column and run in (first, second) and test.holds:
                    is_better = (test.difference > 0) == (run == first)
                    won, lost = won + is_better, lost + (not is_better)
            assert interval == (1 + lost, 12 - won)


def test_one_system_has_a_verdict_and_two_seeds_have_none() -> None:
    one, other = system(80, 1), system(70, 2)
    few = compare(replace(one, is_one_system=False), replace(other, is_one_system=False))
    assert few.p is None and few.probability is None
    test = compare(one, other)
    assert test.verdict == "better"
    assert test.p is not None and test.probability == pytest.approx(1 - test.p / 2)
    assert compare(other, one).probability == pytest.approx(1 - test.probability)
    assert compare(one, drawn(70, 3, seeds=2)).p is None
    assert compare(one, drawn(70, 3, seeds=3)).verdict == "better"
