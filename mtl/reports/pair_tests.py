"""The paired tests between the runs of a leaderboard, and the ranks that they leave open."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

import numpy as np

from mtl.reports.board import PairTests
from mtl.reports.rows import Row, average_order
from mtl.stats.comparison import PairTest, Sample, compare
from mtl.stats.families import ColumnTests, family_tests
from mtl.stats.holm import all_tails, rank_intervals, with_holm
from mtl.tasks.suite import AVERAGE

MOST_FOR_PAIRS = 40  # runs; of more, not every pair is tested, as the number of pairs is quadratic in that of runs

Pair = tuple[int, int]  # the indices of two rows: the first run is compared with the second
ColumnExamples = tuple[str, str]  # a column, and the key of the examples on which its runs are scored
Tests = dict[tuple[Pair, str], PairTest]  # by pair and column
Groups = Mapping[ColumnExamples, Mapping[int, Sample]]  # the samples of these runs, by the index of their rows
Family = Mapping[ColumnExamples, ColumnTests]
Value = TypeVar("Value")


def pair_tests(rows: Sequence[Row], references: Collection[str] = ()) -> PairTests:
    """The tests between the runs among these rows, with Holm's correction for all of them together. With `references`, every run is tested against
    the runs of these names. Else every two runs are; but of more than MOST_FOR_PAIRS, each one against the best average of each split."""
    runs = [number for number, row in enumerate(rows) if row.samples]
    named = [number for number in runs if rows[number].name in references]
    by_score = not named and len(runs) > MOST_FOR_PAIRS
    compared_with = _best_of_each_split(rows, runs) if by_score else named
    only_task = _only_task(rows)
    # The average over one task is not tested by itself: it gets the tests and ranks of the task (`_with_average`).
    columns = {column for row in rows for column in row.comparable if column != AVERAGE or only_task is None}
    groups = {(column, key): by_run for (column, key), by_run in comparable_samples(rows).items() if column in columns}
    family = family_tests(groups)
    pairs = _pairs(runs, compared_with)
    tests = _tests(rows, pairs, columns)
    tails = _tails(rows, tests, groups, family)
    # References that were chosen by their scores depend on the tests of every pair, so the correction is for all of these.
    corrected_tails = all_tails(family) if by_score else np.array(list(tails.values()))
    by_pair = _by_pair(rows, pairs, with_holm(tests, tails, corrected_tails))
    comparisons = {pair: _with_average(by_column, only_task) for pair, by_column in by_pair.items()}
    ranks = {} if named else _with_average(_ranks(rows, groups, family), only_task)
    return PairTests(comparisons, compared_with, by_score, len(corrected_tails), ranks)


def _best_of_each_split(rows: Sequence[Row], runs: Sequence[int]) -> list[int]:
    """Of each split that averages are on, the run with the best average; a partial average counts only where there is no other."""
    best: dict[str, int] = {}
    for number in sorted(runs, key=lambda number: average_order(rows[number]), reverse=True):
        best.setdefault(rows[number].split_of(AVERAGE), number)
    return sorted(best.values())


def _pairs(runs: Sequence[int], references: Sequence[int]) -> list[Pair]:
    """The pairs of runs to test, each once: every run with each reference, or, without references, every two runs, the later one first."""
    if not references:
        return [(second, first) for first, second in combinations(runs, 2)]
    pairs = [(run, reference) for reference in references for run in runs if run != reference]
    return [(run, reference) for run, reference in pairs if run not in references or run > reference]


def _only_task(rows: Sequence[Row]) -> str | None:
    """The task that all runs have alone, if there is one: their average then has the same tests. Else None."""
    tasks = {column for row in rows for column in row.comparable} - {AVERAGE}
    have_averages = all(AVERAGE in row.comparable for row in rows if row.comparable)
    return tasks.pop() if len(tasks) == 1 and have_averages else None


def _tests(rows: Sequence[Row], pairs: Sequence[Pair], columns: Collection[str]) -> Tests:
    """The test of each pair on each of these columns in which both runs are scored on the same examples; for an average, of the same tasks, too."""
    tests: Tests = {}
    for pair in pairs:
        first, second = (rows[number] for number in pair)
        for column, key in first.comparable.items():
            if column in columns and second.comparable.get(column) == key:
                tests[pair, column] = compare(first.samples[column], second.samples[column])
    return tests


def _by_pair(rows: Sequence[Row], pairs: Sequence[Pair], tests: Tests) -> dict[Pair, dict[str, PairTest]]:
    """The tests by pair, then by column. A pair with common tasks but without a test has none; a pair without common tasks is left out."""
    common = [(first, second) for first, second in pairs if rows[first].scores.keys() & rows[second].scores.keys()]
    by_pair: dict[Pair, dict[str, PairTest]] = {pair: {} for pair in common}
    for (pair, column), test in tests.items():
        by_pair[pair][column] = test
    return by_pair


def comparable_samples(rows: Sequence[Row]) -> dict[ColumnExamples, dict[int, Sample]]:
    """The samples of two or more runs on the same examples that tests compare, and the index of the row of each."""
    groups: dict[ColumnExamples, dict[int, Sample]] = {}
    for number, row in enumerate(rows):
        for column, key in row.comparable.items():
            if row.samples[column].is_tested:
                groups.setdefault((column, key), {})[number] = row.samples[column]
    return {group: samples for group, samples in groups.items() if len(samples) > 1}


def _tails(rows: Sequence[Row], tests: Tests, groups: Groups, family: Family) -> dict[tuple[Pair, str], float]:
    """The tail of each test that has a p, for Holm's correction."""
    tails = {}
    for (pair, column), test in tests.items():
        if test.p is not None:
            group = column, rows[pair[0]].comparable[column]
            runs = list(groups[group])  # in the order of the axes of the family's arrays
            first, second = (runs.index(run) for run in pair)
            tails[pair, column] = float(family[group].tail[first, second])
    return tails


def _ranks(rows: Sequence[Row], groups: Groups, family: Family) -> dict[str, dict[int, tuple[int, int]]]:
    """The interval of ranks of each run that is not apart, by column. A column has none if these runs are scored on several sets of examples."""
    # The runs of a group are scored on the same examples, so all of them are apart or none.
    ranked = [(column, key) for (column, key), runs in groups.items() if "§" not in rows[next(iter(runs))].mark(column)]
    number_of_sets = Counter(column for column, _ in ranked)
    intervals = rank_intervals(family)
    comparable = [(column, key) for column, key in ranked if number_of_sets[column] == 1]
    return {column: dict(zip(groups[column, key], intervals[column, key], strict=True)) for column, key in comparable}


def _with_average(by_column: Mapping[str, Value], only_task: str | None) -> dict[str, Value]:
    """The tests or the ranks of each column; if all runs have one task alone, that task's are those of the average, too."""
    if only_task is None or only_task not in by_column:
        return dict(by_column)
    return {**by_column, AVERAGE: by_column[only_task]}
