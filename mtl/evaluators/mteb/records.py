"""The records of what was evaluated: one for each task and version of its rows. Needs no mteb."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import Benchmark
from mtl.evaluators.mteb.folder import EvaluationFolder
from mtl.evaluators.mteb.summary import EXACT, OTHER, REDUCED
from mtl.files import read_json

Record = dict[str, Any]


def record_key(benchmark: Benchmark, task: str, mteb: str, split: str | None = None) -> Record:
    """What a record must say so that its score is that of the benchmark now. mteb: its version. split: None: the scored one."""
    scored = split or benchmark.tasks[task].split
    return {"mteb": mteb, "split": scored, "metric": benchmark.metric(task), "languages": list(benchmark.languages)}


def read_record(path: Path, key: Mapping[str, Any]) -> Record | None:
    """The record in a file; None if there is none, if it is damaged, or if it says something else than the key."""
    try:
        record = read_json(path)
    except (InputError, OSError, RecursionError):
        return None
    if record_problem(record) or {of: record.get(of) for of in key} != key:
        return None
    return record if EvaluationFolder.result(path).is_file() else None


def best_record(folder: EvaluationFolder, task: str, key: Mapping[str, Any]) -> Record | None:
    """Of the records of a task with a score and this key, one on exact data, or else the newest; None if there is none."""
    found = [(path, record) for path in folder.records(task) if (record := read_record(path, key)) is not None]
    scored = [(path, record) for path, record in found if record["score"] is not None]
    if not scored:
        return None
    return max(scored, key=lambda one: (one[1]["data"] == EXACT, one[0].stat().st_mtime))[1]


def record_problem(record: object) -> str | None:
    """What is wrong with the form of a record, or None. A score that could not be computed is None."""
    if not isinstance(record, dict) or not all(isinstance(record.get(key), str) for key in ("revision", "metric")):
        return "not a record of an evaluation of the benchmark"
    if not (record.get("score") is None or is_number(record["score"])) or not all(
        is_number(record.get(key)) for key in ("seconds", "encoding_seconds", "sentences")
    ):
        return "its scores and costs are not numbers"
    if record.get("data") not in (EXACT, REDUCED, OTHER) or not is_list_of_strings(record.get("differences")):
        return "does not say how its data differs from the benchmark's"
    return None


def is_number(value: object) -> bool:
    """Whether a value is a finite number that a float can hold."""
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


def is_list_of_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
