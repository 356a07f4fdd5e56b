"""A run's scores and costs in one dictionary, the content of summary.json."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.settings.schema import Config
from mtl.base.untrusted import AGAIN, Amount, Count, Score, Seed, read_json
from mtl.runs.folder import MethodFacts
from mtl.tasks.scale import Scale
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

CONSTANT_NOTE = "Best constant: the constant answer that scores best on train."


class MetricScores(TypedDict):
    """Scores × 100 by seed, with their median, minimum and maximum."""

    scores: dict[str, Score]
    median: Score
    min: Score
    max: Score


class TaskScores(MetricScores):
    """A task's scores."""

    metric: str
    split: Literal["dev", "test"]
    constant: Score  # × 100, of the best constant answer
    rows: dict[str, Count]  # by split
    also: NotRequired[dict[str, MetricScores]]  # the scores by further metrics, by name


class Beside(TypedDict):
    """A simple baseline in the table of a run: its scores × 100, by task."""

    title: str
    scores: Annotated[dict[str, Score], Meta(min_length=1)]


class Summary(MethodFacts):
    """The content of summary.json, to which a method may add facts."""

    suite: str
    method: str
    seeds: Annotated[list[Seed], Meta(min_length=1)]
    tasks: Annotated[dict[str, TaskScores], Meta(min_length=1)]
    average: (
        Score | None
    )  # the mean of the medians over the tasks that the suite averages; None if the run has none of them
    partial: bool  # whether one of these tasks is missing
    missing: list[str]  # all tasks of the suite that are not in the run
    # The tasks whose splits have other sizes than the published ones, or changed files, or that are scored on a part of their rows, or whose
    # head belongs to such a task.
    reduced: list[str]
    changed: dict[str, list[str]]  # the changed splits of those that have the published sizes
    not_above_constant: list[str]  # the tasks whose median is not above the score of the constant answer
    same_answer: dict[str, list[Seed]]  # by task, the seeds that predict the same for every scored row
    cost: dict[str, Amount | None]
    versions: list[dict[str, str]]
    machine: list[str]
    held_out: dict[str, Count]  # by task, the number of rows
    inputs: dict[str, str]  # fingerprints by name
    config: dict[str, Any]  # by dotted keys
    command: str
    notes: NotRequired[list[str]]
    beside: NotRequired[list[Beside]]
    maybe_trained_on: NotRequired[list[str]]
    settings: NotRequired[dict[str, str]]
    chosen_on_scored: NotRequired[list[str]]
    hidden_size: NotRequired[Count]


class SeedScores(TypedDict):
    """The content of a seed's scores.json. Scores are × 100, by task id."""

    scores: Annotated[dict[str, Score], Meta(min_length=1)]  # on the scored split
    average: Score | None  # `Suite.mean`
    also: dict[str, dict[str, Score]]  # of the tasks with further metrics, by the name of the metric
    dev_scores: dict[str, Score]
    choosing_scores: NotRequired[dict[str, Score]]  # on the dev rows that choose, of the tasks in which others do not
    same_answer: list[str]  # the tasks whose scored rows all have the same prediction
    seconds: Amount
    cost: dict[str, Amount | None]
    versions: dict[str, str]
    machine: str
    remarks: list[str]  # what the user of the submission should know, one line each


def read_summary(path: Path) -> Summary:
    """The summary of a finished run. Raises InputError if it is missing, of another form, or contradicts itself."""
    summary = read_json(path, Summary)
    if problem := _contradiction(summary):
        raise InputError(f"{problem}; {AGAIN}", path=path)
    return summary


def _contradiction(summary: Summary) -> str | None:
    """What in a summary does not fit its seeds and tasks, as "key: message", or None."""
    seeds, tasks = [str(seed) for seed in summary["seeds"]], summary["tasks"]
    if len(set(seeds)) < len(seeds):
        return "seeds: names a seed twice"
    for id, task in tasks.items():
        if any(set(scores["scores"]) != set(seeds) for scores in (task, *task.get("also", {}).values())):
            return f"tasks.{id}: its scores are not those of the seeds"
    for key in ("reduced", "changed", "not_above_constant", "same_answer", "held_out"):
        if unknown := [id for id in summary[key] if id not in tasks]:
            return f"{key}: {unknown[0]!r} is not one of the run's tasks"
    return None


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
    """The summary of a run, without what `mtl.jobs.baseline.sum_up` adds: from what the method says of itself
    (`mtl.methods.method_kind.MethodKind.summary`), the content of each seed's scores.json, and by task id the number of rows by split, the score
    × 100 of the best constant answer (`mtl.tasks.metrics`) on the scored split, and the splits whose files do not have the suite's checksums."""
    tasks = [task for task in tasks if task.is_scored]
    by_task = {task.id: _task_scores(task, seeds, constants[task.id], rows[task.id]) for task in tasks}
    published = {task.id: {name: n for name, n in task.rows.items() if task.files[name] is not None} for task in tasks}
    resized = {task.id for task in tasks if task.rows and published[task.id] != dict(rows[task.id])}
    changed = {id: list(splits) for id, splits in (changed or {}).items() if id in by_task and id not in resized}
    differing = {*resized, *changed}
    on_part = set(config.imported.rows)
    if config.choosing_share:  # other dev rows choose
        on_part |= {task.id for task in tasks if task.scored_split == "dev" and task.answered_by is None}
    same_answer: dict[str, list[int]] = {}
    for seed in sorted(seeds):
        for id in seeds[seed]["same_answer"]:
            same_answer.setdefault(id, []).append(seed)
    return {
        "suite": suite.name,
        "method": config.method,
        **method,
        "seeds": sorted(seeds),
        "tasks": by_task,
        "average": suite.mean({id: values["median"] for id, values in by_task.items()}),
        "partial": bool(suite.lacking(by_task)),
        "missing": [id for id in suite.tasks if id not in by_task],
        "reduced": [task.id for task in tasks if task.id in on_part or {task.id, task.answered_by} & differing],
        "changed": changed,
        "not_above_constant": [id for id, values in by_task.items() if values["median"] <= values["constant"]],
        "same_answer": same_answer,
        "cost": cost([done["cost"] for done in seeds.values()]),
        "versions": distinct([done["versions"] for done in seeds.values()]),
        "machine": distinct([done["machine"] for done in seeds.values()]),
    }


def _task_scores(
    task: Task, seeds: Mapping[int, Mapping[str, Any]], constant: float, rows: Mapping[str, int]
) -> dict[str, Any]:
    """The content of `TaskScores`. Seeds that were trained before the task had a further metric lack its scores: then `also` lacks it."""
    by_seed = {seed: done.get("also", {}).get(task.id, {}) for seed, done in seeds.items()}
    further = {
        name: _seed_scores({seed: scores[name] for seed, scores in by_seed.items()})
        for name in task.also or ()
        if all(name in scores for scores in by_seed.values())
    }
    return {
        "metric": task.metric,
        "split": task.scored_split,
        **_seed_scores({seed: done["scores"][task.id] for seed, done in seeds.items()}),
        "constant": constant,
        "rows": dict(rows),
        **({"also": further} if further else {}),
    }


def _seed_scores(scores: Mapping[int, float]) -> dict[str, Any]:
    """The content of `MetricScores`."""
    values = scores.values()
    by_seed = {str(seed): score for seed, score in scores.items()}
    return {"scores": by_seed, "median": median(values), "min": min(values), "max": max(values)}


def splits_text(summary: Mapping[str, Any]) -> str:
    """The splits that the tasks are scored on, as in "dev" or "dev, test"."""
    return ", ".join(sorted({task["split"] for task in summary["tasks"].values()}))


def cost(seeds: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """The cost of one seed: the median over the seeds; for memory, the maximum."""
    total: dict[str, float | None] = {}
    for key in dict.fromkeys(key for seed in seeds for key in seed):
        values = [value for seed in seeds if (value := seed.get(key)) is not None]
        if not values:
            total[key] = None
        elif "memory" in key:
            total[key] = max(values) or None  # a peak memory of 0 bytes is not known
        else:
            total[key] = int(median(values)) if key.startswith("parameters") else median(values)
    return total


def joint_cost(costs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The cost of several models together: parameters and seconds are summed, memory is the largest, and a text takes the sum of their times."""
    total: dict[str, Any] = {}
    for key in dict.fromkeys(key for cost in costs for key in cost):
        values = [value for cost in costs if (value := cost.get(key)) is not None]
        if not values:
            total[key] = None
        elif "memory" in key:
            total[key] = max(values)
        elif key == "sentences_per_second":
            total[key] = 1 / sum(1 / value for value in values)
        else:
            total[key] = sum(values)
    return total


def common_facts(summaries: Sequence[Summary]) -> dict[str, Any]:
    """What the runs that a run is made of have in common (no entry: they differ), what they have chosen on dev, and their machines."""
    common = {
        key: values.pop()
        for key in ("embeddings", "variant", "architecture", "preset", "family")
        if len(values := {summary[key] for summary in summaries}) == 1
    }
    chosen = dict.fromkeys(summary["chosen_on_dev"] for summary in summaries if summary["chosen_on_dev"])
    machines = distinct([machine for summary in summaries for machine in summary["machine"]])
    return {**common, "chosen_on_dev": ", ".join(chosen), "machine": machines}


def dev_score(path: Path, content: SeedScores, suite: Suite, task: str | None) -> float:
    """A seed's score × 100 on the dev rows that choose, from the content of its scores.json: that of a task (or of the one whose head
    answers it), or the suite's average; the mean of all tasks if the suite averages none of them."""
    scores = {**content["dev_scores"], **content.get("choosing_scores", {})}
    source = task if task is None or task in scores else suite.tasks[task].answered_by or task
    if not scores or (source is not None and source not in scores):
        raise InputError(f"has no score of {source or 'any task'}; name a seed", path=path, key="dev_scores")
    if source is not None:
        return scores[source]
    average = suite.mean(scores)
    return fmean(scores.values()) if average is None else average


def distinct(values: Sequence[Any]) -> list[Any]:
    """The values without repetitions, in order of first occurrence."""
    return [value for number, value in enumerate(values) if value not in values[:number]]


def below_constant(summary: Mapping[str, Any], scale: Scale) -> str:
    """The tasks not above their best constant answer, as in "dyk 12.2 (constant 27.4)"; empty for the constant answer itself."""
    if summary["is_constant"]:
        return ""
    show, tasks = scale.show, summary["tasks"]
    ids = summary["not_above_constant"]
    return ", ".join(f"{id} {show(tasks[id]['median'])} (constant {show(tasks[id]['constant'])})" for id in ids)


def same_answers(summary: Mapping[str, Any]) -> str:
    """The tasks for which a seed predicts the same for every scored row, with these seeds, as in "cdsc-r (seed 2)". Empty if there are none, and
    for the constant answer itself. A trained head does this if all its hidden units are saturated."""
    by_task = {} if summary["is_constant"] else summary["same_answer"]
    shown = {id: f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}" for id, seeds in by_task.items()}
    return ", ".join(f"{id} ({seeds})" for id, seeds in shown.items())
