"""The spread of a model's scores over its settings, such as those of a sweep's grid (Berdicevskis et al. 2023)."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median, pstdev
from typing import Any

from mtl.base.settings.layers import matches
from mtl.base.settings.schema import INDIFFERENT
from mtl.reports.board import SettingsSpread
from mtl.runs.finished import FinishedRun
from mtl.tasks.suite import Suite

# Keys whose values do not make another setting; a name that ends in a dot means all keys that begin with it.
SAME_MODEL = (*INDIFFERENT, "suite", "tasks", "seeds", "trainer.threads", "submission.")


def settings_spreads(runs: Sequence[FinishedRun], suite: Suite) -> list[SettingsSpread]:
    """The spread of each model of which two or more settings have scores on the same tasks and rows. Runs with one title are of one model, as those
    of a sweep's grid. The score of a setting is the median over its seeds, and that of a seed the one of its best checkpoint, as in the paper."""
    models: dict[tuple[Any, ...], dict[str, list[FinishedRun]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        scored_rows = tuple((task.id, run.rows_key(task)) for task in run.tasks)
        setting = repr(sorted(_setting(run).items()))
        models[run.summary["title"], scored_rows][setting].append(run)
    return [_spread(list(by_setting.values()), suite) for by_setting in models.values() if len(by_setting) > 1]


def _spread(settings: Sequence[Sequence[FinishedRun]], suite: Suite) -> SettingsSpread:
    """The spread of one model over its settings, of each of which there are these runs."""
    first_run = settings[0][0]
    deviations = {}
    for task in first_run.tasks:
        scores = [[score for run in runs for score in run.dev_scores(task)] for runs in settings]
        if all(scores):
            deviations[task.id] = pstdev(median(of_setting) for of_setting in scores)
    configs = [_setting(runs[0]) for runs in settings]
    recorded = dict.fromkeys(key for config in configs for key in config)
    keys = [key for key in recorded if any(config.get(key) != configs[0].get(key) for config in configs)]
    return SettingsSpread(first_run.summary["title"], len(settings), keys, deviations, suite.mean(deviations))


def _setting(run: FinishedRun) -> dict[str, Any]:
    """The values that make a run's setting, by dotted key: those that are not null, of the keys that its method reads."""
    read_keys, config = run.summary["reads"], run.summary["config"]
    keys = [key for key in config if matches(key, read_keys) and not matches(key, SAME_MODEL)]
    return {key: config[key] for key in keys if config[key] is not None}
