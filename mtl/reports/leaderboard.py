"""The leaderboard of all runs on one suite, beside the published rows, with the spread of a model over its settings (Berdicevskis et al. 2023)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean, median, pstdev
from typing import Any

from mtl.base.log import logger
from mtl.base.progress import progress
from mtl.base.settings.layers import matches
from mtl.base.settings.schema import INDIFFERENT
from mtl.base.wings import wings
from mtl.reports.board import Column, Group, GroupLine, Leaderboard, SettingsSpread
from mtl.reports.breakdowns import breakdowns
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

# Keys whose values do not make another setting; a name that ends in a dot means all keys that begin with it.
SAME_MODEL = (*INDIFFERENT, "suite", "tasks", "seeds", "trainer.threads", "submission.")


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
    wing_notes = [note for wing in wings() if wing.notes for note in wing.notes(columns, rows, tests, suite.shown)]
    return Leaderboard(
        suite.name, suite.title, suite.shown, columns, rows, marks=mark_notes(suite, rows),
        notes=[INTERVAL_NOTE, *tests_notes(rows, tests), *wing_notes, *run_notes(suite, rows)],
        tests=tests, groups=metric_groups(suite, rows), breakdowns=breakdowns(rows),
        spreads=settings_spreads([row.run for row in rows if row.run], suite),
    )  # fmt: skip


def by_suite(runs: Sequence[FinishedRun]) -> list[list[FinishedRun]]:
    """Runs grouped by suite: the same name, tasks, targets, metrics and average. Runs of a group may be scored on different rows."""
    groups: dict[str, list[FinishedRun]] = {}
    for run in runs:
        tasks = [(t.id, t.kind, t.metric, t.positive, t.labels, t.range) for t in run.suite.tasks.values()]
        groups.setdefault(repr((run.suite.name, tasks, run.suite.average_groups)), []).append(run)
    return list(groups.values())


def _column(task: Task, suite: Suite) -> Column:
    metric, averaged = metric_named(task.metric).title, task.id in suite.averaged
    group = next((ids[0] for ids in suite.average_groups if task.id in ids), "")
    return Column(task.title, metric, task.metric, task.id, averaged, group, task.labels, task.range)


def _published_row(row: Published, suite: Suite) -> Row:
    missing = suite.lacking(row.scores)
    return Row(
        name=row.model, label="published", family=row.family, split=row.split,
        scores={id: single(value) for id, value in row.scores.items()},
        means={} if row.average is None else {AVERAGE: single(row.average)},
        further={id: {name: single(value) for name, value in also.items()} for id, also in row.also.items()},
        missing=missing, marks={AVERAGE: "*" if missing else ""}, causes={AVERAGE: {"*": missing}} if missing else {},
    )  # fmt: skip


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
    """For each run, its tasks on other examples than most runs (than most on the published data, if any is), with the key of its examples."""
    by_split: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, run in enumerate(runs):
        for task in run.tasks:
            by_split[task.id, run.split(task)][run.examples_key(task)].append(number)
    apart: list[dict[str, str]] = [{} for _ in runs]
    for (id, _), by_examples in by_split.items():
        published = [key for key, numbers in by_examples.items() if id not in runs[numbers[0]].summary["reduced"]]
        main = max(published or by_examples, key=lambda key: len(by_examples[key]))
        for key in by_examples.keys() - {main}:
            for number in by_examples[key]:
                apart[number][id] = key
    return apart


def _run_row(run: FinishedRun, samples: Mapping[str, Sample], label: str, apart: Mapping[str, str]) -> Row:
    """The row of a run. `apart` is as in `Row`."""
    summary = run.summary
    scores: dict[str, Score] = {}
    further: dict[str, dict[str, Score]] = {}
    for task in run.tasks:
        record = summary["tasks"][task.id]
        scores[task.id] = _score(record, _interval(samples[task.id], lowest_score(task)))
        also = record.get("also", {})
        further[task.id] = {name: _score(also[name]) for name in also if is_metric(name)}
    means: dict[str, Score] = {}
    splits: dict[str, str] = {id: record["split"] for id, record in summary["tasks"].items()}
    comparable = {task.id: run.examples_key(task) for task in run.tasks}
    averaged = [id for id in run.suite.averaged if id in scores]
    if averaged:
        means[AVERAGE] = _average(run, samples[AVERAGE], averaged)
        splits[AVERAGE] = ", ".join(sorted({splits[id] for id in averaged}))
        comparable[AVERAGE] = repr([(id, comparable[id]) for id in averaged])
    causes = _causes_of_marks(run, averaged, apart)
    return Row(
        name=run.name, label=label, family=summary["family"],
        split=splits_text(summary), splits=splits, scores=scores, means=means, further=further,
        missing=run.suite.lacking(scores), reduced=summary["reduced"], apart=apart,
        marks={column: "".join(by_mark) for column, by_mark in causes.items()}, causes=causes,
        cost={key: summary["cost"].get(key) for key in RUN_COSTS},
        run=run, samples=samples, comparable=comparable,
    )  # fmt: skip


def _causes_of_marks(run: FinishedRun, averaged: Sequence[str], apart: Mapping[str, str]) -> Mapping[str, Causes]:
    """What causes the marks of a run's row, by column. `averaged` are the tasks of its average."""
    reduced, chosen = run.summary["reduced"], run.summary.get("chosen_on_scored", ())
    marked_tasks = {"†": {id: id for id in reduced}, "§": apart, "¶": {id: id for id in chosen}}
    causes: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    if missing := run.suite.lacking(run.summary["tasks"]):
        causes[AVERAGE]["*"] = missing
    for column, ids in [*((task.id, [task.id]) for task in run.tasks), (AVERAGE, averaged)]:
        for mark, tasks in marked_tasks.items():
            if keys := [tasks[id] for id in ids if id in tasks]:
                causes[column][mark] = keys
    return causes


def _average(run: FinishedRun, sample: Sample, averaged: Sequence[str]) -> Score:
    """The mean of the scores of these tasks, with its range over seeds and its interval."""
    lowest = run.suite.mean({id: lowest_score(run.suite.tasks[id]) for id in averaged}) or 0.0
    median = run.suite.mean({id: run.summary["tasks"][id]["median"] for id in averaged}) or 0.0
    return Score(median, float(sample.by_seed.min()), float(sample.by_seed.max()), _interval(sample, lowest))


def _score(record: MetricScores, interval: tuple[float, float] | None = None) -> Score:
    return Score(record["median"], record["min"], record["max"], interval)


def _interval(sample: Sample, least: float) -> tuple[float, float]:
    """The interval of a score, cut at the least and the highest value × 100 of the metric."""
    low, high = estimate(sample).interval
    return max(low, least), min(high, 100.0)


def metric_groups(suite: Suite, rows: Sequence[Row]) -> list[Group]:
    """The tasks that have scores by one metric, as their metric or as a further one (`also`), in the suite's order. Only groups that say more than
    the table of scores: those with further metrics, and, where the tasks of a suite differ in their metric, those with more than one task."""
    tasks = suite.tasks.values()
    main_metrics = list(dict.fromkeys(task.metric for task in tasks))
    further_metrics = dict.fromkeys(name for row in rows for scores in row.further.values() for name in scores)
    groups = []
    for metric in dict.fromkeys([*main_metrics, *further_metrics]):
        also = {id for row in rows for id, scores in row.further.items() if metric in scores}
        scored = [task for task in tasks if task.metric == metric or task.id in also]
        if not also and (len(main_metrics) == 1 or len(scored) == 1):
            continue
        columns = {task.id: task.title for task in scored}
        lines = [line for line in (_group_line(metric, scored, row) for row in rows) if line.scores]
        groups.append(Group(metric, metric_named(metric).title, columns, lines, has_mean=len(scored) > 1))
    return groups


def _group_line(metric: str, tasks: Sequence[Task], row: Row) -> GroupLine:
    """A row's scores by one metric. The mean is that of the medians; a row without all of the tasks has none."""
    scores = {}
    for task in tasks:
        by_metric = {**row.further.get(task.id, {}), task.metric: row.scores.get(task.id)}
        if score := by_metric.get(metric):
            scores[task.id] = score
    mean = fmean(score.median for score in scores.values()) if len(scores) == len(tasks) > 1 else None
    reduced = "†" if any(task.id in row.reduced for task in tasks) else ""
    apart = "§" if any(task.id in row.apart for task in tasks) else ""
    return GroupLine(row, scores, mean, reduced + apart)


def settings_spreads(runs: Sequence[FinishedRun], suite: Suite) -> list[SettingsSpread]:
    """The spread of each model of which two or more settings have scores on the same tasks and rows. Runs with one title are of one model, as those
    of a sweep's grid. The score of a setting is the median over its seeds, and that of a seed the one of its best checkpoint, as in the paper."""
    models: dict[tuple[Any, ...], dict[str, list[FinishedRun]]] = {}
    for run in runs:
        rows = tuple((task.id, run.rows_key(task)) for task in run.tasks)
        by_setting = models.setdefault((run.summary["title"], rows), {})
        by_setting.setdefault(repr(sorted(_setting(run).items())), []).append(run)
    return [
        _spread(title, list(by_setting.values()), suite)
        for (title, _), by_setting in models.items()
        if len(by_setting) > 1
    ]


def _spread(title: str, settings: Sequence[Sequence[FinishedRun]], suite: Suite) -> SettingsSpread:
    """The spread of one model over its settings, of each of which there are these runs."""
    configs = [_setting(runs[0]) for runs in settings]
    recorded = dict.fromkeys(key for config in configs for key in config)
    keys = [key for key in recorded if any(config.get(key) != configs[0].get(key) for config in configs)]
    deviations = {}
    for task in settings[0][0].tasks:
        scores = [[score for run in runs for score in run.dev_scores(task)] for runs in settings]
        if all(scores):
            deviations[task.id] = pstdev(map(median, scores))
    return SettingsSpread(title, len(settings), keys, deviations, suite.mean(deviations))


def _setting(run: FinishedRun) -> dict[str, Any]:
    """The values that make a run's setting, by dotted key: those that are not null, of the keys that its method reads."""
    read_keys, config = run.summary["reads"], run.summary["config"]
    keys = [key for key in config if matches(key, read_keys) and not matches(key, SAME_MODEL)]
    return {key: config[key] for key in keys if config[key] is not None}
