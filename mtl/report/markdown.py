"""The report as Markdown that is also readable as plain text."""

import re
from collections.abc import Sequence

from mtl.markdown import MISSING, markdown_table
from mtl.report.leaderboard import Leaderboard, Row
from mtl.report.quantities import COSTS, cost_cells


def render_markdown(boards: Sequence[Leaderboard], generated: str, command: str) -> str:
    """For each suite: its scores, ranges, paired tests and costs, and the versions and settings of each run."""
    return "\n\n".join([f"Made on {generated} by {_code(command)}.", *map(_board, boards)]) + "\n"


def _board(board: Leaderboard) -> str:
    ours = [row for row in board.rows if row.run]
    parts = [f"# {_text(board.suite.title)}", _scores(board), "\n".join(f"- {_text(note)}" for note in board.notes)]
    parts += ["## Spread", _spread(board, ours)]
    if board.comparisons:
        parts += ["## Paired tests", _tests(board)]
    costs = [
        ["", *COSTS.values()],
        *([_text(row.name), *cost_cells(row.run.summary["cost"])] for row in ours if row.run),
    ]
    parts += ["## Cost of a seed", markdown_table(costs)]
    parts += ["## What made each run", "\n".join(_origin(row) for row in ours)]
    return "\n\n".join(parts)


def _scores(board: Leaderboard) -> str:
    """The scores in the layout of the paper's Table 3; the best score of each split is bold."""
    body = []
    for row in board.rows:
        seeds = f", {row.seeds} seed{'s' if row.seeds > 1 else ''}" if row.seeds else ""
        cells = [_text(row.name), _text(row.label + seeds), row.split]
        for column in board.columns:
            cell = score_cell(row, column)
            cells.append(f"**{cell}**" if board.is_best(row, column) else cell)
        body.append(cells)
    return markdown_table([["", "what", "split", *map(_text, board.columns.values())], *body], left=3)


def score_cell(row: Row, column: str) -> str:
    """The median with one decimal, and its marks."""
    score = row.score(column)
    if score is None:
        return MISSING
    return f"{score.median:.1f}{row.mark(column)}".replace("*", "\\*")


def _spread(board: Leaderboard, ours: Sequence[Row]) -> str:
    body = []
    for row in ours:
        scores = [row.score(column) for column in board.columns]
        body.append([_text(row.name), "min – max", *(f"{s.min:.1f} – {s.max:.1f}" if s else MISSING for s in scores)])
        intervals = [s.interval if s else None for s in scores]
        body.append(["", "interval", *(f"{i[0]:.1f} – {i[1]:.1f}" if i else MISSING for i in intervals)])
    return markdown_table([["", "", *map(_text, board.columns.values())], *body])


def _tests(board: Leaderboard) -> str:
    """A row for each pair of runs: the difference of their scores and the verdict of the test."""
    sign = {"better": "▲", "worse": "▼", "undecided": "≈", "too few seeds": "?"}
    body = []
    for (one, other), found in board.comparisons.items():
        cells = [
            f"{test.difference:+.1f} {sign[test.verdict] * (1 + test.holds)}"
            if (test := found.get(column))
            else MISSING
            for column in board.columns
        ]
        body.append([f"{_text(board.rows[one].name)} − {_text(board.rows[other].name)}", *cells])
    legend = (
        "One run minus another: ▲ better, ▼ worse, ▲▲ and ▼▼ with Holm's correction too; ≈ undecided, "
        "? too few seeds, – not on the same rows."
    )
    return f"{legend}\n\n" + markdown_table([["", *map(_text, board.columns.values())], *body])


def _origin(row: Row) -> str:
    assert row.run
    summary = row.run.summary
    versions = "; ".join(
        ", ".join(f"{name} {version}" for name, version in some.items()) for some in summary["versions"]
    )
    return (
        f"- {_text(row.name)}: seeds {', '.join(map(str, summary['seeds']))}; {_text('; '.join(summary['machine']))}; {versions}; "
        f"configuration and SHA-256 of the data in {_text(str(row.run.folder.summary))}; {_code(summary['command'])}"
    )


def _code(text: str) -> str:
    """Text as a code span, in which nothing is escaped. Its fence is longer than any run of backticks in the text."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{' '.join(text.split())}{space}{fence}"


def _text(text: str) -> str:
    """Text with Markdown's special characters escaped, in one line."""
    shown = " ".join(text.split())
    for character in "\\`*_[]<>":
        shown = shown.replace(character, "\\" + character)
    return shown
