"""A run's scores in one dictionary, as summary.json has it."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from mtl.suite import Suite, Task


def summarize(
    suite: Suite,
    tasks: Sequence[Task],
    embeddings: str,
    variant: str,
    scores: Mapping[str, Mapping[int, float]],
    rows: Mapping[str, Mapping[str, int]],
) -> dict[str, Any]:
    """The summary of a run.

    scores: × 100 on dev, by task id and seed. rows: by task id and split, as the files have them.
    `average` is the mean of the tasks' medians; `partial` says that tasks of the suite are missing, and `reduced`
    which tasks have other splits than the published ones.
    """
    by_task: dict[str, Any] = {}
    for task in tasks:
        values = scores[task.id]
        by_task[task.id] = {
            "metric": task.metric,
            "scores": {str(seed): value for seed, value in values.items()},
            "median": median(values.values()),
            "min": min(values.values()),
            "max": max(values.values()),
            "rows": dict(rows[task.id]),
        }
    seeds = sorted(next(iter(scores.values())))
    return {
        "suite": suite.name,
        "embeddings": embeddings,
        "variant": variant,
        "seeds": seeds,
        "split": "dev",
        "tasks": by_task,
        "average": fmean(values["median"] for values in by_task.values()),
        "partial": len(tasks) < len(suite.tasks),
        "missing": [id for id in suite.tasks if id not in by_task],
        "reduced": [task.id for task in tasks if task.rows and dict(task.rows) != dict(rows[task.id])],
    }
