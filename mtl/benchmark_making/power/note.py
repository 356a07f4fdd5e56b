"""What the tests of a leaderboard can show: the tasks that tell no runs apart, and the smallest difference of each (`design.py`)."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from mtl.base.terminal import MISSING
from mtl.benchmark_making.power.design import NEVER, POWER, Design, same_rows
from mtl.reports.board import Column, PairTests, Row
from mtl.stats.comparison import LEVEL, NEGLIGIBLE
from mtl.tasks.task import Scale


def power_note(columns: Mapping[str, Column], rows: Sequence[Row], tests: PairTests, scale: Scale) -> list[str]:
    """A note that names the tasks that cannot tell the runs apart, each with its smallest difference, if there are any."""
    named = []
    for column in undecided_columns(columns, tests):
        pairs = tested_pairs(rows, tests, column)
        designs = [same_rows(first.samples[column], second.samples[column]) for first, second in pairs]
        named.append(f"{columns[column].title} {shown_difference(median_smallest(designs), scale)}")
    if not named:
        return []
    return [
        "Tasks that cannot tell the runs apart (no verdict holds with Holm's correction), each with the smallest difference that a single test at "
        f"{100 * LEVEL:g} % shows in {100 * POWER:g} % of the cases (median over pairs of runs): {', '.join(named)}. mtl power says how many rows "
        "or seeds a smaller difference needs."
    ]


def undecided_columns(columns: Iterable[str], tests: PairTests) -> list[str]:
    """The columns, by task id and AVERAGE, that have tests of which no verdict holds with Holm's correction."""
    counts = told_apart(tests)
    return [column for column in columns if column in counts and not counts[column][0]]


def told_apart(tests: PairTests) -> dict[str, tuple[int, int]]:
    """For each column with tests, the number of those with a verdict that holds with Holm's correction, and of all."""
    counts: dict[str, tuple[int, int]] = {}
    for by_column in tests.comparisons.values():
        for column, test in by_column.items():
            if test.p is not None:
                apart, made = counts.get(column, (0, 0))
                counts[column] = apart + test.holds, made + 1
    return counts


def tested_pairs(rows: Sequence[Row], tests: PairTests, column: str) -> list[tuple[Row, Row]]:
    """The pairs of runs that a column's tests compare."""
    return [
        (rows[first], rows[second])
        for (first, second), by_column in tests.comparisons.items()
        if column in by_column and by_column[column].p is not None
    ]


def varying_designs(designs: Sequence[Design]) -> list[Design]:
    """Without pairs of runs that give the same answers: their difference does not vary, and says nothing about other runs."""
    return [design for design in designs if design.smallest_difference() > NEGLIGIBLE]


def median_smallest(designs: Sequence[Design], seeds: int | None = None) -> float | None:
    """The median of the smallest differences."""
    return median_of([design.smallest_difference(seeds=seeds) for design in varying_designs(designs)])


def median_of(figures: Sequence[float]) -> float | None:
    return median(figures) if figures else None


def shown_difference(difference: float | None, scale: Scale) -> str:
    if difference is None:
        return MISSING
    return "never" if difference == NEVER else scale.show(difference)
