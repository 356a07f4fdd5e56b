"""The outcome of a run: the summary and the table of its finished seeds."""

import logging
from dataclasses import replace
from typing import cast

from mtl.config.files import flatten_config, moved_sources
from mtl.data.dataset import fingerprints
from mtl.errors import InputError
from mtl.files import listed, write_json, write_text
from mtl.jobs.job import Job
from mtl.jobs.prepared import Prepared, prepare, source_stamps
from mtl.methods import METHODS
from mtl.runs.summary import SeedScores, Summary, read_summary, summarize
from mtl.runs.table import render
from mtl.untrusted import AGAIN, read_json

MOST_NAMED = 3  # files in one message; the others are counted

logger = logging.getLogger("mtl")


def check_begun(job: Job) -> Summary | None:
    """Check the run's folder, which must be locked, against the job. Return the summary if the run is finished.

    Raises InputError for a folder with another configuration or other inputs, and for weights to be kept that a finished run has not kept.
    """
    folder = job.folder
    tasks = job.run_tasks
    folder.check(job.config)
    if not folder.summary.exists():
        return None
    folder.check_inputs(fingerprints(job.suite, tasks, job.data_dir))
    _check_sources(job)
    finished = read_summary(folder.summary)
    if job.config.transformer.keep and not finished["config"].get("transformer.keep"):
        raise InputError(
            f"{folder.path}: this run is finished, and it has not kept its weights (transformer.keep); set run_dir= to make it again"
            " with them"
        )
    logger.info("%s: this run is finished; remove the folder to run it again", folder.path)
    return finished


def _check_sources(job: Job) -> None:
    """Raise InputError if a finished run was made from other vectors or another transformer than those that the job names.

    They are read only if they lie elsewhere than the run's did, or if a file has another size or time than when the run was made or they
    were last read. If nothing is there, there is nothing to compare.
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
            f"{folder.path}: this run is finished, and was made from other inputs: {', '.join(differing)} ({why});"
            " set run_dir= or another runs_dir=, or remove the folder"
        )
    write_json(folder.sources, stamps)


def sum_up(job: Job, prepared: Prepared, command: str) -> Summary:
    """Write the table and the summary of a run whose seeds are all done. Return the summary."""
    config, folder = job.config, job.folder
    done = {seed: read_json(folder.scores(seed), SeedScores) for seed in config.seeds}
    for seed, scores in done.items():
        if set(scores["scores"]) != {task.id for task in job.run_tasks}:
            raise InputError(f"{folder.scores(seed)}: scores: are not of the run's tasks; {AGAIN}")
    for remark in done[config.seeds[-1]]["remarks"]:  # equal for all seeds
        logger.info("submission: %s", remark)
    summary = summarize(job.suite, job.run_tasks, config, done, prepared.rows, prepared.constants, prepared.changed)
    summary["held_out"] = prepared.held_out
    summary |= prepared.facts
    summary |= {"inputs": prepared.inputs, "config": flatten_config(config), "command": command}
    write_text(folder.table, render(summary, job.suite))
    write_json(folder.summary, summary)
    return cast(Summary, summary)
