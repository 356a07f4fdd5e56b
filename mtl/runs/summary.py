"""A run's scores and costs in one dictionary, the content of summary.json."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from mtl.base.settings.schema import Config
from mtl.runs.records import MethodFacts, Summary
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


def summarize(
    suite: Suite,
    tasks: Sequence[Task],
    config: Config,
    method: MethodFacts,
    seeds: Mapping[int, Mapping[str, Any]],
    rows: Mapping[str, Mapping[str, int]],
    constants: Mapping[str, float],
    changed: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """The summary of a run, without what `sum_up` adds: from the facts of the method (`MethodKind.summary`), each seed's scores.json, and by task id
    the numbers of rows by split, the score × 100 of the best constant answer on the scored split, and the splits that have changed."""
    tasks = [task for task in tasks if task.is_scored]
    by_task = {task.id: _task_scores(task, seeds, constants[task.id], rows[task.id]) for task in tasks}
    resized = {task.id for task in tasks if _is_resized(task, rows[task.id])}
    only_changed = {id: list(splits) for id, splits in (changed or {}).items() if id in by_task and id not in resized}
    same_answer: dict[str, list[int]] = {}
    for seed in sorted(seeds):
        for id in seeds[seed]["same_answer"]:
            same_answer.setdefault(id, []).append(seed)
    return {
        "suite": suite.name, "method": config.method, **method, "seeds": sorted(seeds), "tasks": by_task,
        "average": suite.mean({id: record["median"] for id, record in by_task.items()}),
        "partial": bool(suite.lacking(by_task)), "missing": [id for id in suite.tasks if id not in by_task],
        "reduced": _reduced(tasks, config, {*resized, *only_changed}), "changed": only_changed,
        "not_above_constant": [id for id, record in by_task.items() if record["median"] <= record["constant"]],
        "same_answer": same_answer, "cost": cost([done["cost"] for done in seeds.values()]),
        "versions": distinct([done["versions"] for done in seeds.values()]),
        "machine": distinct([done["machine"] for done in seeds.values()]),
    }  # fmt: skip


def _is_resized(task: Task, rows: Mapping[str, int]) -> bool:
    """Whether the numbers of a task's rows, by split, are not the published ones."""
    published = {split: count for split, count in task.rows.items() if task.files[split] is not None}
    return bool(task.rows) and published != dict(rows)


def _reduced(tasks: Sequence[Task], config: Config, differing: set[str]) -> list[str]:
    """The tasks that are not scored on the published data. `differing` are those whose files have other sizes or other contents."""
    on_part = set(config.imported.rows)
    if config.choosing_share:  # other dev rows choose
        on_part |= {task.id for task in tasks if task.scored_split == "dev" and task.answered_by is None}
    return [task.id for task in tasks if task.id in on_part | differing or task.answered_by in differing]


def _task_scores(
    task: Task, seeds: Mapping[int, Mapping[str, Any]], constant: float, rows: Mapping[str, int]
) -> dict[str, Any]:
    """The content of `TaskScores`. Seeds that were trained before the task had a further metric lack its scores: then `also` lacks it."""
    scores = _seed_scores({seed: done["scores"][task.id] for seed, done in seeds.items()})
    record = {"metric": task.metric, "split": task.scored_split, **scores, "constant": constant, "rows": dict(rows)}
    by_seed = {seed: done.get("also", {}).get(task.id, {}) for seed, done in seeds.items()}
    further = {}
    for name in task.also or ():
        if all(name in by_metric for by_metric in by_seed.values()):
            further[name] = _seed_scores({seed: by_metric[name] for seed, by_metric in by_seed.items()})
    return {**record, "also": further} if further else record


def _seed_scores(scores: Mapping[int, float]) -> dict[str, Any]:
    """The content of `MetricScores`."""
    values = scores.values()
    by_seed = {str(seed): score for seed, score in scores.items()}
    return {"scores": by_seed, "median": median(values), "min": min(values), "max": max(values)}


def cost(seeds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The cost of one seed: the median over the seeds; for memory, the maximum. A cost that is not known is None."""
    total: dict[str, Any] = {}
    for key, values in _known_values(seeds).items():
        if "memory" in key or not values:
            total[key] = max(values, default=0) or None  # a peak memory of 0 bytes is not known
        else:
            total[key] = int(median(values)) if key.startswith("parameters") else median(values)
    return total


def joint_cost(models: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The cost of several models together: parameters and seconds are summed, memory is the largest, and a text takes the sum of their times."""
    total: dict[str, Any] = {}
    for key, values in _known_values(models).items():
        if "memory" in key or not values:
            total[key] = max(values, default=None)
        elif key == "sentences_per_second":
            total[key] = 1 / sum(1 / value for value in values)
        else:
            total[key] = sum(values)
    return total


def _known_values(costs: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """By key of these costs, the values that are known."""
    keys = dict.fromkeys(key for record in costs for key in record)
    return {key: [record[key] for record in costs if record.get(key) is not None] for key in keys}


def common_facts(summaries: Sequence[Summary]) -> dict[str, Any]:
    """What the runs that a run is made of have in common (no entry: they differ), what they have chosen on dev, and their machines."""
    common: dict[str, Any] = {}
    for key in ("embeddings", "variant", "architecture", "preset", "family"):
        values = {summary[key] for summary in summaries}
        if len(values) == 1:
            common[key] = values.pop()
    chosen = dict.fromkeys(summary["chosen_on_dev"] for summary in summaries if summary["chosen_on_dev"])
    machines = distinct([machine for summary in summaries for machine in summary["machine"]])
    return {**common, "chosen_on_dev": ", ".join(chosen), "machine": machines}


def distinct(values: Sequence[Any]) -> list[Any]:
    """The values without repetitions, in order of first occurrence."""
    return [value for number, value in enumerate(values) if value not in values[:number]]
