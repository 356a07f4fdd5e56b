"""Breakdowns: the scores of runs on parts of a task's rows, such as the rows with one value in a column."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import numpy as np

from mtl.reports.board import Breakdown
from mtl.reports.rows import Row, Score
from mtl.runs.finished import FinishedRun
from mtl.tasks.metrics import metric_named, weighted_scores
from mtl.tasks.task import Task

ALL_ROWS, ANY_VALUE, ALL_TOGETHER = "all rows", "any value", "all together"  # names of parts that are no single value
SEPARATOR = ";"  # between the values of a row that has several
MOST_VALUES = 50  # the most frequent values are shown, at most so many

NumberedParts = tuple[tuple[str, int], ...]  # `Breakdown.parts`: each part with how many it counts


def breakdowns(rows: Sequence[Row]) -> list[Breakdown]:
    """The breakdowns of the runs among a leaderboard's rows: by columns that tasks name, and by parts of metrics."""
    return [*_by_columns(rows), *_by_parts(rows)]


def _by_columns(rows: Sequence[Row]) -> list[Breakdown]:
    """The scores on the rows with each value of a column that a task names. Runs that did not record the column are left out."""
    tables: dict[tuple[str, str, NumberedParts], Breakdown] = {}
    for number, run, task in _scored_tasks(rows):
        if not task.breakdown:
            continue
        recorded = run.rows(task).columns
        for column in [name for name in task.breakdown if name in recorded]:
            masks, left_out = _masks(recorded[column])
            parts = tuple((value, int(mask.sum())) for value, mask in masks.items())
            table = tables.setdefault((task.id, column, parts), Breakdown(task, column, parts, left_out))
            table.scores[number] = _scores(run, task, np.array(list(masks.values()), dtype=np.float64))
    return list(tables.values())


def _by_parts(rows: Sequence[Row]) -> list[Breakdown]:
    """The scores on the parts of what a task's first metric with parts counts, such as the types of entities, the most frequent first."""
    tables: dict[tuple[str, NumberedParts], Breakdown] = {}
    for number, run, scored_task in _scored_tasks(rows):
        metrics = (scored_task.metric, *(scored_task.also or ()))
        with_parts = [(name, named) for name in metrics if (named := metric_named(name).parts) is not None]
        if not with_parts:
            continue
        metric, metric_parts = with_parts[0]
        task, gold = scored_task.measured_by(metric), run.rows(scored_task)
        by_seed = [metric_parts.scores(task, predicted, gold) for predicted in run.predictions(task)]
        # The gold items, and so their counts, are the same for all seeds; only the scores differ.
        counts = {part: count for part, (count, _) in by_seed[0].items()}
        frequent = _most_frequent_first(counts)[:MOST_VALUES]
        parts = ((ALL_TOGETHER, sum(counts.values())), *((part, counts[part]) for part in frequent))
        table = Breakdown(task, metric_parts.name, parts, len(counts) - len(frequent), counted=metric_parts.counted)
        scores_together = _scores(run, task, np.ones((1, len(gold.targets))))
        part_scores = np.array([[scores[part][1] for part in frequent] for scores in by_seed])
        tables.setdefault((task.id, parts), table).scores[number] = [*scores_together, *_over_seeds(100 * part_scores)]
    return list(tables.values())


def _scored_tasks(rows: Sequence[Row]) -> Iterator[tuple[int, FinishedRun, Task]]:
    """The number of each row that is a run, with the run and each of its tasks."""
    for number, row in enumerate(rows):
        if row.run:
            yield from ((number, row.run, task) for task in row.run.tasks)


def _masks(cells: Sequence[str]) -> tuple[dict[str, np.ndarray], int]:
    """The rows of each part, bool (rows,), by value, and how many values are left out. A row counts for each of its values."""
    values = [set(filter(None, map(str.strip, cell.split(SEPARATOR)))) for cell in cells]
    frequent = _most_frequent_first(Counter(value for row_values in values for value in row_values))
    masks = {ALL_ROWS: np.ones(len(cells), dtype=bool)}
    has_value = np.array([bool(row_values) for row_values in values])
    if has_value.any() and not has_value.all():
        masks[ANY_VALUE] = has_value
    masks |= {value: np.array([value in row_values for row_values in values]) for value in frequent[:MOST_VALUES]}
    return masks, len(frequent[MOST_VALUES:])


def _most_frequent_first(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda value: (-counts[value], value))


def _scores(run: FinishedRun, task: Task, masks: np.ndarray) -> list[Score]:
    """The run's score on each part. The masks, (parts, rows), are 1 for a part's rows and 0 for others."""
    rows = run.rows(task)
    return _over_seeds(np.array([weighted_scores(task, predicted, rows, masks) for predicted in run.predictions(task)]))


def _over_seeds(scores: np.ndarray) -> list[Score]:
    """The median, minimum and maximum over seeds of each part's scores × 100, (seeds, parts)."""
    return [Score(median(by_seed), min(by_seed), max(by_seed)) for by_seed in scores.T.tolist()]
