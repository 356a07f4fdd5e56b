"""The outcome of a run: the summary and the table of its finished seeds."""

import logging
from dataclasses import replace
from typing import Any

from mtl.config.files import flatten_config, moved_sources
from mtl.data.dataset import fingerprints
from mtl.errors import InputError
from mtl.files import read_json, write_json, write_text
from mtl.jobs.job import Job
from mtl.jobs.prepared import Prepared, prepare
from mtl.methods import METHODS
from mtl.runs.summary import summarize
from mtl.runs.table import render

logger = logging.getLogger("mtl")


def check_begun(job: Job) -> dict[str, Any] | None:
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
    finished: dict[str, Any] = read_json(folder.summary)
    if job.config.transformer.keep and not finished["config"].get("transformer.keep"):
        raise InputError(
            f"{folder.path}: this run is finished, and it has not kept its weights (transformer.keep); set run_dir= to make it again"
            " with them"
        )
    logger.info("%s: this run is finished; remove the folder to run it again", folder.path)
    return finished


def _check_sources(job: Job) -> None:
    """Raise InputError if a finished run was made from other vectors or another transformer than those that the job names.

    They are read only if they lie elsewhere than the run's did. If nothing is there, there is nothing to compare.
    """
    config, folder = job.config, job.folder
    moved = moved_sources(folder.config, config)
    if not moved:
        return
    try:
        METHODS[config.method].check(config, job.suite)
    except InputError as error:
        logger.info("%s: its inputs are not compared (%s): %s", folder.path, "; ".join(moved), error)
        return
    logger.info("%s: comparing its inputs (%s)", folder.path, "; ".join(moved))
    dataset, method = prepare(replace(job, config=replace(config, trainer=replace(config.trainer, threads=None))))
    if changed := folder.changed_inputs({**dataset.fingerprints, **method.fingerprints}):
        raise InputError(
            f"{folder.path}: this run is finished, and was made from other inputs: {', '.join(changed)} ({'; '.join(moved)});"
            " set run_dir= or another runs_dir=, or remove the folder"
        )


def sum_up(job: Job, prepared: Prepared, command: str) -> dict[str, Any]:
    """Write the table and the summary of a run whose seeds are all done. Return the summary."""
    config, folder = job.config, job.folder
    done = {seed: read_json(folder.scores(seed)) for seed in config.seeds}
    for remark in done[config.seeds[-1]].get("remarks", []):  # equal for all seeds
        logger.info("submission: %s", remark)
    summary = summarize(job.suite, job.run_tasks, config, done, prepared.rows, prepared.constants, prepared.changed)
    summary["held_out"] = prepared.held_out
    summary |= prepared.facts
    summary |= {"inputs": prepared.inputs, "config": flatten_config(config), "command": command}
    write_text(folder.table, render(summary, job.suite))
    write_json(folder.summary, summary)
    return summary
