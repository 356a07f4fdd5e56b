"""Breakdowns: the scores of runs on parts of a task's rows, such as the rows with one value in a column."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np

from mtl.reports.board import Breakdown, Row, Score
from mtl.runs.finished import FinishedRun
from mtl.tasks.metrics import metric_named, weighted_scores
from mtl.tasks.task import Task

ALL = "all rows"
ANY = "any value"
TOGETHER = "all together"
SEPARATOR = ";"  # between the values of a row that has several
MOST_VALUES = 50  # the most frequent values are shown, at most so many


def breakdowns(rows: Sequence[Row]) -> list[Breakdown]:
    """The breakdowns of the runs among a leaderboard's rows: by columns that tasks name, and by parts of metrics."""
    return [*_by_columns(rows), *_by_parts(rows)]


def _by_columns(rows: Sequence[Row]) -> list[Breakdown]:
    """The scores on the rows with each value of a column that a task names. Runs that did not record the column are left out."""
    tables: dict[tuple[str, str, tuple[tuple[str, int], ...]], Breakdown] = {}
    for number, run, task in _scored(rows):
        columns = run.rows(task).columns if task.breakdown else {}
        for column in (name for name in task.breakdown or () if name in columns):
            masks, left_out = _parts(columns[column])
            parts = tuple((value, int(mask.sum())) for value, mask in masks.items())
            table = tables.setdefault((task.id, column, parts), Breakdown(task, column, parts, left_out))
            table.scores[number] = _scores(run, task, np.array(list(masks.values()), dtype=np.float64))
    return list(tables.values())


def _by_parts(rows: Sequence[Row]) -> list[Breakdown]:
    """The scores on the parts of what a task's first metric with parts counts, such as the types of entities, the most frequent first."""
    tables: dict[tuple[str, tuple[tuple[str, int], ...]], Breakdown] = {}
    for number, run, task in _scored(rows):
        name = next((name for name in (task.metric, *(task.also or ())) if metric_named(name).parts), task.metric)
        if (parts := metric_named(name).parts) is None:
            continue
        task, gold = task.measured_by(name), run.rows(task)
        by_seed = [parts.scores(task, predicted, gold) for predicted in run.predictions(task)]
        counts = {part: count for part, (count, _) in by_seed[0].items()}
        frequent = sorted(counts, key=lambda part: (-counts[part], part))[:MOST_VALUES]
        shown = ((TOGETHER, sum(counts.values())), *((part, counts[part]) for part in frequent))
        table = Breakdown(task, parts.name, shown, len(counts) - len(frequent), counted=parts.counted)
        by_part = np.array([[scores[part][1] for part in frequent] for scores in by_seed])
        all_scores = [*_scores(run, task, np.ones((1, len(gold.targets)))), *_seed_scores(100 * by_part)]
        tables.setdefault((task.id, shown), table).scores[number] = all_scores
    return list(tables.values())


def _scored(rows: Sequence[Row]) -> Iterator[tuple[int, FinishedRun, Task]]:
    """The number of each row that is a run, with the run and each of its tasks."""
    for number, row in enumerate(rows):
        if row.run:
            yield from ((number, row.run, task) for task in row.run.tasks)


def _parts(cells: Sequence[str]) -> tuple[dict[str, np.ndarray], int]:
    """The rows of each part, bool (rows,), by value, and how many values are left out. A row counts for each of its values."""
    values = [set(filter(None, map(str.strip, cell.split(SEPARATOR)))) for cell in cells]
    counts = Counter(value for row in values for value in row)
    frequent = sorted(counts, key=lambda value: (-counts[value], value))
    parts = {ALL: np.ones(len(cells), dtype=bool)}
    if 0 < sum(map(bool, values)) < len(cells):
        parts[ANY] = np.array([bool(row) for row in values])
    parts |= {value: np.array([value in row for row in values]) for value in frequent[:MOST_VALUES]}
    return parts, len(frequent[MOST_VALUES:])


def _scores(run: FinishedRun, task: Task, masks: np.ndarray) -> list[Score]:
    """The run's score on each part, whose rows are 1 in its mask, (parts, rows): median, minimum and maximum over seeds."""
    rows = run.rows(task)
    return _seed_scores(
        np.array([weighted_scores(task, predicted, rows, masks) for predicted in run.predictions(task)])
    )


def _seed_scores(scores: np.ndarray) -> list[Score]:
    """The median, minimum and maximum over seeds of each part's scores (seeds, parts)."""
    return [Score(median(by_seed), min(by_seed), max(by_seed)) for by_seed in scores.T.tolist()]
