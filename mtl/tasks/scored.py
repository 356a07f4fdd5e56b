"""What a metric is computed from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mtl.tasks.task import Task


@dataclass(frozen=True)
class ScoredRows:
    """The rows that predictions are compared with.

    targets: (rows,), see `mtl.tasks.kind`. candidates: int64 (rows,), the number of candidates of each row; None unless the task is
    a choice. columns: the values of the task's `further_columns` by name, one string per row.
    """

    targets: np.ndarray
    candidates: np.ndarray | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)


# task, predictions (rows,), scored rows, weights (sets, rows) -> scores (sets,), at most 1.
Formula = Callable[[Task, np.ndarray, ScoredRows, np.ndarray], np.ndarray]
