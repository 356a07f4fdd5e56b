"""Metric groups (the tasks of a suite that have scores by the same metric), and costs as cells of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from mtl.base.files import format_bytes
from mtl.base.progress import format_duration
from mtl.base.terminal import MISSING
from mtl.report.leaderboard import Leaderboard
from mtl.report.row import Row, Score
from mtl.tasks.metrics import METRICS
from mtl.tasks.task import Task

# Titles of costs, by their keys in a summary.
COSTS = {
    "parameters": "parameters",
    "parameters_without_embeddings": "without embeddings",
    "pretrain_seconds": "stage 1",
    "finetune_seconds": "stage 2",
    "peak_memory": "peak memory",
    "sentences_per_second": "sentences/s",
}


def cost_cells(cost: Mapping[str, float | None]) -> list[str]:
    """One cell for each cost in COSTS, with its unit."""
    return [_cell(key, cost.get(key)) for key in COSTS]


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return MISSING
    if key.endswith("seconds"):
        return format_duration(value)
    if "memory" in key:
        return format_bytes(int(value))
    return f"{value:,.0f}"


@dataclass(frozen=True)
class MetricGroup:
    """The tasks that have scores by one metric, as their metric or as a further one (`also`), in the suite's order."""

    metric: str
    tasks: Sequence[Task]

    @property
    def title(self) -> str:
        return METRICS[self.metric].title

    @property
    def has_mean(self) -> bool:
        """Whether there are several tasks, so that a mean says something."""
        return len(self.tasks) > 1

    def score(self, row: Row, task: Task) -> Score | None:
        """The row's score on one of the tasks by this metric."""
        if task.metric == self.metric:
            return row.scores.get(task.id)
        return row.further.get(task.id, {}).get(self.metric)

    def mean(self, row: Row) -> float | None:
        """The mean × 100 of the row's medians; None for a row without all of the tasks, and in a group of one task."""
        scores = [score.median for task in self.tasks if (score := self.score(row, task))]
        return fmean(scores) if self.has_mean and len(scores) == len(self.tasks) else None

    def mark(self, row: Row) -> str:
        """† for a mean that includes a task whose data differs from the published data."""
        return "†" if any(task.id in row.reduced for task in self.tasks) else ""

    def rows(self, board: Leaderboard) -> list[Row]:
        """The rows that have a score on any of the tasks."""
        return [row for row in board.rows if any(self.score(row, task) for task in self.tasks)]


def metric_groups(board: Leaderboard) -> list[MetricGroup]:
    """The groups that say more than the table of scores: those with further metrics, and, where the tasks of a suite differ in
    their metric, those with more than one task."""
    tasks = board.suite.tasks.values()
    main = list(dict.fromkeys(task.metric for task in tasks))
    further = dict.fromkeys(name for row in board.rows for scores in row.further.values() for name in scores)
    groups = []
    for metric in dict.fromkeys([*main, *further]):
        also = {id for row in board.rows for id, scores in row.further.items() if metric in scores}
        scored = [task for task in tasks if task.metric == metric or task.id in also]
        if also or (len(main) > 1 and len(scored) > 1):
            groups.append(MetricGroup(metric, scored))
    return groups
