"""`mtl power`, and the note of a report: the smallest differences that tests between runs show in most cases, and the rows or seeds that one needs.
The test is that of `mtl.stats.comparison`, without Holm's correction: a difference over its standard error, which follows a noncentral t
distribution around the true difference. docs/explanation/intervals-and-tests.md says how its variance follows from the numbers of rows and seeds,
and benchmarks/power.py measures how often differences of the stated size are shown."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated

from msgspec import Meta
from scipy.special import nctdtrinc, stdtrit

from mtl.base.errors import InputError
from mtl.base.settings.schema import POSITIVE
from mtl.base.typed import LARGEST_NUMBER
from mtl.base.wording import MISSING, escaped, markdown_table
from mtl.reports.board import Column, Leaderboard, PairTest, PairTests
from mtl.reports.leaderboard import by_suite, leaderboard
from mtl.reports.rows import Row
from mtl.runs.finished import find_runs
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, NEGLIGIBLE, Sample, rows_parts, total_variance
from mtl.stats.samples import SampleCache
from mtl.tasks.scale import Scale

POWER = 0.8  # the share of cases in which the smallest difference is shown
LEAST_GROUPS = 6  # of rows: with fewer, the test's p is never below 5 %
NEVER = math.inf  # where no difference is shown, or no number of rows or seeds is enough
LEAST_FREEDOM, MOST_FREEDOM = 1.0, 1e6  # below, scipy finds no noncentrality; above, t is normal
TestedPair = tuple[tuple[int, int], PairTest]  # the indices of two rows of a board, and a test of their difference


@dataclass
class PowerSettings:
    """The keys of `mtl power`."""

    difference: Annotated[float, POSITIVE] = 2.0  # the difference × 100 that rows and seeds are counted for
    seeds: Annotated[int, Meta(ge=LEAST_SEEDS)] | None = None  # of each run in place of those that it has


def power_report(runs_dir: Path, settings: PowerSettings, cache_dir: Path | None = None) -> str:
    """What the tests of the finished runs below a folder can show, in Markdown: a table for each suite. Raises InputError if there are none."""
    cache = SampleCache(cache_dir and cache_dir / "resampled")
    if not (runs := find_runs(runs_dir, cache.check)):
        raise InputError("holds no finished run; make one with mtl baseline", path=runs_dir)
    return "\n\n".join(power_text(leaderboard(suite_runs, cache), settings) for suite_runs in by_suite(runs))


def power_text(board: Leaderboard, settings: PowerSettings) -> str:
    """The table of a suite in Markdown, with a line for the average and each task that runs were tested on."""
    title, tested_pairs = f"# {escaped(board.title)}", tests_by_column(board.tests)
    if not tested_pairs:
        return f"{title}\n\nNo two runs have {LEAST_SEEDS} seeds or more and the same scored examples, so there are no tests."
    wanted = board.scale.show(settings.difference)
    columns = ["metric", "examples", "seeds", "same examples", "other examples"]
    header = ["", *columns, f"examples for {wanted}", f"seeds for {wanted}", "significant"]
    body = [_cells(board, column, tested_pairs[column], settings) for column in board.columns if column in tested_pairs]
    legend = (
        "Examples: their number, or that of groups where examples belong together; of the average, those of its tasks. "
        f"Same examples, other examples: the smallest difference ({board.scale.unit}) that a single test at {100 * LEVEL:g} % shows in"
        f" {100 * POWER:g} % of the cases, where two runs are scored on the same examples, or each on as many other ones. "
        f"Examples for {wanted}: those that such a difference on the same examples needs at these seeds; seeds for {wanted}: the seeds that it "
        "needs at these examples; never: more examples, or more seeds, are not enough alone. All are medians over the pairs of "
        "runs that were tested. Significant: the pairs with a significant difference, with Holm's correction, of those tested."
    )
    return "\n\n".join([title, markdown_table([header, *body], left=2), legend])


def _cells(board: Leaderboard, column: str, tested_pairs: Sequence[TestedPair], settings: PowerSettings) -> list[str]:
    """The line of the table about a column of the leaderboard, from the pairs of runs that were tested on it."""
    samples = [[board.rows[number].samples[column] for number in pair] for pair, _ in tested_pairs]
    on_same_rows, on_other_rows = [same_rows(*pair) for pair in samples], [other_rows(*pair) for pair in samples]
    counts = {len(sample.by_seed) for pair in samples for sample in pair}
    seeds_range = f"{min(counts)}–{max(counts)}" if len(counts) > 1 else str(min(counts))
    smallest = partial(Design.smallest_difference, seeds=settings.seeds)
    groups_needed = partial(Design.groups_for, difference=settings.difference, seeds=settings.seeds)
    return [
        escaped(board.columns[column].title),
        escaped(board.columns[column].metric),
        f"{on_same_rows[0].groups:,}",
        str(settings.seeds or seeds_range),
        *(_shown(_median(designs, smallest), board.scale.show) for designs in (on_same_rows, on_other_rows)),
        _shown(_median(on_same_rows, groups_needed), _rounded_up),
        _shown(_median(on_same_rows, lambda design: design.seeds_for(settings.difference)), _rounded_up),
        f"{sum(test.holds for _, test in tested_pairs)} of {len(tested_pairs)}",
    ]


def power_note(columns: Mapping[str, Column], rows: Sequence[Row], tests: PairTests, scale: Scale) -> list[str]:
    """A note that names the tasks that cannot tell the runs apart, each with its smallest difference, if there are any."""
    tested_pairs, undecided = tests_by_column(tests), []
    for column in columns:
        if column in tested_pairs and not any(test.holds for _, test in tested_pairs[column]):
            pairs = [[rows[number].samples[column] for number in pair] for pair, _ in tested_pairs[column]]
            smallest = _median([same_rows(*pair) for pair in pairs], Design.smallest_difference)
            undecided.append(f"{columns[column].title} {_shown(smallest, scale.show)}")
    if not undecided:
        return []
    return [
        "Tasks without a significant difference between runs, with Holm's correction, each with the smallest difference that a single test at "
        f"{100 * LEVEL:g} % shows in {100 * POWER:g} % of the cases (median over pairs of runs): {', '.join(undecided)}. mtl power says how many "
        "examples or seeds a smaller difference needs."
    ]


def tests_by_column(tests: PairTests) -> dict[str, list[TestedPair]]:
    """By task id and AVERAGE, the tests that were made."""
    tested_pairs = defaultdict[str, list[TestedPair]](list)
    for pair, by_column in tests.comparisons.items():
        for column, test in by_column.items():
            if test.p is not None:
                tested_pairs[column].append((pair, test))
    return tested_pairs


@dataclass(frozen=True)
class SeedSpread:
    """How the scores × 100 of one system's seeds differ."""

    seeds: int  # their number n
    variance: float  # S², of the scores
    errors: float  # the part of S² from errors on different rows, n times I of `mtl.stats.comparison.Sample`

    @property
    def skill(self) -> float:
        """The part of S² that more rows do not lower: some seeds are better on all rows."""
        return max(0.0, self.variance - self.errors)


@dataclass(frozen=True)
class Design:
    """A comparison of two systems: how many rows and seeds each has, and the variance of the difference of their scores × 100."""

    groups: int  # of scored rows; of an average, of all its sets of rows
    least_groups: int  # those of the smallest set of rows
    rows_variance: float  # the part of the variance that rows give at these numbers
    rows_freedom: float  # its degrees of freedom
    systems: Sequence[SeedSpread]  # the spread of each system's seeds

    def smallest_difference(self, groups: float | None = None, seeds: float | None = None) -> float:
        """The smallest difference × 100 that the test shows in 80 % of the cases, or NEVER: with so many `groups` of scored rows, and `seeds` of each
        system, in place of the present ones. Both may be infinite; sets of rows keep their proportions."""
        factor = 1.0 if groups is None else groups / self.groups
        if self.least_groups * factor < LEAST_GROUPS:
            return NEVER
        present = sum(system.errors / system.seeds for system in self.systems)
        errors = min(present, self.rows_variance)
        common = self.rows_variance - errors
        if seeds is not None and present:  # errors of single seeds alone become fewer with more seeds
            errors *= sum(system.errors / seeds for system in self.systems) / present
        rows_variance = (common + errors) / factor
        subtracted, unsubtracted = rows_variance, rows_variance  # as `total_variance` takes them
        spread = rows_variance**2 / (self.rows_freedom * factor)
        for system in self.systems:
            count = system.seeds if seeds is None else seeds
            seed_variance = (system.skill + min(system.variance, system.errors) / factor) / count
            subtracted += system.skill / count
            unsubtracted += seed_variance
            spread += seed_variance**2 / (count - 1)
        variance = float(total_variance(subtracted, unsubtracted, spread))
        freedom = variance**2 / spread if spread else MOST_FREEDOM
        return _noncentrality(freedom) * variance**0.5

    def groups_for(self, difference: float, seeds: int | None = None) -> float:
        """The fewest groups with which the smallest difference × 100 is at most this one, or NEVER. `seeds`: as in `smallest_difference`."""
        return _fewest(lambda groups: self.smallest_difference(groups, seeds) <= difference, 1)

    def seeds_for(self, difference: float) -> float:
        """The fewest seeds of each system with which the smallest difference × 100 is at most this one, a whole number or NEVER."""
        return _fewest(lambda seeds: self.smallest_difference(seeds=seeds) <= difference, LEAST_SEEDS)


def same_rows(first: Sample, second: Sample) -> Design:
    """The comparison of two runs on their rows, which are the same. Each is one system or has three seeds or more."""
    return _design(first, second, rows_parts(first, second))


def other_rows(first: Sample, second: Sample) -> Design:
    """The comparison of two runs that are each scored on as many rows of the same kind, but not on the same."""
    return _design(first, second, [*rows_parts(first), *rows_parts(second)])


def _design(first: Sample, second: Sample, parts: Sequence[tuple[float, int]]) -> Design:
    """The comparison of two runs whose variance over rows has these parts, each with its degrees of freedom."""
    systems = []
    for run in (first, second):
        if not run.is_one_system:  # which has no seeds
            seeds = len(run.by_seed)
            systems.append(SeedSpread(seeds, seeds * run.seed_variance, seeds * run.counted_with_rows))
    variance = sum(part for part, _ in parts)
    spread = sum(part**2 / freedom for part, freedom in parts if freedom)
    groups = [rows.count for rows in first.means]
    return Design(sum(groups), min(groups), variance, variance**2 / spread if spread else 1.0, systems)


def _median(designs: Sequence[Design], figure: Callable[[Design], float]) -> float | None:
    """The median of a figure, without pairs of runs with the same answers: their difference does not vary, and says nothing about other runs."""
    figures = [figure(design) for design in designs if design.smallest_difference() > NEGLIGIBLE]
    return median(figures) if figures else None


def _shown(figure: float | None, show: Callable[[float], str]) -> str:
    """A figure as a cell: NEVER is "never", and MISSING stands for None."""
    if figure is None:
        return MISSING
    return "never" if figure == NEVER else show(figure)


def _rounded_up(count: float) -> str:
    """A number of rows or seeds, rounded up."""
    return f"{math.ceil(count):,}"


def _noncentrality(freedom: float) -> float:
    """The true difference in standard errors with which the test's quotient exceeds its critical value in 80 % of the cases."""
    freedom = min(max(freedom, LEAST_FREEDOM), MOST_FREEDOM)
    return float(nctdtrinc(freedom, 1 - POWER, stdtrit(freedom, 1 - LEVEL / 2)))


def _fewest(is_enough: Callable[[float], bool], least: int) -> float:
    """The smallest whole number, at least `least`, that is enough, or NEVER. Larger numbers are enough, too."""
    if not is_enough(math.inf):
        return NEVER
    numbers = range(least, LARGEST_NUMBER + 1)
    position = bisect_left(numbers, True, key=is_enough)
    return numbers[position] if position < len(numbers) else NEVER
