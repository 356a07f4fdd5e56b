"""The report as CSV files: scores, comparisons, the spread over settings and costs."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mtl.report.leaderboard import Leaderboard
from mtl.report.quantities import COSTS
from mtl.report.row import Row, Score
from mtl.tasks.suite import AVERAGE

NUMBERS = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?( [-+]?\d+(\.\d+)?(e[-+]?\d+)?)*")  # as in the column by_seed


def render_scores(boards: Sequence[Leaderboard]) -> str:
    """A line for each row and task, for each further metric of a task, and for each row's average. Scores are on the suite's scale,
    which `scale` names, and not rounded."""
    header = ["suite", "name", "what", "family", "source", "split", "task", "metric", "median", "min", "max"]
    lines: list[Sequence[Any]] = [[*header, "interval_low", "interval_high", "by_seed", "partial", "reduced", "scale"]]
    for board in boards:
        for row in board.rows:
            for column in board.columns:
                lines += [_score_line(board, row, column, *found) for found in _scores(board, row, column)]
    return csv_text(lines)


def _scores(board: Leaderboard, row: Row, column: str) -> Iterator[tuple[str, Score, Iterable[float]]]:
    """Each metric of a column with the row's score by it, and the scores × 100 of the seeds where they are known."""
    if (score := row.score(column)) is None:
        return
    task = board.suite.tasks.get(column)
    recorded = row.run.summary["tasks"][column] if row.run and task else None
    yield task.metric if task else "mean", score, recorded["scores"].values() if recorded else ()
    for metric, further in row.further.get(column, {}).items():
        yield metric, further, recorded["also"][metric]["scores"].values() if recorded else ()


def _score_line(
    board: Leaderboard, row: Row, column: str, metric: str, score: Score, by_seed: Iterable[float]
) -> list[Any]:
    value = board.suite.shown.value
    source = "run" if row.run else "published"
    return [
        *(board.suite.name, row.name, row.label, row.family, source, row.split_of(column), column),
        *(metric, value(score.median), value(score.min), value(score.max)),
        *(map(value, score.interval) if score.interval else ("", "")),
        " ".join(str(value(score)) for score in by_seed),
        "yes" if row.missing and column == AVERAGE else "no",
        "yes" if "†" in row.mark(column) else "no",
        board.suite.scale,
    ]


def render_comparisons(boards: Sequence[Leaderboard]) -> str:
    """A line for each pair of runs that was tested and each task or average: one run minus the other, on the suite's scale. p is empty if
    there is no verdict."""
    header = [
        "suite",
        "one",
        "other",
        "task",
        "difference",
        "low",
        "high",
        "p",
        "p_holm",
        "verdict",
        "verdict_holm",
        "scale",
    ]
    lines: list[Sequence[Any]] = [header]
    for board in boards:
        for (one, other), found in board.comparisons.items():
            for column, comparison in found.items():
                names = board.rows[one].name, board.rows[other].name
                shown = map(board.suite.shown.value, (comparison.difference, comparison.low, comparison.high))
                tests = comparison.p, comparison.p_holm, comparison.verdict, comparison.verdict_holm
                lines.append([board.suite.name, *names, column, *shown, *tests, board.suite.scale])
    return csv_text(lines)


def render_settings(boards: Sequence[Leaderboard]) -> str:
    """A line for each model with several settings and each task or average: the standard deviation over settings, on the suite's
    scale."""
    lines: list[Sequence[Any]] = [["suite", "what", "settings", "keys", "task", "sd", "scale"]]
    for board in boards:
        suite = board.suite
        for spread in board.settings:
            average = {} if spread.average is None else {AVERAGE: spread.average}
            first = suite.name, spread.title, spread.settings, " ".join(spread.keys)
            lines += [
                [*first, id, suite.shown.value(sd), suite.scale] for id, sd in {**average, **spread.deviations}.items()
            ]
    return csv_text(lines)


def render_costs(boards: Sequence[Leaderboard]) -> str:
    """A line for each run: parameters, seconds, bytes, texts per second."""
    lines: list[Sequence[Any]] = [["suite", "name", *COSTS, "machine", "command"]]
    for board in boards:
        for row in board.rows:
            if row.run:
                summary = row.run.summary
                costs = ["" if (value := summary["cost"].get(key)) is None else value for key in COSTS]
                lines.append([board.suite.name, row.name, *costs, "; ".join(summary["machine"]), summary["command"]])
    return csv_text(lines)


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
