"""The report as Markdown that is also readable as plain text."""

import re
from collections.abc import Mapping, Sequence

from mtl.base.wording import MISSING, counted, escaped, markdown_table
from mtl.reports.board import Breakdown, Column, Group, Leaderboard
from mtl.reports.rows import COSTS, Row, cost_cell
from mtl.tasks.suite import AVERAGE

SIGNS = {"better": "▲", "worse": "▼", "undecided": "≈", "too few seeds": "?"}
TESTS_NOTE = (
    "One run minus another: ▲ better, ▼ worse, ▲▲ and ▼▼ with Holm's correction too; ≈ not significant, "
    "? too few seeds, – not on the same examples."
)
NO_TESTS = "None: no two of these are scored on the same examples of a task, so no difference can be tested."
RANKS_NOTE = (
    "The ranks that a run may have, 1 for the best, among the runs that were tested against each other: those that are better by the tests with"
    " Holm's correction come before it, those that are worse after it. Runs without a significant difference share their ranks. All intervals are"
    " right at once with a probability of at least 95 %."
)
SETTINGS_NOTE = (
    "The population standard deviation of the dev scores of a model's settings (each the median over its seeds); AVG is its mean over"
    " the tasks of the average."
)


def render_markdown(boards: Sequence[Leaderboard], generated: str, command: str) -> str:
    """For each suite: scores, also by metric and by parts of tasks, ranges, tests, the spread over settings, costs, and what made each run."""
    return "\n\n".join([f"Made on {generated} by {_code(command)}.", *map(board_section, boards)]) + "\n"


def scores_and_tests(board: Leaderboard) -> str:
    """The scores with the notes on their marks, and the paired tests."""
    parts = [f"## {escaped(board.title)}", _scores(board), "\n".join(f"- {escaped(note)}" for note in board.marks)]
    if len([row for row in board.rows if row.ours]) > 1:
        parts += ["### Paired tests", _tests(board)]
    return "\n\n".join(filter(None, parts))


def board_section(board: Leaderboard) -> str:
    """Everything on one leaderboard: its scores with all notes, then the other tables, each below a heading."""
    ours = [row for row in board.rows if row.ours]
    runs = [row for row in ours if row.run]
    notes = "\n".join(f"- {escaped(note)}" for note in [*board.marks, *board.notes])
    # Each section's title and parts; one without parts is left out.
    sections = [
        (board.groups_title or "By metric", [group_section(board, group) for group in board.groups]),
        ("By parts of the rows", [_breakdown(board, breakdown) for breakdown in board.breakdowns]),
        ("Spread", [_ranges(board, runs)] if runs else []),
        ("Spread over settings", [_settings(board)] if board.spreads else []),
        ("Paired tests", [_tests(board)] if len(ours) > 1 else []),
        ("Ranks", [_ranks(board)] if board.tests.ranks else []),
        ("Cost of a seed" if runs else "Cost", [_costs(board, ours)] if board.costs else []),
        ("What made each run", ["\n".join(map(_origin, runs))] if runs else []),
    ]
    shown = ["\n\n".join([f"## {title}", *parts]) for title, parts in sections if parts]
    return "\n\n".join([f"# {escaped(board.title)}", _scores(board), notes, *shown])


def _scores(board: Leaderboard) -> str:
    """A row for each row of the leaderboard, a column for each task, below it its metric; the best score of each split is bold."""
    columns = board.shown_columns or board.columns
    body = [["metric", "", "", *(escaped(column.metric) for column in columns.values())]]
    for row in board.rows:
        seeds = f", {counted(len(row.run.summary['seeds']), 'seed')}" if row.run else ""
        cells = [escaped(row.name), escaped(row.label + seeds), escaped(row.split)]
        for column in columns:
            shown = escaped(board.cell(row, column))
            cells.append(f"**{shown}**" if board.is_best(row, column) else shown)
        body.append(cells)
    return markdown_table([["", "what", "split", *_titles(columns)], *body], left=3)


def _titles(columns: Mapping[str, Column]) -> list[str]:
    return [escaped(column.title) for column in columns.values()]


def group_section(board: Leaderboard, group: Group) -> str:
    """A table of one group: a row for each row of the leaderboard, a column for each task, and the mean of several."""
    rows = [["", "split", *(["mean"] if group.has_mean else []), *group.columns.values()]]
    rows += [[line.row.name, line.row.split, *board.group_cells(group, line)] for line in group.lines]
    return f"### {escaped(group.title)}\n\n{markdown_table([list(map(escaped, cells)) for cells in rows], left=2)}"


def _breakdown(board: Leaderboard, breakdown: Breakdown) -> str:
    """A table of one task's scores by the values of a column: a row for each value, a column for each run."""
    names = [escaped(board.rows[number].name) for number in breakdown.scores]
    body = []
    for part, (value, count) in enumerate(breakdown.parts):
        scores = [board.scale.show(by_part[part].median) for by_part in breakdown.scores.values()]
        body.append([escaped(value), str(count), *scores])
    title = f"### {escaped(breakdown.task.title)} by {escaped(breakdown.column)}"
    rest = f"\n\nLess frequent values, not shown: {breakdown.left_out}." if breakdown.left_out else ""
    return f"{title}\n\n{markdown_table([['', breakdown.counted, *names], *body])}{rest}"


def _ranges(board: Leaderboard, runs: Sequence[Row]) -> str:
    """Two rows for each run: the range over seeds, and the interval, of each score."""
    show = board.scale.show
    body = []
    for row in runs:
        scores = [row.score(column) for column in board.columns]
        ranges = [f"{show(score.min)} – {show(score.max)}" if score else MISSING for score in scores]
        body.append([escaped(row.name), "min – max", *ranges])
        intervals = [score.interval if score else None for score in scores]
        body.append(["", "interval", *(" – ".join(map(show, ends)) if ends else MISSING for ends in intervals)])
    return markdown_table([["", "", *_titles(board.columns)], *body])


def _settings(board: Leaderboard) -> str:
    body = [["", "settings", *_titles(board.columns)]]
    keys = []
    for spread in board.spreads:
        title = escaped(spread.title)
        deviations = [spread.average, *(spread.deviations.get(id) for id in board.columns if id != AVERAGE)]
        body.append([title, str(spread.settings), *map(board.scale.show, deviations)])
        keys.append(f"- {title}: the settings differ in {escaped(', '.join(spread.keys))}.")
    return "\n\n".join([SETTINGS_NOTE, markdown_table(body), "\n".join(keys)])


def _tests(board: Leaderboard) -> str:
    if not any(board.tests.comparisons.values()):
        return NO_TESTS
    body = []
    for (first, second), tests in board.tests.comparisons.items():
        cells = dict.fromkeys(board.columns, MISSING)
        for column, test in tests.items():
            sign = SIGNS[test.verdict] * (2 if test.holds else 1)
            cells[column] = f"{board.scale.difference(test.difference)} {sign}"
        body.append([f"{escaped(board.rows[first].name)} − {escaped(board.rows[second].name)}", *cells.values()])
    return f"{TESTS_NOTE}\n\n" + markdown_table([["", *_titles(board.columns)], *body])


def _ranks(board: Leaderboard) -> str:
    by_column = [board.tests.ranks.get(column, {}) for column in board.columns]
    body = [
        [escaped(row.name), *(rank_text(intervals.get(number)) for intervals in by_column)]
        for number, row in enumerate(board.rows)
        if any(number in intervals for intervals in by_column)
    ]
    return f"{RANKS_NOTE}\n\n" + markdown_table([["", *_titles(board.columns)], *body])


def rank_text(interval: tuple[int, int] | None) -> str:
    """An interval of ranks, as in "2–5", or "1" for a single one."""
    if interval is None:
        return MISSING
    low, high = interval
    return str(low) if low == high else f"{low}–{high}"


def _costs(board: Leaderboard, ours: Sequence[Row]) -> str:
    keys = board.costs
    body = [[escaped(row.name), *(cost_cell(key, row.cost.get(key)) for key in keys)] for row in ours if row.cost]
    return markdown_table([["", *(COSTS[key] for key in keys)], *body])


def _origin(row: Row) -> str:
    assert row.run
    summary = row.run.summary
    seeds, machine = ", ".join(map(str, summary["seeds"])), "; ".join(summary["machine"])
    packages = [", ".join(f"{name} {number}" for name, number in versions.items()) for versions in summary["versions"]]
    return (
        f"- {escaped(row.name)}: seeds {seeds}; {escaped(machine)}; {escaped('; '.join(packages))}; configuration and SHA-256 of the data in"
        f" {escaped(str(row.run.folder.summary))}; {_code(summary['command'])}"
    )


def _code(text: str) -> str:
    """Text as a code span, in which nothing is escaped. Its fence is longer than any run of backticks in the text."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{' '.join(text.split())}{space}{fence}"
