"""The tables of the Markdown report that follow the scores: metric groups, breakdowns and the spread over settings."""

from collections.abc import Sequence

from mtl.markdown import MISSING, escaped, markdown_table
from mtl.report.breakdown import Breakdown
from mtl.report.groups import MetricGroup
from mtl.report.leaderboard import Leaderboard
from mtl.report.settings import SettingsSpread


def group_section(board: Leaderboard, group: MetricGroup) -> str:
    """A table of the scores by one metric: a row for each row of the leaderboard, a column for each task, and the mean of several."""
    show, body = board.suite.shown.show, []
    for row in group.rows(board):
        scores = [group.score(row, task) for task in group.tasks]
        cells = [
            show(score.median) + row.mark(task.id) if score else MISSING
            for task, score in zip(group.tasks, scores, strict=True)
        ]
        if group.has_mean:
            cells.insert(0, MISSING if (mean := group.mean(row)) is None else show(mean) + group.mark(row))
        body.append([escaped(row.name), escaped(row.split), *cells])
    header = ["", "split", *(["mean"] if group.has_mean else []), *(escaped(task.title) for task in group.tasks)]
    return f"### {group.title}\n\n{markdown_table([header, *body], left=2)}"


def breakdown_section(board: Leaderboard, breakdown: Breakdown) -> str:
    """A table of one task's scores by the values of a column: a row for each value, a column for each run."""
    show = board.suite.shown.show
    names = [escaped(board.rows[place].name) for place in breakdown.scores]
    body = [
        [escaped(value), str(rows), *(show(scores[part].median) for scores in breakdown.scores.values())]
        for part, (value, rows) in enumerate(breakdown.parts)
    ]
    title = f"### {escaped(breakdown.task.title)} by {escaped(breakdown.column)}"
    parts = [title, markdown_table([["", "rows", *names], *body])]
    return "\n\n".join(
        parts + ([f"Less frequent values, not shown: {breakdown.left_out}."] if breakdown.left_out else [])
    )


def settings_section(board: Leaderboard, spreads: Sequence[SettingsSpread]) -> str:
    """A table of the standard deviations: a row for each model, a column for each task, and their average."""
    show = board.suite.shown.show
    body = [
        [
            escaped(spread.title),
            str(spread.settings),
            MISSING if spread.average is None else show(spread.average),
            *(show(sd) if (sd := spread.deviations.get(id)) is not None else MISSING for id in board.suite.tasks),
        ]
        for spread in spreads
    ]
    keys = [
        f"- {escaped(spread.title)}: the settings differ in {escaped(', '.join(spread.keys))}." for spread in spreads
    ]
    header = ["", "settings", *map(escaped, board.columns.values())]
    return "\n\n".join([SETTINGS_NOTE, markdown_table([header, *body]), "\n".join(keys)])


SETTINGS_NOTE = (
    "The population standard deviation of the dev scores of a model's settings (each the median over its seeds); AVG is its mean over"
    " the tasks of the average."
)
