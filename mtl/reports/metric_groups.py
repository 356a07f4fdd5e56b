"""The tables of scores by one metric, which a leaderboard has beside the table of each task's main score."""

from collections.abc import Sequence
from statistics import fmean

from mtl.reports.board import Group, GroupLine
from mtl.reports.rows import Row
from mtl.tasks.metrics import metric_named
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


def metric_groups(suite: Suite, rows: Sequence[Row]) -> list[Group]:
    """The tasks that have scores by one metric, as their metric or as a further one (`also`), in the suite's order. Only groups that say more than
    the table of scores: those with further metrics, and, where the tasks of a suite differ in their metric, those with more than one task."""
    tasks = suite.tasks.values()
    main_metrics = dict.fromkeys(task.metric for task in tasks)
    further_metrics = dict.fromkeys(metric for row in rows for scores in row.further.values() for metric in scores)
    groups = []
    for metric in {**main_metrics, **further_metrics}:
        also = {id for row in rows for id, scores in row.further.items() if metric in scores}
        scored = [task for task in tasks if task.metric == metric or task.id in also]
        if also or (len(main_metrics) > 1 and len(scored) > 1):
            lines = [line for line in (_line(metric, scored, row) for row in rows) if line.scores]
            columns = {task.id: task.title for task in scored}
            groups.append(Group(metric, metric_named(metric).title, columns, lines, has_mean=len(scored) > 1))
    return groups


def _line(metric: str, tasks: Sequence[Task], row: Row) -> GroupLine:
    """A row's scores by one metric. The mean is that of the medians; a row without all of the tasks has none."""
    scores = {}
    for task in tasks:
        score = row.scores.get(task.id) if task.metric == metric else row.further.get(task.id, {}).get(metric)
        if score is not None:
            scores[task.id] = score
    mean = fmean(score.median for score in scores.values()) if len(scores) == len(tasks) > 1 else None
    reduced = "†" if any(task.id in row.reduced for task in tasks) else ""
    apart = "§" if any(task.id in row.apart for task in tasks) else ""
    return GroupLine(row, scores, mean, reduced + apart)
