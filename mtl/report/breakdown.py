"""A task's scores on parts of its scored rows: the rows that have the same value in a column of the task's `breakdown`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from mtl.report.row import Row, Score
from mtl.runs.finished import Run
from mtl.tasks.metrics import weighted_scores
from mtl.tasks.task import Task

ALL, ANY = "all rows", "any value"
SEPARATOR = ";"  # between the values of a row that has several
MOST_VALUES = 50  # the most frequent values are shown, at most so many


@dataclass(frozen=True, eq=False)
class Breakdown:
    """The scores of one task by the values of one column, of runs that are scored on the same parts.

    parts: each value with its number of rows. scores: by index of a row of the leaderboard, a score for each part. left_out: how
    many values are not shown.
    """

    task: Task
    column: str
    parts: Sequence[tuple[str, int]]
    left_out: int
    scores: dict[int, Sequence[Score]] = field(default_factory=dict)


def breakdowns(rows: Sequence[Row]) -> list[Breakdown]:
    """The breakdowns of all runs among a leaderboard's rows. Runs that did not record a column are left out."""
    found: dict[tuple[str, str, tuple[tuple[str, int], ...]], Breakdown] = {}
    for place, row in enumerate(rows):
        for task in row.run.tasks if row.run else ():
            columns = row.run.rows(task).columns if task.breakdown and row.run else {}
            for column in (name for name in task.breakdown or () if name in columns):
                assert row.run
                masks, left_out = _parts(columns[column])
                parts = tuple((value, int(mask.sum())) for value, mask in masks.items())
                known = found.setdefault((task.id, column, parts), Breakdown(task, column, parts, left_out))
                known.scores[place] = _scores(row.run, task, np.array(list(masks.values()), dtype=np.float64))
    return list(found.values())


def values_of(cell: str) -> list[str]:
    """The values in a cell, none twice.

    >>> values_of("Negation; Universal"), values_of("")
    (['Negation', 'Universal'], [])
    """
    return list(dict.fromkeys(filter(None, (part.strip() for part in cell.split(SEPARATOR)))))


def _parts(cells: Sequence[str]) -> tuple[dict[str, np.ndarray], int]:
    """The rows of each part, bool (rows,), by value; and how many values are left out.

    The parts are all rows, all rows with a value if some have none, and each value, the most frequent first. A row counts for each
    of its values.
    """
    values = [values_of(cell) for cell in cells]
    counts = Counter(value for of in values for value in of)
    frequent = sorted(counts, key=lambda value: (-counts[value], value))
    parts = {ALL: np.ones(len(cells), dtype=bool)}
    if 0 < sum(map(bool, values)) < len(cells):
        parts[ANY] = np.array([bool(of) for of in values])
    parts |= {value: np.array([value in of for of in values]) for value in frequent[:MOST_VALUES]}
    return parts, len(frequent[MOST_VALUES:])


def _scores(run: Run, task: Task, masks: np.ndarray) -> list[Score]:
    """The run's score on each part: median, minimum and maximum over seeds. masks: 1 for the rows of a part, (parts, rows)."""
    rows = run.rows(task)
    by_seed = np.array([weighted_scores(task, predicted, rows, masks) for predicted in run.predictions(task)])
    return [Score(median(scores), min(scores), max(scores)) for scores in by_seed.T.tolist()]
