"""`mtl power`, and the note of a report: the smallest differences that tests show, and the rows and seeds that a difference needs (`design.py`)."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.terminal import MISSING, escaped, markdown_table
from mtl.base.typed import POSITIVE, check_known, typed
from mtl.benchmark_making.power.design import NEVER, POWER, Design, Expectation, other_rows, same_rows
from mtl.reports.board import Column, Leaderboard, PairTest, PairTests, Row
from mtl.reports.leaderboard import by_suite, leaderboard
from mtl.runs.finished import find_runs
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, NEGLIGIBLE
from mtl.stats.samples import SampleCache
from mtl.tasks.task import PERCENT, Scale

Tested = tuple[tuple[int, int], PairTest]  # the indices of two runs, and a test of their difference


@dataclass
class PowerSettings:
    """The keys of `mtl power` for runs."""

    suite: str | None = None  # the name of the suite (the command takes its file, too); None: every suite of the runs
    difference: Annotated[float, POSITIVE] = 2.0  # the difference × 100 that rows and seeds are counted for
    seeds: Annotated[int, Meta(ge=LEAST_SEEDS)] | None = None  # of each run in place of those that it has


def power_report(runs_dir: Path, settings: PowerSettings, cache_dir: Path | None = None) -> str:
    """What the tests of the finished runs below a folder can show, in Markdown: a table for each suite.

    Args:
        cache_dir: as in `write_report`.

    Raises:
        InputError: if there is no finished run, or none of the suite, or if a run's files cannot be read.
    """
    cache = SampleCache(cache_dir and cache_dir / "resampled")
    runs = find_runs(runs_dir, cache.check)
    if not runs:
        problem = "holds no finished run; make one with mtl baseline, or give rows=, accuracy= and agreement="
        raise InputError(problem, path=runs_dir)
    chosen = [run for run in runs if settings.suite in (None, run.suite.name)]
    if not chosen:
        names = ", ".join(sorted({run.suite.name for run in runs}))
        problem = f"no finished run below {runs_dir}; there are runs of {names}"
        raise InputError(problem, key="suite", value=settings.suite)
    return "\n\n".join(power_text(leaderboard(same, cache), settings) for same in by_suite(chosen))


def read_settings(given: Mapping[str, Any]) -> tuple[PowerSettings, Expectation | None]:
    """The settings of `mtl power`, and what is expected of a benchmark that does not exist yet, if they describe one.

    Raises:
        InputError: for an unknown key, a bad value, and keys that do not go together.
    """
    expected = Expectation.__dataclass_fields__.keys()
    check_known(given, PowerSettings.__dataclass_fields__.keys() | expected)
    if not expected & given.keys():
        return typed(PowerSettings, given), None
    if missing := [f"{key}=" for key in ("rows", "accuracy", "agreement") if given.get(key) is None]:
        problem = "a benchmark that does not exist yet needs rows=, accuracy= and agreement="
        raise InputError(f"{problem}; add {' and '.join(missing)}")
    for key in ("suite", "seeds"):
        if key in given:
            raise InputError("is for runs; drop it, or drop rows=, accuracy= and agreement=", key=key)
    shares = given["accuracy"]
    own = {key: value for key, value in given.items() if key in expected}
    expectation = typed(Expectation, {**own, "accuracy": shares if isinstance(shares, list) else [shares]})
    return typed(PowerSettings, {key: value for key, value in given.items() if key not in expected}), expectation


def power_text(board: Leaderboard, settings: PowerSettings) -> str:
    """The table of a suite in Markdown, with a line for the average and each task that runs were tested on, and the tasks that cannot tell
    them apart."""
    title, tested = f"# {escaped(board.title)}", tests_by_column(board.tests)
    if not tested:
        problem = f"No two runs have {LEAST_SEEDS} seeds or more and the same scored examples, so there are no tests."
        return f"{title}\n\n{problem}"
    wanted = board.scale.show(settings.difference)
    columns = ["metric", "examples", "seeds", "same examples", "other examples"]
    header = ["", *columns, f"examples for {wanted}", f"seeds for {wanted}", "significant"]
    body = [_line(board, column, tested[column], settings) for column in board.columns if column in tested]
    undecided = ", ".join(board.columns[column].title for column in undecided_columns(board.columns, tested))
    verdict = "Every task has a significant difference between some of the runs."
    verdict = f"Tasks without a significant difference: {undecided}." if undecided else verdict
    legend = (
        "Examples: their number, or that of groups where examples belong together; of the average, those of its tasks. "
        f"Same examples, other examples: the smallest difference ({board.scale.unit}) that a single test at {100 * LEVEL:g} % shows in"
        f" {100 * POWER:g} % of the cases, where two runs are scored on the same examples, or each on as many other ones. "
        f"Examples for {wanted}: those that such a difference on the same examples needs at these seeds; seeds for {wanted}: the seeds that it "
        "needs at these examples; never: more examples, or more seeds, are not enough alone. All are medians over the pairs of "
        "runs that were tested. Significant: the pairs with a significant difference, with Holm's correction, of those tested."
    )
    return "\n\n".join([title, markdown_table([header, *body], left=2), legend, escaped(verdict)])


def expectation_text(expectation: Expectation, difference: float) -> str:
    """The table of a benchmark that does not exist yet, in Markdown: a line for each kind of comparison.

    Args:
        difference: × 100.
    """
    wanted, most = PERCENT.show(difference), 100 - expectation.agreement
    table = [["", "smallest difference", f"examples for {wanted}"]]
    for name, design in (("same examples", expectation.same_rows()), ("other examples", expectation.other_rows())):
        smallest, needed = design.smallest_difference(), design.groups_for(difference)
        figures = [(smallest, smallest, PERCENT.show), (difference, needed, _whole)]
        table.append([name, *(_shown(NEVER if least > most else figure, show) for least, figure, show in figures)])
    legend = (
        f"Accuracy × 100. Smallest difference: what a test at {100 * LEVEL:g} % shows in {100 * POWER:g} % of the cases, where two systems are "
        "scored on the same examples, or each on as many other ones. Systems that agree on "
        f"{expectation.agreement:g} % of the examples differ by at most {PERCENT.show(most)}."
    )
    return f"{markdown_table(table)}\n\n{legend}"


def _line(board: Leaderboard, column: str, tested: Sequence[Tested], settings: PowerSettings) -> list[str]:
    """The cells of a column of the leaderboard."""
    samples = [(board.rows[one].samples[column], board.rows[other].samples[column]) for (one, other), _ in tested]
    same, other = ([compared(*pair) for pair in samples] for compared in (same_rows, other_rows))
    seeds, difference = sorted({len(sample.by_seed) for pair in samples for sample in pair}), settings.difference
    return [
        escaped(board.columns[column].title),
        escaped(board.columns[column].metric),
        f"{same[0].groups:,}",
        str(settings.seeds or "–".join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))),
        *(
            _shown(_median(designs, lambda each: each.smallest_difference(seeds=settings.seeds)), board.scale.show)
            for designs in (same, other)
        ),
        _shown(_median(same, lambda each: each.groups_for(difference, settings.seeds)), _whole),
        _shown(_median(same, lambda each: each.seeds_for(difference)), _whole),
        f"{sum(test.holds for _, test in tested)} of {len(tested)}",
    ]


def power_note(columns: Mapping[str, Column], rows: Sequence[Row], tests: PairTests, scale: Scale) -> list[str]:
    """A note that names the tasks that cannot tell the runs apart, each with its smallest difference, if there are any."""
    tested, named = tests_by_column(tests), []
    for column in undecided_columns(columns, tested):
        designs = [same_rows(*(rows[number].samples[column] for number in pair)) for pair, _ in tested[column]]
        named.append(f"{columns[column].title} {_shown(_median(designs, Design.smallest_difference), scale.show)}")
    if not named:
        return []
    return [
        "Tasks without a significant difference between runs, with Holm's correction, each with the smallest difference that a single test at "
        f"{100 * LEVEL:g} % shows in {100 * POWER:g} % of the cases (median over pairs of runs): {', '.join(named)}. mtl power says how many "
        "examples or seeds a smaller difference needs."
    ]


def tests_by_column(tests: PairTests) -> dict[str, list[Tested]]:
    """By task id and AVERAGE, the tests that were made."""
    tested = defaultdict[str, list[Tested]](list)
    for pair, by_column in tests.comparisons.items():
        for column, test in by_column.items():
            if test.p is not None:
                tested[column].append((pair, test))
    return tested


def undecided_columns(columns: Iterable[str], tested: Mapping[str, Sequence[Tested]]) -> list[str]:
    """The columns that have tests of which no verdict holds with Holm's correction."""
    return [column for column in columns if column in tested and not any(test.holds for _, test in tested[column])]


def _median(designs: Sequence[Design], figure: Callable[[Design], float]) -> float | None:
    """The median of a figure, without pairs of runs with the same answers: their difference does not vary, and says nothing about other runs."""
    figures = [figure(design) for design in designs if design.smallest_difference() > NEGLIGIBLE]
    return median(figures) if figures else None


def _shown(figure: float | None, show: Callable[[float], str]) -> str:
    return MISSING if figure is None else "never" if figure == NEVER else show(figure)


def _whole(count: float) -> str:
    return f"{math.ceil(count):,}"
