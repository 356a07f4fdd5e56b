"""A run from its beginning to its end: begin, train each seed, sum up. `mtl.jobs.together` makes several runs at once, in processes of their own."""

import json
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, cast

from mtl.base.display import show, shown_run
from mtl.base.errors import InputError
from mtl.base.events import Detail, RunBegun, Scored
from mtl.base.files import write_json, write_text
from mtl.base.log import logger
from mtl.base.settings.layers import find_yaml, flatten_config
from mtl.base.settings.schema import PAPER
from mtl.base.untrusted import AGAIN, read_json
from mtl.base.version import versions
from mtl.data.dataset import Dataset
from mtl.data.present_files import check_present
from mtl.data.repeats import choosing_notes
from mtl.data.sample import ensure_embedded_data
from mtl.data.splits import CHOOSING
from mtl.jobs.beside import kept_logistic
from mtl.jobs.inputs import check_existing_run, prepare, source_stamps
from mtl.jobs.job import WITHOUT_GPU, Job
from mtl.jobs.machine import check_trainer_settings, describe_run_device, run_arithmetic, run_precision
from mtl.methods import METHODS
from mtl.methods.method import Method, Predictions
from mtl.runs.folder import seed_lock
from mtl.runs.records import SeedScores, Summary
from mtl.runs.summary import summarize
from mtl.runs.table import render
from mtl.submissions import SUBMISSION_FORMATS
from mtl.submissions.format import Submitted, write_predictions
from mtl.tasks.metrics import best_constant, constant_score, further_scores, score
from mtl.tasks.task import Task


def run_baseline(job: Job, command: str = "") -> Summary:
    """Run what is not done yet of the job, in this process, and return the summary, which records `command`, the command line. A job whose seeds run
    apart (`Config.runs_apart`) is for `mtl.jobs.together`: here, its scores would differ in the last digits. Raises UserError."""
    if not job.is_finished:
        check_trainer_settings(job.config)
    with run_arithmetic(job.config), job.folder.locked():
        if (finished := check_existing_run(job)) is not None:
            return finished
        prepared, dataset, method = begin(job)
        with shown_job(job):
            for seed in job.config.seeds:
                run_seed(job, dataset, method, seed)
        return sum_up(job, prepared, command)


@dataclass(frozen=True)
class Prepared:
    """What is known of a run before its seeds are trained, in plain values."""

    inputs: dict[str, str]  # fingerprints by name
    rows: dict[str, dict[str, int]]  # the number of rows by task and split
    changed: dict[str, list[str]]  # by task, the splits whose files do not have the checksum that the suite names
    constants: dict[str, float]  # by task, the score × 100 of the best constant answer
    facts: dict[str, Any]  # what the summary says beside the scores
    shared: dict[int, str | None]  # by seed, the key of the part of its training that other runs may share


@dataclass
class TaskResult:
    """The scores × 100 of one seed's predictions for a task; None where the task has no such rows, or is not scored."""

    score: float | None = None  # on the split that scores the task
    further: dict[str, float] = field(default_factory=dict)  # on the same rows, by further metric
    is_same_answer: bool = False  # whether all of these rows have the same prediction
    on_dev: float | None = None
    on_choosing: float | None = None  # on the dev rows that choose, where others do not


def begin(job: Job) -> tuple[Prepared, Dataset, Method]:
    """Read the data, build the method, and claim the run's folder, which must be locked and checked. Raises InputError for bad or changed inputs."""
    config, folder = job.config, job.folder
    if job.unanswered:
        logger.info("unsupported by method %s, and left out: %s", config.method, ", ".join(job.unanswered))
    if job.absent:
        logger.info("left out, since %s has none of their files: %s", job.data_dir, ", ".join(job.absent))
    precision = run_precision(config)
    folder.check_same_precision(precision)
    ensure_embedded_data(job.suite, job.data_dir)
    check_present(job.suite, job.run_tasks, job.data_dir)  # before minutes of reading and tokenizing
    vectors = METHODS[config.method].find_inputs(config, job.suite)
    stamps = source_stamps(job)
    dataset, method = prepare(job, vectors)
    inputs = {**dataset.fingerprints, **method.fingerprints}
    folder.claim(config, inputs, precision)
    write_json(folder.sources, stamps or source_stamps(job))  # `prepare` may have trained the vectors
    _record(job, dataset)
    method.save(folder.path)
    constants, facts = _constant_scores(dataset), _facts(job, dataset, method)
    shared = {seed: method.shared(seed) for seed in config.seeds}
    return Prepared(inputs, dataset.rows(), dataset.changed, constants, facts, shared), dataset, method


def _constant_scores(dataset: Dataset) -> dict[str, float]:
    """By task, the score × 100 of the best constant answer on the training rows of the task whose head answers."""
    scores, tasks = {}, {task.id: task for task in dataset.tasks}
    for task in dataset.scored_tasks:
        source = tasks[task.answered_by or task.id]
        answer = best_constant(source, dataset.splits[source.id]["train"].scored_rows)
        scores[task.id] = constant_score(task, answer, dataset.scored(task).scored_rows)
    return scores


def _facts(job: Job, dataset: Dataset, method: Method) -> dict[str, Any]:
    """The numbers of held-out rows, the facts of the method, and notes on changed settings and on the dev rows that choose."""
    facts = {"held_out": {id: len(lines) for id, lines in dataset.held_out.items()}, **method.facts}
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in job.changed.items()}
    changed = ", ".join(f"{key}={text}" for key, text in texts.items())
    notes = [f"Settings that differ from those of preset {job.config.preset}: {changed}."] if changed else []
    notes += method.facts.get("notes", [])
    is_chosen_on_dev = method.facts.get("chosen_on_dev", METHODS[job.config.method].chosen_on_dev(job.config))
    notes += choosing_notes(dataset, bool(is_chosen_on_dev))
    return {**facts, "notes": notes} if notes else facts


def _record(job: Job, dataset: Dataset) -> None:
    """Write what later commands read: the suite file, held-out lines, the words that heads choose from, groups and gold targets."""
    folder = job.folder
    write_text(folder.suite, find_yaml("suite", job.config.suite).read_text(encoding="utf-8"))
    write_text(folder.held_out, json.dumps(dataset.held_out) + "\n")
    write_text(folder.scored_rows, json.dumps(dataset.described_rows) + "\n")
    if dataset.answers:
        write_json(folder.answers, dataset.answers)
    for task in dataset.scored_tasks:
        gold = dataset.scored(task).targets
        write_predictions(folder.gold(task.scored_split, task.id), task, gold, job.config.submission.header)


def shown_job(job: Job, name: str = "") -> AbstractContextManager[None]:
    """Show the run and its seeds within the block, with its name if it is one of several at once."""
    config = job.config
    done = [seed for seed in config.seeds if job.folder.scores(seed).exists()]
    faster = "a GPU, method=logistic"
    if METHODS[config.method].reads_key("preset") and config.preset == PAPER:
        faster = f"preset={WITHOUT_GPU}, {faster}"
    title, seeds = f"{job.suite.name} · {job.title}", config.seeds
    at_once = min(config.units_at_once(len(seeds)), len(seeds))
    return shown_run(RunBegun(name, title, seeds, done, at_once, faster))


def run_seed(job: Job, dataset: Dataset, method: Method, seed: int) -> None:
    """Train one seed, and write its predictions, its submission and scores.json, unless it is done. Raises InputError for a damaged scores.json."""
    folder, done = job.folder.seed(seed), job.folder.scores(seed)
    with seed_lock(folder):
        if done.exists():
            read_json(done, SeedScores)  # a damaged file is refused before further seeds are trained
            return
        start = time.monotonic()
        results = _predict(job, dataset, method, seed)
        record = _score_entries(job, dataset, results) | {"seconds": time.monotonic() - start}
        _show_scores(job, final_scores(job, seed, record))
        cost = method.cost(seed, folder)
        record |= {"cost": cost, "versions": versions(), "machine": describe_run_device(job.config)}
        record["remarks"] = _submit(job, dataset, seed, cost["parameters"])
        write_json(done, record)


def _predict(job: Job, dataset: Dataset, method: Method, seed: int) -> dict[str, TaskResult]:
    """Train, and write and score the predictions. Returns the results by task id, in the order in which the method predicts."""
    folder, header = job.folder, job.config.submission.header
    results: dict[str, TaskResult] = {}
    for task, predictions in method.predictions(seed, folder.seed(seed)):
        results[task.id] = result = _score_task(dataset, task, predictions)
        if result.score is not None:
            show(Scored(seed, {task.id: job.suite.shown.show(result.score)}))
        for split, values in predictions.items():
            write_predictions(folder.predictions(seed, split, task.id), task, values, header)
    return results


def _score_entries(job: Job, dataset: Dataset, results: dict[str, TaskResult]) -> dict[str, Any]:
    """The entries of scores.json on these results, which are by task id. All but choosing_scores are in the order of the suite."""
    in_order = {task.id: results[task.id] for task in dataset.tasks if task.id in results}
    scores = {id: result.score for id, result in in_order.items() if result.score is not None}
    return {
        "scores": scores,
        "average": job.suite.mean(scores),
        "also": {id: result.further for id, result in in_order.items() if result.further},
        "dev_scores": {id: result.on_dev for id, result in in_order.items() if result.on_dev is not None},
        "choosing_scores": {id: result.on_choosing for id, result in results.items() if result.on_choosing is not None},
        "same_answer": [id for id, result in in_order.items() if result.is_same_answer],
    }


def _score_task(dataset: Dataset, task: Task, predictions: Predictions) -> TaskResult:
    """Score the predictions for a task, by split."""
    result = TaskResult()
    if task.is_scored:
        answers, gold = predictions[task.scored_split], dataset.scored(task).scored_rows
        result.score = score(task, answers, gold)
        result.further = further_scores(task, answers, gold)
        result.is_same_answer = len(answers) > 1 and len(set(answers.tolist())) == 1
    if "dev" in predictions:
        result.on_dev = score(task, predictions["dev"], dataset.splits[task.id]["dev"].scored_rows)
    if task.id in dataset.choosing or CHOOSING in predictions:
        split, rows = dataset.choosing_split(task), dataset.choosing_rows(task)
        chosen = dataset.splits[task.id][split].take(rows)
        result.on_choosing = score(task, predictions[split][rows], chosen.scored_rows)
    return result


def _submit(job: Job, dataset: Dataset, seed: int, parameters: int | None) -> list[str]:
    """Write the submission of a seed, whose model has so many parameters. Return what its user should know, one line each."""
    config = job.config
    submission = SUBMISSION_FORMATS[job.suite.submission.format]
    if any(task.scored_split in submission.splits for task in dataset.tasks if task.id in dataset.samples):
        return ["none is written, since only a sample of the rows has predictions"]
    lacking: dict[str, list[str]] = {}
    for task in dataset.tasks:
        for split in dataset.splits[task.id]:
            # Rows that are held out stand in no submission.
            is_submitted = split in submission.splits and task.files[split] is not None
            if is_submitted and not job.folder.predictions(seed, split, task.id).exists():
                lacking.setdefault(split, []).append(task.id)
    if lacking:
        rows = " and ".join(f"{split} rows of {', '.join(tasks)}" for split, tasks in lacking.items())
        return [f"none is written, since predictions are missing for {rows}"]
    family = METHODS[config.method].family_of(config)
    facts = {"name": config.submission.name or job.title, "family": family, "parameters": parameters}
    return submission.write(Submitted(job.folder, seed, job.suite, dataset.tasks, job.data_dir, facts))


def final_scores(job: Job, seed: int, record: Mapping[str, Any], run: str = "") -> Scored:
    """The scores of a finished seed from its scores.json, to be shown, with the name of the run among several."""
    show_number, average = job.suite.shown.show, record["average"]
    scores = {id: show_number(value) for id, value in record["scores"].items()}
    return Scored(seed, scores, "" if average is None else show_number(average), final=True, run=run)


def _show_scores(job: Job, scored: Scored) -> None:
    """Show the scores of a seed that has just been trained, on a terminal and in a log."""
    show(scored)
    seeds = job.config.seeds
    scores = ", ".join(f"{id} {text}" for id, text in scored.scores.items())
    average = f" · average {scored.average}" if scored.average else ""
    show(Detail(f"seed {scored.seed} ({seeds.index(scored.seed) + 1}/{len(seeds)}) · {scores}{average}"))


def sum_up(job: Job, prepared: Prepared, command: str) -> Summary:
    """Write the table and the summary of a run whose seeds are all done. Return the summary."""
    config, folder = job.config, job.folder
    scored = {task.id for task in job.run_tasks if task.is_scored}
    done = {seed: read_json(folder.scores(seed), SeedScores) for seed in config.seeds}
    for seed, record in done.items():
        if set(record["scores"]) != scored:
            raise InputError(f"are not of the run's tasks; {AGAIN}", path=folder.scores(seed), key="scores")
    for remark in done[config.seeds[-1]]["remarks"]:  # equal for all seeds
        logger.info("submission: %s", remark)
    method = METHODS[config.method].summary(config, job.suite) | {"title": job.title}
    rows, constants, changed = prepared.rows, prepared.constants, prepared.changed
    summary = summarize(job.suite, job.run_tasks, config, method, done, rows, constants, changed)
    summary |= prepared.facts | {"inputs": prepared.inputs, "config": flatten_config(config), "command": command}
    if (logistic := kept_logistic(job, prepared.inputs)) is not None:
        summary["beside"] = [logistic]
    write_text(folder.table, render(summary, job.suite))
    folder.save(config)
    write_json(folder.summary, summary)
    return cast(Summary, summary)
