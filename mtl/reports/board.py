"""One leaderboard: rows of scores (runs, evaluations of encoders, published systems), groups of scores, and tests between runs.

`mtl.reports.leaderboard` makes it of runs, `mtl.vectors.boards` of evaluations of sentence encoders. Every form of the report (page, Markdown,
LaTeX, CSV) reads this and nothing else."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from mtl.base.wording import MISSING, format_bytes, format_duration
from mtl.runs.finished import FinishedRun
from mtl.stats.comparison import PairTest, Sample
from mtl.tasks.scale import Scale
from mtl.tasks.suite import AVERAGE
from mtl.tasks.task import Task

# Titles of the families of rows, in the order of the table. An unknown family comes last, under its own name.
FAMILIES = {
    "people": "people",
    "floor": "simple baseline",
    "static": "static vectors",
    "average": "averaged vectors",
    "lstm": "LSTM",
    "ensemble": "ensemble",
    "transformer": "transformer",
    "multilingual": "multilingual transformer",
    "polish": "Polish transformer",
    "llm": "large language model",
    "imported": "imported",
}

# Titles of costs, by their keys in a summary.
COSTS = {
    "parameters": "parameters",
    "parameters_without_embeddings": "without embeddings",
    "pretrain_seconds": "stage 1",
    "finetune_seconds": "stage 2",
    "peak_memory": "peak memory",
    "sentences_per_second": "sentences/s",
    "seconds_per_task": "s/task",
    "memory": "memory",
    "dim": "dim",
}

AnyRow = TypeVar("AnyRow", bound="Row")


def cost_cell(key: str, value: float | None) -> str:
    """A cost with its unit, by a key of COSTS."""
    if value is None:
        return MISSING
    if "seconds" in key:
        return format_duration(value)
    if "memory" in key:
        return format_bytes(int(value))
    return f"{value:,.0f}"


@dataclass(frozen=True)
class Score:
    """The score × 100 of a task, or a mean: the median over seeds, the minimum, the maximum, and a 95 % CI."""

    median: float
    min: float
    max: float
    interval: tuple[float, float] | None = None


def single(score: float) -> Score:
    """A score × 100 that was printed or computed once."""
    return Score(score, score, score)


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


@dataclass(frozen=True, eq=False)
class Row:
    """One row: a run, the evaluation of an encoder, or a published system."""

    name: str
    label: str  # for our rows what was run, for the others "published"
    family: str
    split: str  # the split of the scores, where `splits` does not name another one by column
    scores: Mapping[str, Score]  # by the id of a task's column
    means: Mapping[str, Score]  # by the id of a mean's column: AVERAGE, and for encoders the means by type
    missing: Sequence[str] = ()  # the tasks of the average that the row has no score for
    reduced: Sequence[str] = ()  # the tasks whose split sizes or files differ from the published ones
    # For each task that is scored on other examples than those of the other runs on its split, a key that is equal for the same examples.
    apart: Mapping[str, str] = field(default_factory=dict)
    # The columns of tasks with training rows that an encoder was trained on, and of the means that count such a task.
    seen: Sequence[str] = ()
    partial: Sequence[str] = ()  # the means, except AVERAGE, that lack one of their tasks
    marks: Mapping[str, str] = field(default_factory=dict)
    # Why a score or a mean is marked, by column. Marked scores compare only with scores marked for an equal reason.
    reasons: Mapping[str, Hashable] = field(default_factory=dict)
    splits: Mapping[str, str] = field(default_factory=dict)
    # Scores by other metrics, by task id and metric.
    further: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    cost: Mapping[str, float | None] | None = None  # by the keys of COSTS; None for a published row
    run: FinishedRun | None = None
    samples: Mapping[str, Sample] = field(default_factory=dict)  # what the row's tests resample, by task id and AVERAGE
    # For each of the samples, a key that is equal for rows of the board with this score on the same rows.
    comparable: Mapping[str, str] = field(default_factory=dict)
    page: str | None = None  # the address of a page of its own, relative to the report's

    @property
    def ours(self) -> bool:
        """Whether this is a run or a submission, not a published row."""
        return bool(self.samples)

    @property
    def average(self) -> Score | None:
        return self.means.get(AVERAGE)

    def score(self, column: str) -> Score | None:
        """The score or the mean in a column."""
        return self.means.get(column) or self.scores.get(column)

    def mark(self, column: str) -> str:
        """The marks of a score: * for a mean without some of its tasks; and for a task or a mean with one, † where its data differs from the
        published data, ‡ where the encoder has seen training rows of it, § where it is scored on other examples than the other runs, ¶ where
        the examples that score it chose its setting."""
        return self.marks.get(column, "")

    def is_apart(self, column: str) -> bool:
        """Whether a task, or any task of a mean, is scored on other examples than those of the other runs."""
        return "§" in self.mark(column)

    def split_of(self, column: str) -> str:
        """The split that a task's score is on, or the splits of a mean."""
        return self.splits.get(column, self.split)


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
    # By index of a row of the leaderboard, a score for each part.
    scores: dict[int, Sequence[Score]] = field(default_factory=dict)
    counted: str = "rows"  # what the numbers of parts count


@dataclass(frozen=True)
class SettingsSpread:
    """The spread of one model's dev scores × 100 over its settings."""

    title: str
    settings: int  # how many there are
    keys: Sequence[str]  # those of the configuration in which the settings differ
    deviations: dict[str, float]  # by task id, the population standard deviation of the settings' dev scores
    # The mean of the deviations over the suite's averaged tasks among them; None if there are none.
    average: float | None


@dataclass(frozen=True)
class PairTests:
    """Paired tests between runs."""

    # By the indices of two rows with a task in common (first minus second), then by task id and AVERAGE; only what is on the same examples.
    comparisons: Mapping[tuple[int, int], Mapping[str, PairTest]] = field(default_factory=dict)
    references: Sequence[int] = ()  # the indices of the rows that every run was compared with; empty: every pair
    by_score: bool = False  # whether the references were chosen by their scores
    # For how many tests Holm's correction is made: those that are made, or, if the references were chosen by their scores, those of every pair,
    # as the choice depends on them.
    family: int = 0
    # The interval of each run's rank, by task id or AVERAGE, and by the index of the row; only of columns whose runs are all on the same rows,
    # and none if the user names references.
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
    facts: Sequence[str] = ()  # the other notes: how intervals and tests are computed, and what the scored rows are
    tests: PairTests = field(default_factory=PairTests)
    groups: Sequence[Group] = ()
    page_groups: Sequence[Group] | None = None  # the groups on the page; None: `groups`
    # The columns of the main table in Markdown and LaTeX, where `columns` are too many for one table; else None.
    table: Mapping[str, Column] | None = None
    # The title above the groups; None: that of groups by metric, and likewise `groups_note`, the page's note below it.
    groups_title: str | None = None
    groups_note: str | None = None
    breakdowns: Sequence[Breakdown] = ()
    settings: Sequence[SettingsSpread] = ()
    unscored: Sequence[str] = ()  # tasks of the benchmark without a column: every average lacks them
    # Whether our rows have an average only over all tasks, as there are published rows beside them.
    whole_averages: bool = False
    noun: str = "own run"  # what the page calls one of our rows

    @property
    def costs(self) -> list[str]:
        """The keys of COSTS that our rows have a place for."""
        return [key for key in COSTS if any(row.cost and key in row.cost for row in self.rows)]

    @property
    def notes(self) -> list[str]:
        """Notes that explain the rows, in sentences."""
        return [*self.marks, *self.facts]

    def is_best(self, row: Row, column: str) -> bool:
        """Whether no row on the same split has a better score, after rounding. Marked scores compare only if marked for the same reason."""
        return row in self._best[column]

    @cached_property
    def _best(self) -> dict[str, set[Row]]:
        """The best rows of each split, by column; none of a split on which no two can be compared."""
        best: dict[str, set[Row]] = {}
        for column in {**self.columns, **(self.table or {})}:
            scores = {row: score.median for row in self.rows if (score := row.score(column))}
            rounded = {row: round(self.scale.value(score), self.scale.decimals) for row, score in scores.items()}
            best[column] = set()
            for split in {row.split_of(column) for row in rounded}:
                scored = [row for row in rounded if row.split_of(column) == split]
                compared = [row for row in scored if not row.mark(column)] or scored
                if len(compared) > 1 and len({row.reasons.get(column) for row in compared}) == 1:
                    most = max(rounded[row] for row in compared)
                    best[column] |= {row for row in compared if rounded[row] == most}
        return best


def by_family(rows: Iterable[AnyRow]) -> list[AnyRow]:
    """The rows in the order of FAMILIES."""
    order = list(FAMILIES)
    return sorted(rows, key=lambda row: order.index(row.family) if row.family in order else len(order))


def average_order(row: Row) -> tuple[bool, bool, float]:
    """What orders rows by their average, the best last: those without an average are first, then those with a partial one."""
    return row.average is not None, not row.missing, row.average.median if row.average else 0.0
