"""The summary of an evaluation, and its table for readers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from mtl.base.wording import MISSING, escaped, format_bytes, format_duration, markdown_table
from mtl.vectors.encoders.encoder import SentenceEncoder
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import EXACT, Record

SIZES = ("parameters", "parameters_without_embeddings", "memory", "dim")  # of an encoder


def summarize(
    benchmark: Benchmark, encoder: SentenceEncoder, settings: Mapping[str, Any], records: Mapping[str, Record]
) -> dict[str, Any]:
    """The content of summary.json: the records, the means over their scores (× 100, on any data) and over those of types; what is missing."""
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
        "seen": {name: ids for name, ids in benchmark.seen_by(description.trained_on).items() if name in tasks},
        "cost": {
            "seconds_per_task": total["seconds"] / len(tasks) if tasks else None,
            "sentences_per_second": total["sentences"] / encoding_seconds if encoding_seconds else None,
            **{size: getattr(description, size) for size in SIZES},
        },
    }


def render_table(benchmark: Benchmark, summary: Mapping[str, Any]) -> str:
    """The table of one evaluation in Markdown: a line for each task, the means of types and both averages, and notes."""
    tasks = summary["tasks"]

    def mean_line(title: str, mean: float | None, names: Sequence[str]) -> list[str]:
        return [escaped(title), "", "", _marked_score(mean, summary, names), "", ""]

    lines = [["", "metric", "data", "score", "seconds", "sentences/s"]]
    for type_name, type_ in benchmark.types.items():
        for name in type_.tasks:
            if name in tasks:
                record = tasks[name]
                score = _marked_score(record["score"], summary, [name])
                encoding = record["encoding_seconds"]
                speed = f"{record['sentences'] / encoding:,.0f}" if encoding else MISSING
                cells = [type_.metric_title, escaped(record["data"]), score, f"{record['seconds']:.1f}", speed]
                lines.append([escaped(name), *cells])
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
    parameters = f"{cost['parameters']:,} parameters ({cost['parameters_without_embeddings']:,} without embeddings)"
    costs = [f"{cost['dim']} dimensions", parameters, format_bytes(cost["memory"])]
    if cost["seconds_per_task"] is not None:  # None: no task was evaluated
        costs.append(f"{format_duration(cost['seconds_per_task'])} a task")
    notes = [f"{settings[0].upper()}{settings[1:]}."] if settings else []
    notes += [f"{', '.join(costs)}.", "Scores × 100, by mteb's own evaluation."]
    if summary["missing"]:
        notes.append(f"* partial; without scores: {', '.join(summary['missing'])}.")
    for name, record in summary["tasks"].items():
        if record["data"] != EXACT:
            described = f"† {name}: {record['data']} data ({'; '.join(record['differences'])})"
            notes.append(f"{described}; not comparable with published scores.")
    notes += benchmark.not_comparable_notes(summary["tasks"])
    for name, ids in summary["seen"].items():
        notes.append(f"‡ {name}: the encoder was trained on its training rows ({', '.join(ids)}).")
    return notes
