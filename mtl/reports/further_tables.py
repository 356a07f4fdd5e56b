"""Tables that a leaderboard has beside its scores: scores by one metric, and the spread of models over their settings (Berdicevskis et al. 2023)."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, median, pstdev
from typing import Any

from mtl.base.settings.layers import matches
from mtl.base.settings.schema import INDIFFERENT
from mtl.reports.board import Group, GroupLine, SettingsSpread
from mtl.reports.rows import Row
from mtl.runs.finished import FinishedRun
from mtl.tasks.metrics import metric_named
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

# Keys whose values do not make another setting; a name that ends in a dot means all keys that begin with it.
SAME_MODEL = (*INDIFFERENT, "suite", "tasks", "seeds", "trainer.threads", "submission.")


def metric_groups(suite: Suite, rows: Sequence[Row]) -> list[Group]:
    """The tasks that have scores by one metric, as their metric or as a further one (`also`), in the suite's order. Only groups that say more than
    the table of scores: those with further metrics, and, where the tasks of a suite differ in their metric, those with more than one task."""
    tasks = suite.tasks.values()
    main_metrics = dict.fromkeys(task.metric for task in tasks)
    further_metrics = dict.fromkeys(metric for row in rows for scores in row.further.values() for metric in scores)
    groups = []
    for metric in {**main_metrics, **further_metrics}:
        also = {id for row in rows for id, scores in row.further.items() if metric in scores}
        scored = [task for task in tasks if task.metric == metric or task.id in also]
        if also or (len(main_metrics) > 1 and len(scored) > 1):
            lines = [line for line in (_line(metric, scored, row) for row in rows) if line.scores]
            columns = {task.id: task.title for task in scored}
            groups.append(Group(metric, metric_named(metric).title, columns, lines, has_mean=len(scored) > 1))
    return groups


def _line(metric: str, tasks: Sequence[Task], row: Row) -> GroupLine:
    """A row's scores by one metric. The mean is that of the medians; a row without all of the tasks has none."""
    scores = {}
    for task in tasks:
        score = row.scores.get(task.id) if task.metric == metric else row.further.get(task.id, {}).get(metric)
        if score is not None:
            scores[task.id] = score
    mean = fmean(score.median for score in scores.values()) if len(scores) == len(tasks) > 1 else None
    marks = [mark for mark, ids in {"†": row.reduced, "§": row.apart}.items() if any(task.id in ids for task in tasks)]
    return GroupLine(row, scores, mean, "".join(marks))


def settings_spreads(runs: Sequence[FinishedRun], suite: Suite) -> list[SettingsSpread]:
    """The spread of each model of which two or more settings have scores on the same tasks and rows. Runs with one title are of one model, as those
    of a sweep's grid. The score of a setting is the median over its seeds, and that of a seed the one of its best checkpoint, as in the paper."""
    models: dict[tuple[Any, ...], dict[str, list[FinishedRun]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        scored_rows = tuple((task.id, run.rows_key(task)) for task in run.tasks)
        models[run.summary["title"], scored_rows][repr(sorted(_setting(run).items()))].append(run)
    return [_spread(list(by_setting.values()), suite) for by_setting in models.values() if len(by_setting) > 1]


def _spread(settings: Sequence[Sequence[FinishedRun]], suite: Suite) -> SettingsSpread:
    """The spread of one model over its settings; `settings` are the runs of each."""
    first_run = settings[0][0]
    deviations = {}
    for task in first_run.tasks:
        scores = [[score for run in runs for score in run.dev_scores(task)] for runs in settings]
        if all(scores):
            deviations[task.id] = pstdev(map(median, scores))
    configs = [_setting(runs[0]) for runs in settings]
    recorded = dict.fromkeys(key for config in configs for key in config)
    keys = [key for key in recorded if any(config.get(key) != configs[0].get(key) for config in configs)]
    return SettingsSpread(first_run.summary["title"], len(settings), keys, deviations, suite.mean(deviations))


def _setting(run: FinishedRun) -> dict[str, Any]:
    """The values that make a run's setting, by dotted key: those that are not null, of the keys that its method reads."""
    read_keys, config = run.summary["reads"], run.summary["config"]
    keys = [key for key in config if matches(key, read_keys) and not matches(key, SAME_MODEL)]
    return {key: config[key] for key in keys if config[key] is not None}
