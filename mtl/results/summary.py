"""A run's scores in one dictionary, as summary.json has it."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from mtl.config import Config
from mtl.suite import Suite, Task

# What every summary of a finished run has.
KEYS = (
    *("suite", "method", "embeddings", "variant", "seeds", "split"),
    *("tasks", "average", "partial", "missing", "reduced", "held_out"),
    *("cost", "config", "inputs", "versions", "machine", "command"),
)


def summarize(
    suite: Suite,
    tasks: Sequence[Task],
    config: Config,
    seeds: Mapping[int, Mapping[str, Any]],
    rows: Mapping[str, Mapping[str, int]],
) -> dict[str, Any]:
    """The summary of a run.

    seeds: by seed what its scores.json says; scores are × 100 on dev. rows: by task id and split, as the files have them.
    `average` is the mean of the tasks' medians; `partial` says that tasks of the suite are missing, and `reduced`
    which tasks have other splits than the published ones.
    """
    by_task: dict[str, Any] = {}
    for task in tasks:
        scores = {str(seed): done["scores"][task.id] for seed, done in seeds.items()}
        by_task[task.id] = {
            "metric": task.metric,
            "scores": scores,
            "median": median(scores.values()),
            "min": min(scores.values()),
            "max": max(scores.values()),
            "rows": dict(rows[task.id]),
        }
    lstm = config.method == "lstm"
    return {
        "suite": suite.name,
        "method": config.method,
        "embeddings": config.embeddings.name if lstm else None,
        "variant": config.variant if lstm else None,
        "seeds": sorted(seeds),
        "split": "dev",
        "tasks": by_task,
        "average": fmean(values["median"] for values in by_task.values()),
        "partial": len(tasks) < len(suite.tasks),
        "missing": [id for id in suite.tasks if id not in by_task],
        "reduced": [task.id for task in tasks if task.rows and dict(task.rows) != dict(rows[task.id])],
        "cost": cost([done["cost"] for done in seeds.values()]),
        "versions": distinct([done["versions"] for done in seeds.values()]),
        "machine": distinct([done["machine"] for done in seeds.values()]),
    }


def cost(seeds: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """What one seed took: the median over the seeds; of memory the most."""
    total: dict[str, float | None] = {}
    for key in dict.fromkeys(key for seed in seeds for key in seed):
        known = [value for seed in seeds if (value := seed.get(key)) is not None]
        value = None if not known else max(known) if "memory" in key else median(known)
        total[key] = int(value) if value is not None and key.startswith("parameters") else value
    return total


def distinct(values: Sequence[Any]) -> list[Any]:
    """The different ones among what the seeds say, in their order."""
    return [value for place, value in enumerate(values) if value not in values[:place]]
