"""A whole run: every seed and its predictions, then the summary and the table."""

import logging
from typing import Any

from mtl.config.files import flatten_config
from mtl.data.dataset import fingerprints
from mtl.device import exact_arithmetic
from mtl.files import read_json, write_json, write_text
from mtl.jobs.engines import ENGINES
from mtl.jobs.job import Job
from mtl.jobs.prepared import Prepared, begin
from mtl.jobs.seed import run_seed
from mtl.jobs.units import runs_apart, seed_units, units_at_a_time
from mtl.runs.summary import summarize
from mtl.runs.table import render
from mtl.training.precision import check_precision

logger = logging.getLogger("mtl")


@exact_arithmetic()
def run_baseline(job: Job, command: str = "") -> dict[str, Any]:
    """Run the job, or the part of it that is not done yet. Return the summary.

    command: the command line that the summary records. Raises InputError for bad data, for a run folder with another
    configuration, and for one that another process uses; DivergedError for training that diverges.
    """
    config = job.config
    check_device(job)
    with job.folder.locked():
        if (finished := check_begun(job)) is not None:
            return finished
        prepared, dataset, method = begin(job)
        units = seed_units(job, prepared)
        if runs_apart(
            config
        ):  # also a last seed that is left: with all threads, its scores would have other last digits
            ENGINES[config.engine]().run(units, units_at_a_time(config, units), lambda unit, value: None)
        else:
            for seed in config.seeds:
                run_seed(job, dataset, method, seed)
        return sum_up(job, prepared, command)


def check_device(job: Job) -> None:
    """Raise InputError if the run is not finished and this machine cannot train it."""
    if not job.folder.summary.exists():
        check_precision(job.config.trainer)


def check_begun(job: Job) -> dict[str, Any] | None:
    """Check the run's folder, which must be locked, against the job. Return the summary if the run is finished.

    Raises InputError for a folder with another configuration or other inputs.
    """
    folder = job.folder
    tasks = job.run_tasks
    folder.check(job.config)
    if not folder.summary.exists():
        return None
    folder.check_inputs(fingerprints(job.suite, tasks, job.data_dir))
    logger.info("%s: this run is finished; remove the folder to run it again", folder.path)
    finished: dict[str, Any] = read_json(folder.summary)
    return finished


def sum_up(job: Job, prepared: Prepared, command: str) -> dict[str, Any]:
    """Write the table and the summary of a run whose seeds are all done. Return the summary."""
    config, folder = job.config, job.folder
    done = {seed: read_json(folder.scores(seed)) for seed in config.seeds}
    for remark in done[config.seeds[-1]].get("remarks", []):  # equal for all seeds
        logger.info("submission: %s", remark)
    summary = summarize(job.suite, job.run_tasks, config, done, prepared.rows, prepared.constants)
    summary["held_out"] = prepared.held_out
    summary |= prepared.facts
    summary |= {"inputs": prepared.inputs, "config": flatten_config(config), "command": command}
    write_text(folder.table, render(summary, job.suite))
    write_json(folder.summary, summary)
    return summary
