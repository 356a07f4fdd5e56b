"""The outcome of a run: the summary and the table of its finished seeds."""

import logging
from typing import Any

from mtl.config.files import flatten_config
from mtl.data.dataset import fingerprints
from mtl.files import read_json, write_json, write_text
from mtl.jobs.job import Job
from mtl.jobs.prepared import Prepared
from mtl.runs.summary import summarize
from mtl.runs.table import render

logger = logging.getLogger("mtl")


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
    summary = summarize(job.suite, job.run_tasks, config, done, prepared.rows, prepared.constants, prepared.changed)
    summary["held_out"] = prepared.held_out
    summary |= prepared.facts
    summary |= {"inputs": prepared.inputs, "config": flatten_config(config), "command": command}
    write_text(folder.table, render(summary, job.suite))
    write_json(folder.summary, summary)
    return summary
