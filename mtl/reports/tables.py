"""The report as CSV files."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from statistics import fmean, stdev
from typing import Any

from mtl.reports.board import Leaderboard
from mtl.reports.rows import RUN_COSTS, Score
from mtl.runs.finished import FinishedRun
from mtl.tasks.suite import AVERAGE

SCORE_COLUMNS = (
    *("name", "what", "family", "source", "split", "task", "metric", "median", "min", "max", "mean"),
    *("standard_deviation", "interval_low", "interval_high", "by_seed", "partial", "reduced", "scale"),
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
    files: dict[str, tuple[Sequence[str], Callable[[Leaderboard], Iterable[Sequence[Any]]]]] = {
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


def _score_rows(board: Leaderboard) -> Iterator[list[Any]]:
    """The values of SCORE_COLUMNS for each row and each task, each further metric of a task, and the average."""
    on_scale = board.scale.value
    for row, (id, column) in product(board.rows, board.columns.items()):
        if (main := row.score(id)) is None:
            continue
        scores: list[tuple[str | None, Score]] = [(None, main), *row.further.get(id, {}).items()]
        for further_metric, score in scores:  # None: the column's own metric
            by_seed = _scores_by_seed(row.run, id, further_metric) if row.run else []
            low, high = map(on_scale, score.interval) if score.interval else ("", "")
            yield [
                *(row.name, row.label, row.family, "run" if row.ours else "published"),
                *(row.split_of(id), id, further_metric or column.metric_id),
                *(on_scale(score.median), on_scale(score.min), on_scale(score.max)),
                on_scale(fmean(by_seed)) if by_seed else "",
                on_scale(stdev(by_seed)) if len(by_seed) > 1 else "",
                *(low, high),
                "" if id == AVERAGE else " ".join(str(on_scale(seed_score)) for seed_score in by_seed),
                "yes" if row.missing and id == AVERAGE else "no",
                "yes" if "†" in row.mark(id) else "no",
                board.scale.perfect,
            ]


def _scores_by_seed(run: FinishedRun, column: str, further_metric: str | None) -> list[float]:
    """The score × 100 of each seed on a task, by its own metric or by a further one; or the average of each seed."""
    tasks = run.summary["tasks"]
    if column != AVERAGE:
        record = tasks[column] if further_metric is None else tasks[column]["also"][further_metric]
        return list(record["scores"].values())
    averages = [run.suite.mean({id: tasks[id]["scores"][str(seed)] for id in tasks}) for seed in run.summary["seeds"]]
    return [average for average in averages if average is not None]


def comparison_rows(board: Leaderboard) -> Iterator[tuple[Any, ...]]:
    """The values of COMPARISON_COLUMNS for each pair and task or average: one run minus the other. Without a verdict, p and probability are None."""
    value = board.scale.value
    for (first, second), by_column in board.tests.comparisons.items():
        for column, test in by_column.items():
            names = board.rows[first].name, board.rows[second].name
            difference = value(test.difference), value(test.low), value(test.high)
            yield *names, column, *difference, test.p, test.p_holm, test.verdict, test.verdict_holm, test.probability


def rank_rows(board: Leaderboard) -> Iterator[tuple[Any, ...]]:
    """The values of RANK_COLUMNS for each run and each task or average in which all runs were tested against each other."""
    for column, intervals in board.tests.ranks.items():
        for number, (low, high) in intervals.items():
            yield board.rows[number].name, column, low, high, len(intervals)


def _settings_rows(board: Leaderboard) -> Iterator[tuple[Any, ...]]:
    for spread in board.spreads:
        average = {} if spread.average is None else {AVERAGE: spread.average}
        for id, deviation in {**average, **spread.deviations}.items():
            deviation_on_scale = board.scale.value(deviation)
            yield spread.title, spread.settings, " ".join(spread.keys), id, deviation_on_scale, board.scale.perfect


def _cost_rows(board: Leaderboard) -> Iterator[list[Any]]:
    for row in board.rows:
        if row.run:
            summary = row.run.summary
            costs = [summary["cost"].get(key) for key in RUN_COSTS]
            yield [row.name, *costs, "; ".join(summary["machine"]), summary["command"]]


def csv_text(lines: Iterable[Sequence[Any]]) -> str:
    """Lines of cells as CSV that a spreadsheet can open: a text that it would take for a formula begins with an apostrophe."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_guarded(cell) for cell in line] for line in lines)
    return text.getvalue()


def _guarded(cell: Any) -> Any:
    """A cell that a spreadsheet takes for no formula, without carriage returns."""
    if not isinstance(cell, str) or NUMBERS.fullmatch(cell):
        return cell
    guard = "'" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else ""
    return guard + cell.replace("\r", " ")  # which would end a line, since csv does not quote it
