"""The report as one dictionary, which the page shows."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from mtl.base.version import VERSION
from mtl.reports.board import Breakdown, Column, Group, Leaderboard, SettingsSpread
from mtl.reports.rows import FAMILIES, Row, Score, average_order
from mtl.runs.finished import FinishedRun
from mtl.stats.comparison import PairTest
from mtl.tasks.metrics import metric_named
from mtl.tasks.scale import Scale
from mtl.tasks.suite import AVERAGE
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_DETAILED = 100  # runs of a board whose curves, predictions, configuration and data the page holds
POINTS = 1000  # the most points in a chart of predictions against gold targets


def document(boards: Sequence[Leaderboard], generated: str, command: str, title: str = "mtl report") -> dict[str, Any]:
    """Everything that the page can show. Numbers are rounded, and scores on their leaderboard's scale; strings are text without markup."""
    suites = [_suite(board) for board in boards]
    return {"title": title, "generated": generated, "command": command, "version": VERSION, "suites": suites}


def _suite(board: Leaderboard) -> dict[str, Any]:
    """A leaderboard, in which rows have the ids r0, r1, …"""
    scale = board.scale
    ids = [f"r{number}" for number in range(len(board.rows))]
    id_of = dict(zip(board.rows, ids, strict=True))
    run_rows = [row for row in board.rows if row.run]
    detailed = sorted(run_rows, key=average_order, reverse=True)[:MOST_DETAILED]
    groups = board.groups if board.page_groups is None else board.page_groups
    families = dict.fromkeys(row.family for row in board.rows)
    return {
        **_fields(board, "name", "title", "noun"),
        **_fields(scale, "unit", "decimals"),
        "tasks": [_task(id, column) for id, column in board.columns.items() if id != AVERAGE],
        "whole_averages": board.whole_averages,
        "unscored": [{"id": task, "title": task} for task in board.unscored],
        "families": [{"id": family, "title": FAMILIES.get(family, family)} for family in families],
        "notes": [*board.notes, *_detail_note(len(detailed), len(run_rows) - len(detailed))],
        "rows": _rows(board, ids, {id_of[row] for row in detailed}),
        "references": [ids[number] for number in board.tests.references],
        "groups": [_group(group, id_of, scale) for group in groups],
        **_fields(board, "groups_title", "groups_note"),
        "breakdowns": [_breakdown(breakdown, ids, scale) for breakdown in board.breakdowns],
        "settings": [_spread(spread, scale) for spread in board.spreads],
        "ranked": {column: len(by_row) for column, by_row in board.tests.ranks.items()},
        "comparisons": {
            f"{ids[first]}|{ids[second]}": {column: _test(test, scale) for column, test in tests.items()}
            for (first, second), tests in board.tests.comparisons.items()
            if tests
        },
    }


def _fields(record: object, *names: str) -> dict[str, Any]:
    """The attributes of these names, for which the page has the same names."""
    return {name: getattr(record, name) for name in names}


def _task(id: str, column: Column) -> dict[str, Any]:
    shown = _fields(column, "title", "metric", "labels", "range", "averaged")
    return {"id": id, "version_of": column.task, **shown, "average_group": column.average_group or id}


def _detail_note(detailed: int, rest: int) -> list[str]:
    if rest == 0:
        return []
    return [
        f"This page holds learning curves, predictions, data and configuration of the {detailed} runs with the best average. Those "
        f"of the other {rest:,} are in their run folders; scores.csv, comparisons.csv and costs.csv have all runs."
    ]


def _rows(board: Leaderboard, ids: Sequence[str], detailed: Collection[str]) -> list[dict[str, Any]]:
    """The rows of the board. `detailed` are the ids of the runs that are shown with all details."""
    rows = []
    for number, (id, row) in enumerate(zip(ids, board.rows, strict=True)):
        details = _details(row.run, board.scale, id in detailed) if row.run else None
        ranks = {column: list(by_row[number]) for column, by_row in board.tests.ranks.items() if number in by_row}
        rows.append({**_row(row, id, board.scale), "details": details, "ranks": ranks})
    return rows


def _group(group: Group, id_of: Mapping[Row, str], scale: Scale) -> dict[str, Any]:
    """A group of scores; its scores are by row and column."""
    rows = {}
    for line in group.lines:
        scores = {id: _score(score, line.row.split_of(id), scale) for id, score in line.scores.items()}
        rows[id_of[line.row]] = {"mean": _on_scale(line.mean, scale), "scores": scores}
    return {"title": group.title, "tasks": list(group.columns), "titles": dict(group.columns), "rows": rows}


def _breakdown(breakdown: Breakdown, ids: Sequence[str], scale: Scale) -> dict[str, Any]:
    """A task's scores by the values of a column; the medians of each row are in the order of the parts. `ids` are those of the board's rows."""
    rows = {}
    for number, scores in breakdown.scores.items():
        rows[ids[number]] = [_on_scale(score.median, scale) for score in scores]
    task, metric = breakdown.task.id, metric_named(breakdown.task.metric).title
    parts = [{"value": value, "count": count} for value, count in breakdown.parts]
    shown = {"task": task, "column": breakdown.column, "metric": metric, "counted": breakdown.counted}
    return {**shown, "parts": parts, "left_out": breakdown.left_out, "rows": rows}


def _spread(spread: SettingsSpread, scale: Scale) -> dict[str, Any]:
    average, deviations = _on_scale(spread.average, scale), _all_on_scale(spread.deviations, scale)
    return {**_fields(spread, "title", "settings", "keys"), "average": average, "deviations": deviations}


def _test(test: PairTest, scale: Scale) -> dict[str, Any]:
    values = {"difference": test.difference, "low": test.low, "high": test.high}
    p, p_holm = [None if value is None else float(f"{value:.3g}") for value in (test.p, test.p_holm)]
    return {**_all_on_scale(values, scale), "p": p, "p_holm": p_holm, **_fields(test, "verdict", "verdict_holm")}


def _row(row: Row, row_id: str, scale: Scale) -> dict[str, Any]:
    summary: Mapping[str, Any] = row.run.summary if row.run else {}
    average = _score(row.average, row.split_of(AVERAGE), scale) if row.average else {}
    return {
        "id": row_id, "name": row.name, "label": row.label if row.ours else row.name, "page": row.page,
        "source": "run" if row.ours else "published", "family": row.family, "embeddings": summary.get("embeddings"),
        "size": summary.get("hidden_size"), "split": row.split, "average_split": row.split_of(AVERAGE),
        "average": average.get("median"), "average_interval": average.get("interval"),
        "missing": list(row.missing), "partial_groups": list(row.partial),
        "reduced": list(row.reduced), "apart": dict(row.apart), "seen": list(row.seen),
        "scores": {id: _score(score, row.split_of(id), scale) for id, score in row.scores.items()},
        "cost": row.cost,
    }  # fmt: skip


def _details(run: FinishedRun, scale: Scale, with_files: bool) -> dict[str, Any]:
    """What the page shows when the row of a run is opened. `with_files`: with its configuration, data, learning curves and predictions."""
    summary = run.summary
    seeds = []
    for seed in summary["seeds"]:
        scores = {id: record["scores"][str(seed)] for id, record in summary["tasks"].items()}
        average = _on_scale(run.suite.mean(scores), scale)
        seeds.append({"seed": seed, "scores": _all_on_scale(scores, scale), "average": average})
    versions: dict[str, dict[str, None]] = {}  # the different versions of each package, in order
    for recorded in summary["versions"]:
        for name, version in recorded.items():
            versions.setdefault(name, {})[version] = None
    details: dict[str, Any] = {"seeds": seeds}
    details["versions"] = {name: ", ".join(distinct) for name, distinct in versions.items()}
    details |= {"machine": "; ".join(summary["machine"]), "command": summary["command"]}
    if with_files:
        details |= {
            "config": {key: _plain(value) for key, value in summary["config"].items()},
            "inputs": summary["inputs"],
            "curves": [curve for seed in summary["seeds"] for curve in _curves(run, seed, scale)],
            # The charts of every kind of target, not of classes alone.
            "classes": {task.id: _chart(run, task) for task in run.tasks if target_kind(task).chart},
        }
    return details


def _curves(run: FinishedRun, seed: int, scale: Scale) -> list[dict[str, Any]]:
    """The learning curves of one seed: stage 1 with each task's scores, then stage 2 of each task, which starts at step 0."""
    curves = []
    for stage, task_id, rows in run.curves(seed):
        points = []
        for row in rows:
            point: dict[str, Any] = {"step": int(row["step"]), "average": _on_scale(row["dev/average"], scale)}
            if "train/loss" in row:
                point["loss"] = round(row["train/loss"], 4)
            if task_id is None:
                scores = {task.id: row[f"dev/{task.id}"] for task in run.tasks if f"dev/{task.id}" in row}
                point["scores"] = _all_on_scale(scores, scale)
            points.append(point)
        curves.append({"stage": stage, "task": task_id, "seed": seed, "points": points})
    return curves


def _chart(run: FinishedRun, task: Task) -> dict[str, Any]:
    """The chart of the seed with the median score: a confusion matrix (rows are gold labels), or points (gold target, prediction)."""
    scores, kind = run.summary["tasks"][task.id]["scores"], target_kind(task)
    by_score = sorted(scores, key=lambda seed: scores[seed])
    seed = int(by_score[(len(by_score) - 1) // 2])
    gold, predicted = run.rows(task).targets, run.seed_predictions(task, seed)
    if kind.chart == "points":
        shown = np.linspace(0, len(gold) - 1, min(POINTS, len(gold))).astype(int)
        points = [[round(float(gold[row]), 4), round(float(predicted[row]), 4)] for row in shown]
        return {"seed": seed, "points": points}
    size = len(task.labels or ())
    confusion = np.zeros((size, size), dtype=int)
    np.add.at(confusion, (kind.training_targets(gold, None), kind.training_targets(predicted, None)), 1)
    return {"seed": seed, "confusion": confusion.tolist()}


def _plain(value: Any) -> str:
    """A value of the configuration as it is written on the command line."""
    if isinstance(value, list):
        return f"[{','.join(_plain(item) for item in value)}]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _score(score: Score, split: str, scale: Scale) -> dict[str, Any]:
    interval = None if score.interval is None else [_on_scale(end, scale) for end in score.interval]
    return {"split": split, **_all_on_scale(_fields(score, "median", "min", "max"), scale), "interval": interval}


def _all_on_scale(scores: Mapping[str, float | None], scale: Scale) -> dict[str, float | None]:
    return {key: _on_scale(score, scale) for key, score in scores.items()}


def _on_scale(score: float | None, scale: Scale) -> float | None:
    """A score × 100 or a difference on the scale, with three more decimals than the page shows, so that it may round it again."""
    return None if score is None else round(scale.value(float(score)), scale.decimals + 3)
