"""The figures of a leaderboard's entry: what predictions for a data file give by the suite's measures."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mtl.data.examples import read_examples
from mtl.runs.rows import scored_rows
from mtl.submissions.row_files import RowFile
from mtl.tasks.metrics import score
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind

ROWS = "rows"  # the measure that is the number of rows

Figures = dict[str, dict[str, dict[str, float]]]  # of an entry, by task id, split and name of the measure


def measure(suite: Suite, file: RowFile, predictions: Sequence[Target] | np.ndarray) -> dict[str, float]:
    """The figures of a data file by name, on the scale `suite.scale`: those that its task has a metric for. There are none if the rows are not the
    official ones or lack targets."""
    if file.changed or not file.has_official_size or not file.labelled:
        return {}
    task = replace(file.task, breakdown=None, group=None)  # no score needs these columns
    rows = scored_rows(task, read_examples(task, Path(file.name)))
    predicted = np.array(predictions, dtype=target_kind(task).dtype)
    figures: dict[str, float] = {}
    for name, metrics in suite.submission.measures.items():
        first = metrics[0]
        if first == ROWS:
            figures[name] = len(predicted)
            continue
        # The further metrics are substitutes: they count only where one is what scores the task.
        metric = first if first in (task.also or ()) else task.metric
        if metric in metrics:
            figures[name] = score(task.measured_by(metric), predicted, rows) * suite.scale / 100
    return figures
