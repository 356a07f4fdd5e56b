"""`mtl power`: what a benchmark's rows and seeds can show, of finished runs or of a benchmark that does not exist yet."""

from collections.abc import Sequence
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.terminal import MISSING, escaped, markdown_table
from mtl.report.board import Leaderboard
from mtl.report.leaderboard import by_suite, leaderboard
from mtl.report.pairs import MOST_FOR_PAIRS, comparable_samples
from mtl.runs.finished import find_runs
from mtl.stats.power import expected_parts, figures, median_figures, other_rows, same_rows, times
from mtl.stats.ranks import better_runs
from mtl.stats.samples import SampleCache
from mtl.tasks.suite import AVERAGE

DIFFERENCE = 2.0  # points, where the user names none


def power_of_runs(folders: Sequence[Path], suite: str | None, difference: float, cache_dir: Path | None) -> str:
    """A Markdown table for each suite with finished runs: what its rows and seeds show, by task.

    Args:
        folders: folders of runs.
        suite: the name of a suite; None: every one.
        difference: × 100, the one to ask rows and seeds for.

    Raises:
        InputError: if there are no two runs on the same rows, and as `mtl.report.report.write_report`.
    """
    cache = SampleCache(cache_dir and cache_dir / "resampled")
    runs = [run for folder in folders for run in find_runs(folder, cache.check) if suite in (None, run.suite.name)]
    boards = [leaderboard(same, cache) for same in by_suite(runs)] if runs else []
    tables = [table for board in boards if (table := _table(board, difference))]
    if not tables:
        of = f" of suite {suite}" if suite else ""
        where = ", ".join(map(str, folders))
        raise InputError(
            f"{where}: no two finished runs{of} on the same rows that tests compare; each needs three seeds"
        )
    return "\n\n".join(tables)


def power_in_advance(rows: int, accuracy: float, agreement: float, difference: float) -> str:
    """The same for two systems on a benchmark that does not exist yet. Arguments are as in `mtl.stats.power.expected_parts`."""
    lines = [["", "smallest difference", f"rows for {difference:g} points"]]
    for title, parts in zip(("the same rows", "other rows"), expected_parts(rows, accuracy, agreement), strict=True):
        found = figures(parts, difference)
        lines.append([title, f"{found.smallest:.1f}", _count(rows, found.rows)])
    return (
        f"Accuracy × 100 of two systems with {accuracy:g} % right answers each, which agree on {agreement:g} % of {rows:,} rows. "
        f"{MEANING}\n\n{markdown_table(lines)}"
    )


MEANING = "A test at 5 % shows the smallest difference in 80 % of the cases."


def _table(board: Leaderboard, difference: float) -> str | None:
    """The table of a leaderboard, and the tasks that tell no two of its runs apart; None if no two runs are compared."""
    groups = comparable_samples(board.rows)
    if not groups:
        return None
    show, scale = board.scale.show, board.scale
    better = better_runs(groups)
    points = difference * scale.divisor
    header = ["", "metric", "rows", "runs", "seeds", "same rows", "other rows"]
    header += [f"rows for {scale.show(points)}", f"seeds for {scale.show(points)}", "pairs apart"]
    body, blind = [], []
    for column, key in sorted(groups, key=lambda each: list(board.columns).index(each[0])):
        group, shown = list(groups[column, key].values()), board.columns[column]
        samples = group[:MOST_FOR_PAIRS]
        rows, seeds = min(each.count for each in samples[0].means), min(len(each.by_seed) for each in samples)
        same, other = (median_figures(samples, points, kind) for kind in (same_rows, other_rows))
        apart = int(better[column, key].sum())
        needed = _count(rows, same.rows)
        if column == AVERAGE:  # over tasks with different numbers of rows
            needed = MISSING if same.rows is None else f"× {same.rows:.1f}"
        cells = [shown.title, shown.metric, MISSING if column == AVERAGE else f"{rows:,}", str(len(group)), str(seeds)]
        cells += [show(same.smallest), show(other.smallest), needed, _count(seeds, same.seeds)]
        body.append([*map(escaped, cells), f"{apart:,} of {len(group) * (len(group) - 1) // 2:,}"])
        if not apart:
            blind.append(shown.title)
    notes = [
        f"{MEANING} Rows are groups of rows, where rows belong together; seeds, the fewest of a run. The smallest differences, on the same rows "
        "and where each run has rows of its own, are medians over pairs of runs. The rows are those needed with the same seeds (of the average: "
        f"so many times the rows of each task), the seeds those needed with the same rows; {MISSING}: no number is enough. Pairs apart: those "
        "that tests with Holm's correction separate."
    ]
    if blind:
        notes.append(f"No two of these runs can be told apart on {', '.join(blind)}.")
    table = markdown_table([header, *body], left=2)
    return "\n\n".join([f"# {escaped(board.title)}", table, *notes])


def _count(count: int, factor: float | None) -> str:
    needed = times(count, factor)
    return MISSING if needed is None else f"{needed:,}"
