"""The beginning and the end of a run: its data, its method and its folder; the summary and the table of its finished seeds."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from mtl.base.errors import InputError
from mtl.base.files import listed, write_json, write_text
from mtl.base.lazy import lazy
from mtl.base.untrusted import AGAIN, read_json
from mtl.data.dataset import Dataset, fingerprints, load_dataset
from mtl.data.fetching.fetch import write_generated
from mtl.data.repeats import choosing_notes, without_repeats
from mtl.data.splits import check_present
from mtl.jobs.imported import fingerprint_name
from mtl.jobs.job import Job
from mtl.jobs.machine import check_precision, exact, precision, prepare_machine
from mtl.methods import METHODS
from mtl.methods.method import BuildRequest, Method
from mtl.runs.summary import SeedScores, Summary, read_summary, summarize
from mtl.runs.table import render
from mtl.settings.layers import find_suite, flatten_config, moved_sources
from mtl.submissions.format import write_predictions
from mtl.tasks.metrics import best_constant, constant_score

# Few runs are distilled, and these take seconds to import.
ask_teacher = lazy("mtl.jobs.teacher:ask_teacher")
with_unlabelled = lazy("mtl.jobs.unlabelled:with_unlabelled")

# Of the methods that train nothing: what they are made of, other runs or predictions, is known to jobs alone.
BUILDERS: dict[str, Callable[[Job, BuildRequest], Method]] = {
    "imported": lazy("mtl.jobs.imported:Imported"),
    "ensemble": lazy("mtl.jobs.ensemble:Ensemble"),
}

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class Prepared:
    """What is known of a run before its seeds are trained, in plain values.

    Args:
        inputs: fingerprints by name.
        rows: the number of rows by task and split.
        changed: by task, the splits whose files do not have the checksum that the suite names.
        constants: by task, the score × 100 of the best constant answer.
        held_out: by task, the number of held-out rows.
        facts: those of the method, with what is to be noted of the dev rows.
        shared: by seed, the key of the part of its training that other runs may share. Seeds that share nothing are left out.
    """

    inputs: dict[str, str]
    rows: dict[str, dict[str, int]]
    changed: dict[str, list[str]]
    constants: dict[str, float]
    held_out: dict[str, int]
    facts: dict[str, Any]
    shared: dict[int, str]


def begin(job: Job) -> tuple[Prepared, Dataset, Method]:
    """Read the data, build the method, and claim the run's folder, which must be locked and have passed `RunFolder.check`.

    Raises InputError for bad data, for files that the method needs and cannot find, and for a folder whose inputs have changed.
    """
    config, folder = job.config, job.folder
    _log_left_out(job)
    used = precision(config)
    folder.check_precision(used)
    write_generated(job.suite, job.data_dir)
    # Missing files are found before minutes of reading and tokenizing.
    check_present(job.suite, job.run_tasks, job.data_dir)
    METHODS[config.method].check(config, job.suite)
    stamps = source_stamps(job)
    dataset, method = prepare(job)
    inputs = {**dataset.fingerprints, **method.fingerprints}
    folder.claim(config, inputs, used)
    write_json(folder.sources, stamps or source_stamps(job))  # after it, for vectors that were trained now
    _record(job, dataset)
    method.save(folder.path)
    held_out = {task: len(lines) for task, lines in dataset.held_out.items()}
    shared = {seed: key for seed in config.seeds if (key := method.shared(seed)) is not None}
    constants = _constants(dataset)
    chosen = method.facts.get("chosen_on_dev", METHODS[config.method].chosen_on_dev(config))
    notes = [*method.facts.get("notes", []), *(choosing_notes(dataset) if chosen else [])]
    facts = {**method.facts, **({"notes": notes} if notes else {})}
    prepared = Prepared(inputs, dataset.rows(), dataset.changed, constants, held_out, facts, shared)
    return prepared, dataset, method


def source_stamps(job: Job) -> dict[str, list[int]]:
    """By path, the size in bytes and the time of change in nanoseconds of each file of the vectors or the transformer that the job names."""
    files: list[Path] = []
    for path in METHODS[job.config.method].sources(job.config, job.suite):
        files += path.iterdir() if path.is_dir() else [path]
    stats = {file: file.stat() for file in files if file.is_file() and not file.name.startswith(".")}
    return {str(file): [stat.st_size, stat.st_mtime_ns] for file, stat in sorted(stats.items())}


def begin_apart(job: Job) -> Prepared:
    """`begin` in a process of its own, perhaps on another machine. Raises InputError also if this machine cannot train the run."""
    logger.setLevel(logging.INFO)
    check_precision(job.config)
    with exact(job.config):
        return begin(job)[0]


def prepare(job: Job) -> tuple[Dataset, Method]:
    """Read the data and build the method, from caches if they exist.

    Raises InputError for bad data, and for files that the method needs and cannot find.
    """
    config = job.config
    prepare_machine(config)
    dataset = load_dataset(job.suite, job.run_tasks, job.data_dir, config.held_out, config.imported.rows)
    if not config.choose_on_repeats:
        dataset = without_repeats(dataset)
    if config.distill.texts or config.distill.augment:
        dataset = with_unlabelled(job, dataset)
    teacher = None if config.distill.run is None else ask_teacher(job, dataset)
    request = BuildRequest(config, job.suite, job.data_dir, dataset, job.folder.path, teacher)
    build = METHODS[config.method].build
    return dataset, build(request) if build else BUILDERS[config.method](job, request)


def _log_left_out(job: Job) -> None:
    """Log the tasks that the run leaves out, one line for each reason."""
    if job.unanswered:
        logger.info("left out, since method %s does not answer them: %s", job.config.method, ", ".join(job.unanswered))
    if job.absent:
        logger.info("left out, since %s has none of their files: %s", job.data_dir, ", ".join(job.absent))


def _constants(dataset: Dataset) -> dict[str, float]:
    """The score × 100 of the best constant answer to each task, by task id.

    The answer is the best one on the training rows of the task itself, or of the task whose head answers, by that task's metric.
    """
    scores, tasks = {}, {task.id: task for task in dataset.tasks}
    for task in dataset.scored_tasks:
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
    for task in dataset.scored_tasks:
        gold = dataset.scored(task).targets
        write_predictions(folder.gold(task.scored_split, task.id), task, gold, job.config.submission.header)


MOST_NAMED = 3  # files in one message; the others are counted


def check_begun(job: Job) -> Summary | None:
    """Check the run's folder, which must be locked, against the job. Return the summary if the run is finished.

    Raises InputError for a folder with another configuration or other inputs, and for weights to be kept that a finished run has not kept.
    """
    folder = job.folder
    tasks = job.run_tasks
    folder.check(job.config)
    if not folder.summary.exists():
        return None
    inputs = fingerprints(job.suite, tasks, job.data_dir)
    for seed, values in zip(job.config.seeds, job.predictions, strict=False):
        inputs[fingerprint_name(seed)] = values.fingerprint
    folder.check_inputs(inputs)
    _check_sources(job)
    finished = read_summary(folder.summary)
    kept = {"transformer.keep": job.config.transformer.keep, "floor.keep": job.config.floor.keep}
    for key, asked in kept.items():
        if asked and not finished["config"].get(key):
            raise InputError(
                f"this run is finished, and it has not kept its models ({key}); set run_dir= to make it again with them",
                path=folder.path,
            )
    logger.info("%s: this run is finished; remove the folder to run it again", folder.path)
    return finished


def _check_sources(job: Job) -> None:
    """Raise InputError if a finished run was made from other vectors or another transformer than those that the job names.

    The vectors or the transformer are read only if the job names another place than the run, or if the size or time of a file
    differs from what was noted when the run was made or when the files were last compared. If the named files do not exist,
    nothing is compared.
    """
    config, folder, stamps = job.config, job.folder, source_stamps(job)
    moved = moved_sources(folder.config, config)
    before = read_json(folder.sources, dict[str, list[int]]) if folder.sources.exists() else {}
    if stamps == before or not (stamps or moved):
        return
    changed = [f"{file}: another size or time than then" for file in stamps if stamps[file] != before.get(file)]
    gone = [f"{file}: gone" for file in before if file not in stamps]
    why = listed(moved or changed or gone, MOST_NAMED, "; ")
    try:
        METHODS[config.method].check(config, job.suite)
    except InputError as error:
        logger.info("%s: its inputs are not compared (%s): %s", folder.path, why, error)
        return
    logger.info("%s: comparing its inputs (%s)", folder.path, why)
    dataset, method = prepare(replace(job, config=replace(config, trainer=replace(config.trainer, threads=None))))
    inputs = {**dataset.fingerprints, **method.fingerprints}
    if differing := [
        name for name in folder.changed_inputs(inputs) if name != "tokenizer"
    ]:  # a finished run has its tokens
        raise InputError(
            f"this run is finished, and was made from other inputs: {', '.join(differing)} ({why}); set run_dir= or"
            " another runs_dir=, or remove the folder",
            path=folder.path,
        )
    write_json(folder.sources, stamps)


def sum_up(job: Job, prepared: Prepared, command: str) -> Summary:
    """Write the table and the summary of a run whose seeds are all done. Return the summary."""
    config, folder = job.config, job.folder
    done = {seed: read_json(folder.scores(seed), SeedScores) for seed in config.seeds}
    for seed, scores in done.items():
        if set(scores["scores"]) != {task.id for task in job.run_tasks if task.is_scored}:
            raise InputError(f"are not of the run's tasks; {AGAIN}", path=folder.scores(seed), key="scores")
    for remark in done[config.seeds[-1]]["remarks"]:  # equal for all seeds
        logger.info("submission: %s", remark)
    method = METHODS[config.method].summary(config, job.suite)
    summary = summarize(
        job.suite, job.run_tasks, config, method, done, prepared.rows, prepared.constants, prepared.changed
    )
    summary["held_out"] = prepared.held_out
    summary |= prepared.facts
    summary |= {"inputs": prepared.inputs, "config": flatten_config(config), "command": command}
    write_text(folder.table, render(summary, job.suite))
    write_json(folder.summary, summary)
    return cast(Summary, summary)
