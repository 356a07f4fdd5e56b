"""The leaderboard of all runs on one suite, beside the published rows."""

from collections.abc import Collection, Sequence

from mtl.base.log import logger
from mtl.base.wings import wings
from mtl.reports.board import Column, Leaderboard
from mtl.reports.breakdowns import breakdowns
from mtl.reports.metric_groups import metric_groups
from mtl.reports.notes import INTERVAL_NOTE, apart_notes, mark_notes, run_notes, tests_notes
from mtl.reports.pair_tests import pair_tests
from mtl.reports.rows import Row, by_family, single
from mtl.reports.run_rows import run_rows
from mtl.reports.settings_spreads import settings_spreads
from mtl.runs.finished import FinishedRun
from mtl.stats.samples import SampleCache
from mtl.tasks.metrics import metric_named
from mtl.tasks.suite import AVERAGE, Published, Suite
from mtl.tasks.task import Task


def by_suite(runs: Sequence[FinishedRun]) -> list[list[FinishedRun]]:
    """Runs grouped by suite: the same name, tasks, targets, metrics and average. Runs of a group may be scored on different rows."""
    groups: dict[str, list[FinishedRun]] = {}
    for run in runs:
        tasks = [(t.id, t.kind, t.metric, t.positive, t.labels, t.range) for t in run.suite.tasks.values()]
        groups.setdefault(repr((run.suite.name, tasks, run.suite.average_groups)), []).append(run)
    return list(groups.values())


def leaderboard(
    runs: Sequence[FinishedRun], cache: SampleCache | None = None, references: Collection[str] = ()
) -> Leaderboard:
    """The leaderboard of runs on one suite, with `references` as in `pair_tests`. Raises InputError if a run's file cannot be read."""
    suite = runs[0].suite
    published_rows = [_published_row(row, suite) for row in suite.published]
    rows = by_family([*run_rows(runs, cache or SampleCache(None)), *published_rows])
    for note in apart_notes(rows):
        logger.warning("%s", note)
    tests = pair_tests(rows, references)
    columns = {AVERAGE: Column("AVG", "mean"), **{task.id: _column(task, suite) for task in suite.tasks.values()}}
    wing_notes = [note for wing in wings() if wing.notes for note in wing.notes(columns, rows, tests, suite.shown)]
    return Leaderboard(
        name=suite.name,
        title=suite.title,
        scale=suite.shown,
        columns=columns,
        rows=rows,
        marks=mark_notes(suite, rows),
        notes=[INTERVAL_NOTE, *tests_notes(rows, tests), *wing_notes, *run_notes(suite, rows)],
        tests=tests,
        groups=metric_groups(suite, rows),
        breakdowns=breakdowns(rows),
        spreads=settings_spreads([row.run for row in rows if row.run], suite),
    )


def _column(task: Task, suite: Suite) -> Column:
    metric, averaged = metric_named(task.metric).title, task.id in suite.averaged
    average_group = next((ids[0] for ids in suite.average_groups if task.id in ids), "")
    return Column(task.title, metric, task.metric, task.id, averaged, average_group, task.labels, task.range)


def _published_row(row: Published, suite: Suite) -> Row:
    missing = suite.lacking(row.scores)
    return Row(
        name=row.model,
        label="published",
        family=row.family,
        split=row.split,
        scores={id: single(value) for id, value in row.scores.items()},
        means={} if row.average is None else {AVERAGE: single(row.average)},
        further={id: {metric: single(value) for metric, value in also.items()} for id, also in row.also.items()},
        missing=missing,
        marks={AVERAGE: "*" if missing else ""},
        causes={AVERAGE: {"*": missing}} if missing else {},
    )
