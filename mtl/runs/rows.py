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


class RowsRecord(TypedDict):
    """The rows that a task is scored on."""

    texts: str  # a hash of their texts
    groups: list[Annotated[int, Meta(ge=0, lt=2**31)]] | None  # the number of each row's group; None: each is apart
    candidates: NotRequired[list[Annotated[int, Meta(ge=1, lt=2**31)]]]  # of a choice, or units, how many each row has
    columns: NotRequired[dict[str, list[str]]]  # the values that metrics and breakdowns read
    lines: NotRequired[list[Count]]  # their lines in the data file, where they are a sample of its rows


def read_rows_records(path: Path) -> dict[str, RowsRecord]:
    """What a run has recorded of the rows that its tasks are scored on (`RunFolder.scored_rows`), by task id; empty if it has recorded nothing."""
    return read_json(path, dict[str, RowsRecord]) if path.exists() else {}


def read_scored_rows(task: Task, gold: Path, record: Path) -> ScoredRows:
    """The rows that score a run's task: targets from the file `gold`, candidates and columns from `record`. Raises InputError for damaged files."""
    recorded: Mapping[str, Any] = read_rows_records(record).get(task.id, {})
    columns = recorded.get("columns", {})
    candidates = np.array(recorded["candidates"], dtype=np.int64) if "candidates" in recorded else None
    targets = read_targets(task, gold, candidates)
    recorded_values = [*columns.values(), *([] if candidates is None else [candidates])]
    has_all_columns = set(task.columns or ()) <= set(columns)
    if not has_all_columns or any(len(values) != len(targets) for values in recorded_values):
        raise InputError(f"{task.id}: not rows as mtl baseline records them", path=record)
    return ScoredRows(targets, candidates, columns)


def numbered_groups(texts: str, groups: Sequence[int] | None, rows: int) -> tuple[str, np.ndarray]:
    """A key that is equal for the same rows in the same groups, and each row's group, a number from 0, int64 (rows,); from `RowsRecord`."""
    key = hashlib.sha256(repr((texts, groups)).encode()).hexdigest()
    # With only one group, groups cannot be resampled, so each row counts as a group.
    names = np.arange(rows) if groups is None or len(set(groups)) == 1 else np.array(groups)
    return key, np.unique(names, return_inverse=True)[1]


def scored_rows(task: Task, examples: Sequence[Example]) -> ScoredRows:
    """These rows, which all have targets, as metrics read them."""
    targets = np.array([example.target for example in examples], dtype=target_kind(task).dtype)
    columns = {name: [row.columns[number] for row in examples] for number, name in enumerate(task.further_columns)}
    return ScoredRows(targets, row_sizes(task, examples), columns)
