"""`mtl power`, and the note of a report: the smallest differences that tests show, and the rows and seeds that a difference needs (`design.py`)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.terminal import MISSING, escaped, markdown_table
from mtl.base.typed import POSITIVE, check_known, typed
from mtl.benchmark_making.power.design import NEVER, POWER, Design, Expectation, held_difference, other_rows, same_rows
from mtl.reports.board import Column, Leaderboard, PairTest, PairTests, Row
from mtl.reports.leaderboard import by_suite, comparable_samples, leaderboard
from mtl.runs.finished import find_runs
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, NEGLIGIBLE
from mtl.stats.families import SeedParts, seed_parts
from mtl.stats.samples import SampleCache
from mtl.tasks.suite import AVERAGE
from mtl.tasks.task import PERCENT, Scale

Tested = dict[str, list[tuple[tuple[int, int], PairTest]]]

SHARED = ("difference", "seeds")  # keys of both forms of the command


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
    of_runs, expected = (set(kind.__dataclass_fields__) for kind in (PowerSettings, Expectation))
    check_known(given, of_runs | expected)
    if not (expected - set(SHARED)) & set(given):
        return typed(PowerSettings, given), None
    if missing := [f"{key}=" for key in ("rows", "accuracy", "agreement") if given.get(key) is None]:
        problem = "a benchmark that does not exist yet needs rows=, accuracy= and agreement="
        raise InputError(f"{problem}; add {' and '.join(missing)}")
    if "suite" in given:
        raise InputError("is for runs; drop it, or drop rows=, accuracy= and agreement=", key="suite")
    shares = given["accuracy"]
    own = {key: value for key, value in given.items() if key in expected}
    expectation = typed(Expectation, {**own, "accuracy": shares if isinstance(shares, list) else [shares]})
    return typed(PowerSettings, {key: given[key] for key in SHARED if key in given}), expectation


def power_text(board: Leaderboard, settings: PowerSettings) -> str:
    """The table of a suite in Markdown, with a line for the average and each task that runs were tested on, and the tasks that cannot tell
    them apart."""
    title, tested = f"# {escaped(board.title)}", tests_by_column(board.tests)
    if not tested:
        problem = f"No two runs have {LEAST_SEEDS} seeds or more and the same scored examples, so there are no tests."
        return f"{title}\n\n{problem}"
    wanted = board.scale.show(settings.difference)
    header = ["", "metric", "examples", "seeds", "same examples", "corrected", "other examples"]
    header += [f"examples for {wanted}", f"seeds for {wanted}", "significant"]
    held = held_differences(board, settings.seeds)
    body = [_line(board, column, tested, settings, held.get(column)) for column in board.columns if column in tested]
    undecided = ", ".join(board.columns[column].title for column in undecided_columns(board.columns, tested))
    verdict = "Every task has a significant difference between some of the runs."
    verdict = f"Tasks without a significant difference: {undecided}." if undecided else verdict
    table = markdown_table([header, *body], left=2)
    return "\n\n".join([title, table, _legend(board.scale, wanted, board.tests.family), escaped(verdict)])


def _legend(scale: Scale, wanted: str, tests: int) -> str:
    """What the columns of the table mean. wanted: the difference that examples and seeds are counted for, as shown; tests: of the correction."""
    return (
        f"Same examples, other examples: the smallest difference ({scale.unit}) that a test at {100 * LEVEL:g} % shows in {100 * POWER:g} % of the "
        "cases, where two runs are scored on the same examples, or each on as many other ones. Corrected: one on the same examples that is "
        f"significant with Holm's correction for the {tests:,} tests of these runs in 60 to {100 * POWER:g} % of the cases, if no other is. "
        f"Examples for {wanted}: those that such a difference on the same examples needs at these seeds; seeds for {wanted}: the seeds that it "
        "needs at these examples; never: more examples, or more seeds, are not enough alone. All are medians over the pairs of "
        "runs that were tested. Significant: the pairs with a significant difference, with Holm's correction, of those tested."
    )


def expectation_text(expectation: Expectation, difference: float) -> str:
    """The table of a benchmark that does not exist yet, in Markdown: a line for each kind of comparison.

    Args:
        difference: × 100.
    """
    wanted, most = PERCENT.show(difference), 100 - expectation.agreement
    header = [
        "",
        "smallest difference",
        f"examples for {wanted}",
        *([f"seeds for {wanted}"] if expectation.seeds else []),
    ]
    body = []
    for name, design in (("same examples", expectation.same_rows()), ("other examples", expectation.other_rows())):
        smallest = design.smallest_difference()
        needs = [design.groups_for(difference), *([design.seeds_for(difference)] if expectation.seeds else [])]
        cells = [_count(NEVER if difference > most else need) for need in needs]
        body.append([name, shown_difference(NEVER if smallest > most else smallest, PERCENT), *cells])
    legend = (
        f"Accuracy × 100. Smallest difference: what a test at {100 * LEVEL:g} % shows in {100 * POWER:g} % of the cases, where two systems are "
        "scored on the same examples, or each on as many other ones. Systems that agree on "
        f"{expectation.agreement:g} % of the examples differ by at most {PERCENT.show(most)}."
    )
    return f"{markdown_table([header, *body])}\n\n{legend}"


def held_differences(board: Leaderboard, seeds: int | None = None) -> dict[str, float]:
    """By column with tests, the smallest difference × 100 whose verdict holds with Holm's correction (the median over pairs of runs).

    Args:
        seeds: of each run in place of those that it has.
    """
    groups = comparable_samples(board.rows)
    places = {group: {run: place for place, run in enumerate(samples)} for group, samples in groups.items()}
    present, asked = {}, {}
    for group, own in seed_parts(groups).items():
        present[group] = asked[group] = own.of_pairs()
        if seeds is not None:  # what as many seeds of each run would add
            share, freedom = own.seeds / seeds, own.freedom + seeds - own.seeds
            changed = SeedParts(np.full_like(own.seeds, seeds), own.variance * share, own.counted * share, freedom)
            asked[group] = changed.of_pairs()
    medians = {}
    for column, made in tests_by_column(board.tests).items():
        differences = []
        for pair, _ in made:
            one, other = (board.rows[number] for number in pair)
            group = column, one.comparable[column]
            i, j = (places[group][number] for number in pair)
            variance, freedom, counted = (float(part[i, j]) for part in asked[group])
            fewer = float(present[group][2][i, j]) - counted
            samples, seed_part = (one.samples[column], other.samples[column]), (variance, freedom, counted)
            differences.append(held_difference(*samples, seed_part, board.tests.family, fewer))
        # Runs with equal answers say nothing about others.
        if varying := [difference for difference in differences if difference > NEGLIGIBLE]:
            medians[column] = median(varying)
    return medians


def _line(board: Leaderboard, column: str, tested: Tested, settings: PowerSettings, held: float | None) -> list[str]:
    """The cells of a column of the leaderboard."""
    pairs = [pair for pair, _ in tested[column]]
    samples = [(board.rows[one].samples[column], board.rows[other].samples[column]) for one, other in pairs]
    same, other = ([compared(*pair) for pair in samples] for compared in (same_rows, other_rows))
    seeds = sorted({len(sample.by_seed) for pair in samples for sample in pair})
    varying = varying_designs(same)
    return [
        escaped(board.columns[column].title),
        escaped(board.columns[column].metric),
        _rows_text(board.rows[pairs[0][0]], column, same[0].groups),
        str(settings.seeds or "–".join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))),
        shown_difference(median_smallest(same, settings.seeds), board.scale),
        shown_difference(held, board.scale),
        shown_difference(median_smallest(other, settings.seeds), board.scale),
        _count(median_of([design.groups_for(settings.difference, settings.seeds) for design in varying])),
        _count(median_of([design.seeds_for(settings.difference) for design in varying])),
        f"{sum(test.holds for _, test in tested[column])} of {len(pairs)}",
    ]


def _rows_text(row: Row, column: str, groups: int) -> str:
    """The number of a run's scored rows, or of their groups where rows belong together; of the average, those of its tasks."""
    assert row.run
    ids = row.run.suite.averaged if column == AVERAGE else [column]
    grouped = any(
        len(row.run.rows(task).targets) > sum(rows.count for rows in row.samples[task.id].means)
        for task in row.run.tasks
        if task.id in ids
    )
    return f"{groups:,}{' groups' if grouped else ''}"


def _count(count: float | None) -> str:
    return MISSING if count is None else "never" if count == NEVER else f"{math.ceil(count):,}"


def power_note(columns: Mapping[str, Column], rows: Sequence[Row], tests: PairTests, scale: Scale) -> list[str]:
    """A note that names the tasks that cannot tell the runs apart, each with its smallest difference, if there are any."""
    tested = tests_by_column(tests)
    named = []
    for column in undecided_columns(columns, tested):
        samples = [[rows[number].samples[column] for number in pair] for pair, _ in tested[column]]
        smallest = median_smallest([same_rows(*pair) for pair in samples])
        named.append(f"{columns[column].title} {shown_difference(smallest, scale)}")
    if not named:
        return []
    return [
        "Tasks without a significant difference between runs, with Holm's correction, each with the smallest difference that a single test at "
        f"{100 * LEVEL:g} % shows in {100 * POWER:g} % of the cases (median over pairs of runs): {', '.join(named)}. mtl power says how many "
        "examples or seeds a smaller difference needs."
    ]


def tests_by_column(tests: PairTests) -> Tested:
    """By task id and AVERAGE, the tests that were made, each with the indices of the two runs."""
    tested: Tested = {}
    for pair, by_column in tests.comparisons.items():
        for column, test in by_column.items():
            if test.p is not None:
                tested.setdefault(column, []).append((pair, test))
    return tested


def undecided_columns(columns: Iterable[str], tested: Tested) -> list[str]:
    """The columns that have tests of which no verdict holds with Holm's correction."""
    return [column for column in columns if column in tested and not any(test.holds for _, test in tested[column])]


def varying_designs(designs: Sequence[Design]) -> list[Design]:
    """Without pairs of runs that give the same answers: their difference does not vary, and says nothing about other runs."""
    return [design for design in designs if design.smallest_difference() > NEGLIGIBLE]


def median_smallest(designs: Sequence[Design], seeds: int | None = None) -> float | None:
    """The median of the smallest differences."""
    return median_of([design.smallest_difference(seeds=seeds) for design in varying_designs(designs)])


def median_of(figures: Sequence[float]) -> float | None:
    return median(figures) if figures else None


def shown_difference(difference: float | None, scale: Scale) -> str:
    return MISSING if difference is None else "never" if difference == NEVER else scale.show(difference)
