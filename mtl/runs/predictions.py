"""The rows that the predictions of a run are scored on, and the name of a file of predictions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.data.dataset import row_sizes
from mtl.data.examples import Example, read_targets
from mtl.runs.folder import RunFolder
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

FILE = "{split}_pred_{task}.tsv"


def recorded_rows(task: Task, gold: Path, folder: RunFolder) -> ScoredRows:
    """The rows that a run's task is scored on: the targets in this file, with the candidates and columns that the run recorded.

    Raises InputError if the file or the record is damaged.
    """
    recorded: Mapping[str, Any] = folder.read_scored_rows().get(task.id, {})
    columns = recorded.get("columns", {})
    candidates = None if "candidates" not in recorded else np.array(recorded["candidates"], dtype=np.int64)
    targets = read_targets(task, gold, candidates)
    counts = {len(values) for values in (targets if candidates is None else candidates, *columns.values())}
    if counts != {len(targets)} or not set(task.columns or ()) <= set(columns):
        raise InputError(f"{task.id}: not rows as mtl baseline records them", path=folder.scored_rows)
    return ScoredRows(targets, candidates, columns)


def scored_rows(task: Task, examples: Sequence[Example]) -> ScoredRows:
    """These rows, which all have targets, as metrics read them."""
    kind = target_kind(task)
    targets = np.array([example.target for example in examples], dtype=kind.dtype)
    columns = {name: [row.columns[number] for row in examples] for number, name in enumerate(task.further_columns)}
    return ScoredRows(targets, row_sizes(task, examples), columns)
