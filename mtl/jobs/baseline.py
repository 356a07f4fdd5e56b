"""A whole run: every seed and its predictions, then the summary and the table."""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from mtl.config.files import find_suite, flatten_config
from mtl.data.dataset import Dataset, fingerprints, load_dataset
from mtl.data.fetch import awaits_generation, fetch_suite
from mtl.device import device_of, exact_arithmetic
from mtl.files import read_json, write_json, write_text
from mtl.jobs.job import Job
from mtl.jobs.parallel import run_in_parallel
from mtl.jobs.provenance import machine, versions
from mtl.memory import keep_memory
from mtl.methods import METHODS
from mtl.methods.kind import BuildRequest, Method
from mtl.runs.formats import FORMATS
from mtl.runs.formats.kind import Submitted
from mtl.runs.submission import write_predictions
from mtl.runs.summary import summarize
from mtl.runs.table import render
from mtl.tasks.constant import best_constant, constant_score
from mtl.tasks.metrics import further_scores, score
from mtl.training.precision import check_precision, training_precision

logger = logging.getLogger("mtl")


@exact_arithmetic()
def run_baseline(job: Job, command: str = "") -> dict[str, Any]:
    """Run the job, or the part of it that is not done yet. Return the summary.

    command: the command line that the summary records. Raises InputError for bad data, for a run folder with another
    configuration, and for one that another process uses; DivergedError for training that diverges.
    """
    config, suite, folder = job.config, job.suite, job.folder
    if not folder.summary.exists():  # a finished run needs no device
        check_precision(config.trainer)
    tasks = job.run_tasks
    with folder.locked():
        folder.check(config)
        if folder.summary.exists():
            folder.check_inputs(fingerprints(suite, tasks, job.data_dir))
            logger.info("%s: this run is finished; remove the folder to run it again", folder.path)
            finished: dict[str, Any] = read_json(folder.summary)
            return finished
        _log_left_out(job)
        precision = training_precision(config.trainer)
        folder.check_precision(precision)
        if awaits_generation(suite, job.data_dir):
            fetch_suite(suite, tasks, job.data_dir)
        dataset, method = prepare(job)
        inputs = {**dataset.fingerprints, **method.fingerprints}
        folder.claim(config, inputs, precision)
        _record(job, dataset)
        method.save(folder.path)
        waiting = [seed for seed in config.seeds if not folder.scores(seed).exists()]
        if config.seeds_in_parallel > 1 and len(waiting) > 1:
            run_in_parallel(run_apart, job, waiting)
        done, remarks = {}, list[str]()
        for seed in config.seeds:
            done[seed] = run_seed(job, dataset, method, seed)
            remarks = _submit(job, dataset, seed, done[seed])
        for remark in remarks:  # equal for all seeds
            logger.info("submission: %s", remark)
        summary = summarize(suite, tasks, config, done, dataset.rows(), _constants(dataset))
        summary["held_out"] = {task: len(lines) for task, lines in dataset.held_out.items()}
        summary |= method.facts
        summary |= {"inputs": inputs, "config": flatten_config(config), "command": command}
        write_text(folder.table, render(summary, suite))
        write_json(folder.summary, summary)
        return summary


def prepare(job: Job) -> tuple[Dataset, Method]:
    """Read the data and build the method, from caches if they exist.

    Raises InputError for bad data, and for files that the method needs and cannot find.
    """
    config = job.config
    if device_of(config.trainer.accelerator).type == "cpu":
        keep_memory()
    if config.trainer.threads:
        torch.set_num_threads(config.trainer.threads)
    dataset = load_dataset(job.suite, job.run_tasks, job.data_dir, config.held_out)
    request = BuildRequest(config, job.suite, job.data_dir, dataset, job.folder.path)
    return dataset, METHODS[config.method].build(request)


def _log_left_out(job: Job) -> None:
    """Log the tasks that the run leaves out, one line for each reason."""
    if job.unanswered:
        logger.info("left out, since method %s does not answer them: %s", job.config.method, ", ".join(job.unanswered))
    if job.absent:
        logger.info("left out, since %s has none of their files: %s", job.data_dir, ", ".join(job.absent))


@exact_arithmetic()
def run_apart(job: Job, seed: int) -> None:
    """Run one seed in a separate process. Its environment sets how many threads it uses."""
    logger.setLevel(logging.WARNING)  # the first process has logged what it read
    config = job.config
    dataset, method = prepare(replace(job, config=replace(config, trainer=replace(config.trainer, threads=None))))
    logger.setLevel(logging.INFO)
    run_seed(job, dataset, method, seed)


def run_seed(job: Job, dataset: Dataset, method: Method, seed: int) -> dict[str, Any]:
    """Train one seed, and write its predictions and scores.json.

    Returns the content of scores.json: scores (× 100 on the scored split, by task id), average (`Suite.mean`), also (of the tasks with
    further metrics, those × 100 by name), dev_scores (× 100 on dev), same_answer (the tasks whose scored rows all have the same
    prediction), seconds, cost, versions, machine.
    """
    config, folder = job.config, job.folder
    done = folder.scores(seed)
    if done.exists():
        finished: dict[str, Any] = read_json(done)
        return finished
    start = time.monotonic()
    found, on_dev, further = {}, {}, dict[str, dict[str, float]]()
    same_answer = list[str]()
    for task, predictions in method.predictions(seed, folder.seed(seed)):
        scored = predictions[task.scored_split], dataset.scored(task).scored
        found[task.id] = score(task, *scored)
        further[task.id] = further_scores(task, *scored)
        if len(set(scored[0].tolist())) == 1 < len(scored[0]):
            same_answer.append(task.id)
        if "dev" in predictions:
            on_dev[task.id] = score(task, predictions["dev"], dataset.splits[task.id]["dev"].scored)
        for split, values in predictions.items():
            write_predictions(folder.predictions(seed, split, task.id), task, values, config.submission.header)
    scores = {task.id: found[task.id] for task in dataset.tasks}
    average = job.suite.mean(scores)
    seconds = time.monotonic() - start
    number = f"{config.seeds.index(seed) + 1}/{len(config.seeds)}"
    show = job.suite.shown.show
    listed = ", ".join(f"{id} {show(value)}" for id, value in scores.items())
    shown = "" if average is None else f" · average {show(average)}"
    logger.info("seed %d (%s) · %s%s", seed, number, listed, shown)
    result = {
        "scores": scores,
        "average": average,
        "also": {task.id: further[task.id] for task in dataset.tasks if further[task.id]},
        "dev_scores": {task.id: on_dev[task.id] for task in dataset.tasks if task.id in on_dev},
        "same_answer": [task.id for task in dataset.tasks if task.id in same_answer],
        "seconds": seconds,
        "cost": method.cost(seed, folder.seed(seed)),
        "versions": versions(),
        "machine": machine(device_of(config.trainer.accelerator)),
    }
    write_json(done, result)
    return result


def _submit(job: Job, dataset: Dataset, seed: int, done: Mapping[str, Any]) -> list[str]:
    """Write the submission of a seed that is done, in the suite's format. Returns what its user should know, one line each.

    done: the content of scores.json.
    """
    config, kind = job.config, METHODS[job.config.method]
    facts = {
        "name": config.submission.name or kind.title(config),
        "family": kind.family,
        "parameters": done["cost"]["parameters"],
    }
    submitted = Submitted(job.folder, seed, job.suite, dataset.tasks, job.data_dir, facts)
    return FORMATS[job.suite.submission.format].write(submitted)


def _constants(dataset: Dataset) -> dict[str, float]:
    """The score × 100 of the best constant answer to each task, by task id.

    The answer is the best one on the training rows of the task itself, or of the task whose head answers, by that task's metric.
    """
    scores, tasks = {}, {task.id: task for task in dataset.tasks}
    for task in dataset.tasks:
        source = tasks[task.answered_by or task.id]
        answer = best_constant(source, dataset.splits[source.id]["train"].scored)
        scores[task.id] = constant_score(task, answer, dataset.scored(task).scored)
    return scores


def _record(job: Job, dataset: Dataset) -> None:
    """Write what later commands read: the suite file, the lines of held-out rows, the words that heads choose from, and the groups
    and targets of the scored rows."""
    folder = job.folder
    write_text(folder.suite, find_suite(job.config.suite).read_text(encoding="utf-8"))
    write_text(folder.held_out, json.dumps(dataset.held_out) + "\n")
    write_text(folder.scored_rows, json.dumps(dataset.scored_rows) + "\n")
    if dataset.answers:
        write_json(folder.answers, dataset.answers)
    for task in dataset.tasks:
        gold = dataset.scored(task).targets
        write_predictions(folder.gold(task.scored_split, task.id), task, gold, job.config.submission.header)
