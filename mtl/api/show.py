"""What a notebook shows: Markdown, tables as DataFrames of pandas, and plots of matplotlib; both are imported when they are used."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtl.base.errors import InputError
from mtl.base.extras import check_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from mtl.reports.board import Leaderboard
    from mtl.reports.rows import Row

EXTRA = "notebook"  # the extra with pandas and matplotlib


class MarkdownText(str):
    """A table and its notes as Markdown, which also reads well as plain text; a notebook renders it.

    What strangers write into the files of a run is shown, and never becomes HTML, a picture, or a link that hides its address.

    >>> MarkdownText("| [<b>]( |")
    | [<b>]( |
    >>> MarkdownText("| [<b>]( |")._repr_markdown_()
    '| &#91;&#60;b>]( |'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return re.sub(r"\\?([<\[])", lambda match: f"&#{ord(match[1])};", self)


def frame(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> "DataFrame":
    """A DataFrame of rows. Raises InputError if pandas is not installed."""
    check_installed(EXTRA, "pandas")
    import pandas

    return pandas.DataFrame(list(rows), columns=list(columns))


def grid(cells: Mapping[Any, Mapping[Any, Any]], index: str, columns: str) -> "DataFrame":
    """A DataFrame of cells by row, then by column; `index` and `columns` say what these are. Raises InputError if pandas is not installed."""
    check_installed(EXTRA, "pandas")
    import pandas

    return pandas.DataFrame.from_dict(dict(cells), orient="index").rename_axis(index=index, columns=columns)


def draw_scores(board: "Leaderboard", task: str, ax: "Axes | None", with_names: bool) -> "Axes":
    """Draw the scores of a task, or the averages (`Comparison.plot`). `with_names`: our rows have their names, not titles."""
    check_installed(EXTRA, "matplotlib")
    if task not in board.columns:
        raise InputError(f"not in this comparison; it has {', '.join(board.columns)}", key="task", value=task)
    scored = [(score.median, row) for row in board.rows if (score := row.score(task))]
    rows = [row for _, row in sorted(scored, key=lambda pair: -pair[0])][::-1]  # of equal ones, the first on top
    if not rows:
        raise InputError("no run has a score", key="task", value=task)
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(7, 0.8 + 0.35 * len(rows)), layout="constrained")
    for height, row in enumerate(rows):
        _draw_row(board, ax, height, row, task)
    labels = [(row.label if row.ours and not with_names else row.name) + row.mark(task) for row in rows]
    ax.set_yticks(range(len(rows)), labels, parse_math=False)  # a dollar sign begins no formula
    ax.set_ylim(-0.6, len(rows) - 0.4)
    column = board.columns[task]
    published = "" if all(row.ours for row in rows) else "; ◇ published"
    ax.set_xlabel(f"{column.title} ({column.metric}): median, 95 % CI, seeds{published}", parse_math=False)
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_row(board: "Leaderboard", ax: "Axes", height: int, row: "Row", task: str) -> None:
    """Draw the score of one row at this height: a published one as a diamond, ours with its interval and the scores of its seeds."""
    score, value = row.score(task), board.scale.value
    assert score is not None
    if not row.ours:
        ax.plot(value(score.median), height, "D", color="C7", fillstyle="none")
        return
    if score.interval:
        low, high = (value(float(end)) for end in score.interval)
        ax.hlines(height, low, high, color="C0", linewidth=2)
    seeds = [value(float(seed)) for seed in row.samples[task].by_seed] if task in row.samples else []
    ax.plot(seeds, [height] * len(seeds), "|", color="C0", alpha=0.6, markersize=9)
    ax.plot(value(score.median), height, "o", color="C0")
