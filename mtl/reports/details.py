"""The details of a run in the report's dictionary: what the page shows when its row is opened."""

from typing import Any

import numpy as np

from mtl.runs.finished import FinishedRun
from mtl.tasks.scale import Scale
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

POINTS = 1000  # the most points in a chart of predictions against gold targets


def run_details(run: FinishedRun, scale: Scale, with_files: bool) -> dict[str, Any]:
    """The details of a run. `with_files`: with what needs much space too, configuration, data, learning curves and predictions."""
    summary = run.summary
    seeds = []
    for seed in summary["seeds"]:
        scores = {id: record["scores"][str(seed)] for id, record in summary["tasks"].items()}
        shown = {id: on_scale(score, scale) for id, score in scores.items()}
        seeds.append({"seed": seed, "scores": shown, "average": on_scale(run.suite.mean(scores), scale)})
    versions: dict[str, dict[str, None]] = {}  # the different versions of each package, in order
    for recorded in summary["versions"]:
        for name, version in recorded.items():
            versions.setdefault(name, {})[version] = None
    details: dict[str, Any] = {
        "seeds": seeds,
        "versions": {name: ", ".join(distinct) for name, distinct in versions.items()},
        "machine": "; ".join(summary["machine"]), "command": summary["command"],
    }  # fmt: skip
    return {**details, **_file_details(run, scale)} if with_files else details


def _file_details(run: FinishedRun, scale: Scale) -> dict[str, Any]:
    """The details that need much space: configuration, data, learning curves and predictions."""
    summary = run.summary
    return {
        "config": {key: _plain(value) for key, value in summary["config"].items()},
        "inputs": summary["inputs"],
        "curves": [curve for seed in summary["seeds"] for curve in _curves(run, seed, scale)],
        "classes": {task.id: _chart(run, task) for task in run.tasks if target_kind(task).chart},
    }


def _curves(run: FinishedRun, seed: int, scale: Scale) -> list[dict[str, Any]]:
    """The learning curves of one seed: stage 1 with each task's scores, then stage 2 of each task, which starts at step 0."""
    curves = []
    for stage, task_id, rows in run.curves(seed):
        points = []
        for row in rows:
            point: dict[str, Any] = {"step": int(row["step"]), "average": on_scale(row["dev/average"], scale)}
            if "train/loss" in row:
                point["loss"] = round(row["train/loss"], 4)
            if task_id is None:
                scores = {task.id: row[key] for task in run.tasks if (key := f"dev/{task.id}") in row}
                point["scores"] = {id: on_scale(score, scale) for id, score in scores.items()}
            points.append(point)
        curves.append({"stage": stage, "task": task_id, "seed": seed, "points": points})
    return curves


def _chart(run: FinishedRun, task: Task) -> dict[str, Any]:
    """The chart of the seed with the median score: a confusion matrix (rows are gold labels), or points (gold target, prediction)."""
    scores = {int(seed): score for seed, score in run.summary["tasks"][task.id]["scores"].items()}
    seed = sorted(scores, key=lambda seed: scores[seed])[(len(scores) - 1) // 2]
    kind = target_kind(task)
    gold, predicted = run.rows(task).targets, run.seed_predictions(task, seed)
    if kind.chart == "points":
        shown = np.linspace(0, len(gold) - 1, min(POINTS, len(gold))).astype(int)
        points = [[round(float(gold[row]), 4), round(float(predicted[row]), 4)] for row in shown]
        return {"seed": seed, "points": points}
    size = len(task.labels or ())
    codes, answers = (kind.fit_targets(values, None) for values in (gold, predicted))
    counts = np.bincount(codes * size + answers, minlength=size * size)
    return {"seed": seed, "confusion": counts.reshape(size, size).tolist()}


def on_scale(score: float | None, scale: Scale) -> float | None:
    """A score × 100 or a difference on the scale, with three more decimals than the page shows, so that it may round it again."""
    return None if score is None else round(scale.value(float(score)), scale.decimals + 3)


def _plain(value: Any) -> str:
    """A value of the configuration as it is written on the command line."""
    if isinstance(value, list):
        return f"[{','.join(map(_plain, value))}]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
