"""The rows that a run's tasks are scored on, as its folder records them."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.untrusted import Count, read_json
from mtl.data.examples import Example, read_targets
from mtl.data.loading import row_sizes
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task


class RecordedRows(TypedDict):
    """The rows that a task is scored on."""

    texts: str  # a hash of their texts
    groups: list[Annotated[int, Meta(ge=0, lt=2**31)]] | None  # the number of each row's group; None: each is apart
    candidates: NotRequired[list[Annotated[int, Meta(ge=1, lt=2**31)]]]  # of a choice, or units, how many each row has
    columns: NotRequired[dict[str, list[str]]]  # the values that metrics and breakdowns read
    lines: NotRequired[list[Count]]  # their lines in the data file, where they are a sample of its rows


def read_recorded(path: Path) -> dict[str, RecordedRows]:
    """What a run has recorded of the rows that its tasks are scored on (`RunFolder.scored_rows`), by task id; empty if it has recorded nothing."""
    return read_json(path, dict[str, RecordedRows]) if path.exists() else {}


def recorded_rows(task: Task, gold: Path, record: Path) -> ScoredRows:
    """The rows that score a run's task: targets from the file `gold`, candidates and columns from `record`. Raises InputError for damaged files."""
    recorded: Mapping[str, Any] = read_recorded(record).get(task.id, {})
    columns = recorded.get("columns", {})
    candidates = None if "candidates" not in recorded else np.array(recorded["candidates"], dtype=np.int64)
    targets = read_targets(task, gold, candidates)
    counts = {len(values) for values in (targets if candidates is None else candidates, *columns.values())}
    if counts != {len(targets)} or not set(task.columns or ()) <= set(columns):
        raise InputError(f"{task.id}: not rows as mtl baseline records them", path=record)
    return ScoredRows(targets, candidates, columns)


def recorded_groups(texts: str, groups: Sequence[int] | None, rows: int) -> tuple[str, np.ndarray]:
    """A key that is equal for the same rows in the same groups, and each row's group, a number from 0, int64 (rows,); from `describe_rows`."""
    # With only one group, groups cannot be resampled, so each row counts as a group.
    names = np.arange(rows) if groups is None or len(set(groups)) == 1 else np.array(groups)
    return hashlib.sha256(repr((texts, groups)).encode()).hexdigest(), np.unique(names, return_inverse=True)[1]


def scored_rows(task: Task, examples: Sequence[Example]) -> ScoredRows:
    """These rows, which all have targets, as metrics read them."""
    targets = np.array([example.target for example in examples], dtype=target_kind(task).dtype)
    columns = {name: [row.columns[number] for row in examples] for number, name in enumerate(task.further_columns)}
    return ScoredRows(targets, row_sizes(task, examples), columns)
