"""The report as LaTeX tables, which need booktabs and graphicx."""

import re
from collections.abc import Sequence
from itertools import groupby

from mtl.reports.board import Group, Leaderboard
from mtl.reports.rows import Row

_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "†": r"\dag{}", "‡": r"\ddag{}", "§": r"\S{}", "×": r"$\times$", "–": "--", "−": "$-$", "α": r"$\alpha$",
}  # fmt: skip


def render_latex(boards: Sequence[Leaderboard], generated: str, command: str) -> str:
    """One table environment per leaderboard, in which the best score of each split is bold; then one for each group of scores."""
    head = ["% Needs \\usepackage{booktabs,graphicx}", f"% {generated}: {' '.join(command.split())}"]
    tables = []
    for board in boards:
        tables += [_scores(board), *(_group(board, group) for group in board.groups)]
    return "\n".join([*head, *tables]) + "\n"


def _scores(board: Leaderboard) -> str:
    columns = board.shown_columns or board.columns
    caption = " ".join([f"{board.title}.", *board.marks])
    titles = [["Model", "Split", *(rf"\textbf{{{escape(column.title)}}}" for column in columns.values())]]
    titles.append(["", "", *(escape(column.metric) for column in columns.values())])
    lines = [(row, [_cell(board, row, column) for column in columns]) for row in board.rows]
    return _table(board.name, lines, titles, caption)


def _group(board: Leaderboard, group: Group) -> str:
    lines = [(line.row, list(map(_number, board.group_cells(group, line)))) for line in group.lines]
    columns = [rf"\textbf{{{escape(title)}}}" for title in group.columns.values()]
    titles = [["Model", "Split", *(["mean"] if group.has_mean else []), *columns]]
    caption = " ".join([f"{board.title}, {group.title}.", *board.marks[:1]])
    return _table(f"{board.name}-{group.id}", lines, titles, caption)


def _table(name: str, lines: Sequence[tuple[Row, Sequence[str]]], titles: Sequence[Sequence[str]], caption: str) -> str:
    """A table environment, in which rows are grouped by family. Titles and the cells of each row are escaped; `name` makes its label."""
    body = []
    for _, family in groupby(lines, key=lambda line: line[0].family):
        body.append(r"\midrule")
        for row, cells in family:
            title = f"{row.label} ({row.name})" if row.ours else row.name
            body.append(_line([escape(title), row.split, *cells]))
    begin = [r"\begin{table*}", r"\centering", r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"]
    columns = rf"\begin{{tabular}}{{ll{'r' * (len(titles[0]) - 2)}}}"
    table = [columns, r"\toprule", *map(_line, titles), *body, r"\bottomrule", r"\end{tabular}}"]
    label = re.sub("[^0-9A-Za-z]+", "-", name)
    end = [rf"\caption{{{escape(caption)}}}", rf"\label{{tab:{label}}}", r"\end{table*}"]
    return "\n".join([*begin, *table, *end])


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(board: Leaderboard, row: Row, column: str) -> str:
    cell = _number(board.cell(row, column))
    return rf"\textbf{{{cell}}}" if board.is_best(row, column) else cell


def _number(cell: str) -> str:
    return escape(cell.replace("-", "−"))


def escape(text: str) -> str:
    """Text with LaTeX's special characters escaped, in one line."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))
