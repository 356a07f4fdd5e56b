"""What the tests of a leaderboard can show: the tasks that tell no runs apart, and the smallest difference of each (`design.py`)."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from mtl.base.terminal import MISSING
from mtl.benchmark_making.power.design import NEVER, POWER, Design, same_rows
from mtl.reports.board import Column, PairTest, PairTests, Row
from mtl.stats.comparison import LEVEL, NEGLIGIBLE
from mtl.tasks.task import Scale

Tested = dict[str, list[tuple[tuple[int, int], PairTest]]]


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
        "Tasks that cannot tell the runs apart (no verdict holds with Holm's correction), each with the smallest difference that a single test at "
        f"{100 * LEVEL:g} % shows in {100 * POWER:g} % of the cases (median over pairs of runs): {', '.join(named)}. mtl power says how many rows "
        "or seeds a smaller difference needs."
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
    if difference is None:
        return MISSING
    return "never" if difference == NEVER else scale.show(difference)
