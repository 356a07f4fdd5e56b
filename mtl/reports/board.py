"""One leaderboard: its columns, its rows (`mtl.reports.rows`), groups and breakdowns of scores, and tests between runs.
`mtl.reports.leaderboard` makes it of runs, `mtl.vectors.boards` of sentence encoders. Every form of the report reads this and nothing else."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mtl.reports.rows import COSTS, Row, Score
from mtl.stats.comparison import PairTest
from mtl.tasks.scale import Scale
from mtl.tasks.task import Task


@dataclass(frozen=True)
class Column:
    """A column of scores: a task, or a mean."""

    title: str
    metric: str  # the metric's title
    metric_id: str = "mean"
    task: str = ""  # the task's id. Where encoders were evaluated on several versions of a task's rows, there is a column for each version.
    averaged: bool = True  # whether the average counts the task
    average_group: str = ""  # equal for the tasks that the average counts as one
    labels: Sequence[str] | None = None
    range: Sequence[float] | None = None  # the range of a regression task's gold targets


@dataclass(frozen=True)
class GroupLine:
    """A row's scores in a group, by column, and their mean × 100 with its marks."""

    row: Row
    scores: Mapping[str, Score]
    mean: float | None = None
    mark: str = ""


@dataclass(frozen=True)
class Group:
    """Scores in a table of their own: all by one metric, or all on tasks of one type."""

    id: str
    title: str
    columns: Mapping[str, str]  # titles by id
    lines: Sequence[GroupLine]  # a line for each of the rows that have any of the scores
    has_mean: bool  # whether a mean over the columns says something


@dataclass(frozen=True, eq=False)
class Breakdown:
    """The scores of one task by the values of one column, of runs that are scored on the same parts."""

    task: Task
    column: str
    parts: Sequence[tuple[str, int]]  # each value with its number of rows
    left_out: int  # how many values are not shown
    scores: dict[int, Sequence[Score]] = field(default_factory=dict)  # by index of a row, a score for each part
    counted: str = "rows"  # what the numbers of parts count


@dataclass(frozen=True)
class SettingsSpread:
    """The spread of one model's dev scores × 100 over its settings."""

    title: str
    settings: int  # how many there are
    keys: Sequence[str]  # those of the configuration in which the settings differ
    deviations: dict[str, float]  # by task id, the population standard deviation of the settings' dev scores
    average: float | None  # the mean of the deviations over the suite's averaged tasks; None: there are none


@dataclass(frozen=True)
class PairTests:
    """Paired tests between runs."""

    # The tests of two rows, by their indices, then by task id and AVERAGE: of the first row minus the second, on the same examples of both.
    comparisons: Mapping[tuple[int, int], Mapping[str, PairTest]] = field(default_factory=dict)
    references: Sequence[int] = ()  # the indices of the rows that every run was compared with; empty: every pair
    by_score: bool = False  # whether the references were chosen by their scores
    family: int = 0  # the number of tests that Holm's correction is made for: of every pair, if the references were chosen by their scores
    # The intervals of ranks by column, then by a run's row. None: with named references, of runs marked §, and where the other runs differ in rows.
    ranks: Mapping[str, Mapping[int, tuple[int, int]]] = field(default_factory=dict)

    @property
    def made(self) -> int:
        """The number of tests: of the comparisons of runs that both have enough seeds. One that stands for the average too counts once."""
        return len({id(test) for tests in self.comparisons.values() for test in tests.values() if test.p is not None})


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The rows on one suite or benchmark, by family; in each family, our rows come before published ones."""

    name: str
    title: str
    scale: Scale
    columns: Mapping[str, Column]  # by id: AVERAGE, then the tasks
    rows: Sequence[Row]
    marks: Sequence[str] = ()  # notes that explain the scores and marks in the table
    notes: Sequence[str] = ()  # the other notes: how intervals and tests are computed, and what the scored rows are
    tests: PairTests = field(default_factory=PairTests)
    groups: Sequence[Group] = ()
    page_groups: Sequence[Group] | None = None  # the groups on the page; None: `groups`
    shown_columns: Mapping[str, Column] | None = None  # those in Markdown and LaTeX, where `columns` would be too many
    groups_title: str | None = None  # above the groups; None: that of groups by metric
    groups_note: str | None = None  # the page's note below the title; None: that of groups by metric
    breakdowns: Sequence[Breakdown] = ()
    spreads: Sequence[SettingsSpread] = ()
    unscored: Sequence[str] = ()  # tasks of the benchmark without a column: every average lacks them
    whole_averages: bool = False  # whether our rows have only averages over all tasks, since published rows do
    noun: str = "own run"  # what the page calls one of our rows

    @property
    def costs(self) -> list[str]:
        """The keys of COSTS that our rows have a place for."""
        return [key for key in COSTS if any(row.cost and key in row.cost for row in self.rows)]

    def cell(self, row: Row, column: str) -> str:
        """A row's score as tables show it, with its marks."""
        score = row.score(column)
        return self.scale.show(score.median if score else None, row.mark(column))

    def group_cells(self, group: Group, line: GroupLine) -> list[str]:
        """The scores of a line of a group as tables show them, with their marks; first the mean, if the group has one."""
        medians = [(id, score.median if (score := line.scores.get(id)) else None) for id in group.columns]
        cells = [self.scale.show(median, line.row.mark(id)) for id, median in medians]
        return [self.scale.show(line.mean, line.mark), *cells] if group.has_mean else cells

    def is_best(self, row: Row, column: str) -> bool:
        """Whether no row on the same split has a better score, after rounding. Marked scores compare only if marked for the same reason."""
        return row in self._best[column]

    @cached_property
    def _best(self) -> dict[str, set[Row]]:
        """The best rows of each split, by column."""
        best: dict[str, set[Row]] = {}
        for column in {**self.columns, **(self.shown_columns or {})}:
            rounded: dict[str, dict[Row, float]] = defaultdict(dict)  # scores by split, then by row
            for row in self.rows:
                if score := row.score(column):
                    rounded[row.split_of(column)][row] = round(self.scale.value(score.median), self.scale.decimals)
            best[column] = set().union(*(_best_of_split(by_row, column) for by_row in rounded.values()))
        return best


def _best_of_split(rounded: Mapping[Row, float], column: str) -> set[Row]:
    """The rows with the highest score of one split; none if no two can be compared. Marked ones count if all are marked, for the same reasons."""
    compared = [row for row in rounded if not row.mark(column)] or list(rounded)
    causes = [row.causes.get(column, {}) for row in compared]
    if len(compared) < 2 or any(cause != causes[0] for cause in causes):
        return set()
    highest = max(rounded[row] for row in compared)
    return {row for row in compared if rounded[row] == highest}
