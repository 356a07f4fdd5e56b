"""The report as three CSV files: scores, comparisons and costs."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from mtl.report.leaderboard import Leaderboard
from mtl.report.quantities import COSTS
from mtl.tasks.suite import AVERAGE


def render_scores(boards: Sequence[Leaderboard]) -> str:
    """A line for each row and task, and for each row's average; scores × 100, not rounded."""
    header = ["suite", "name", "what", "family", "source", "split", "task", "metric", "median", "min", "max"]
    lines: list[Sequence[Any]] = [[*header, "interval_low", "interval_high", "by_seed", "partial", "reduced"]]
    for board in boards:
        for row in board.rows:
            for column in board.columns:
                score = row.score(column)
                if score is None:
                    continue
                task = board.suite.tasks.get(column)
                by_seed = row.run.summary["tasks"][column]["scores"].values() if row.run and task else ()
                source = "run" if row.run else "published"
                lines.append(
                    [
                        *(board.suite.name, row.name, row.label, row.family, source, row.split_of(column), column),
                        *(task.metric if task else "mean", score.median, score.min, score.max),
                        *(score.interval or ("", "")),
                        " ".join(map(str, by_seed)),
                        *(
                            "yes" if bool(row.missing) and column == AVERAGE else "no",
                            "yes" if column in row.reduced else "no",
                        ),
                    ]
                )
    return _csv(lines)


def render_comparisons(boards: Sequence[Leaderboard]) -> str:
    """A line for each pair of runs and each task or average: one run minus the other. p is empty if there is no verdict."""
    header = ["suite", "one", "other", "task", "difference", "low", "high", "p", "p_holm", "verdict", "verdict_holm"]
    lines: list[Sequence[Any]] = [header]
    for board in boards:
        for (one, other), found in board.comparisons.items():
            for column, comparison in found.items():
                names = board.rows[one].name, board.rows[other].name
                numbers = comparison.difference, comparison.low, comparison.high, comparison.p, comparison.p_holm
                lines.append([board.suite.name, *names, column, *numbers, comparison.verdict, comparison.verdict_holm])
    return _csv(lines)


def render_costs(boards: Sequence[Leaderboard]) -> str:
    """A line for each run: parameters, seconds, bytes, texts per second."""
    lines: list[Sequence[Any]] = [["suite", "name", *COSTS, "machine", "command"]]
    for board in boards:
        for row in board.rows:
            if row.run:
                summary = row.run.summary
                costs = ["" if (value := summary["cost"].get(key)) is None else value for key in COSTS]
                lines.append([board.suite.name, row.name, *costs, "; ".join(summary["machine"]), summary["command"]])
    return _csv(lines)


def _csv(lines: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
