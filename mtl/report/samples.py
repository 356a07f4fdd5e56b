"""The samples of a run's scores, and what of its resamples they need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mtl.report.comparison import Sample, counted_with_rows, over_tasks, sample
from mtl.report.resampling import RowGroups, RowSet, resampled_scores, row_groups
from mtl.runs.finished import Run
from mtl.tasks.suite import AVERAGE
from mtl.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Reduced:
    """What remains of a run's resamples: about 8 KB a task.

    rows: the set of scored rows of each task. means: float64 (tasks, RESAMPLES), the mean over seeds of each task's score × 100 on
    each resample. counted: float64 (tasks + 1,), `Sample.counted_with_rows` of each task and of the average; NaN without an average.
    """

    rows: Sequence[RowSet]
    means: np.ndarray
    counted: np.ndarray


def reduce_run(run: Run, groups: Sequence[RowGroups]) -> Reduced:
    """Resample a run. groups: of each task's scored rows. Raises InputError for predictions that cannot be read."""
    samples, averaged = [], []
    for task, of in zip(run.tasks, groups, strict=True):
        scores = resampled_scores(task, run.predictions(task), run.rows(task), of)
        samples.append(sample(np.array([]), {of.rows: scores}))
        if task.id in run.suite.averaged:
            averaged.append({of.rows: scores})
    counted = [found.counted_with_rows for found in samples]
    counted.append(counted_with_rows(over_tasks(averaged)) if averaged else np.nan)
    means = [mean for found in samples for mean in found.means.values()]
    return Reduced([of.rows for of in groups], np.array(means), np.array(counted))


def samples_of(run: Run, reduced: Reduced) -> dict[str, Sample]:
    """A run's samples by task id; that of the average by AVERAGE, if the run has an average."""
    samples = {}
    for place, task in enumerate(run.tasks):
        scores = run.summary["tasks"][task.id]["scores"]
        by_seed = np.array([scores[str(seed)] for seed in run.summary["seeds"]])
        means = {reduced.rows[place]: reduced.means[place]}
        samples[task.id] = Sample(by_seed, means, float(reduced.counted[place]))
    if averaged := [samples[id] for id in run.suite.averaged if id in samples]:
        by_seed = np.mean([of.by_seed for of in averaged], axis=0)
        means = over_tasks([of.means for of in averaged])
        samples[AVERAGE] = Sample(by_seed, means, float(reduced.counted[-1]))
    return samples


class RecordedGroups:
    """The groups of scored rows that any of some runs recorded. A run that did not record groups gets those of a run on the same rows."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._recorded: Mapping[tuple[str, str], Run] = {
            (task.id, run.rows_key(task)): run for run in runs for task in run.tasks if run.recorded_key(task)
        }

    def lacks(self, run: Run) -> bool:
        """Whether no run recorded the groups of one of the tasks; each of its rows is then a group."""
        return any(self._of(run, task) is None for task in run.tasks)

    def keys(self, run: Run) -> list[str]:
        """The key of each task's set of scored rows."""
        return [of.recorded_key(task) or "" if (of := self._of(run, task)) else task.id for task in run.tasks]

    def groups(self, run: Run) -> list[RowGroups]:
        """The groups of each task's scored rows. Raises InputError if a record is damaged."""
        found = []
        for task in run.tasks:
            recorded = of.recorded_rows(task) if (of := self._of(run, task)) else None
            found.append(row_groups(*(recorded or (task.id, np.arange(len(run.rows(task).targets))))))
        return found

    def _of(self, run: Run, task: Task) -> Run | None:
        return self._recorded.get((task.id, run.rows_key(task)))
