r"""The report as LaTeX: one table per suite for a paper (needs \usepackage{booktabs,graphicx})."""

import re
from collections.abc import Sequence
from itertools import groupby

from mtl.report.leaderboard import Leaderboard, Row

_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "†": r"\dag{}",
    "×": r"$\times$",
    "–": "--",
    "−": "$-$",
}


def render_latex(boards: Sequence[Leaderboard], generated: str, command: str) -> str:
    """One table environment per suite; rows are grouped by family, the best score of each split is bold."""
    head = ["% Needs \\usepackage{booktabs,graphicx}", f"% {generated}: {' '.join(command.split())}"]
    return "\n".join([*head, *map(_table, boards)]) + "\n"


def _table(board: Leaderboard) -> str:
    columns = board.columns
    lines = [
        r"\begin{table*}",
        r"\centering",
        r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{ll{'r' * len(columns)}}}",
        r"\toprule",
        " & ".join(["Model", "Split", *(rf"\textbf{{{escape(title)}}}" for title in columns.values())]) + r" \\",
    ]
    for _, rows in groupby(board.rows, key=lambda row: row.family):
        lines.append(r"\midrule")
        lines += [_line(board, row) for row in rows]
    lines += [
        r"\bottomrule",
        r"\end{tabular}}",
        rf"\caption{{{escape(board.suite.title)}. {escape(' '.join(board.marks))}}}",
        rf"\label{{tab:{re.sub('[^0-9A-Za-z]+', '-', board.suite.name)}}}",
        r"\end{table*}",
    ]
    return "\n".join(lines)


def _line(board: Leaderboard, row: Row) -> str:
    cells = [escape(f"{row.label} ({row.name})" if row.run else row.name), row.split]
    for column in board.columns:
        cell = _cell(row, column)
        cells.append(rf"\textbf{{{cell}}}" if board.is_best(row, column) else cell)
    return " & ".join(cells) + r" \\"


def _cell(row: Row, column: str) -> str:
    score = row.score(column)
    if score is None:
        return "--"
    return escape(f"{score.median:.1f}{row.mark(column)}".replace("-", "−"))


def escape(text: str) -> str:
    """Text with LaTeX's special characters escaped, in one line."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))
