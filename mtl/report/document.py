"""The report as one dictionary, which the page shows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import mtl
from mtl.files import read_json
from mtl.report.leaderboard import FAMILIES, Leaderboard, Row, Score
from mtl.report.quantities import COSTS
from mtl.runs.finished import Run
from mtl.tasks.metrics import METRICS
from mtl.tasks.suite import AVERAGE
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

POINTS = 1000  # the most points in a chart of predictions against gold targets


def document(boards: Sequence[Leaderboard], generated: str, command: str) -> dict[str, Any]:
    """Everything that the page can show. Numbers are rounded; strings are plain text without markup."""
    return {
        "title": "mtl report",
        "generated": generated,
        "command": command,
        "version": mtl.__version__,
        "suites": [_suite(board) for board in boards],
    }


def _suite(board: Leaderboard) -> dict[str, Any]:
    suite = board.suite
    return {
        "name": suite.name,
        "title": suite.title,
        "tasks": [
            {
                "id": task.id,
                "title": task.title,
                "metric": METRICS[task.metric].title,
                "labels": task.labels,
                "range": task.range,
                "averaged": task.id in suite.averaged,
            }
            for task in suite.tasks.values()
        ],
        "families": [
            {"id": family, "title": FAMILIES.get(family, family)}
            for family in dict.fromkeys(row.family for row in board.rows)
        ],
        "notes": board.facts,
        "rows": [_row(row, place) for place, row in enumerate(board.rows)],
        "comparisons": {
            f"r{one}|r{other}": {
                column: {
                    "difference": _short(comparison.difference),
                    "low": _short(comparison.low),
                    "high": _short(comparison.high),
                    "p": _significant(comparison.p),
                    "p_holm": _significant(comparison.p_holm),
                    "verdict": comparison.verdict,
                    "verdict_holm": comparison.verdict_holm,
                }
                for column, comparison in found.items()
            }
            for (one, other), found in board.comparisons.items()
        },
    }


def _row(row: Row, place: int) -> dict[str, Any]:
    summary: Mapping[str, Any] = row.run.summary if row.run else {}
    return {
        "id": f"r{place}",
        "name": row.name,
        "label": row.label if row.run else row.name,
        "source": "run" if row.run else "published",
        "family": row.family,
        "method": summary.get("method"),
        "embeddings": summary.get("embeddings"),
        "variant": summary.get("variant"),
        "architecture": summary.get("architecture"),
        "preset": summary.get("preset"),
        "size": _size(row),
        "split": row.split,
        "average_split": row.split_of(AVERAGE),
        "average": row.average and _short(row.average.median),
        "average_interval": row.average and _pair(row.average.interval),
        "partial": bool(row.missing),
        "missing": list(row.missing),
        "reduced": list(row.reduced),
        "scores": {id: _score(score, row.split_of(id)) for id, score in row.scores.items()},
        "cost": {key: summary["cost"].get(key) for key in COSTS} if row.run else None,
        "details": _details(row.run) if row.run else None,
    }


def _details(run: Run) -> dict[str, Any]:
    summary = run.summary
    by_seed = {seed: {id: of["scores"][str(seed)] for id, of in summary["tasks"].items()} for seed in summary["seeds"]}
    return {
        "seeds": [
            {
                "seed": seed,
                "scores": {id: _short(score) for id, score in scores.items()},
                "average": None if (mean := run.suite.mean(scores)) is None else _short(mean),
            }
            for seed, scores in by_seed.items()
        ],
        "config": {key: _plain(value) for key, value in summary["config"].items()},
        "inputs": summary["inputs"],
        "versions": {
            name: ", ".join(dict.fromkeys(some[name] for some in summary["versions"] if name in some))
            for name in dict.fromkeys(name for some in summary["versions"] for name in some)
        },
        "machine": "; ".join(summary["machine"]),
        "command": summary["command"],
        "curves": [curve for seed in summary["seeds"] for curve in _curves(run, seed)],
        "classes": {task.id: _classes(run, task) for task in run.tasks if target_kind(task).chart},
    }


def _curves(run: Run, seed: int) -> list[dict[str, Any]]:
    """The learning curves of one seed: stage 1 with each task's scores, then stage 2 of each task, which starts at step 0."""
    curves = []
    for file in run.folder.stages(seed):
        first = file.parent.parent == run.folder.seed(seed)
        points = []
        for row in read_json(file)["curve"]:
            point: dict[str, Any] = {"step": int(row["step"]), "average": _short(row["dev/average"])}
            if "train/loss" in row:
                point["loss"] = _short(row["train/loss"])
            if first:
                point["scores"] = {t.id: _short(row[key]) for t in run.tasks if (key := f"dev/{t.id}") in row}
            points.append(point)
        stage = {"stage": "pretrain", "task": None} if first else {"stage": "finetune", "task": file.parent.name}
        curves.append({**stage, "seed": seed, "points": points})
    return curves


def _size(row: Row) -> int | None:
    """The encoder's hidden size; None for a row without an encoder."""
    has_encoder = row.run is not None and row.run.summary["variant"] is not None
    return row.run.summary["config"].get("encoder.hidden_size") if row.run and has_encoder else None


def _classes(run: Run, task: Task) -> dict[str, Any]:
    """The chart of the seed with the median score: a confusion matrix (rows are gold labels), or points (gold target, prediction)."""
    scores = {int(seed): score for seed, score in run.summary["tasks"][task.id]["scores"].items()}
    seed = sorted(scores, key=lambda seed: scores[seed])[(len(scores) - 1) // 2]
    gold = run.rows(task).targets
    predicted = run.predictions(task)[run.summary["seeds"].index(seed)]
    kind = target_kind(task)
    if kind.chart == "points":
        chosen = np.linspace(0, len(gold) - 1, min(POINTS, len(gold))).astype(int)
        return {"seed": seed, "points": [[_short(gold[i]), _short(predicted[i])] for i in chosen]}
    size = len(task.labels or ())
    counts = np.bincount((gold * size + predicted).astype(int), minlength=size * size)
    return {"seed": seed, "confusion": counts.reshape(size, size).tolist()}


def _score(score: Score, split: str) -> dict[str, Any]:
    return {
        "split": split,
        "median": _short(score.median),
        "min": _short(score.min),
        "max": _short(score.max),
        "interval": _pair(score.interval),
    }


def _pair(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else [_short(end) for end in interval]


def _short(value: float) -> float:
    return round(float(value), 4)  # the page rounds to one decimal; four avoid an error from rounding twice


def _significant(p: float | None) -> float | None:
    return None if p is None else float(f"{p:.3g}")


def _plain(value: Any) -> str:
    """A value of the configuration as it is written on the command line."""
    if isinstance(value, list):
        return f"[{','.join(map(_plain, value))}]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
