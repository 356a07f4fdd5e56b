r"""The report as LaTeX: one table per suite for a paper (needs \usepackage{booktabs,graphicx})."""

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from mtl.report.groups import MetricGroup, metric_groups
from mtl.report.leaderboard import Leaderboard
from mtl.report.row import Row

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
        shown = "--" if mean is None else _number(board, mean, group.mark(row))
        return [*([shown] if group.has_mean else []), *marked]

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
