"""The summary of an evaluation, and its table for readers."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from mtl.base.wording import MISSING
from mtl.reports.markdown import board_section
from mtl.vectors.boards import inexact_data, local_board
from mtl.vectors.encoders.encoder import SentenceEncoder
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import EXACT, Evaluation, EvaluationSummary, Record

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


def render_table(path: Path, benchmark: Benchmark, summary: Mapping[str, Any]) -> str:
    """The evaluation in the folder `path` in Markdown: the leaderboard of it alone, with notes on the encoder, the marks and the tasks."""
    evaluation = Evaluation(path, cast(EvaluationSummary, summary), benchmark)
    title = f"{benchmark.title}: {summary['encoder']['title']}"
    board = local_board(path.name, benchmark, [evaluation])
    return board_section(replace(board, title=title, marks=(), notes=_notes(benchmark, summary))) + "\n"


def _notes(benchmark: Benchmark, summary: Mapping[str, Any]) -> list[str]:
    """The encoder's settings, what the marks mean, and the time of each task, in sentences."""
    settings, tasks = summary["encoder"]["settings"], summary["tasks"]
    notes = [f"{settings[0].upper()}{settings[1:]}."] if settings else []
    notes.append("Scores × 100, by mteb's own evaluation.")
    if summary["missing"]:
        notes.append(f"* partial; without scores: {', '.join(summary['missing'])}.")
    for name, record in tasks.items():
        if record["data"] != EXACT:
            notes.append(f"{inexact_data(name, record)}; not comparable with published scores.")
    notes += benchmark.not_comparable_notes(tasks)
    for name, ids in summary["seen"].items():
        notes.append(f"‡ {name}: the encoder was trained on its training rows ({', '.join(ids)}).")
    speeds = []
    for name, record in tasks.items():
        speed = f"{record['sentences'] / record['encoding_seconds']:,.0f}" if record["encoding_seconds"] else MISSING
        speeds.append(f"{name} {record['seconds']:.1f} s ({speed} sentences/s)")
    return [*notes, f"Time of each task: {', '.join(speeds)}."] if speeds else notes
