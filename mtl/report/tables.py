r"""The report as CSV files and as LaTeX tables (which need \usepackage{booktabs,graphicx})."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from mtl.report.groups import COSTS, MetricGroup, metric_groups
from mtl.report.leaderboard import Leaderboard
from mtl.report.row import Row, Score
from mtl.tasks.suite import AVERAGE

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
    "×": r"$\times$",
    "–": "--",
    "−": "$-$",
    "α": r"$\alpha$",
}


def render_latex(boards: Sequence[Leaderboard], generated: str, command: str) -> str:
    """One table environment per suite, in which rows are grouped by family and the best score of each split is bold; then one for each
    metric group."""
    head = ["% Needs \\usepackage{booktabs,graphicx}", f"% {generated}: {' '.join(command.split())}"]
    tables = [
        table for board in boards for table in (_scores(board), *(_group(board, g) for g in metric_groups(board)))
    ]
    return "\n".join([*head, *tables]) + "\n"


def _scores(board: Leaderboard) -> str:
    """The scores, and below each task its metric."""
    caption = f"{board.suite.title}. {' '.join(board.marks)}"
    titles = [["Model", "Split", *(rf"\textbf{{{escape(title)}}}" for title in board.columns.values())]]
    titles.append(["", "", *map(escape, board.metrics.values())])
    return _table(
        board, board.rows, titles, lambda row: [_cell(board, row, column) for column in board.columns], caption
    )


def _group(board: Leaderboard, group: MetricGroup) -> str:
    """The scores by one metric, and the mean of several."""

    def cells(row: Row) -> list[str]:
        mean, scores = group.mean(row), [(task, group.score(row, task)) for task in group.tasks]
        marked = [_number(board, score.median, row.mark(task.id)) if score else "--" for task, score in scores]
        mean_shown = "--" if mean is None else _number(board, mean, group.mark(row))
        return [*([mean_shown] if group.has_mean else []), *marked]

    titles = [
        [
            "Model",
            "Split",
            *(["mean"] if group.has_mean else []),
            *(rf"\textbf{{{escape(task.title)}}}" for task in group.tasks),
        ]
    ]
    caption = f"{board.suite.title}, {group.title}. {board.marks[0]}"
    return _table(board, group.rows(board), titles, cells, caption, f"-{group.metric}")


def _table(
    board: Leaderboard,
    rows: Sequence[Row],
    titles: Sequence[Sequence[str]],
    cells: Callable[[Row], Sequence[str]],
    caption: str,
    label: str = "",
) -> str:
    """A table environment, in which rows are grouped by family. titles: the lines of its header. cells: a row's numbers. label: the
    end of its label."""
    groups = []
    for _, family in groupby(rows, key=lambda row: row.family):
        names = [(row, escape(f"{row.label} ({row.name})" if row.run else row.name)) for row in family]
        groups.append([[name, row.split, *cells(row)] for row, name in names])
    return table_environment(titles, groups, caption, board.suite.name + label, left=2)


def table_environment(
    titles: Sequence[Sequence[str]],
    groups: Sequence[Sequence[Sequence[str]]],
    caption: str,
    label: str,
    left: int = 1,
) -> str:
    """A table environment. titles: the lines of its header; groups: its other lines, with a rule above each group; all are escaped.
    caption and label are not. left: how many of the columns stand at their left edge."""
    lines = [
        r"\begin{table*}",
        r"\centering",
        r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(titles[0]) - left)}}}",
        r"\toprule",
        *map(_line, titles),
    ]
    for group in groups:
        lines += [r"\midrule", *map(_line, group)]
    lines += [
        r"\bottomrule",
        r"\end{tabular}}",
        rf"\caption{{{escape(caption)}}}",
        rf"\label{{tab:{re.sub('[^0-9A-Za-z]+', '-', label)}}}",
        r"\end{table*}",
    ]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(board: Leaderboard, row: Row, column: str) -> str:
    if (score := row.score(column)) is None:
        return "--"
    cell = _number(board, score.median, row.mark(column))
    return rf"\textbf{{{cell}}}" if board.is_best(row, column) else cell


def _number(board: Leaderboard, score: float, mark: str = "") -> str:
    return escape(f"{board.suite.shown.show(score)}{mark}".replace("-", "−"))


def escape(text: str) -> str:
    """Text with LaTeX's special characters escaped, in one line."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


NUMBERS = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?( [-+]?\d+(\.\d+)?(e[-+]?\d+)?)*")  # as in the column by_seed


def render_scores(boards: Sequence[Leaderboard]) -> str:
    """A line for each row and task, for each further metric of a task, and for each row's average. Scores are on the suite's scale,
    which `scale` names, and not rounded."""
    header = ["suite", "name", "what", "family", "source", "split", "task", "metric", "median", "min", "max"]
    lines: list[Sequence[Any]] = [[*header, "interval_low", "interval_high", "by_seed", "partial", "reduced", "scale"]]
    for board in boards:
        for row in board.rows:
            for column in board.columns:
                lines += [_score_line(board, row, column, *cells) for cells in _score_cells(board, row, column)]
    return csv_text(lines)


def _score_cells(board: Leaderboard, row: Row, column: str) -> Iterator[tuple[str, Score, Iterable[float]]]:
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
        for (one, other), by_column in board.comparisons.items():
            for column, comparison in by_column.items():
                names = board.rows[one].name, board.rows[other].name
                values = map(board.suite.shown.value, (comparison.difference, comparison.low, comparison.high))
                tests = comparison.p, comparison.p_holm, comparison.verdict, comparison.verdict_holm
                lines.append([board.suite.name, *names, column, *values, *tests, board.suite.scale])
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
