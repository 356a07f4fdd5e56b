from collections.abc import Hashable, Mapping
from itertools import combinations

import numpy as np
import pytest

from mtl.stats.comparison import Sample, compare
from mtl.stats.families import family_tests, rank_intervals, with_holm
from mtl.stats.resampling import RowSet

ROWS = RowSet("rows", 400)
OTHERS = RowSet("others", 30)


def drawn(mean: float, number: int, noise: float = 1.0, seeds: int = 3, sets: tuple[RowSet, ...] = (ROWS,)) -> Sample:
    """A sample with this mean over seeds, whose resamples are independent of those of another number."""
    rng = np.random.default_rng(number)
    by_seed = np.full(seeds, mean) if seeds < 3 else mean + np.array([-0.1, 0.1, *[0.0] * (seeds - 2)])
    return Sample(by_seed, {rows: mean + rng.normal(0, noise, 1000) for rows in sets}, 0.0)


Ranks = dict[Hashable, dict[Hashable, tuple[int, int]]]


def ranks(columns: Mapping[Hashable, Mapping[Hashable, Sample]]) -> Ranks:
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
    corrected = with_holm(tests, {(column, pair): family[column].tail[pair] for column, pair in tests})
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
    one, other = drawn(80, 1, seeds=1), drawn(70, 2, seeds=1)
    systems = [Sample(sample.by_seed, sample.means, 0.0, is_one_system=True) for sample in (one, other)]
    assert compare(one, other).p is None
    assert compare(one, other).probability is None
    test = compare(*systems)
    assert test.verdict == "better"
    assert test.p is not None and test.probability == pytest.approx(1 - test.p / 2)
    assert compare(systems[1], systems[0]).probability == pytest.approx(1 - test.probability)
    assert compare(systems[0], drawn(70, 3, seeds=2)).p is None
    assert compare(systems[0], drawn(70, 3, seeds=3)).verdict == "better"
