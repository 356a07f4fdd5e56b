"""Finished runs on KLEJ, made of predictions that are known."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from mtl.config.load import flatten_config, load_config, save_config, shipped
from mtl.runs.folder import RunFolder, write_json
from mtl.runs.submission import write_predictions
from mtl.runs.summary import summarize
from mtl.tasks.metrics import score
from mtl.tasks.suite import Task

ROWS = 60  # of each task's dev
CONSTANT = 5.0  # the score of each task's best constant answer

Predict = Callable[[Task, np.ndarray, np.random.Generator], np.ndarray]


def gold_of(task: Task) -> np.ndarray:
    """The dev targets: labels in turn, or whole numbers in the range."""
    count = 5 if task.is_regression else task.outputs
    return np.arange(ROWS) % count + (task.bounds[0] if task.is_regression else 0)


def right(share: float) -> Predict:
    """Predictions of which about this share are right and the others the least label or number."""

    def predict(task: Task, gold: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.where(rng.random(len(gold)) < share, gold, task.bounds[0] if task.is_regression else 0)

    return predict


def make_run(
    path: Path,
    predict: Predict,
    settings: Sequence[str] = (),
    tasks: Sequence[str] | None = None,
    seeds: Sequence[int] = (1, 2, 3),
    dev: str = "dev",
    reduced: Sequence[str] = (),
    recorded: bool = True,
) -> RunFolder:
    """A run folder as `mtl baseline` leaves it.

    dev: what the fingerprints of the dev rows say. reduced: tasks with a training row less than published.
    recorded: whether it says which dev rows belong together (DYK's, four by four) and which tasks share them (CDSC-E and -R).
    """
    config, suite = load_config(["suite=klej", f"seeds={list(seeds)}", *settings])
    folder, chosen = RunFolder(path), suite.choose(tasks)
    done = {}
    held_out = {task.id: list(range(2, ROWS + 2)) for task in chosen if task.files["dev"] is None}
    for seed in seeds:
        scores = {}
        for number, task in enumerate(chosen):
            gold = gold_of(task)
            predicted = predict(task, gold, np.random.default_rng([seed, number]))
            write_predictions(folder.predictions(seed, "dev", task.id), task, predicted.tolist(), "task")
            write_predictions(folder.gold(task.id), task, gold.tolist(), "task")
            scores[task.id] = score(task, torch.from_numpy(predicted), torch.from_numpy(gold))
        curve = [{"step": 10.0 * s, "dev/average": 5.0 * s, **{f"dev/{t.id}": 4.0 * s for t in chosen}} for s in (1, 2)]
        if config.method == "lstm":
            write_json(folder.pretrained(seed) / "done.json", {"curve": curve})
            first = {"step": 0.0, "dev/average": 4.5, f"dev/{chosen[0].id}": 4.5}
            write_json(folder.finetuned(seed, chosen[0].id) / "done.json", {"curve": [first, *curve]})
        cost = {
            "parameters": 2_000_000,
            "parameters_without_embeddings": 1_000_000,
            "pretrain_seconds": 100.0 * seed if config.method == "lstm" else None,
            "finetune_seconds": 65.0,
            "peak_memory": 2**30,
            "sentences_per_second": 310.4,
        }
        done[seed] = {"scores": scores, "cost": cost, "versions": {"mtl": "1", "torch": "2"}, "machine": "CPU: a"}
    rows = {t.id: {**t.rows, "train": t.rows["train"] - (t.id in reduced)} for t in chosen}
    summary = summarize(suite, chosen, config, done, rows, {task.id: CONSTANT for task in chosen})
    summary |= {"held_out": {id: len(lines) for id, lines in held_out.items()}, "config": flatten_config(config)}
    summary["inputs"] = {str(task.path("dev", Path()) or task.path("train", Path())): dev for task in chosen}
    summary["command"] = f"mtl baseline {' '.join(settings)}"
    save_config(config, folder.config)
    (path / "suite.yaml").write_bytes((shipped("configs") / "suite/klej.yaml").read_bytes())
    folder.held_out.write_text(json.dumps(held_out), encoding="utf-8")
    if recorded:
        groups = [row // 4 for row in range(ROWS)]
        dev_rows = {t.id: {"texts": t.folder, "groups": groups if t.id == "dyk" else None} for t in chosen}
        write_json(folder.dev_rows, dev_rows | {"cdsc-r": dev_rows["cdsc-e"]} if "cdsc-e" in dev_rows else dev_rows)
    write_json(folder.summary, summary)
    return folder
