"""A run from its beginning to its end: begin, train each seed, sum up; before it, the simple baseline of its table.

`run_baseline` is the recipe; what it calls stands below it. What a run is made from, and whether a finished run still is what
would be made, is in `mtl.jobs.inputs`; `mtl.jobs.together` does the same in several processes, for one run or many."""

import json
import logging
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, cast

from mtl.base.display import show, shown_run
from mtl.base.errors import InputError, resources_as_input
from mtl.base.events import Detail, RunBegun, Scored
from mtl.base.files import write_json, write_text
from mtl.base.settings.layers import differences, find_suite, flatten_config
from mtl.base.settings.schema import PAPER
from mtl.base.untrusted import AGAIN, read_json
from mtl.base.version import versions
from mtl.base.wording import format_bytes
from mtl.data.dataset import Dataset, fingerprints
from mtl.data.fetching.fetch import write_generated
from mtl.data.repeats import choosing_notes
from mtl.data.splits import CHOOSING, check_present
from mtl.jobs.inputs import check_begun, prepare, source_stamps
from mtl.jobs.job import WITHOUT_GPU, Job, load_job
from mtl.jobs.machine import check_precision, check_trainer, exact, machine, precision
from mtl.methods import METHODS
from mtl.methods.method import Method
from mtl.runs.folder import seed_lock
from mtl.runs.summary import Beside, SeedScores, Summary, read_summary, summarize
from mtl.runs.table import render
from mtl.submissions import SUBMISSION_FORMATS
from mtl.submissions.format import Submitted, write_predictions
from mtl.tasks.metrics import best_constant, constant_score, further_scores, score

LOGISTIC = "logistic"  # the simple baseline that stands in every table
MOST_BYTES = 50_000_000  # of training files on which it is trained without being asked for
LONGEST_NAME = 200  # bytes of its folder's name; file systems take 255

logger = logging.getLogger("mtl")


def run_baseline(job: Job, command: str = "") -> Summary:
    """Run the job, or the part of it that is not done yet, in this process. Return the summary, which records `command`, the command line. A job
    whose seeds run apart (`Config.runs_apart`) is for `mtl.jobs.together`; here, its scores would have other last digits. Raises InputError for bad
    data, for a run folder with another configuration, and for one that another process uses, and DivergedError for training that diverges."""
    if not job.is_finished:
        check_precision(job.config)
    with exact(job.config), job.folder.locked():
        if (finished := check_begun(job)) is not None:
            return finished
        prepared, dataset, method = begin(job)
        with shown_job(job):
            for seed in job.config.seeds:
                run_seed(job, dataset, method, seed)
        return sum_up(job, prepared, command)


def shown_job(job: Job, name: str = "") -> AbstractContextManager[None]:
    """Show the run and its seeds within the block, with its name if it is one of several at once."""
    config = job.config
    done = [seed for seed in config.seeds if job.folder.scores(seed).exists()]
    faster = ["a GPU", "method=logistic"]
    if METHODS[config.method].reads_key("preset") and config.preset == PAPER:
        faster.insert(0, f"preset={WITHOUT_GPU}")
    return shown_run(
        RunBegun(name, f"{job.suite.name} · {job.title}", config.seeds, done, config.seeds_at_once, ", ".join(faster))
    )


@dataclass(frozen=True)
class Prepared:
    """What is known of a run before its seeds are trained, in plain values."""

    inputs: dict[str, str]  # fingerprints by name
    rows: dict[str, dict[str, int]]  # the number of rows by task and split
    changed: dict[str, list[str]]  # by task, the splits whose files do not have the checksum that the suite names
    constants: dict[str, float]  # by task, the score × 100 of the best constant answer
    held_out: dict[str, int]  # by task, the number of held-out rows
    facts: dict[str, Any]  # those of the method, with what is to be noted of the dev rows
    shared: dict[int, str]  # by seed, the key of the part of its training that other runs may share, if there is one


def begin(job: Job) -> tuple[Prepared, Dataset, Method]:
    """Read the data, build the method, and claim the run's folder, which must be locked and have passed `RunFolder.check`. Raises InputError for bad
    data, for files that the method needs and cannot find, and for a folder whose inputs have changed."""
    config, folder = job.config, job.folder
    if job.unanswered:
        logger.info("unsupported by method %s, and left out: %s", config.method, ", ".join(job.unanswered))
    if job.absent:
        logger.info("left out, since %s has none of their files: %s", job.data_dir, ", ".join(job.absent))
    used_precision = precision(config)
    folder.check_precision(used_precision)
    write_generated(job.suite, job.data_dir)
    # Missing files are found before minutes of reading and tokenizing.
    check_present(job.suite, job.run_tasks, job.data_dir)
    vectors = METHODS[config.method].find_inputs(config, job.suite)
    stamps = source_stamps(config, vectors)
    dataset, method = prepare(job, vectors)
    inputs = {**dataset.fingerprints, **method.fingerprints}
    folder.claim(config, inputs, used_precision)
    write_json(folder.sources, stamps or source_stamps(config, vectors))  # after it, for vectors that were trained now
    _record(job, dataset)
    method.save(folder.path)
    prepared = Prepared(
        inputs,
        dataset.rows(),
        dataset.changed,
        _constant_scores(dataset),
        held_out={id: len(lines) for id, lines in dataset.held_out.items()},
        facts=_facts(job, dataset, method),
        shared={seed: key for seed in config.seeds if (key := method.shared(seed)) is not None},
    )
    return prepared, dataset, method


def _constant_scores(dataset: Dataset) -> dict[str, float]:
    """By task, the score × 100 of the best constant answer on the training rows of the task whose head answers."""
    scores, tasks = {}, {task.id: task for task in dataset.tasks}
    for task in dataset.scored_tasks:
        source = tasks[task.answered_by or task.id]
        answer = best_constant(source, dataset.splits[source.id]["train"].scored)
        scores[task.id] = constant_score(task, answer, dataset.scored(task).scored)
    return scores


def _facts(job: Job, dataset: Dataset, method: Method) -> dict[str, Any]:
    """The facts of the method, with notes on changed settings and on the dev rows that choose."""
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in job.changed.items()}
    changed = ", ".join(f"{key}={text}" for key, text in texts.items())
    chosen = method.facts.get("chosen_on_dev", METHODS[job.config.method].chosen_on_dev(job.config))
    notes = [f"Settings that differ from those of preset {job.config.preset}: {changed}."] if changed else []
    notes += [*method.facts.get("notes", []), *choosing_notes(dataset, bool(chosen))]
    return {**method.facts, **({"notes": notes} if notes else {})}


def _record(job: Job, dataset: Dataset) -> None:
    """Write what later commands read: the suite file, held-out lines, the words that heads choose from, groups and gold targets."""
    folder = job.folder
    write_text(folder.suite, find_suite(job.config.suite).read_text(encoding="utf-8"))
    write_text(folder.held_out, json.dumps(dataset.held_out) + "\n")
    write_text(folder.scored_rows, json.dumps(dataset.scored_rows) + "\n")
    if dataset.answers:
        write_json(folder.answers, dataset.answers)
    for task in dataset.scored_tasks:
        gold = dataset.scored(task).targets
        write_predictions(folder.gold(task.scored_split, task.id), task, gold, job.config.submission.header)


def run_seed(job: Job, dataset: Dataset, method: Method, seed: int) -> SeedScores:
    """Train one seed, and write its predictions, its submission and scores.json, unless it is done. Return the content of scores.json."""
    done = job.folder.scores(seed)
    with seed_lock(job.folder.seed(seed)):
        if done.exists():
            return read_json(done, SeedScores)
        start = time.monotonic()
        result = _predict(job, dataset, method, seed)
        result["seconds"] = time.monotonic() - start
        scored, seeds = final_scores(job, seed, cast(SeedScores, result)), job.config.seeds
        show(scored)
        average = scored.average and f" · average {scored.average}"
        listed = ", ".join(f"{id} {score}" for id, score in scored.scores.items())
        show(Detail(f"seed {seed} ({seeds.index(seed) + 1}/{len(seeds)}) · {listed}{average}"))
        cost = method.cost(seed, job.folder.seed(seed))
        result |= {"cost": cost, "versions": versions(), "machine": machine(job.config)}
        result["remarks"] = _submit(job, dataset, seed, cost["parameters"])
        write_json(done, result)
    return cast(SeedScores, result)


def _predict(job: Job, dataset: Dataset, method: Method, seed: int) -> dict[str, Any]:
    """Train, write the predictions, and score them. Returns those entries of scores.json."""
    config, folder = job.config, job.folder
    by_task, on_dev, on_choosing = {}, {}, {}
    further: dict[str, dict[str, float]] = {}
    same_answer = list[str]()
    for task, predictions in method.predictions(seed, folder.seed(seed)):
        if task.is_scored:
            answers, gold = predictions[task.scored_split], dataset.scored(task).scored
            by_task[task.id] = score(task, answers, gold)
            further[task.id] = further_scores(task, answers, gold)
            if len(set(answers.tolist())) == 1 < len(answers):
                same_answer.append(task.id)
            show(Scored(seed, {task.id: job.suite.shown.show(by_task[task.id])}))
        if "dev" in predictions:
            on_dev[task.id] = score(task, predictions["dev"], dataset.splits[task.id]["dev"].scored)
        if task.id in dataset.choosing or CHOOSING in predictions:
            split, rows = dataset.choosing_split(task), dataset.choosing_rows(task)
            gold = dataset.splits[task.id][split].take(rows).scored
            on_choosing[task.id] = score(task, predictions[split][rows], gold)
        for split, values in predictions.items():
            write_predictions(folder.predictions(seed, split, task.id), task, values, config.submission.header)
    scores = {task.id: by_task[task.id] for task in dataset.scored_tasks}
    return {
        "scores": scores,
        "average": job.suite.mean(scores),
        "also": {task.id: further[task.id] for task in dataset.scored_tasks if further[task.id]},
        "dev_scores": {task.id: on_dev[task.id] for task in dataset.tasks if task.id in on_dev},
        "choosing_scores": on_choosing,
        "same_answer": [task.id for task in dataset.tasks if task.id in same_answer],
    }


def final_scores(job: Job, seed: int, result: SeedScores, run: str = "") -> Scored:
    """The scores of a finished seed, to be shown, with the name of the run among several."""
    show_number, average = job.suite.shown.show, result["average"]
    scores = {id: show_number(value) for id, value in result["scores"].items()}
    return Scored(seed, scores, "" if average is None else show_number(average), final=True, run=run)


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


def sum_up(job: Job, prepared: Prepared, command: str) -> Summary:
    """Write the table and the summary of a run whose seeds are all done. Return the summary."""
    config, folder = job.config, job.folder
    done = {seed: read_json(folder.scores(seed), SeedScores) for seed in config.seeds}
    for seed, scores in done.items():
        if set(scores["scores"]) != {task.id for task in job.run_tasks if task.is_scored}:
            raise InputError(f"are not of the run's tasks; {AGAIN}", path=folder.scores(seed), key="scores")
    for remark in done[config.seeds[-1]]["remarks"]:  # equal for all seeds
        logger.info("submission: %s", remark)
    method = METHODS[config.method].summary(config, job.suite) | {"title": job.title}
    counts = prepared.rows, prepared.constants, prepared.changed
    summary = summarize(job.suite, job.run_tasks, config, method, done, *counts)
    summary |= {"held_out": prepared.held_out, **prepared.facts}
    summary |= {"inputs": prepared.inputs, "config": flatten_config(config), "command": command}
    if (logistic := kept_logistic(job, prepared.inputs)) is not None:
        summary["beside"] = [logistic]
    write_text(folder.table, render(summary, job.suite))
    folder.save(config)
    write_json(folder.summary, summary)
    return cast(Summary, summary)


def train_logistic(job: Job, command: str) -> None:
    """Make the logistic regression that stands beside the run in its table, unless it is there, `baselines` is false, or the data is large. Raises
    UserError first for a run that cannot begin: its folder has another configuration or is in use, or what it needs is missing."""
    config, kind = job.config, METHODS[job.config.method]
    if job.is_finished or not config.baselines or not kind.computes or kind.family == "floor":
        return
    with job.folder.locked():
        check_begun(job)
        kind.find_inputs(config, job.suite)
        check_trainer(config)
    try:
        with resources_as_input():
            logistic, unlike = _logistic_job(job, fingerprints(job.suite, job.run_tasks, job.data_dir))
            if logistic.is_finished and not unlike:
                return
            files = [task.path("train", job.data_dir) for task in logistic.run_tasks]
            if (size := sum(file.stat().st_size for file in files if file is not None and file.is_file())) > MOST_BYTES:
                raise InputError(f"{format_bytes(size)} of training data; mtl baseline method={LOGISTIC} makes it")
            apart = f"; {unlike}, so that this one is made in {logistic.folder.path}" if unlike else ""
            logger.info("first the logistic regression for the table (baselines=false: without it)%s", apart)
            run_baseline(logistic, command)
    except InputError as error:
        logger.info("no logistic regression in the table: %s", error)


def kept_logistic(job: Job, inputs: Mapping[str, str]) -> Beside | None:
    """The scores of the finished logistic regression on the rows that the run is scored on, by the fingerprints of the run's inputs; None: there is
    none, or it is the run itself."""
    config = job.config
    if not config.baselines or config.method == LOGISTIC or config.imported.rows:
        return None
    try:
        with resources_as_input():
            logistic, unlike = _logistic_job(job, inputs)
            if unlike:
                raise InputError(f"{unlike}; remove that folder, make method={LOGISTIC} again, and then this run")
            if not logistic.is_finished:
                return None
            summary = read_summary(logistic.folder.summary)
    except InputError as error:
        logger.info("no logistic regression in the table: %s", error)
        return None
    scored = [task.id for task in job.run_tasks if task.is_scored and task.id in summary["tasks"]]
    scores = {id: summary["tasks"][id]["median"] for id in scored}
    return Beside(title=summary["title"], scores=scores) if scores else None


def _logistic_job(job: Job, inputs: Mapping[str, str]) -> tuple[Job, str]:
    """The logistic regression on the run's data, in the usual folder, or, where that has a finished one that is not it, in a folder beside it that
    its data and settings name. With the latter, unless it is finished: why the usual one is not it."""
    usual = _usual_logistic(job)
    if not usual.is_finished or not (problem := _difference_of(usual, job, inputs)):
        return usual, ""
    path = usual.folder.path
    content = fingerprints(job.suite, usual.run_tasks, job.data_dir), job.config.held_out, job.config.choosing_share
    digest = sha256(json.dumps(content).encode()).hexdigest()[:16]
    apart = replace(usual, config=replace(usual.config, run_dir=str(path.with_name(f"{path.name},{digest}"))))
    if apart.is_finished and not _difference_of(apart, job, inputs):
        return apart, ""
    return apart, f"{path} {problem}"


def _difference_of(logistic: Job, job: Job, inputs: Mapping[str, str]) -> str:
    """In what a finished logistic regression is not that of the run's data; empty: in nothing."""
    summary, settings = read_summary(logistic.folder.summary), differences(logistic.folder.config, logistic.config)
    if differing := [setting for setting in settings if not setting.startswith(("seeds:", "suite:", "tasks:"))]:
        return f"has another configuration ({'; '.join(differing)})"
    if changed := [name for name, value in summary["inputs"].items() if inputs.get(name, value) != value]:
        return f"is of other data ({', '.join(changed)})"
    answered = {task.id for task in logistic.run_tasks}
    splits = {id: task["split"] for id, task in summary["tasks"].items()}
    wanted = [task for task in job.run_tasks if task.is_scored and task.id in answered]
    lacking = [f"{task.id} on {task.scored_split}" for task in wanted if splits.get(task.id) != task.scored_split]
    return f"has no scores of {', '.join(lacking)}" if lacking else ""


def _usual_logistic(job: Job) -> Job:
    """The logistic regression in the usual folder: on all tasks, or where the run names its tasks and there is none of all, on these."""
    config = job.config
    keys = ("suite", "data_dir", "cache_dir", "runs_dir", "held_out", "choosing_share")
    settings = {**{key: getattr(config, key) for key in keys}, "method": LOGISTIC, "seeds": [1]}
    on_all = load_job(settings)
    tasks = [id for id in config.tasks or () if id not in on_all.unanswered]
    if not tasks or (on_all.is_finished and set(tasks) <= set(read_summary(on_all.folder.summary)["tasks"])):
        return on_all
    name = f"{LOGISTIC},tasks={'+'.join(tasks)}"
    if len(name.encode()) > LONGEST_NAME:
        name = f"{LOGISTIC},tasks={sha256(name.encode()).hexdigest()[:16]}"
    return load_job({**settings, "tasks": tasks, "run_dir": str(on_all.folder.path.with_name(name))})
