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
from mtl.stats.comparison import Resampled, Sample, counted_with_rows, mean_over_tasks
from mtl.stats.resampling import RESAMPLES, RowSet, resampled_scores, row_groups
from mtl.tasks.suite import AVERAGE

FORMAT = 2  # increase it whenever the resamples of the same predictions change, or the layout of the files


@dataclass(frozen=True, eq=False)
class Reduced:
    """What remains of a run's resamples, about 16 KB a task: for each task of the run, and by its set of scored rows, the mean over seeds of its
    score × 100 on each resample, (RESAMPLES,)."""

    alone: Sequence[Resampled]  # on the resamples for the task alone
    in_average: Sequence[Resampled]  # on the resamples for the average (`RowGroups.in_average`)
    counted: np.ndarray  # `Sample.counted_with_rows` of the tasks, and of the average (NaN: none), float64 (tasks + 1,)


def reduce_run(run: FinishedRun) -> Reduced:
    """Resample a run. Raises InputError for predictions that cannot be read."""
    alone, in_average, counted, contributions = [], [], [], []
    divisors = run.suite.divisors(run.summary["tasks"])
    for task in run.tasks:
        answers, rows, groups = run.predictions(task), run.rows(task), row_groups(*run.recorded_groups(task))
        average_groups = groups.in_average
        scores = resampled_scores(task, answers, rows, groups)
        average_scores = scores if average_groups is groups else resampled_scores(task, answers, rows, average_groups)
        alone.append({groups.rows: scores.mean(axis=0)})
        in_average.append({average_groups.rows: average_scores.mean(axis=0)})
        counted.append(counted_with_rows({groups.rows: scores}))
        if task.id in divisors:
            contributions.append({average_groups.rows: average_scores})
    average = mean_over_tasks(contributions, divisors.values())
    return Reduced(alone, in_average, np.array([*counted, counted_with_rows(average) if average else np.nan]))


def samples_of(run: FinishedRun, reduced: Reduced) -> dict[str, Sample]:
    """A run's samples by task id; that of the average by AVERAGE, if the run has an average."""
    samples, seeds = {}, run.summary["seeds"]
    is_one_system = run.summary["is_one_system"] and len(seeds) == 1
    for task, means, counted in zip(run.tasks, reduced.alone, reduced.counted[:-1], strict=True):
        scores = run.summary["tasks"][task.id]["scores"]
        by_seed = np.array([scores[str(seed)] for seed in seeds])
        samples[task.id] = Sample(by_seed, means, float(counted), is_one_system)
    divisors = run.suite.divisors(samples)  # in the order of the run's tasks, too
    if divisors:
        contributions = [reduced.in_average[number] for number, task in enumerate(run.tasks) if task.id in divisors]
        scores_of_seeds = [{id: samples[id].by_seed[number] for id in divisors} for number in range(len(seeds))]
        by_seed = np.array([run.suite.mean(scores) for scores in scores_of_seeds])
        means = mean_over_tasks(contributions, divisors.values())
        samples[AVERAGE] = Sample(by_seed, means, float(reduced.counted[-1]), is_one_system)
    return samples


class SampleCache:
    """What remains of the resamples of runs, in a folder of files. A run has one, under a hash of all that its resamples follow from (`content_key`).
    It is only written after the run's predictions were checked, so a run with a file need not be checked. What is damaged is computed anew."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder  # without one, nothing is remembered
        self._found: dict[Path, Reduced | None] = {}  # by run folder, what `check` found in the run's file
        self._is_warned = False

    def check(self, run: FinishedRun) -> None:
        """Raise InputError if the run's predictions are damaged (`FinishedRun.check`)."""
        found = self._found[run.folder.path] = self._read(run)
        if found is None:
            run.check()

    def reduced(self, run: FinishedRun) -> Reduced:
        """What remains of the resamples of a run whose predictions were checked, here or when it was opened."""
        folder = run.folder.path
        reduced = self._found.pop(folder) if folder in self._found else self._read(run)
        if reduced is None:
            reduced = reduce_run(run)
            self._write(run, reduced)
        return reduced

    def _path(self, run: FinishedRun) -> Path | None:
        """The path of the run's file; None without a folder, and if a file of the run cannot be read."""
        key = content_key(run) if self._folder else None
        return self._folder / f"{key}.npz" if self._folder and key else None

    def _read(self, run: FinishedRun) -> Reduced | None:
        """What the run's file holds; None if it does not exist or is damaged."""
        path, tasks = self._path(run), len(run.tasks)
        if path is None or not path.exists():
            return None
        expected = {"keys": ("U", (2, tasks)), "counts": ("i", (2, tasks)), "means": ("f", (2, tasks, RESAMPLES))}
        try:
            arrays = read_arrays(path)
            forms = {name: (array.dtype.kind, array.shape) for name, array in arrays.items()}
            if forms != {**expected, "counted": ("f", (tasks + 1,))}:
                raise ValueError("other arrays than expected")
        except (OSError, ValueError, InputError) as error:
            self._warn(path, error)
            return None
        alone, in_average = map(_by_rows, arrays["keys"], arrays["counts"], arrays["means"])
        return Reduced(alone, in_average, arrays["counted"])

    def _write(self, run: FinishedRun, reduced: Reduced) -> None:
        path, both = self._path(run), (reduced.alone, reduced.in_average)
        if path is None:
            return
        row_sets = [[rows for means in tasks for rows in means] for tasks in both]
        arrays = {
            "keys": np.array([[rows.key for rows in of_tasks] for of_tasks in row_sets]),
            "counts": np.array([[rows.count for rows in of_tasks] for of_tasks in row_sets], dtype=np.int64),
            "means": np.array([[mean for means in tasks for mean in means.values()] for tasks in both]),
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


def _by_rows(keys: np.ndarray, counts: np.ndarray, means: np.ndarray) -> list[Resampled]:
    """For each task, its means on resamples by its set of rows, which has this key and this number of groups."""
    return [{RowSet(str(key), int(count)): mean} for key, count, mean in zip(keys, counts, means, strict=True)]


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
