"""The scores of submissions on labelled rows, with what tests need, kept on disk by the content of predictions and labels."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.base.arrays import read_arrays, write_arrays
from mtl.base.errors import InputError
from mtl.base.version import VERSION
from mtl.benchmark_making.leaderboard.submission import Entrant, LabelledRows, UnreadSubmission, read_predictions
from mtl.stats.comparison import Sample, over_tasks
from mtl.stats.resampling import RESAMPLES, resampled_scores
from mtl.tasks.metrics import score
from mtl.tasks.suite import AVERAGE, Suite

# Increase it whenever the same predictions get other scores or resamples, or the layout of the files changes.
FORMAT = 1

logger = logging.getLogger("mtl")


@dataclass(frozen=True, eq=False)
class ScoredSubmission:
    """A submission with its scores.

    Args:
        digest: SHA-256 of its predictions, equal for submissions with the same ones in whatever form.
        scores: × 100, by task id.
        samples: what tests resample, by task id, and by AVERAGE if the submission has every averaged task that the labels are of.
    """

    name: str
    system: Entrant
    digest: str
    scores: Mapping[str, float]
    samples: Mapping[str, Sample]


class Scorer:
    """Scores submissions on the same labelled rows."""

    def __init__(self, suite: Suite, split: str, tasks: Mapping[str, LabelledRows], cache: Path | None) -> None:
        """
        Args:
            tasks: by task id.
            cache: the folder of the files; None: nothing is remembered.
        """
        self._suite, self._split, self._tasks, self._cache = suite, split, tasks, cache
        keys = [(id, rows.task.fingerprint(), rows.key) for id, rows in tasks.items()]
        self._key = repr((FORMAT, VERSION, np.__version__, RESAMPLES, split, suite.submission.ids, keys))
        self._averaged = [id for id in suite.averaged if id in tasks]

    def score(self, submission: UnreadSubmission) -> ScoredSubmission:
        """The submission's scores. Raises InputError as `read_predictions`; it says nothing of labels."""
        key = hashlib.sha256(f"{self._key} {submission.digest}".encode()).hexdigest()
        path = self._cache / f"{key}.npz" if self._cache else None
        stored = (path and self._stored(path)) or self._computed(submission)
        if path and not path.exists():
            try:
                write_arrays(path, stored)
            except OSError as error:
                logger.warning("%s: cannot be kept: %s", path, error)
        samples = {
            str(id): Sample(np.array([value]), {self._tasks[str(id)].groups.rows: means}, 0.0, True)
            for id, value, means in zip(stored["tasks"], stored["scores"], stored["means"][0], strict=True)
        }
        scores = {id: float(sample.by_seed[0]) for id, sample in samples.items()}
        if self._averaged and all(id in samples for id in self._averaged):
            of_task = dict(zip(stored["tasks"].tolist(), stored["means"][1], strict=True))
            parts = [{self._tasks[id].groups.in_average.rows: of_task[id]} for id in self._averaged]
            mean = np.array([self._suite.mean(scores)])
            divisors = list(self._suite.divisors(self._averaged).values())
            samples[AVERAGE] = Sample(mean, over_tasks(parts, divisors), 0.0, True)
        return ScoredSubmission(submission.name, submission.system, str(stored["digest"]), scores, samples)

    def _computed(self, submission: UnreadSubmission) -> dict[str, np.ndarray]:
        """The arrays of a file: `tasks`, `scores` × 100 (tasks,), `means` on each resample, of the tasks and of their parts of the average
        (2, tasks, RESAMPLES), and `digest`."""
        predicted = read_predictions(submission, self._suite, self._split, self._tasks)
        ids = [id for id in self._tasks if id in predicted]
        scores = []
        means = []
        means_in_average = []
        for id in ids:
            task, rows, groups = self._tasks[id].task, self._tasks[id].rows, self._tasks[id].groups
            scores.append(score(task, predicted[id], rows))
            means.append(resampled_scores(task, predicted[id][None], rows, groups)[0])
            means_in_average.append(means[-1])
            if groups.in_average is not groups:
                means_in_average[-1] = resampled_scores(task, predicted[id][None], rows, groups.in_average)[0]
        answers = repr([(id, predicted[id].tolist()) for id in ids])
        digest = hashlib.sha256(answers.encode()).hexdigest()
        return {
            "tasks": np.array(ids),
            "scores": np.array(scores),
            "means": np.array([means, means_in_average]),
            "digest": np.array(digest),
        }

    def _stored(self, path: Path) -> dict[str, np.ndarray] | None:
        """The arrays in a file; None if there is none, or if it is damaged."""
        if not path.exists():
            return None
        try:
            arrays = read_arrays(path)
            count = len(arrays["tasks"])
            forms = {name: (array.dtype.kind, array.shape) for name, array in arrays.items()}
            if forms != {
                "tasks": ("U", (count,)),
                "scores": ("f", (count,)),
                "means": ("f", (2, count, RESAMPLES)),
                "digest": ("U", ()),
            }:
                raise ValueError("other arrays than expected")
            if unknown := set(arrays["tasks"].tolist()) - set(self._tasks):
                raise ValueError(f"scores of {', '.join(unknown)}")
        except (OSError, ValueError, KeyError, TypeError, InputError) as error:
            logger.warning("%s: damaged, scored anew: %s", path, error)
            path.unlink(missing_ok=True)
            return None
        return arrays
