"""Finished runs made of predictions that are known."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.files import write_json, write_text
from mtl.base.settings.layers import find_yaml, flatten_config, save_config
from mtl.base.settings.schema import Config
from mtl.jobs.job import Job, load_job, parse_settings
from mtl.methods import METHODS
from mtl.runs.folder import FORMAT, RunFolder, finetune_folder, pretrain_folder
from mtl.runs.records import MethodFacts
from mtl.runs.summary import summarize
from mtl.submissions.format import write_predictions
from mtl.tasks.metrics import further_scores, score
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task
from mtl.training.checkpoints import DONE_FILE

ROWS = 60  # of each task's scored split
CONSTANT = 5.0  # the score of each task's best constant answer
CANDIDATES = 4  # of each row of a choice
VALUES = ("", "a", "b; a", "c")  # of a breakdown's column, in turn

Predict = Callable[[Task, np.ndarray, np.random.Generator], np.ndarray]


def facts(config: Config, suite: Suite) -> MethodFacts:
    """What the configured method says of itself in a summary."""
    return METHODS[config.method].summary(config, suite)


def summary_of(
    job: Job,
    seeds: Mapping[int, Mapping[str, Any]],
    tasks: Sequence[Task] | None = None,
    rows: Mapping[str, Mapping[str, int]] | None = None,
    constants: Mapping[str, float] | None = None,
    changed: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """The summary of seeds whose scores.json say this; unless told otherwise, on the published numbers of rows, with constants of 0."""
    tasks = job.tasks if tasks is None else tasks
    sizes = {task.id: (rows or {}).get(task.id, task.rows) for task in tasks}
    constants = {**dict.fromkeys(sizes, 0.0), **(constants or {})}
    return summarize(job.suite, tasks, job.config, facts(job.config, job.suite), seeds, sizes, constants, changed)


def answers_of(task: Task) -> np.ndarray:
    """Some answers to the task, all different: its labels, whole numbers in its range, candidates, or words."""
    number = task.bounds[0] + np.arange(5) if task.range else ()
    answers = {"labels": range(len(task.labels or ())), "number": number, "choice": range(CANDIDATES)}
    answers["word"] = ["cold", "small", "slow"]
    return np.array(answers[task.kind], dtype=target_kind(task).dtype)


def gold_of(task: Task) -> np.ndarray:
    """The targets of the scored rows: the answers in turn."""
    answers = answers_of(task)[:5]
    return answers[np.arange(ROWS) % len(answers)]


def right(share: float) -> Predict:
    """Predictions of which about this share are right and the others the first answer."""

    def predict(task: Task, gold: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.where(rng.random(len(gold)) < share, gold, answers_of(task)[0])

    return predict


def make_run(
    path: Path,
    predict: Predict,
    settings: Sequence[str] = (),
    tasks: Sequence[str] | None = None,
    seeds: Sequence[int] = (1, 2, 3),
    dev: str = "dev",
    reduced: Sequence[str] = (),
) -> RunFolder:
    """A run folder as `mtl baseline` leaves it, of KLEJ unless `settings` name another suite.

    DYK's rows belong together, four by four, and CDSC-E and -R share theirs.

    dev: what the scored rows are; other ones are other rows. reduced: tasks with a training row less than published.
    """
    job = _job((*settings, f"seeds={list(seeds)}"))
    folder, chosen = RunFolder(path), job.suite.choose(tasks)
    held_out = {t.id: list(range(2, ROWS + 2)) for t in chosen if t.scored_split == "dev" and t.files["dev"] is None}
    done = {seed: _make_seed(folder, job, chosen, predict, seed) for seed in seeds}
    rows = {t.id: {**(t.rows or {t.scored_split: ROWS})} for t in chosen}
    for id in reduced:
        rows[id]["train"] -= 1
    summary = summary_of(job, done, chosen, rows, dict.fromkeys(rows, CONSTANT))
    summary |= {"held_out": {id: len(lines) for id, lines in held_out.items()}, "config": flatten_config(job.config)}
    files = [task.path(task.scored_split, Path()) or task.path("train", Path()) for task in chosen]
    summary["inputs"] = {file.as_posix(): dev for file in files if file}
    if job.config.method == "lstm":
        summary["hidden_size"] = job.config.encoder.hidden_size
    summary["command"] = f"mtl baseline {' '.join(settings)}"
    save_config(job.config, folder.config)
    write_text(folder.suite, find_yaml("suite", job.config.suite).read_text(encoding="utf-8"))
    write_json(folder.inputs, {"format": FORMAT, **summary["inputs"]})
    write_text(folder.held_out, json.dumps(held_out) + "\n")
    write_text(folder.scored_rows, json.dumps({task.id: _recorded_rows(task, dev) for task in chosen}) + "\n")
    write_json(folder.summary, summary)
    return folder


@cache
def _job(settings: tuple[str, ...]) -> Job:
    return load_job({"suite": "klej", **parse_settings(settings)})


def _make_seed(folder: RunFolder, job: Job, tasks: Sequence[Task], predict: Predict, seed: int) -> Mapping[str, Any]:
    """Write a seed's predictions, learning curves and scores.json; return the content of the last."""
    scores, also = {}, {}
    for number, task in enumerate(tasks):
        gold = gold_of(task)
        predicted = predict(task, gold, np.random.default_rng([seed, number]))
        write_predictions(folder.predictions(seed, task.scored_split, task.id), task, predicted, "task")
        write_predictions(folder.gold(task.scored_split, task.id), task, gold, "task")
        rows = ScoredRows(gold, columns=columns_of(task))
        scores[task.id] = score(task, predicted, rows)
        if found := further_scores(task, predicted, rows):
            also[task.id] = found
    lstm = job.config.method == "lstm"
    if lstm:
        _write_curves(folder, tasks, seed)
    parameters = 40_000 * job.config.encoder.hidden_size
    cost = {"finetune_seconds": 65.0, "peak_memory": 2**30, "sentences_per_second": 310.4}
    cost |= {"parameters": parameters + 9_000_000 if lstm else 500, "pretrain_seconds": 100.0 * seed if lstm else None}
    cost |= {"parameters_without_embeddings": parameters if lstm else 500}
    on_dev = {task.id: scores[task.id] for task in tasks if task.scored_split == "dev"}
    done = {"scores": scores, "average": job.suite.mean(scores), "also": also, "dev_scores": on_dev, "same_answer": []}
    done |= {"cost": cost, "seconds": 165.0, "machine": "CPU: a", "versions": {"mtl": "1", "torch": "2"}, "remarks": []}
    write_json(folder.scores(seed), done)
    return done


def _write_curves(folder: RunFolder, tasks: Sequence[Task], seed: int) -> None:
    """Both stages of an LSTM: two validations of each, and in stage 2 one before the first step."""
    trained = [task for task in tasks if task.answered_by is None]
    curve = [
        {"step": 10, "seconds": 1.0, "train/loss": 0.5, "dev/average": 5.0, **{f"dev/{t.id}": 4.0 for t in trained}},
        {"step": 20, "seconds": 2.0, "train/loss": 0.4, "dev/average": 10.0, **{f"dev/{t.id}": 8.0 for t in trained}},
    ]
    _write_record(pretrain_folder(folder.seed(seed)) / DONE_FILE, curve)
    for task in trained:
        first = {"step": 0, "seconds": 0.0, "dev/average": 4.5, f"dev/{task.id}": 4.5}
        scores = [{"dev/average": 5.0 * n, f"dev/{task.id}": 5.0 * n} for n in (1, 2)]
        after = [{"step": 10 * n, "seconds": n, "train/loss": 0.3, **of} for n, of in enumerate(scores, start=1)]
        _write_record(finetune_folder(folder.seed(seed), task.id) / DONE_FILE, [first, *after])


def _write_record(path: Path, curve: list[dict[str, float]]) -> None:
    write_json(path, {"seconds": curve[-1]["seconds"], "peak_memory": 2**30, "curve": curve})


def _recorded_rows(task: Task, rows: str) -> dict[str, Any]:
    recorded: dict[str, Any] = {
        "texts": f"{rows} of {task.id.replace('cdsc-r', 'cdsc-e')}",
        "groups": [row // 4 for row in range(ROWS)] if task.id == "dyk" else None,
    }
    if task.further_columns:
        recorded["columns"] = columns_of(task)
    return recorded if task.candidates is None else {**recorded, "candidates": [CANDIDATES] * ROWS}


def columns_of(task: Task) -> dict[str, list[str]]:
    """The further columns of the scored rows: VALUES in a column of the breakdown, elsewhere triples of rows."""
    of_breakdown = {name: [VALUES[row % len(VALUES)] for row in range(ROWS)] for name in task.breakdown or ()}
    return {**{name: [f"t{row // 3}" for row in range(ROWS)] for name in task.columns or ()}, **of_breakdown}
