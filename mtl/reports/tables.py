r"""The report as CSV files and as LaTeX tables (which need \usepackage{booktabs,graphicx})."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, product
from statistics import fmean, stdev
from typing import Any

from mtl.reports.board import Group, Leaderboard, Row
from mtl.reports.leaderboard import RUN_COSTS
from mtl.runs.finished import FinishedRun
from mtl.tasks.suite import AVERAGE

SCORE_COLUMNS = (
    *("name", "what", "family", "source", "split", "task", "metric", "median", "min", "max"),
    *("mean", "standard_deviation"),
    *("interval_low", "interval_high", "by_seed", "partial", "reduced", "setting", "scale"),
)
COMPARISON_COLUMNS = (
    *("one", "other", "task", "difference", "low", "high"),
    *("p", "p_holm", "verdict", "verdict_holm", "probability"),
)
RANK_COLUMNS = ("name", "task", "low", "high", "runs")
SETTINGS_COLUMNS = ("what", "settings", "keys", "task", "sd", "scale")
COST_COLUMNS = ("name", *RUN_COSTS, "machine", "command")
NUMBERS = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?( [-+]?\d+(\.\d+)?(e[-+]?\d+)?)*")  # as in the column by_seed
_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
    "¶": r"\P{}",
    "×": r"$\times$",
    "–": "--",
    "−": "$-$",
    "α": r"$\alpha$",
}


def render_latex(boards: Sequence[Leaderboard], generated: str, command: str) -> str:
    """One table environment per leaderboard, in which the best score of each split is bold; then one for each group of scores."""
    head = ["% Needs \\usepackage{booktabs,graphicx}", f"% {generated}: {' '.join(command.split())}"]
    tables = [table for board in boards for table in (_scores(board), *(_group(board, g) for g in board.groups))]
    return "\n".join([*head, *tables]) + "\n"


def _scores(board: Leaderboard) -> str:
    """The scores, and below each task its metric."""
    columns = board.table or board.columns
    caption = " ".join([f"{board.title}.", *board.marks])
    titles = [["Model", "Split", *(rf"\textbf{{{escape(column.title)}}}" for column in columns.values())]]
    titles.append(["", "", *(escape(column.metric) for column in columns.values())])
    lines = [(row, [_cell(board, row, column) for column in columns]) for row in board.rows]
    return _table(board, lines, titles, caption)


def _group(board: Leaderboard, group: Group) -> str:
    """The scores of a group, and their mean."""
    lines = []
    for line in group.lines:
        scores = {id: _number(board, score.median, line.row.mark(id)) for id, score in line.scores.items()}
        mean = "--" if line.mean is None else _number(board, line.mean, line.mark)
        lines.append((line.row, [mean] * group.has_mean + [scores.get(id, "--") for id in group.columns]))
    columns = [rf"\textbf{{{escape(title)}}}" for title in group.columns.values()]
    titles = [["Model", "Split", *["mean"] * group.has_mean, *columns]]
    return _table(board, lines, titles, " ".join([f"{board.title}, {group.title}.", *board.marks[:1]]), f"-{group.id}")


def _table(
    board: Leaderboard,
    lines: Sequence[tuple[Row, Sequence[str]]],
    titles: Sequence[Sequence[str]],
    caption: str,
    label: str = "",
) -> str:
    """A table environment, in which rows are grouped by family. Numbers and titles are escaped; `label` is the end of its label."""
    body = []
    for _, family in groupby(lines, key=lambda line: line[0].family):
        body.append(r"\midrule")
        for row, numbers in family:
            name = f"{row.label} ({row.name})" if row.ours else row.name
            body.append(_line([escape(name), row.split, *numbers]))
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering",
            r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{ll{'r' * (len(titles[0]) - 2)}}}",
            r"\toprule",
            *map(_line, titles),
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            rf"\caption{{{escape(caption)}}}",
            rf"\label{{tab:{re.sub('[^0-9A-Za-z]+', '-', board.name + label)}}}",
            r"\end{table*}",
        ]
    )


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(board: Leaderboard, row: Row, column: str) -> str:
    if (score := row.score(column)) is None:
        return "--"
    cell = _number(board, score.median, row.mark(column))
    return rf"\textbf{{{cell}}}" if board.is_best(row, column) else cell


def _number(board: Leaderboard, score: float, mark: str = "") -> str:
    return escape(f"{board.scale.show(score)}{mark}".replace("-", "−"))


def escape(text: str) -> str:
    """Text with LaTeX's special characters escaped, in one line."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


def render_csv(boards: Sequence[Leaderboard]) -> dict[str, str]:
    """The CSV files by name. A line begins with its suite; scores and differences are on the suite's scale, not rounded."""
    Lines = Callable[[Leaderboard], Iterable[Sequence[Any]]]
    files: dict[str, tuple[Sequence[str], Lines]] = {
        "scores.csv": (SCORE_COLUMNS, _score_rows),
        "comparisons.csv": ((*COMPARISON_COLUMNS, "scale"), _scaled_comparisons),
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


def _scaled_comparisons(board: Leaderboard) -> Iterator[tuple[Any, ...]]:
    return ((*row, board.scale.perfect) for row in comparison_rows(board))


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
