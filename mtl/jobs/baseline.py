"""The whole job: every seed, its predictions, summary and table."""

import json
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from mtl.config.load import Config, data_dir, find_yaml, flatten_config, run_dir, shipped
from mtl.data.dataset import Dataset, fingerprints, load_dataset
from mtl.data.splits import missing_tasks
from mtl.device import check_precision, device_of, exact_arithmetic
from mtl.files import write_text
from mtl.jobs.parallel import run_in_parallel
from mtl.jobs.provenance import machine, versions
from mtl.memory import keep_memory
from mtl.methods.method import Method, new_method
from mtl.runs.folder import RunFolder, read_json, write_json
from mtl.runs.submission import write_predictions, write_submission
from mtl.runs.summary import summarize
from mtl.runs.table import render
from mtl.sample.grammar import write_sample
from mtl.tasks.constant import best_constant, constant_score
from mtl.tasks.metrics import score
from mtl.tasks.suite import Suite

logger = logging.getLogger("mtl")


@exact_arithmetic()
def run_baseline(config: Config, suite: Suite, command: str = "") -> dict[str, Any]:
    """Run what the configuration says, or what of it is not done yet; return the summary.

    command: what the summary says that made it. Raises InputError for bad data, a run folder of another configuration,
    or one that another process holds; DivergedError for training that diverges.
    """
    folder = RunFolder(run_dir(config, suite))
    tasks = suite.choose(config.tasks)
    data = data_dir(config, suite)
    if not folder.summary.exists():  # a finished run needs no device
        check_precision(config.trainer.precision, device_of(config.trainer.accelerator))
    with folder.locked():
        folder.check(config)
        if folder.summary.exists():
            folder.check_inputs(fingerprints(suite, tasks, data))
            logger.info("%s: this run is finished; remove the folder to run it again", folder.path)
            return read_json(folder.summary)
        if suite.generated and len(missing_tasks(suite, data)) == len(suite.tasks):
            logger.info("writing the suite's data to %s", data)
            write_sample(data)
        dataset, method = prepare(config, suite)
        inputs = {**dataset.fingerprints, **method.fingerprints}
        folder.claim(config, inputs)
        _record(folder, config, dataset)
        method.record(folder)
        waiting = [seed for seed in config.seeds if not folder.scores(seed).exists()]
        if config.seeds_in_parallel > 1 and len(waiting) > 1:
            run_in_parallel(run_apart, config, suite, waiting)
        done = {seed: run_seed(config, dataset, method, seed, folder) for seed in config.seeds}
        summary = summarize(suite, tasks, config, done, dataset.rows(), _constants(dataset))
        summary["held_out"] = {task: len(lines) for task, lines in dataset.held_out.items()}
        summary |= method.facts
        summary |= {"inputs": inputs, "config": flatten_config(config), "command": command}
        write_text(folder.table, render(summary, suite))
        write_json(folder.summary, summary)
        return summary


def prepare(config: Config, suite: Suite) -> tuple[Dataset, Method]:
    """Read and tokenize the data and make the method ready, from the caches where they are there.

    Raises InputError for bad data, and for what the method lacks.
    """
    if device_of(config.trainer.accelerator).type == "cpu":
        keep_memory()
    if config.trainer.threads:
        torch.set_num_threads(config.trainer.threads)
    tasks = suite.choose(config.tasks)
    data = data_dir(config, suite)
    dataset = load_dataset(suite, tasks, data, config.max_length, config.held_out, Path(config.cache_dir))
    logger.info("%d tasks, %d distinct texts, %d tokens", len(tasks), len(dataset.texts), len(dataset.texts.tokens))
    return dataset, new_method(config, suite, dataset, run_dir(config, suite))


@exact_arithmetic()
def run_apart(config: Config, suite: Suite, seed: int) -> None:
    """One seed in a process of its own, which has its share of the threads from its environment."""
    logger.setLevel(logging.WARNING)  # of what it reads the first process has spoken
    dataset, method = prepare(replace(config, trainer=replace(config.trainer, threads=None)), suite)
    logger.setLevel(logging.INFO)
    run_seed(config, dataset, method, seed, RunFolder(run_dir(config, suite)))


def run_seed(config: Config, dataset: Dataset, method: Method, seed: int, folder: RunFolder) -> dict[str, Any]:
    """One seed's predictions, submission, scores and cost.

    Returns what scores.json says: scores (× 100 on dev, by task id), average, seconds, cost, versions, machine.
    """
    done = folder.scores(seed)
    if done.exists():
        return read_json(done)
    start = time.monotonic()
    scores = {}
    for task, predictions in method.predictions(seed, folder):
        gold = torch.from_numpy(dataset.splits[task.id]["dev"].targets)
        scores[task.id] = score(task, torch.from_numpy(predictions["dev"]), gold)
        for split, values in predictions.items():
            write_predictions(folder.predictions(seed, split, task.id), task, values.tolist(), config.submission.header)
    write_submission(
        folder.submission(seed),
        [folder.predictions(seed, "test", t.id) for t in dataset.tasks if "test" in dataset.splits[t.id]],
    )
    average = sum(scores.values()) / len(scores)
    seconds = time.monotonic() - start
    number = f"{config.seeds.index(seed) + 1}/{len(config.seeds)}"
    logger.info(
        "seed %d (%s) · %s · average %.1f", seed, number, ", ".join(f"{t} {s:.1f}" for t, s in scores.items()), average
    )
    result = {
        "scores": scores,
        "average": average,
        "seconds": seconds,
        "cost": method.cost(seed, folder),
        "versions": versions(),
        "machine": machine(device_of(config.trainer.accelerator)),
    }
    write_json(done, result)
    return result


def _constants(dataset: Dataset) -> dict[str, float]:
    """The score on dev of each task's best constant answer on its training rows, by task id."""
    scores = {}
    for task in dataset.tasks:
        splits = dataset.splits[task.id]
        scores[task.id] = constant_score(task, best_constant(task, splits["train"].targets), splits["dev"].targets)
    return scores


def _record(folder: RunFolder, config: Config, dataset: Dataset) -> None:
    """Keep what later commands read: the suite file, which rows are held out, and the groups and targets of the dev rows."""
    suite_file = find_yaml("suite", config.suite, shipped("configs") / "suite")
    write_text(folder.suite, suite_file.read_text(encoding="utf-8"))
    write_text(folder.held_out, json.dumps(dataset.held_out) + "\n")
    write_text(folder.dev_rows, json.dumps(dataset.dev_rows) + "\n")
    for task in dataset.tasks:
        gold = dataset.splits[task.id]["dev"].targets.tolist()
        write_predictions(folder.gold(task.id), task, gold, config.submission.header)
