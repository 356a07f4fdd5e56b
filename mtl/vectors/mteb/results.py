"""The files of an evaluation: a record for each task, the summary and its table; and finding evaluations. None of this needs mteb."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

from mtl.base.errors import InputError
from mtl.base.untrusted import Amount, Count, Score, check_plain_folder, read_json
from mtl.runs.finished import find_finished
from mtl.vectors.mteb.benchmark import Benchmark, load_benchmark

EXACT, REDUCED, OTHER = "exact", "reduced", "stand-in"  # whether a task's rows are the benchmark's

Record = dict[str, Any]


class Evaluated(TypedDict):
    """What is read of a task in record.json and in summary.json. The score is None if it was not a finite number."""

    revision: str
    metric: str
    score: Score | None
    seconds: Amount
    encoding_seconds: Amount
    sentences: Count
    data: Literal["exact", "reduced", "stand-in"]
    differences: list[str]


class EncoderDescription(TypedDict):
    """`mtl.vectors.encoders.encoder.Description`, as far as tables read it."""

    title: str
    family: str
    seed: int | None


class EvaluationSummary(TypedDict):
    """What is read of an evaluation's summary.json, which `mtl.vectors.mteb.summary.summarize` makes."""

    benchmark: str
    encoder: EncoderDescription
    fingerprint: str
    settings: dict[str, Any]
    tasks: dict[str, Evaluated]
    seen: dict[str, list[str]]
    cost: dict[str, Amount | None]
    command: str


class EvaluationFolder:
    """The files of an encoder's evaluation, in the folder {runs_dir}/mteb/{benchmark}/{encoder}-{revision}."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.benchmark = path / "benchmark.yaml"
        self.summary = path / "summary.json"
        self.table = path / "table.md"
        self.results = path / "results"  # mteb's own result files of the summary's tasks, as mteb's programs read them
        self.corpora = path.parents[1] / "corpora"  # vectors of corpora, of all evaluations

    def record(self, task: str) -> Path:
        """The file with the last evaluation on a task."""
        return self.path / "tasks" / task / "record.json"

    def result(self, task: str) -> Path:
        """mteb's own result file of the same evaluation."""
        return self.path / "tasks" / task / "mteb.json"

    def read_record(self, task: str, key: Mapping[str, Any]) -> Record | None:
        """The record of a task; None if there is none, if it is damaged, or if it differs from `key`."""
        try:
            record = dict(read_json(self.record(task), Evaluated))
        except InputError:
            return None
        matches = {name: record.get(name) for name in key} == key
        return record if matches and self.result(task).is_file() else None


def record_key(benchmark: Benchmark, task: str, versions: Mapping[str, str]) -> Record:
    """The values of a record whose score is still that of the benchmark, with these versions of the software."""
    return {
        "versions": dict(versions),
        "split": benchmark.tasks[task].split,
        "metric": benchmark.metric(task),
        "languages": list(benchmark.languages),
    }


@dataclass(frozen=True)
class Evaluation:
    """An encoder's scores on a benchmark, in a folder. Those of one encoder in several folders have the same name."""

    path: Path
    summary: EvaluationSummary
    benchmark: Benchmark

    @property
    def scores(self) -> dict[str, float]:
        return {name: float(task["score"]) for name, task in self.summary["tasks"].items() if task["score"] is not None}

    def is_comparable(self, task: str) -> bool:
        """Whether the score may stand beside published ones: on exact data, and scored as they were."""
        return self.summary["tasks"][task]["data"] == EXACT and self.benchmark.tasks[task].not_comparable is None


def find_evaluations(runs_dir: Path) -> list[Evaluation]:
    """Every evaluation in a folder and below, in order of path. Raises InputError if the folder does not exist."""
    return find_finished(runs_dir, "benchmark.yaml", lambda path: _read_evaluation(EvaluationFolder(path)))


def _read_evaluation(folder: EvaluationFolder) -> Evaluation:
    check_plain_folder(folder.path)
    summary = read_json(folder.summary, EvaluationSummary, "remove the folder and evaluate again")
    benchmark = load_benchmark(folder.benchmark)
    for name, evaluated in summary["tasks"].items():
        if evaluated["score"] is None:
            raise InputError(f"tasks.{name}: has no score", path=folder.summary)
        if name not in benchmark.tasks:
            raise InputError(f"tasks.{name}: not a task of the benchmark", path=folder.summary)
    return Evaluation(folder.path, summary, benchmark)
