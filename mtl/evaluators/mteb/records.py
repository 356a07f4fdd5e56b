"""The records of what was evaluated: one for each task and version of its rows. Needs no mteb."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import Benchmark
from mtl.evaluators.mteb.folder import EvaluationFolder
from mtl.evaluators.mteb.summary import EXACT
from mtl.untrusted import Amount, Count, Score, read_json


class Evaluated(TypedDict):
    """What `mteb` has evaluated of a task: the form of record.json and of a task in summary.json. A score that could not be computed is
    None."""

    revision: str
    metric: str
    score: Score | None
    seconds: Amount
    encoding_seconds: Amount
    sentences: Count
    data: Literal["exact", "reduced", "stand-in"]
    differences: list[str]


Record = dict[str, Any]


def record_key(benchmark: Benchmark, task: str, versions: Mapping[str, str], split: str | None = None) -> Record:
    """What a record must say so that its score is that of the benchmark now.

    versions: of the software that scores depend on, by name. split: None: the scored one.
    """
    return {
        "versions": dict(versions),
        "split": split or benchmark.tasks[task].split,
        "metric": benchmark.metric(task),
        "languages": list(benchmark.languages),
    }


def read_record(path: Path, key: Mapping[str, Any]) -> Record | None:
    """The record in a file; None if there is none, if it is damaged, or if it says something else than the key."""
    try:
        record = dict(read_json(path, Evaluated))
    except InputError:
        return None
    if {name: record.get(name) for name in key} != key:
        return None
    return record if EvaluationFolder.result(path).is_file() else None


def best_record(folder: EvaluationFolder, task: str, key: Mapping[str, Any]) -> Record | None:
    """Of the records of a task with a score and this key, one on exact data, or else the newest; None if there is none."""
    found = [(path, record) for path in folder.records(task) if (record := read_record(path, key)) is not None]
    scored = [(path, record) for path, record in found if record["score"] is not None]
    if not scored:
        return None
    return max(scored, key=lambda one: (one[1]["data"] == EXACT, one[0].stat().st_mtime))[1]


def is_number(value: object) -> bool:
    """Whether a value is a finite number that a float can hold."""
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False
