"""The paired tests between the runs of a leaderboard, the ranks that they leave open, and the note that explains them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from mtl.reports.board import PairTests, Row, rank
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, PairTest, Sample, compare
from mtl.stats.families import ColumnTests, all_tails, family_tests, rank_intervals, with_holm
from mtl.tasks.suite import AVERAGE

MOST_FOR_PAIRS = 40  # runs; of more, not every pair is tested, as the number of pairs is quadratic in that of runs

Group = tuple[str, str]  # a column, and the key of the rows on which its runs are scored


def pair_tests(rows: Sequence[Row], references: Collection[str] = ()) -> PairTests:
    """The tests between the runs among these rows, with Holm's correction for all of them together.

    Args:
        references: names of runs to compare every run with. If the rows have none of them, every pair is compared; of more than
            MOST_FOR_PAIRS runs, every run with the run that has the best average of its split.
    """
    runs = [number for number, row in enumerate(rows) if row.samples]
    only_task, untested = _only_task(rows)
    named = [number for number in runs if rows[number].name in references]
    by_score = not named and len(runs) > MOST_FOR_PAIRS
    tested = _best_of_each_split(rows, runs) if by_score else named
    tests: dict[tuple[tuple[int, int], str], PairTest] = {}
    comparisons: dict[tuple[int, int], dict[str, PairTest]] = {}
    for first, second in _pairs(runs, tested):
        run, reference = rows[first], rows[second]
        if run.scores.keys() & reference.scores.keys():
            comparisons[first, second] = {}
        for column, key in run.comparable.items():
            if column != untested and reference.comparable.get(column) == key:  # an average's key has its tasks
                tests[(first, second), column] = compare(run.samples[column], reference.samples[column])
    groups = {group: samples for group, samples in comparable_samples(rows).items() if group[0] != untested}
    family = family_tests(groups)
    # Where the references were chosen by their scores, the correction is for the tests of every pair.
    family_tails = all_tails(family) if by_score else None
    tails = _tails(rows, tests, groups, family)
    for (pair, column), test in with_holm(tests, tails, family_tails).items():
        comparisons[pair][column] = test
        if column == only_task:
            comparisons[pair][AVERAGE] = test
    number = len(tails) if family_tails is None else len(family_tails)
    ranks = {} if named else _ranks(rows, groups, family)
    if only_task in ranks:
        ranks[AVERAGE] = ranks[only_task]
    return PairTests(comparisons, tested, by_score, number, ranks)


def comparable_samples(rows: Sequence[Row]) -> dict[Group, dict[int, Sample]]:
    """The samples of two or more runs on the same rows that tests compare, by column and key of the rows, and by the index of the row."""
    groups: dict[Group, dict[int, Sample]] = {}
    for number, row in enumerate(rows):
        for column, key in row.comparable.items():
            if row.samples[column].is_tested:
                groups.setdefault((column, key), {})[number] = row.samples[column]
    return {key: samples for key, samples in groups.items() if len(samples) > 1}


def tests_note(rows: Sequence[Row], tests: PairTests) -> list[str]:
    """A note on the paired tests that were made, if there are any."""
    if not any(tests.comparisons.values()):
        return []
    against = ", ".join(rows[number].name for number in tests.references)
    samples = [sample for row in rows for sample in row.samples.values()]
    single = (
        "; but an ensemble of all seeds, imported predictions of one seed, and one seed of a deterministic method are one system, and its tests"
        " say how it answers other examples, not how it would be with another seed"
    ) * any(sample.is_one_system for sample in samples)
    note = (
        "Paired tests compare the means over seeds of two runs, so a difference may not equal that of the medians shown. Runs on "
        f"the same examples are resampled together. A difference is significant, better or worse, if p is below {LEVEL:g}. The "
        f"interval of the difference then does not contain 0; but with five groups of examples or fewer, p is never below {LEVEL:g}. If a run "
        f"has fewer than {LEAST_SEEDS} seeds, there is no verdict{single}. Of tests "
        f"between equal runs, {100 * LEVEL:g} % give better or worse by chance."
    )
    if not tests.made:
        return [note]
    if tests.by_score:
        note += (
            f" Of more than {MOST_FOR_PAIRS} runs, only the tests of each one against the one with the best average of each split are shown "
            f"({against}); mtl report --reference NAME names another. These were chosen by their scores on the same examples, so without "
            f"Holm's correction, worse is too frequent. The correction, and the ranks, are therefore of the {tests.family:,} tests of every "
            f"pair of runs, every task and the average, of which {tests.made:,} are shown. With it,"
        )
    else:
        pairs = f"every run against {against}" if tests.references else "every pair of runs"
        made = f"{tests.made:,} tests of this suite ({pairs}, every task and the average)"
        note += f" With Holm's correction for the {made},"
    note += f" the probability of even one false verdict is at most {100 * LEVEL:g} %."
    if any(sample.varies for sample in samples):
        note += (
            " For this, the correction takes from all runs together how much seeds differ, and no less for a run whose own few seeds happen to "
            "agree. With three seeds, only large differences are significant."
        )
    return [note]


def _only_task(rows: Sequence[Row]) -> tuple[str | None, str | None]:
    """Where all runs have one task alone, this task, and AVERAGE, which then has the same tests; otherwise None and None."""
    columns = {column for row in rows for column in row.comparable} - {AVERAGE}
    averages = all(AVERAGE in row.comparable for row in rows if row.comparable)
    return (columns.pop(), AVERAGE) if len(columns) == 1 and averages else (None, None)


def _best_of_each_split(rows: Sequence[Row], runs: Sequence[int]) -> list[int]:
    """Of each split that averages are on, the run with the best average; a partial average counts only where there is no other."""
    best: dict[str, int] = {}
    for number in sorted(runs, key=lambda number: rank(rows[number]), reverse=True):
        best.setdefault(rows[number].split_of(AVERAGE), number)
    return sorted(best.values())


def _pairs(runs: Sequence[int], references: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of runs to test, each once: every run with each of the references, or every two runs if there are no references."""
    if not references:
        return [(second, first) for first, second in combinations(runs, 2)]
    pairs = [(run, reference) for reference in references for run in runs if run != reference]
    return [(run, reference) for run, reference in pairs if run not in references or run > reference]


def _tails(
    rows: Sequence[Row],
    tests: Mapping[tuple[tuple[int, int], str], PairTest],
    groups: Mapping[Group, Mapping[int, Sample]],
    family: Mapping[Group, ColumnTests],
) -> dict[tuple[tuple[int, int], str], float]:
    """The tail of each test that has a p, for Holm's correction."""
    positions = {group: {run: position for position, run in enumerate(samples)} for group, samples in groups.items()}
    tails = {}
    for ((first, second), column), test in tests.items():
        if test.p is not None:
            group = column, rows[first].comparable[column]
            tail = family[group].tail[positions[group][first], positions[group][second]]
            tails[(first, second), column] = float(tail)
    return tails


def _ranks(
    rows: Sequence[Row], groups: Mapping[Group, Mapping[int, Sample]], family: Mapping[Group, ColumnTests]
) -> dict[str, dict[int, tuple[int, int]]]:
    """The interval of ranks of each run, by column. A column has none if its runs are scored on several sets of rows."""
    ranked = [group for group, samples in groups.items() if "§" not in rows[min(samples)].mark(group[0])]
    number_of_groups = Counter(column for column, _ in ranked)
    return {
        group[0]: dict(zip(groups[group], intervals, strict=True))
        for group, intervals in rank_intervals(family).items()
        if group in ranked and number_of_groups[group[0]] == 1
    }
