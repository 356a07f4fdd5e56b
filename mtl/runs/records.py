"""The records that a run leaves in its folder: the forms of its JSON files, which are checked when they are read."""

from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.untrusted import AGAIN, Amount, Count, Score, Seed, read_json
from mtl.tasks.suite import Suite


class MethodFacts(TypedDict):
    """What summary.json says of the method of a run. The first four are settings; None if the method does not have the setting."""

    embeddings: str | None
    variant: str | None
    architecture: str | None
    preset: str | None
    family: str  # the group of its row in tables
    title: str  # the title of its row
    folder: str  # the default name of its folder, in the folder of the suite
    chosen_on_dev: str  # the name in tables for what was chosen on dev; empty if nothing was
    is_constant: bool  # whether the method is the best constant answer, with which tables compare other methods
    is_one_system: bool  # whether a seed is a system whose significance tests need no further seeds
    reads: list[str]  # the keys of the configuration that it reads; one that ends in a dot: all keys that begin with it
    unanswered: list[str]  # ids of the suite's tasks that it cannot answer


class MetricScores(TypedDict):
    """Scores × 100 by seed, with their median, minimum and maximum."""

    scores: dict[str, Score]
    median: Score
    min: Score
    max: Score


class TaskScores(MetricScores):
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
    average: Score | None  # of the medians, over the tasks that the suite averages; None if the run has none of them
    partial: bool  # whether one of these tasks is missing
    missing: list[str]  # all tasks of the suite that are not in the run
    # The tasks with other split sizes than the published ones or changed files, scored on a part of their rows, or answered by such a task's head.
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
    hidden_size: NotRequired[Count]


class FinishedSeeds(TypedDict):
    """What the content of summary.json says of seeds; `Summary` is all of it."""

    seeds: Annotated[list[Seed], Meta(min_length=1)]


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


class StageRecord(TypedDict):
    """The content of a finished stage's done.json."""

    seconds: Amount  # how long the stage took
    peak_memory: Count  # in bytes
    # The learning curve, a row for each validation, with scores × 100 by `dev/TASK`.
    curve: Annotated[list[dict[str, Annotated[float, Meta(ge=-1e300, le=1e300)]]], Meta(min_length=1)]
    key: NotRequired[str]  # of a stage 1 (`mtl.methods.lstm.stage1`)
    trained_in: NotRequired[str]  # the folder of the stage 1 that this one is a copy of


class Chosen(TypedDict):
    """What a floor has chosen for a task."""

    settings: dict[str, Any]  # the settings with the best score on dev
    seconds: Amount  # how long the choice took
    peak_memory: NotRequired[Count]  # in bytes


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


def read_stage(path: Path) -> StageRecord:
    """The record of a finished stage. Raises InputError if it is missing or of another form."""
    record = read_json(path, StageRecord)
    if not all({"step", "dev/average"} <= set(row) for row in record["curve"]):
        raise InputError(f"a row has no step or no dev/average; {AGAIN}", path=path, key="curve")
    return record


def dev_score(path: Path, content: SeedScores, suite: Suite, task: str | None) -> float:
    """A seed's score × 100 on the dev rows that choose: of the task or the one that answers it; without a task the average, else the mean of all."""
    scores = {**content["dev_scores"], **content.get("choosing_scores", {})}
    source = task if task is None or task in scores else suite.tasks[task].answered_by or task
    if not scores or (source is not None and source not in scores):
        raise InputError(f"has no score of {source or 'any task'}; name a seed", path=path, key="dev_scores")
    if source is not None:
        return scores[source]
    average = suite.mean(scores)
    return fmean(scores.values()) if average is None else average
