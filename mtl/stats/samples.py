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
from mtl.data.hashes import task_fingerprint
from mtl.runs.finished import FinishedRun
from mtl.stats.comparison import Resampled, Sample, mean_over_tasks, part_counted_with_rows
from mtl.stats.resampling import RESAMPLES, RowSet, resampled_scores, row_groups
from mtl.tasks.suite import AVERAGE

FORMAT = 2  # increase it whenever the resamples of the same predictions change, or the layout of the files


@dataclass(frozen=True, eq=False)
class ReducedRun:
    """What remains of a run's resamples, about 16 KB a task: for each task of the run, and by its set of scored rows, the mean over seeds of its
    score × 100 on each resample, (RESAMPLES,)."""

    alone: Sequence[Resampled]  # on the resamples for the task alone
    in_average: Sequence[Resampled]  # on those for the average, which differ for few groups (`RowGroups.in_average`)
    counted_with_rows: np.ndarray  # as in `Sample`, of each task, then of the average (NaN: none), float64 (tasks + 1,)


def reduce_run(run: FinishedRun) -> ReducedRun:
    """Resample a run. Raises InputError for predictions that cannot be read."""
    alone, in_average, counted, contributions = [], [], [], []
    divisors = run.suite.divisors(run.summary["tasks"])
    for task in run.tasks:
        predicted = run.predictions(task)
        rows = run.rows(task)
        groups = row_groups(*run.numbered_groups(task))
        scores = resampled_scores(task, predicted, rows, groups)
        alone.append({groups.row_set: scores.mean(axis=0)})
        counted.append(part_counted_with_rows({groups.row_set: scores}))
        average_groups = groups.in_average
        average_scores = scores if average_groups is groups else resampled_scores(task, predicted, rows, average_groups)
        in_average.append({average_groups.row_set: average_scores.mean(axis=0)})
        if task.id in divisors:
            contributions.append({average_groups.row_set: average_scores})
    average = mean_over_tasks(contributions, divisors.values())
    counted.append(part_counted_with_rows(average) if average else np.nan)
    return ReducedRun(alone, in_average, np.array(counted))


def samples_of(run: FinishedRun, reduced: ReducedRun) -> dict[str, Sample]:
    """A run's samples by task id; that of the average by AVERAGE, if the run has an average."""
    seeds = run.summary["seeds"]
    is_one_system = run.summary["is_one_system"] and len(seeds) == 1
    samples = {}
    for task, means, counted in zip(run.tasks, reduced.alone, reduced.counted_with_rows[:-1], strict=True):
        scores = run.summary["tasks"][task.id]["scores"]
        by_seed = np.array([scores[str(seed)] for seed in seeds])
        samples[task.id] = Sample(by_seed, means, float(counted), is_one_system)
    divisors = run.suite.divisors(samples)  # in the order of the run's tasks, as the contributions are
    if divisors:
        contributions = [part for task, part in zip(run.tasks, reduced.in_average, strict=True) if task.id in divisors]
        means = mean_over_tasks(contributions, divisors.values())
        scores_of_seeds = [{id: samples[id].by_seed[number] for id in divisors} for number in range(len(seeds))]
        by_seed = np.array([run.suite.mean(scores) for scores in scores_of_seeds])
        samples[AVERAGE] = Sample(by_seed, means, float(reduced.counted_with_rows[-1]), is_one_system)
    return samples


class SampleCache:
    """What remains of the resamples of runs, in a folder of files. A run has one, under a hash of all that its resamples follow from (`content_key`).
    It is only written after the run's predictions were checked, so a run with a file need not be checked. What is damaged is computed anew."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder  # without one, nothing is remembered
        self._checked: dict[Path, ReducedRun | None] = {}  # by run folder, what `check` has read from the run's file
        self._has_warned = False

    def check(self, run: FinishedRun) -> None:
        """Raise InputError if the run's predictions are damaged (`FinishedRun.check`)."""
        reduced = self._checked[run.folder.path] = self._read(self._file(run), len(run.tasks))
        if reduced is None:
            run.check()

    def reduced(self, run: FinishedRun) -> ReducedRun:
        """What remains of the resamples of a run whose predictions were checked, here or when it was opened."""
        if (reduced := self._checked.pop(run.folder.path, None)) is not None:
            return reduced
        file = self._file(run)
        reduced = self._read(file, len(run.tasks))
        if reduced is None:
            reduced = reduce_run(run)
            # If the predictions changed meanwhile, nobody knows which of them were resampled.
            if file is not None and file == self._file(run):
                self._write(file, reduced)
        return reduced

    def _file(self, run: FinishedRun) -> Path | None:
        """The run's file; None without a folder, and if a file that its resamples follow from cannot be read."""
        key = content_key(run) if self._folder else None
        return self._folder / f"{key}.npz" if self._folder and key else None

    def _read(self, file: Path | None, tasks: int) -> ReducedRun | None:
        """What the file of a run with so many tasks holds; None if it does not exist or is damaged."""
        if file is None or not file.exists():
            return None
        expected = {"keys": ("U", (2, tasks)), "counts": ("i", (2, tasks)), "means": ("f", (2, tasks, RESAMPLES))}
        try:
            arrays = read_arrays(file)
            forms = {name: (array.dtype.kind, array.shape) for name, array in arrays.items()}
            if forms != {**expected, "counted": ("f", (tasks + 1,))}:
                raise ValueError("other arrays than expected")
        except (OSError, ValueError, InputError) as error:
            self._warn(file, error)
            return None
        stored = zip(arrays["keys"].flat, arrays["counts"].flat, arrays["means"].reshape(-1, RESAMPLES), strict=True)
        resampled = [{RowSet(str(key), int(count)): means} for key, count, means in stored]
        return ReducedRun(resampled[:tasks], resampled[tasks:], arrays["counted"])

    def _write(self, file: Path, reduced: ReducedRun) -> None:
        """Write what `_read` reads. The first axis of an array has the tasks alone and the tasks in the average; the second axis has the tasks."""
        resampled = [*reduced.alone, *reduced.in_average]
        row_sets = [rows for means in resampled for rows in means]  # one for each task
        shape = 2, len(reduced.alone)
        arrays = {
            "keys": np.array([rows.key for rows in row_sets]).reshape(shape),
            "counts": np.array([rows.count for rows in row_sets], dtype=np.int64).reshape(shape),
            "means": np.array([list(means.values()) for means in resampled]).reshape(*shape, RESAMPLES),
            "counted": reduced.counted_with_rows,
        }
        try:
            write_arrays(file, arrays)
        except OSError as error:
            self._warn(file, error)

    def _warn(self, file: Path, error: Exception) -> None:
        """Log the first problem of the cache; none changes the report."""
        if not self._has_warned:
            logger.warning("%s: cannot be used as a cache, resampled anew: %s", file, error)
            self._has_warned = True


def content_key(run: FinishedRun) -> str | None:
    """A hash of all that a run's resamples follow from: files, and how the tasks are scored; None if a file cannot be read."""
    divisors = run.suite.divisors(run.summary["tasks"])
    # Another version of mtl may compute a metric in another way, and one of numpy may draw other rows.
    versions = (FORMAT, VERSION, np.__version__)
    digest = hashlib.sha256(repr((versions, RESAMPLES, divisors, run.summary["seeds"])).encode())
    files = [run.folder.scored_rows]
    for task in run.tasks:
        split = run.split(task)
        digest.update(repr((task_fingerprint(task), split)).encode())
        files.append(run.folder.gold(split, task.id))
        files += [run.folder.predictions(seed, split, task.id) for seed in run.summary["seeds"]]
    try:
        for file in files:
            digest.update(sha256(file).encode())
    except OSError:
        return None
    return digest.hexdigest()
