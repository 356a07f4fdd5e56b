"""The report as CSV files."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from statistics import fmean, stdev
from typing import Any

from mtl.reports.board import Leaderboard
from mtl.reports.leaderboard import RUN_COSTS
from mtl.runs.finished import FinishedRun
from mtl.tasks.suite import AVERAGE

SCORE_COLUMNS = (
    *("name", "what", "family", "source", "split", "task", "metric", "median", "min", "max", "mean"),
    *("standard_deviation", "interval_low", "interval_high", "by_seed", "partial", "reduced", "setting", "scale"),
)
COMPARISON_COLUMNS = (
    *("one", "other", "task", "difference", "low", "high"),
    *("p", "p_holm", "verdict", "verdict_holm", "probability"),
)
RANK_COLUMNS = ("name", "task", "low", "high", "runs")
SETTINGS_COLUMNS = ("what", "settings", "keys", "task", "sd", "scale")
COST_COLUMNS = ("name", *RUN_COSTS, "machine", "command")
NUMBERS = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?( [-+]?\d+(\.\d+)?(e[-+]?\d+)?)*")  # as in the column by_seed


def render_csv(boards: Sequence[Leaderboard]) -> dict[str, str]:
    """The CSV files by name. A line begins with its suite; scores and differences are on the suite's scale, not rounded."""
    Lines = Callable[[Leaderboard], Iterable[Sequence[Any]]]
    files: dict[str, tuple[Sequence[str], Lines]] = {
        "scores.csv": (SCORE_COLUMNS, _score_rows),
        "comparisons.csv": (
            (*COMPARISON_COLUMNS, "scale"),
            lambda board: ((*row, board.scale.perfect) for row in comparison_rows(board)),
        ),
        "ranks.csv": (RANK_COLUMNS, rank_rows),
        "settings.csv": (SETTINGS_COLUMNS, _settings_rows),
        "costs.csv": (COST_COLUMNS, _cost_rows),
    }
    return {
        name: csv_text([["suite", *columns], *([board.name, *line] for board in boards for line in lines(board))])
        for name, (columns, lines) in files.items()
    }


def _averages(run: FinishedRun) -> list[float]:
    """The average × 100 of each seed."""
    tasks = run.summary["tasks"]
    means = [run.suite.mean({id: tasks[id]["scores"][str(seed)] for id in tasks}) for seed in run.summary["seeds"]]
    return [mean for mean in means if mean is not None]


def _score_rows(board: Leaderboard) -> Iterator[list[Any]]:
    """For each row a line for each task, for each further metric of a task, and for the average."""
    value = board.scale.value
    for row, (id, column) in product(board.rows, board.columns.items()):
        if (main := row.score(id)) is None:
            continue
        recorded = row.run.summary["tasks"][id] if row.run and id != AVERAGE else None
        for metric, score in [(column.metric_id, main), *row.further.get(id, {}).items()]:
            by_metric = recorded["also"][metric] if recorded and score is not main else recorded
            by_seed = list(by_metric["scores"].values()) if by_metric else []
            spread = by_seed or (_averages(row.run) if row.run else [])
            yield [
                *(row.name, row.label, row.family, "run" if row.run or row.ours else "published"),
                *(row.split_of(id), id, metric, value(score.median), value(score.min), value(score.max)),
                *(value(fmean(spread)) if spread else "", value(stdev(spread)) if len(spread) > 1 else ""),
                *(map(value, score.interval) if score.interval else ("", "")),
                " ".join(str(value(score)) for score in by_seed),
                "yes" if row.missing and id == AVERAGE else "no",
                "yes" if "†" in row.mark(id) else "no",
                row.run.summary.get("settings", {}).get(id, "") if row.run else "",
                board.scale.perfect,
            ]


def comparison_rows(board: Leaderboard) -> Iterator[tuple[Any, ...]]:
    """The values of COMPARISON_COLUMNS for each pair of runs that was tested and each task or average: one run minus the other, on the
    suite's scale, and the probability that the first is better. It and p are None if there is no verdict."""
    value = board.scale.value
    for (first, second), by_column in board.tests.comparisons.items():
        for column, test in by_column.items():
            difference = map(value, (test.difference, test.low, test.high))
            verdicts = (test.p, test.p_holm, test.verdict, test.verdict_holm, test.probability)
            yield board.rows[first].name, board.rows[second].name, column, *difference, *verdicts


def rank_rows(board: Leaderboard) -> Iterator[tuple[Any, ...]]:
    """The values of RANK_COLUMNS for each run and each task or average in which all runs were tested against each other."""
    for column, intervals in board.tests.ranks.items():
        for number, (low, high) in intervals.items():
            yield board.rows[number].name, column, low, high, len(intervals)


def _settings_rows(board: Leaderboard) -> Iterator[tuple[Any, ...]]:
    """For each model with several settings a line for each task and the average: the standard deviation."""
    for spread in board.settings:
        average = {} if spread.average is None else {AVERAGE: spread.average}
        for id, deviation in {**average, **spread.deviations}.items():
            sd = board.scale.value(deviation)
            yield spread.title, spread.settings, " ".join(spread.keys), id, sd, board.scale.perfect


def _cost_rows(board: Leaderboard) -> Iterator[list[Any]]:
    """A line for each run: parameters, seconds, bytes, texts per second."""
    for summary, name in ((row.run.summary, row.name) for row in board.rows if row.run):
        costs = ["" if (value := summary["cost"].get(key)) is None else value for key in RUN_COSTS]
        yield [name, *costs, "; ".join(summary["machine"]), summary["command"]]


def csv_text(lines: Iterable[Sequence[Any]]) -> str:
    """Lines of cells as CSV that a spreadsheet can open: a text that it would take for a formula begins with an apostrophe."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_guarded(cell) for cell in line] for line in lines)
    return text.getvalue()


def _guarded(cell: Any) -> Any:
    if not isinstance(cell, str) or NUMBERS.fullmatch(cell):
        return cell
    guard = "'" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else ""
    return guard + cell.replace("\r", " ")  # which would end a line, since csv does not quote it
