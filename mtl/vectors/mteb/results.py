"""The files of an evaluation: a record for each task, the summary and its table. None of them needs mteb."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NotRequired, TypedDict

from mtl.base.errors import InputError
from mtl.base.untrusted import Amount, Count, Score, check_plain_folder, read_json
from mtl.base.wording import MISSING, escaped, format_bytes, format_duration, markdown_table
from mtl.runs.finished import find_finished
from mtl.vectors.encoders.encoder import Description, SentenceEncoder
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
    """The content of an evaluation's summary.json (`summarize` explains the keys)."""

    benchmark: str
    encoder: EncoderDescription
    fingerprint: str
    settings: dict[str, Any]
    tasks: dict[str, Evaluated]
    seen: dict[str, list[str]]
    cost: dict[str, Amount | None]
    command: str
    choice: NotRequired[Any]  # the settings that an earlier version of mtl chose on validation rows, if it did


class EvaluationFolder:
    """The files of an evaluation."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.benchmark = path / "benchmark.yaml"
        self.summary = path / "summary.json"
        self.table = path / "table.md"
        self.results = path / "results"  # mteb's own result files of the summary's tasks, as mteb's programs read them
        self.corpora = path.parents[1] / "corpora"  # vectors of corpora, of all evaluations

    @classmethod
    def for_encoder(cls, runs_dir: str, benchmark: str, encoder: SentenceEncoder) -> "EvaluationFolder":
        """The folder of an encoder's evaluation: {runs_dir}/mteb/{benchmark}/{encoder}-{fingerprint}."""
        return cls(Path(runs_dir) / "mteb" / benchmark / f"{encoder.description.name}-{revision_of(encoder)}")

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


def revision_of(encoder: SentenceEncoder) -> str:
    """The first digits of the encoder's fingerprint, as names have them."""
    return encoder.fingerprint[:12]


def seen_by(description: Description, benchmark: Benchmark) -> dict[str, list[str]]:
    """The benchmark's tasks whose training rows the encoder has seen: by name, the tasks of suites that have them."""
    return {
        name: ids
        for name, task in benchmark.tasks.items()
        if (ids := [id for id in task.seen_in if id in description.trained_on])
    }


def summarize(
    benchmark: Benchmark, encoder: SentenceEncoder, settings: Mapping[str, Any], records: Mapping[str, Record]
) -> dict[str, Any]:
    """The summary of an evaluation, from the tasks' records; scores are × 100. `average` is the mean over the tasks
    with scores, on any data, `average_by_type` that over the types' means. `partial`: a task is missing."""
    description = encoder.description
    tasks = {name: dict(records[name]) for name in benchmark.tasks if name in records}
    scores = {name: float(record["score"]) for name, record in tasks.items()}
    by_type, missing = benchmark.type_means(scores), benchmark.missing(tasks)
    total = {key: sum(record[key] for record in tasks.values()) for key in ("seconds", "encoding_seconds", "sentences")}
    encoding_seconds = total["encoding_seconds"]
    return {
        "benchmark": benchmark.name,
        "encoder": asdict(description),
        "fingerprint": encoder.fingerprint,
        "settings": dict(settings),
        "tasks": tasks,
        "by_type": by_type,
        "average": fmean(scores.values()) if scores else None,
        "average_by_type": fmean(by_type.values()) if by_type else None,
        "partial": bool(missing),
        "missing": missing,
        "seen": {name: ids for name, ids in seen_by(description, benchmark).items() if name in tasks},
        "cost": {
            "seconds_per_task": total["seconds"] / len(tasks) if tasks else None,
            "sentences_per_second": total["sentences"] / encoding_seconds if encoding_seconds else None,
            "parameters": description.parameters,
            "parameters_without_embeddings": description.parameters_without_embeddings,
            "memory": description.memory,
            "dim": description.dim,
        },
    }


def render_table(benchmark: Benchmark, summary: Mapping[str, Any]) -> str:
    """The table of one evaluation in Markdown: a line for each task, the means of types and both averages, and notes."""
    tasks = summary["tasks"]

    def mean_line(title: str, mean: float | None, names: Sequence[str]) -> list[str]:
        return [escaped(title), "", "", _marked_score(mean, summary, names), "", ""]

    lines = [["", "metric", "data", "score", "seconds", "sentences/s"]]
    for type_name, type_ in benchmark.types.items():
        for name, record in ((name, tasks[name]) for name in type_.tasks if name in tasks):
            score, encoding = _marked_score(record["score"], summary, [name]), record["encoding_seconds"]
            costs = [f"{record['seconds']:.1f}", f"{record['sentences'] / encoding:,.0f}" if encoding else MISSING]
            lines.append([escaped(name), type_.metric_title, escaped(record["data"]), score, *costs])
        if type_name in summary["by_type"]:
            lines.append(mean_line(f"{type_.title}, mean", summary["by_type"][type_name], list(type_.tasks)))
    lines.append(mean_line("AVG, tasks", summary["average"], list(benchmark.tasks)))
    lines.append(mean_line("AVG, types", summary["average_by_type"], list(benchmark.tasks)))
    table = markdown_table(lines, left=3)
    notes = "\n".join(f"- {escaped(note)}" for note in _notes(benchmark, summary))
    return f"# {escaped(benchmark.title)}: {escaped(summary['encoder']['title'])}\n\n{table}\n\n{notes}\n"


def _marked_score(score: float | None, summary: Mapping[str, Any], names: Sequence[str]) -> str:
    """A score of a task or a mean over tasks, which `names` has, with the marks that the notes explain."""
    if score is None:
        return MISSING
    scored = [name for name in names if name in summary["tasks"]]
    partial = "*" if len(scored) < len(names) else ""
    inexact = "†" if any(summary["tasks"][name]["data"] != EXACT for name in scored) else ""
    seen = "‡" if any(name in summary["seen"] for name in scored) else ""
    return f"{score:.2f}{partial}{inexact}{seen}"


def _notes(benchmark: Benchmark, summary: Mapping[str, Any]) -> list[str]:
    """The encoder's settings and size, and what the marks mean, in sentences."""
    settings, cost = summary["encoder"]["settings"], summary["cost"]
    notes = [
        *([f"{settings[0].upper()}{settings[1:]}."] if settings else []),
        f"{cost['dim']} dimensions, {cost['parameters']:,} parameters ({cost['parameters_without_embeddings']:,} without "
        f"embeddings), {format_bytes(cost['memory'])}, {format_duration(cost['seconds_per_task'] or 0)} a task.",
        "Scores × 100, by mteb's own evaluation.",
    ]
    if summary["missing"]:
        notes.append(f"* partial; without scores: {', '.join(summary['missing'])}.")
    for name, record in summary["tasks"].items():
        if record["data"] != EXACT:
            described = f"† {name}: {record['data']} data ({'; '.join(record['differences'])})"
            notes.append(f"{described}; not comparable with published scores.")
    notes += not_comparable_notes(benchmark, list(summary["tasks"]))
    for name, ids in summary["seen"].items():
        notes.append(f"‡ {name}: the encoder was trained on its training rows ({', '.join(ids)}).")
    return notes


def not_comparable_notes(benchmark: Benchmark, names: Sequence[str]) -> list[str]:
    """A note for each of these tasks whose scores do not belong beside published ones on any data."""
    reasons = {name: benchmark.tasks[name].not_comparable for name in names}
    return [f"{name}: not comparable with published scores: {reason}." for name, reason in reasons.items() if reason]


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
        """The scores × 100 by task."""
        return {name: float(task["score"]) for name, task in self.summary["tasks"].items() if task["score"] is not None}

    def is_comparable(self, task: str) -> bool:
        """Whether the score may stand beside published ones: on exact data, and scored as they were."""
        return self.summary["tasks"][task]["data"] == EXACT and self.benchmark.tasks[task].not_comparable is None


def find_evaluations(runs_dir: Path) -> list[Evaluation]:
    """Every evaluation in a folder and below, in order of path. Raises InputError if the folder does not exist."""
    return find_finished(runs_dir, "benchmark.yaml", lambda path: _read_evaluation(EvaluationFolder(path)))


def _read_evaluation(folder: EvaluationFolder) -> Evaluation:
    """The evaluation in a folder. Raises InputError if it is damaged."""
    check_plain_folder(folder.path)
    summary = read_json(folder.summary, EvaluationSummary, "remove the folder and evaluate again")
    if summary.get("choice"):
        problem = "has settings that were chosen on validation rows, as mtl does no more; remove the folder and evaluate again"
        raise InputError(problem, path=folder.summary)
    benchmark = load_benchmark(folder.benchmark)
    for name, evaluated in summary["tasks"].items():
        if evaluated["score"] is None:
            raise InputError(f"tasks.{name}: has no score", path=folder.summary)
        if name not in benchmark.tasks:
            raise InputError(f"tasks.{name}: not a task of the benchmark", path=folder.summary)
    return Evaluation(folder.path, summary, benchmark)
