"""The spread of one model over its settings (Berdicevskis et al. 2023, table 3)."""

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
    models: dict[tuple[Any, ...], list[FinishedRun]] = {}
    for run in runs:
        rows = tuple((task.id, run.rows_key(task)) for task in run.tasks)
        models.setdefault((run.summary["title"], rows), []).append(run)
    spreads = []
    for (title, _), alike in models.items():
        by_setting: dict[str, list[FinishedRun]] = {}
        for run in alike:
            by_setting.setdefault(repr(sorted(_setting(run).items())), []).append(run)
        settings = list(by_setting.values())
        if len(settings) < 2:
            continue
        configs = [_setting(same_setting[0]) for same_setting in settings]
        recorded = dict.fromkeys(key for config in configs for key in config)
        keys = [key for key in recorded if any(config.get(key) != configs[0].get(key) for config in configs)]
        deviations = {}
        for task in alike[0].tasks:
            scores = [[score for run in same_setting for score in run.dev_scores(task)] for same_setting in settings]
            if all(scores):
                deviations[task.id] = pstdev(map(median, scores))
        spreads.append(SettingsSpread(title, len(settings), keys, deviations, suite.mean(deviations)))
    return spreads


def _setting(run: FinishedRun) -> dict[str, Any]:
    """The values that make a run's setting, by dotted key: those that are not null, of the keys that its method reads."""
    read_keys, config = run.summary["reads"], run.summary["config"]
    keys = [key for key in config if matches(key, read_keys) and not matches(key, SAME_MODEL)]
    return {key: config[key] for key in keys if config[key] is not None}
