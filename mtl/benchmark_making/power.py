"""`mtl power`, and the note of a report: what the tests between runs can show."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.settings.schema import POSITIVE
from mtl.base.wording import MISSING, escaped, markdown_table
from mtl.benchmark_making.power_design import NEVER, POWER, Design, other_rows, same_rows
from mtl.reports.board import Column, Leaderboard, PairTest, PairTests
from mtl.reports.leaderboard import by_suite, leaderboard
from mtl.reports.rows import Row
from mtl.runs.finished import find_runs
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, NEGLIGIBLE
from mtl.stats.samples import SampleCache
from mtl.tasks.scale import Scale

TestedPair = tuple[tuple[int, int], PairTest]  # the indices of two rows of a board, and a test of their difference


@dataclass
class PowerSettings:
    """The keys of `mtl power`."""

    difference: Annotated[float, POSITIVE] = 2.0  # the difference × 100 that rows and seeds are counted for
    seeds: Annotated[int, Meta(ge=LEAST_SEEDS)] | None = None  # of each run in place of those that it has


def power_report(runs_dir: Path, settings: PowerSettings, cache_dir: Path | None = None) -> str:
    """What the tests of the finished runs below a folder can show, in Markdown: a table for each suite. Raises InputError if there are none."""
    cache = SampleCache(cache_dir and cache_dir / "resampled")
    runs = find_runs(runs_dir, cache.check)
    if not runs:
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
    seeds, difference = sorted({len(sample.by_seed) for pair in samples for sample in pair}), settings.difference
    smallest = partial(Design.smallest_difference, seeds=settings.seeds)
    return [
        escaped(board.columns[column].title),
        escaped(board.columns[column].metric),
        f"{on_same_rows[0].groups:,}",
        str(settings.seeds or "–".join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))),
        *(_shown(_median(designs, smallest), board.scale.show) for designs in (on_same_rows, on_other_rows)),
        _shown(_median(on_same_rows, lambda design: design.groups_for(difference, settings.seeds)), _rounded_up),
        _shown(_median(on_same_rows, lambda design: design.seeds_for(difference)), _rounded_up),
        f"{sum(test.holds for _, test in tested_pairs)} of {len(tested_pairs)}",
    ]


def power_note(columns: Mapping[str, Column], rows: Sequence[Row], tests: PairTests, scale: Scale) -> list[str]:
    """A note that names the tasks that cannot tell the runs apart, each with its smallest difference, if there are any."""
    tested_pairs, undecided = tests_by_column(tests), []
    for column in [column for column in columns if column in tested_pairs]:
        if not any(test.holds for _, test in tested_pairs[column]):
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


def _median(designs: Sequence[Design], figure: Callable[[Design], float]) -> float | None:
    """The median of a figure, without pairs of runs with the same answers: their difference does not vary, and says nothing about other runs."""
    figures = [figure(design) for design in designs if design.smallest_difference() > NEGLIGIBLE]
    return median(figures) if figures else None


def _shown(figure: float | None, show: Callable[[float], str]) -> str:
    """A figure as a cell: NEVER is "never"."""
    return MISSING if figure is None else "never" if figure == NEVER else show(figure)


def _rounded_up(count: float) -> str:
    """A number of rows or seeds, rounded up."""
    return f"{math.ceil(count):,}"
