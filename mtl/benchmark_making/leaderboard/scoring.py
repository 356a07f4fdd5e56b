"""The rows that submissions predict, with hidden labels or without them, and the scores of submissions on those labels."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.benchmark_making.leaderboard.submission import Entrant, read_predictions
from mtl.data.examples import Example, read_examples
from mtl.data.loading import describe_rows, row_sizes
from mtl.data.splits import read_split
from mtl.runs.rows import numbered_groups, scored_rows
from mtl.stats.comparison import Sample, mean_over_tasks
from mtl.stats.resampling import RowGroups, RowSet, resampled_scores, row_groups
from mtl.submissions.data_rows import DataRows, labelled_file
from mtl.tasks.layout import Layout
from mtl.tasks.metrics import score
from mtl.tasks.suite import AVERAGE, Suite
from mtl.tasks.task import ScoredRows, Task


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The rows of one task with their gold targets."""

    task: Task  # scored on the board's split
    data: DataRows  # the form in which predictions are checked against them
    rows: ScoredRows  # what metrics read
    groups: RowGroups  # that resampling draws

    def sample(self, predictions: np.ndarray) -> Sample:
        """The score × 100 of predictions, (rows,), with what tests need."""
        by_seed = np.array([score(self.task, predictions, self.rows)])
        return Sample(by_seed, self._resampled(predictions, self.groups), counted_with_rows=0.0, is_one_system=True)

    def resampled_for_average(self, predictions: np.ndarray, sample: Sample) -> Mapping[RowSet, np.ndarray]:
        """The scores × 100 of predictions, whose sample this is, on the resamples that an average over tasks takes: by set of rows, (RESAMPLES,)."""
        groups = self.groups.in_average
        return sample.means if groups is self.groups else self._resampled(predictions, groups)

    def _resampled(self, predictions: np.ndarray, groups: RowGroups) -> dict[RowSet, np.ndarray]:
        return {groups.row_set: resampled_scores(self.task, predictions[None], self.rows, groups)[0]}


LabelledTasks = Mapping[str, LabelledRows]  # by task id


def read_labelled_rows(suite: Suite, gold: Path, split: str) -> dict[str, LabelledRows]:
    """The rows of the tasks with labels in the folder, by task id. `gold`: a data folder whose files of the split have the target column; a test file
    may also be called test.tsv. Raises InputError if no task has labels, and for files that cannot be read."""
    tasks = {}
    for task in suite.tasks.values():
        if (labelled := labelled_file(task, split, gold)) is not None:
            path, layout = labelled
            scored_task = replace(task, scored="test" if split == "test" else "dev", breakdown=None)
            examples = read_split(scored_task, path, split, layout)
            recorded = describe_rows(scored_task, examples)
            groups = row_groups(*numbered_groups(recorded["texts"], recorded["groups"], len(examples)))
            data = _data_rows(scored_task, split, path, layout, examples)
            tasks[task.id] = LabelledRows(scored_task, data, scored_rows(scored_task, examples), groups)
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name} with a label in every row", path=gold)
    return tasks


def read_public_rows(suite: Suite, data_dir: Path, split: str) -> dict[str, DataRows]:
    """The rows of the tasks with a file of the split in the folder, by task id. Raises InputError as `read_labelled_rows` does."""
    tasks = {}
    for task in suite.tasks.values():
        if (path := task.path(split, data_dir)) is not None and path.is_file():
            layout = task.layout(split, data_dir)
            tasks[task.id] = _data_rows(task, split, path, layout, read_examples(task, path, False, layout))
    if not tasks:
        raise InputError(f"has no {split} file of suite {suite.name}; set data_dir=", path=data_dir)
    return tasks


def _data_rows(task: Task, split: str, path: Path, layout: Layout, examples: Sequence[Example]) -> DataRows:
    """The rows of a file as predictions are put to them; their targets are left unknown even if the file has them."""
    return DataRows(task, split, path, layout, np.full(len(examples), np.nan), row_sizes(task, examples))


@dataclass(frozen=True, eq=False)
class ScoredSubmission:
    name: str
    system: Entrant
    digest: str  # SHA-256 of its predictions, equal for submissions with the same ones in whatever form
    samples: Mapping[str, Sample]  # by task id, and by AVERAGE if it has every averaged task that the labels are of


def score_submission(folder: Path, system: Entrant, suite: Suite, split: str, tasks: LabelledTasks) -> ScoredSubmission:
    """A submission with its scores on the labelled rows. Raises InputError as `read_predictions`; it says nothing of labels."""
    predicted = read_predictions(folder, suite, split, {id: labelled.data for id, labelled in tasks.items()})
    samples = {id: tasks[id].sample(predictions) for id, predictions in predicted.items()}
    averaged = [id for id in suite.averaged if id in tasks]
    if averaged and set(averaged) <= set(samples):
        mean = suite.mean({id: float(sample.by_seed[0]) for id, sample in samples.items()})
        resampled = [tasks[id].resampled_for_average(predicted[id], samples[id]) for id in averaged]
        means = mean_over_tasks(resampled, suite.divisors(averaged).values())
        samples[AVERAGE] = Sample(np.array([mean]), means, counted_with_rows=0.0, is_one_system=True)
    answers = repr([(id, predictions.tolist()) for id, predictions in predicted.items()])
    return ScoredSubmission(folder.name, system, hashlib.sha256(answers.encode()).hexdigest(), samples)
