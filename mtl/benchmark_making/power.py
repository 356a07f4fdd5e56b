"""`mtl power`, and the note of a report: what the tests between runs can show (`mtl.benchmark_making.smallest_difference`)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.settings.schema import POSITIVE
from mtl.base.wording import MISSING, escaped, markdown_table
from mtl.benchmark_making.smallest_difference import NEVER, POWER, Design, other_rows, same_rows
from mtl.reports.board import Column, Leaderboard, PairTests
from mtl.reports.leaderboard import by_suite, leaderboard
from mtl.reports.rows import Row
from mtl.runs.finished import find_runs
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, NEGLIGIBLE, Sample
from mtl.stats.samples import SampleCache
from mtl.tasks.scale import Scale


@dataclass
class PowerSettings:
    """The keys of `mtl power`."""

    difference: Annotated[float, POSITIVE] = 2.0  # the difference × 100 that rows and seeds are counted for
    seeds: Annotated[int, Meta(ge=LEAST_SEEDS)] | None = None  # of each run in place of those that it has


@dataclass(frozen=True)
class TestedPair:
    first: Sample
    second: Sample
    is_significant: bool  # with Holm's correction


def power_report(runs_dir: Path, settings: PowerSettings, cache_dir: Path | None = None) -> str:
    """What the tests of the finished runs below a folder can show, in Markdown: a table for each suite. Raises InputError if there are none."""
    cache = SampleCache(cache_dir and cache_dir / "resampled")
    if not (runs := find_runs(runs_dir, cache.check)):
        raise InputError("holds no finished run; make one with mtl baseline", path=runs_dir)
    return "\n\n".join(power_text(leaderboard(suite_runs, cache), settings) for suite_runs in by_suite(runs))


def power_text(board: Leaderboard, settings: PowerSettings) -> str:
    """The table of a suite in Markdown, with a line for the average and each task that runs were tested on."""
    title, pairs = f"# {escaped(board.title)}", tested_pairs(board.rows, board.tests)
    if not pairs:
        return f"{title}\n\nNo two runs have {LEAST_SEEDS} seeds or more and the same scored examples, so there are no tests."
    wanted = board.scale.show(settings.difference)
    columns = ["metric", "examples", "seeds", "same examples", "other examples"]
    table = [["", *columns, f"examples for {wanted}", f"seeds for {wanted}", "significant"]]
    for id, column in board.columns.items():
        if id in pairs:
            table.append([escaped(column.title), escaped(column.metric), *_cells(pairs[id], settings, board.scale)])
    legend = (
        "Examples: their number, or that of groups where examples belong together; of the average, those of its tasks. Same examples, other "
        f"examples: the smallest difference ({board.scale.unit}) that a single test at {100 * LEVEL:g} % shows in {100 * POWER:g} % of the "
        "cases, where two runs are scored on the same examples, or each on as many other ones. "
        f"Examples for {wanted}: those that such a difference on the same examples needs at these seeds; seeds for {wanted}: the seeds that it "
        "needs at these examples; never: more examples, or more seeds, are not enough alone. All are medians over the pairs of "
        "runs that were tested. Significant: the pairs with a significant difference, with Holm's correction, of those tested."
    )
    return "\n\n".join([title, markdown_table(table, left=2), legend])


def _cells(pairs: Sequence[TestedPair], settings: PowerSettings, scale: Scale) -> list[str]:
    """The cells of a column of the leaderboard, behind its title and its metric."""
    same_designs, other_designs = _designs(pairs, same_rows), _designs(pairs, other_rows)
    counts = sorted(len(sample.by_seed) for pair in pairs for sample in (pair.first, pair.second))
    present_seeds = str(counts[0]) if counts[0] == counts[-1] else f"{counts[0]}–{counts[-1]}"
    return [
        _rounded_up(median(sum(rows.count for rows in pair.first.means) for pair in pairs)),
        str(settings.seeds or present_seeds),
        _median([design.smallest_difference(seeds=settings.seeds) for design in same_designs], scale.show),
        _median([design.smallest_difference(seeds=settings.seeds) for design in other_designs], scale.show),
        _median([design.groups_for(settings.difference, settings.seeds) for design in same_designs], _rounded_up),
        _median([design.seeds_for(settings.difference) for design in same_designs], _rounded_up),
        f"{sum(pair.is_significant for pair in pairs)} of {len(pairs)}",
    ]


def power_note(columns: Mapping[str, Column], rows: Sequence[Row], tests: PairTests, scale: Scale) -> list[str]:
    """A note that names the tasks that cannot tell the runs apart, each with its smallest difference, if there are any."""
    pairs, undecided = tested_pairs(rows, tests), []
    for id, column in columns.items():
        if id in pairs and not any(pair.is_significant for pair in pairs[id]):
            smallest = [design.smallest_difference() for design in _designs(pairs[id], same_rows)]
            undecided.append(f"{column.title} {_median(smallest, scale.show)}")
    if not undecided:
        return []
    return [
        "Tasks without a significant difference between runs, with Holm's correction, each with the smallest difference that a single test at "
        f"{100 * LEVEL:g} % shows in {100 * POWER:g} % of the cases (median over pairs of runs): {', '.join(undecided)}. mtl power says how many "
        "examples or seeds a smaller difference needs."
    ]


def tested_pairs(rows: Sequence[Row], tests: PairTests) -> dict[str, list[TestedPair]]:
    """By task id and AVERAGE, the pairs of runs that were tested. `rows` are those of the leaderboard."""
    pairs: dict[str, list[TestedPair]] = {}
    for (first, second), by_column in tests.comparisons.items():
        for column, test in by_column.items():
            if test.p is not None:
                pair = TestedPair(rows[first].samples[column], rows[second].samples[column], test.holds)
                pairs.setdefault(column, []).append(pair)
    return pairs


def _designs(pairs: Sequence[TestedPair], design_of: Callable[[Sample, Sample], Design]) -> list[Design]:
    """The comparisons of pairs of runs, without those with the same answers: their difference does not vary, and says nothing about other runs."""
    designs = [design_of(pair.first, pair.second) for pair in pairs]
    return [design for design in designs if design.smallest_difference() > NEGLIGIBLE]


def _median(figures: Sequence[float], show: Callable[[float], str]) -> str:
    """The median of figures as a cell: NEVER is "never", and MISSING stands for no figures."""
    if not figures:
        return MISSING
    return "never" if median(figures) == NEVER else show(median(figures))


def _rounded_up(count: float) -> str:
    return f"{math.ceil(count):,}"
