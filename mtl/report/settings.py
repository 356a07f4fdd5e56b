"""How far the scores of one model depend on its settings ("sd over settings", Berdicevskis et al. 2023, table 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, pstdev
from typing import Any

from mtl.config.files import defaults
from mtl.config.schema import INDIFFERENT, Config
from mtl.embedders import EMBEDDERS
from mtl.methods import METHODS
from mtl.runs.finished import Run
from mtl.tasks.suite import Suite

# Keys whose values do not make another setting; a name that ends in a dot means all keys that begin with it.
SAME_MODEL = (*INDIFFERENT, "suite", "tasks", "seeds", "trainer.threads", "submission.")


@dataclass(frozen=True)
class SettingsSpread:
    """The spread of one model's dev scores × 100 over its settings.

    title: the model. settings: how many there are. keys: the keys of the configuration in which they differ. deviations: by task
    id, the population standard deviation of the settings' dev scores. average: its mean over the suite's averaged tasks among
    them; None if there are none.
    """

    title: str
    settings: int
    keys: Sequence[str]
    deviations: dict[str, float]
    average: float | None


def settings_spreads(runs: Sequence[Run], suite: Suite) -> list[SettingsSpread]:
    """The spread of each model of which two or more settings have scores on the same tasks and the same rows.

    Runs with the same title are runs of one model, as the runs of a sweep's grid are. The score of a setting is the median over its
    seeds; each seed's is that of its best checkpoint, as in the paper, which has one seed.
    """
    models: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        rows = tuple((task.id, run.rows_key(task)) for task in run.tasks)
        models.setdefault((run.summary["title"], rows), []).append(run)
    found = (_spread(title, of, suite) for (title, _), of in models.items())
    return [spread for spread in found if spread is not None]


def _spread(title: str, runs: Sequence[Run], suite: Suite) -> SettingsSpread | None:
    """The spread over the settings of these runs, which have the same tasks; None if all have the same setting."""
    settings: dict[str, list[Run]] = {}
    for run in runs:
        settings.setdefault(repr(sorted(_setting(run).items())), []).append(run)
    if len(settings) < 2:
        return None
    configs = [_setting(of[0]) for of in settings.values()]
    recorded = dict.fromkeys(key for config in configs for key in config)
    keys = [key for key in recorded if any(config.get(key) != configs[0].get(key) for config in configs)]
    deviations = {}
    for task in runs[0].tasks:
        scores = [[score for run in of for score in run.dev_scores(task)] for of in settings.values()]
        if all(scores):
            deviations[task.id] = pstdev(map(median, scores))
    return SettingsSpread(title, len(settings), keys, deviations, suite.mean(deviations))


def _setting(run: Run) -> dict[str, Any]:
    """The values that make a run's setting, by dotted key: those that its method reads and that are not null.

    A key that the run did not record, because it is of an older version, has its default. All keys of an unknown method count.
    """
    recorded = run.summary["config"]
    method = METHODS.get(str(run.summary["method"]))
    embeddings = EMBEDDERS.get(str(recorded.get("embeddings.name")))
    options = {} if embeddings is None else defaults(embeddings.options, "embeddings.")
    return {
        key: value
        for key, value in {**defaults(Config), **options, **recorded}.items()
        if value is not None and _makes_setting(key) and (method is None or method.reads_key(key))
    }


def _makes_setting(key: str) -> bool:
    return key not in SAME_MODEL and not key.startswith(tuple(name for name in SAME_MODEL if name.endswith(".")))
