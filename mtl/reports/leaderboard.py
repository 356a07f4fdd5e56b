"""The leaderboard of all runs on one suite, beside the published rows."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mtl.base.log import logger
from mtl.base.progress import progress
from mtl.base.wings import wings
from mtl.reports.board import Column, Leaderboard
from mtl.reports.breakdowns import breakdowns
from mtl.reports.further_tables import metric_groups, settings_spreads
from mtl.reports.notes import INTERVAL_NOTE, apart_notes, mark_notes, run_notes, tests_notes
from mtl.reports.pair_tests import pair_tests
from mtl.reports.rows import RUN_COSTS, Causes, Row, Score, by_family, single
from mtl.runs.finished import FinishedRun
from mtl.runs.notes import splits_text
from mtl.runs.records import MetricScores
from mtl.stats.comparison import Sample, estimate
from mtl.stats.samples import SampleCache, samples_of
from mtl.tasks.metrics import is_metric, lowest_score, metric_named
from mtl.tasks.suite import AVERAGE, Published, Suite
from mtl.tasks.task import Task


def by_suite(runs: Sequence[FinishedRun]) -> list[list[FinishedRun]]:
    """Runs grouped by suite: the same name, tasks, targets, metrics and average. Runs of a group may be scored on different rows."""
    groups: dict[str, list[FinishedRun]] = {}
    for run in runs:
        suite_tasks = run.suite.tasks.values()
        tasks = [(task.id, task.kind, task.metric, task.positive, task.labels, task.range) for task in suite_tasks]
        # The key is a text, as labels and ranges are lists, which cannot be in a key.
        groups.setdefault(repr((run.suite.name, tasks, run.suite.average_groups)), []).append(run)
    return list(groups.values())


def leaderboard(
    runs: Sequence[FinishedRun], cache: SampleCache | None = None, references: Collection[str] = ()
) -> Leaderboard:
    """The leaderboard of runs on one suite, with `references` as in `pair_tests`. Raises InputError if a run's file cannot be read."""
    suite = runs[0].suite
    published_rows = [_published_row(row, suite) for row in suite.published]
    rows = by_family([*_run_rows(runs, cache or SampleCache(None)), *published_rows])
    for note in apart_notes(rows):
        logger.warning("%s", note)
    tests = pair_tests(rows, references)
    columns = {AVERAGE: Column("AVG", "mean"), **{task.id: _column(task, suite) for task in suite.tasks.values()}}
    notes = [INTERVAL_NOTE, *tests_notes(rows, tests)]
    for wing in wings():
        if wing.notes is not None:
            notes += wing.notes(columns, rows, tests, suite.shown)
    notes += run_notes(suite, rows)
    board = Leaderboard(suite.name, suite.title, suite.shown, columns, rows, mark_notes(suite, rows), notes, tests)
    spreads = settings_spreads([row.run for row in rows if row.run], suite)
    return replace(board, groups=metric_groups(suite, rows), breakdowns=breakdowns(rows), spreads=spreads)


def _column(task: Task, suite: Suite) -> Column:
    metric = metric_named(task.metric).title
    averaged = task.id in suite.averaged
    average_group = next((ids[0] for ids in suite.average_groups if task.id in ids), "")
    return Column(task.title, metric, task.metric, task.id, averaged, average_group, task.labels, task.range)


def _published_row(published: Published, suite: Suite) -> Row:
    missing = suite.lacking(published.scores)
    scores = {id: single(score) for id, score in published.scores.items()}
    means = {} if published.average is None else {AVERAGE: single(published.average)}
    further = {id: {name: single(score) for name, score in also.items()} for id, also in published.also.items()}
    row = Row(published.model, "published", published.family, published.split, scores, means, missing, further=further)
    return replace(row, marks={AVERAGE: "*"}, causes={AVERAGE: {"*": missing}}) if missing else row


def _run_rows(runs: Sequence[FinishedRun], cache: SampleCache) -> list[Row]:
    """The rows of runs. The label of a run is its title, with its name if another run has this title, too."""
    titles = Counter(run.summary["title"] for run in runs)
    rows = []
    for run, apart in zip(progress(runs, "resampling", "runs"), _tasks_apart(runs), strict=True):
        label, folder = run.summary["title"], run.summary["folder"]
        if titles[label] > 1 and run.name != folder:
            label += f", {run.name.removeprefix(folder + ',')}"
        rows.append(_run_row(run, samples_of(run, cache.reduced(run)), label, apart))
    return rows


def _tasks_apart(runs: Sequence[FinishedRun]) -> list[dict[str, str]]:
    """For each run, its tasks on other examples than most runs have (most of those on the published data, if any are), with its examples' key."""
    runs_by_examples: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, run in enumerate(runs):
        for task in run.tasks:
            runs_by_examples[task.id, run.split(task)][run.examples_key(task)].append(number)
    apart: list[dict[str, str]] = [{} for _ in runs]
    for (task_id, _), numbers in runs_by_examples.items():
        published = [key for key in numbers if task_id not in runs[numbers[key][0]].summary["reduced"]]
        usual = max(published or numbers, key=lambda key: len(numbers[key]))
        for key in numbers:
            if key != usual:
                for number in numbers[key]:
                    apart[number][task_id] = key
    return apart


def _run_row(run: FinishedRun, samples: Mapping[str, Sample], label: str, apart: Mapping[str, str]) -> Row:
    """The row of a run: its scores and means, then the marks of these, then what its costs and tests need. `apart` is as in `Row`."""
    summary = run.summary
    scores, further = dict[str, Score](), dict[str, dict[str, Score]]()
    for task in run.tasks:
        record = summary["tasks"][task.id]
        scores[task.id] = _score(record, _interval(samples[task.id], lowest_score(task)))
        also = record.get("also", {})
        further[task.id] = {metric: _score(scored) for metric, scored in also.items() if is_metric(metric)}
    splits: dict[str, str] = {id: record["split"] for id, record in summary["tasks"].items()}
    comparable = {task.id: run.examples_key(task) for task in run.tasks}
    means = {}
    averaged = [id for id in run.suite.averaged if id in summary["tasks"]]
    if averaged:
        means[AVERAGE] = _average(run, samples[AVERAGE], averaged)
        splits[AVERAGE] = ", ".join(sorted({splits[id] for id in averaged}))
        comparable[AVERAGE] = repr([(id, comparable[id]) for id in averaged])
    row = Row(run.name, label, summary["family"], splits_text(summary), scores, means, splits=splits, further=further)
    causes = _causes_of_marks(run, averaged, apart)
    marks = {column: "".join(by_mark) for column, by_mark in causes.items()}
    missing = run.suite.lacking(summary["tasks"])
    row = replace(row, missing=missing, reduced=summary["reduced"], apart=apart, marks=marks, causes=causes)
    cost = {key: summary["cost"].get(key) for key in RUN_COSTS}
    return replace(row, cost=cost, run=run, samples=samples, comparable=comparable)


def _score(record: MetricScores, interval: tuple[float, float] | None = None) -> Score:
    return Score(record["median"], record["min"], record["max"], interval)


def _average(run: FinishedRun, sample: Sample, averaged: Sequence[str]) -> Score:
    mean = run.suite.mean({id: run.summary["tasks"][id]["median"] for id in averaged})
    lowest = run.suite.mean({id: lowest_score(run.suite.tasks[id]) for id in averaged})
    assert mean is not None and lowest is not None  # there are such tasks
    return Score(mean, float(sample.by_seed.min()), float(sample.by_seed.max()), _interval(sample, lowest))


def _interval(sample: Sample, lowest: float) -> tuple[float, float]:
    """The interval of a score, cut at the lowest and the highest value × 100 of the metric."""
    low, high = estimate(sample).interval
    return max(low, lowest), min(high, 100.0)


def _causes_of_marks(run: FinishedRun, averaged: Sequence[str], apart: Mapping[str, str]) -> dict[str, Causes]:
    """What causes each mark of a run's row (`Row.mark`), by column. Its average, which is over `averaged`, has the marks of these tasks, too."""
    causes_by_mark = {"†": {id: id for id in run.summary["reduced"]}, "§": apart}  # by mark, then by task
    causes: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    if missing := run.suite.lacking(run.summary["tasks"]):
        causes[AVERAGE]["*"] = missing
    tasks_by_column = {**{task.id: [task.id] for task in run.tasks}, AVERAGE: averaged}
    for column, tasks in tasks_by_column.items():
        for mark, causes_by_task in causes_by_mark.items():
            if column_causes := [causes_by_task[task] for task in tasks if task in causes_by_task]:
                causes[column][mark] = column_causes
    return dict(causes)
