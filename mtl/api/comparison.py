"""Finished runs side by side: scores, intervals, paired tests and ranks, as tables and as a plot; and the report of all of them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mtl.api.run import Run
from mtl.api.show import MarkdownText, draw_scores, frame, grid
from mtl.base.errors import InputError
from mtl.base.interface import checked, errors_as_input
from mtl.runs import finished
from mtl.stats.samples import SampleCache
from mtl.tasks.suite import AVERAGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from mtl.reports.board import Leaderboard
    from mtl.reports.rows import Row

Compared: TypeAlias = Run | str | PathLike[str]
"""A run, its folder, or a folder of runs."""

CACHE = "cache"  # as `cache_dir` in configs/baseline.yaml


class Comparison:
    """Runs on one suite, beside the published rows; what `mtl.compare` returns. A notebook shows its table.

    Scores and differences are on the scale of the suite, which is × 100 unless the suite file says otherwise. "average" is the column
    of the suite's score. How intervals, tests and ranks are computed: `mtl.stats.comparison`, `mtl.stats.families`, `mtl.stats.holm`."""

    def __init__(self, board: "Leaderboard", named: bool = False) -> None:
        self.board = board  # all that the comparison holds, as the forms of the report read it
        self.named = named  # whether the caller named the runs: then plots show these names, not titles

    @property
    def scores(self) -> "DataFrame":
        """The medians over seeds, float (runs, average and tasks); missing where a run has no score. Raises InputError without pandas."""
        value = self.board.scale.value
        cells = {
            row.name: {column: value(score.median) for column in self.board.columns if (score := row.score(column))}
            for row in self._runs
        }
        return grid(cells, "run", "task").reindex(columns=list(self.board.columns))

    @property
    def intervals(self) -> "DataFrame":
        """The 95 % CI of each score: the columns run, task, median, low and high. Raises InputError without pandas."""
        value = self.board.scale.value
        rows = [
            (row.name, column, value(score.median), *map(value, score.interval))
            for row in self._runs
            for column in self.board.columns
            if (score := row.score(column)) is not None and score.interval is not None
        ]
        return frame(("run", "task", "median", "low", "high"), rows)

    @property
    def tests(self) -> "DataFrame":
        """The paired tests, a row for each tested pair and each task or average: one, other, task, difference (one minus other), low, high (its 95 %
        CI), p (missing with too few seeds), p_holm (Holm's correction), verdict, verdict_holm, probability (that `one` is better). Needs pandas."""
        from mtl.reports.tables import COMPARISON_COLUMNS, comparison_rows

        return frame(COMPARISON_COLUMNS, comparison_rows(self.board))

    @property
    def ranks(self) -> "DataFrame":
        """The interval of each run's rank, 1 for the best: the columns name, task, low, high and runs. The confidence of 95 % is that of all
        intervals together. Runs on other examples than most have none; with references, there are none. Raises InputError without pandas."""
        from mtl.reports.tables import RANK_COLUMNS, rank_rows

        return frame(RANK_COLUMNS, rank_rows(self.board))

    def table(self) -> MarkdownText:
        """The scores beside the published rows, with marks and notes, and the paired tests, as in report.md."""
        from mtl.reports.markdown import scores_and_tests

        return MarkdownText(scores_and_tests(self.board))

    def plot(self, task: str = AVERAGE, ax: "Axes | None" = None) -> "Axes":
        """Draw each run's score with its 95 % CI, the scores of its seeds, and the published rows, the best on top. Return the axes.

        Args:
            task: a task's id, or "average".
            ax: where to draw; None: a new figure, which a notebook shows.

        Raises:
            InputError: for a task without scores, and if matplotlib is not installed."""
        return draw_scores(self.board, task, ax, self.named)

    @property
    def _runs(self) -> list["Row"]:
        return [row for row in self.board.rows if row.run]

    def __repr__(self) -> str:
        return f"Comparison({self.board.title}: {', '.join(row.name for row in self._runs)})"

    def _repr_markdown_(self) -> str:
        return self.table()._repr_markdown_()


@checked
def compare(
    runs: Compared | Collection[Compared] | Mapping[str, Compared],
    *,
    references: Collection[str] = (),
    cache_dir: str | PathLike[str] | None = CACHE,
) -> Comparison:
    """Compare finished runs on one suite: intervals of their scores, paired tests between them, and their ranks.

    Args:
        runs: runs, their folders, and folders of runs, in any mixture; or such by the name that the comparison gives them.
        references: names of the runs to test every run against; empty: every pair, or of many runs each against the best.
        cache_dir: resamples are kept there, so that the next comparison of the same runs is quick; None: not at all.

    Raises:
        mtl.InputError: for a folder without finished runs, runs on several suites, and names that are not there.

    Examples:
        >>> baselines = [mtl.run(suite="klej-sample", method=name, tasks=["cbd"]) for name in ("constant", "majority")]
        >>> comparison = mtl.compare(baselines)
        >>> comparison
        Comparison(KLEJ sample: constant, majority)
        >>> comparison.scores["cbd"].round(1).to_dict()
        {'constant': 46.2, 'majority': 0.0}
        >>> comparison.tests["difference"].round(1).tolist()
        [-46.2, -46.2]
    """
    from mtl.reports.leaderboard import by_suite, leaderboard
    from mtl.reports.report import check_references

    records = _records(runs)
    groups = by_suite(records)
    if len(groups) > 1:
        names = " and ".join(f"{same[0].suite.name} ({same[0].name})" for same in groups[:2])
        raise InputError(f"compare runs on one suite, with the same tasks and metrics; these are on {names}")
    check_references(references, records)
    resampled = None if cache_dir is None else Path(cache_dir, "resampled")
    return Comparison(leaderboard(records, SampleCache(resampled), references), isinstance(runs, Mapping))


@checked
def report(
    runs_dir: str | PathLike[str] = "runs",
    out: str | PathLike[str] = "report",
    *,
    references: Collection[str] = (),
    cache_dir: str | PathLike[str] | None = CACHE,
) -> Path:
    """Compare all that is finished below a folder, as `mtl report` does; write a page, Markdown, LaTeX and CSV, and return the page's path.

    Args:
        runs_dir: a folder of runs.
        out: the folder to write.
        references, cache_dir: as in `mtl.compare`.

    Raises:
        mtl.InputError: if there is no finished run, and for references that are not there.

    Examples:
        >>> _ = mtl.run(suite="klej-sample", method="constant", tasks=["cbd"])
        >>> mtl.report("runs", "report").name
        'index.html'
    """
    from mtl.reports.report import write_report

    cache = None if cache_dir is None else Path(cache_dir)
    return write_report(Path(runs_dir), Path(out), "mtl.report", cache, references)


def _records(runs: Compared | Collection[Compared] | Mapping[str, Compared]) -> list[finished.FinishedRun]:
    """The finished runs that are meant, each with a name of its own. Raises InputError."""
    listed = [runs] if isinstance(runs, Run | str | PathLike) else list(runs)
    if not listed:
        raise InputError("name one run or more", key="runs")
    if isinstance(runs, Mapping):
        named = []
        for name, compared in runs.items():
            records = _opened(compared)
            if len(records) > 1:
                raise InputError(f"holds {len(records)} runs; name one", key=f"runs.{name}", value=compared)
            named.append(replace(records[0], name=name))
        return named
    # The same run may be named twice; runs of equal names in other folders are told apart by their paths.
    by_path = {record.folder.path.resolve(): record for compared in listed for record in _opened(compared)}
    names = Counter(record.name for record in by_path.values())
    return [
        replace(record, name=record.folder.path.as_posix()) if names[record.name] > 1 else record
        for record in by_path.values()
    ]


def _opened(compared: Compared) -> Sequence[finished.FinishedRun]:
    """The finished runs that one argument means: at least one. Raises InputError."""
    if isinstance(compared, Run):
        return [compared.record]
    with errors_as_input("runs"):
        path = Path(compared)
    if (path / "config.yaml").exists() or not path.is_dir():
        return [finished.open_run(path)]
    if not (records := finished.find_runs(path)):
        raise InputError("holds no finished run; make one with mtl.run", path=path)
    return records
