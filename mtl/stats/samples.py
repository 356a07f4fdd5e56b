"""The samples of a run's scores: its resamples, reduced to what tests need, and kept on disk, so that known predictions are not resampled again."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.base.arrays import read_arrays, write_arrays
from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.log import logger
from mtl.base.version import VERSION
from mtl.runs.finished import FinishedRun
from mtl.stats.comparison import Sample, counted_with_rows, mean_over_tasks
from mtl.stats.resampling import RESAMPLES, RowSet, resampled_scores, row_groups
from mtl.tasks.suite import AVERAGE

FORMAT = 2  # increase it whenever the resamples of the same predictions change, or the layout of the files
ALONE, IN_AVERAGE = 0, 1  # for what a task is resampled (`RowGroups.in_average`): the first index in `Reduced`


@dataclass(frozen=True, eq=False)
class Reduced:
    """What remains of a run's resamples: about 16 KB a task."""

    row_sets: Sequence[Sequence[RowSet]]  # the tasks' sets of scored rows: of each task ALONE, and IN_AVERAGE
    means: np.ndarray  # for each of these sets, the mean over seeds of the task's score × 100 on each resample, float64 (2, tasks, RESAMPLES)
    counted: np.ndarray  # `Sample.counted_with_rows` of the tasks, and of the average (NaN: none), float64 (tasks + 1,)


def reduce_run(run: FinishedRun) -> Reduced:
    """Resample a run. Raises InputError for predictions that cannot be read."""
    means, counted, contributions = [], [], []
    alone = [row_groups(*run.recorded_groups(task)) for task in run.tasks]
    in_average = [groups.in_average for groups in alone]
    for task, groups, average_groups in zip(run.tasks, alone, in_average, strict=True):
        predictions, rows = run.predictions(task), run.rows(task)
        scores = average_scores = resampled_scores(task, predictions, rows, groups)
        if average_groups is not groups:
            average_scores = resampled_scores(task, predictions, rows, average_groups)
        means.append([scores.mean(axis=0), average_scores.mean(axis=0)])
        counted.append(counted_with_rows({groups.rows: scores}))
        if task.id in run.suite.averaged:
            contributions.append({average_groups.rows: average_scores})
    divisors = run.suite.divisors({task.id for task in run.tasks}).values()
    counted.append(counted_with_rows(mean_over_tasks(contributions, divisors)) if contributions else np.nan)
    row_sets = [groups.rows for groups in alone], [groups.rows for groups in in_average]
    return Reduced(row_sets, np.stack(means, axis=1), np.array(counted))


def samples_of(run: FinishedRun, reduced: Reduced) -> dict[str, Sample]:
    """A run's samples by task id; that of the average by AVERAGE, if the run has an average."""
    samples = {}
    is_one_system = run.summary["is_one_system"] and len(run.summary["seeds"]) == 1
    for number, task in enumerate(run.tasks):
        scores = run.summary["tasks"][task.id]["scores"]
        by_seed = np.array([scores[str(seed)] for seed in run.summary["seeds"]])
        means = {reduced.row_sets[ALONE][number]: reduced.means[ALONE, number]}
        samples[task.id] = Sample(by_seed, means, float(reduced.counted[number]), is_one_system)
    if divisors := run.suite.divisors(samples):
        averaged = [number for number, task in enumerate(run.tasks) if task.id in divisors]
        contributions = [{reduced.row_sets[IN_AVERAGE][index]: reduced.means[IN_AVERAGE, index]} for index in averaged]
        seeds = range(len(run.summary["seeds"]))
        by_seed = np.array([run.suite.mean({id: samples[id].by_seed[seed] for id in divisors}) for seed in seeds])
        means = mean_over_tasks(contributions, divisors.values())
        samples[AVERAGE] = Sample(by_seed, means, float(reduced.counted[-1]), is_one_system)
    return samples


class SampleCache:
    """What remains of the resamples of runs, in a folder of files. A run has one, under a hash of all that its resamples follow from (`content_key`).
    It is only written after the run's predictions were checked, so a run with a file need not be checked. What is damaged is computed anew."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder  # without one, nothing is remembered
        self._looked_up: dict[Path, tuple[Path | None, Reduced | None]] = {}  # what `check` found, by run folder
        self._is_warned = False

    def check(self, run: FinishedRun) -> None:
        """Raise InputError if the run's predictions are damaged (`FinishedRun.check`)."""
        path, reduced = self._look_up(run)
        self._looked_up[run.folder.path] = path, reduced
        if reduced is None:
            run.check()

    def reduced(self, run: FinishedRun) -> Reduced:
        """What remains of the resamples of a run whose predictions were checked, here or when it was opened."""
        looked_up = self._looked_up.pop(run.folder.path, None)
        path, reduced = looked_up or self._look_up(run)
        if reduced is None:
            reduced = reduce_run(run)
            if path is not None:
                self._write(path, reduced)
        return reduced

    def _look_up(self, run: FinishedRun) -> tuple[Path | None, Reduced | None]:
        """The path of a run's file, and what the file holds: None where there is nothing."""
        if self._folder is None or (key := content_key(run)) is None:
            return None, None
        path = self._folder / f"{key}.npz"
        return path, self._read(path, run)

    def _read(self, path: Path, run: FinishedRun) -> Reduced | None:
        """What a file holds; None if it does not exist or is damaged."""
        if not path.exists():
            return None
        try:
            arrays, tasks = read_arrays(path), len(run.tasks)
            forms = {name: (array.dtype.kind, array.shape) for name, array in arrays.items()}
            expected = {"keys": ("U", (2, tasks)), "counts": ("i", (2, tasks)), "means": ("f", (2, tasks, RESAMPLES))}
            if forms != {**expected, "counted": ("f", (tasks + 1,))}:
                raise ValueError("other arrays than expected")
        except (OSError, ValueError, KeyError, InputError) as error:
            self._warn(path, error)
            return None
        row_sets = [
            [RowSet(str(key), int(count)) for key, count in zip(keys, counts, strict=True)]
            for keys, counts in zip(arrays["keys"], arrays["counts"], strict=True)
        ]
        return Reduced(row_sets, arrays["means"], arrays["counted"])

    def _write(self, path: Path, reduced: Reduced) -> None:
        arrays = {
            "keys": np.array([[rows.key for rows in row_sets] for row_sets in reduced.row_sets]),
            "counts": np.array([[rows.count for rows in row_sets] for row_sets in reduced.row_sets], dtype=np.int64),
            "means": reduced.means,
            "counted": reduced.counted,
        }
        try:
            write_arrays(path, arrays)
        except OSError as error:
            self._warn(path, error)

    def _warn(self, path: Path, error: Exception) -> None:
        """Log the first problem of the cache; none changes the report."""
        if not self._is_warned:
            logger.warning("%s: cannot be used as a cache, resampled anew: %s", path, error)
        self._is_warned = True


def content_key(run: FinishedRun) -> str | None:
    """A hash of all that a run's resamples follow from: files, and how the tasks are scored; None if a file cannot be read."""
    divisors = run.suite.divisors(run.summary["tasks"])
    # Another version of mtl may compute a metric in another way, and one of numpy may draw other rows.
    versions = (FORMAT, VERSION, np.__version__)
    digest = hashlib.sha256(repr((versions, RESAMPLES, divisors, run.summary["seeds"])).encode())
    files = [run.folder.scored_rows]
    for task in run.tasks:
        split = run.split(task)
        digest.update(repr((task.fingerprint(), split)).encode())
        files.append(run.folder.gold(split, task.id))
        files += [run.folder.predictions(seed, split, task.id) for seed in run.summary["seeds"]]
    try:
        for file in files:
            digest.update(sha256(file).encode())
    except OSError:
        return None
    return digest.hexdigest()
