"""The teacher of a distilled run: the outputs of a finished run's models for the training rows.

They are the mean over all seeds of that run, because an ensemble teaches more than each of its models (Hinton et al. 2015, section 3). They are
computed once and kept. The teacher reads only training rows and unlabelled rows (`mtl.jobs.unlabelled`). Its models were trained on the same
training rows, and a note in the report says so.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mtl.base.arrays import read_arrays, write_arrays
from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.data.dataset import Dataset, input_rows
from mtl.data.examples import Row
from mtl.jobs.ensemble import Member
from mtl.jobs.job import Job
from mtl.methods.method import Teacher
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

FORMAT = 2  # increase it when the same teacher gives other outputs, or when the form of the kept file changes

logger = logging.getLogger("mtl")


def ask_teacher(job: Job, dataset: Dataset) -> Teacher:
    """The outputs of `distill.run` for the training rows and the unlabelled rows of the run's tasks.

    Raises:
        InputError: if the folder has no finished run whose models are kept, if that run has none of the tasks, and if it was trained on
            other rows, because dev rows of this run may be among these.
    """
    run = job.config.distill.run
    assert run is not None
    member = Member.open(run, "distill.run")
    tasks = [
        task for task in dataset.trained_tasks if task.id in member.summary["tasks"] and not target_kind(task).several
    ]
    if not tasks:
        raise InputError("has none of this run's tasks whose targets are single values", key="distill.run", value=run)
    member.check_rows(tasks, dataset, job.data_dir, job.config.held_out)
    unlabelled = {
        task.id: input_rows(dataset, task, dataset.unlabelled[task.id])
        for task in dataset.trained_tasks
        if task.id in dataset.unlabelled
    }
    ids, inputs = [task.id for task in tasks], sorted(dataset.fingerprints.items())
    determining = json.dumps((FORMAT, ids, inputs, unlabelled, member.content()))
    key = hashlib.sha256(determining.encode()).hexdigest()
    cache = Path(job.config.cache_dir) / f"teacher-{key[:16]}.npz"
    outputs = _read(cache, tasks)
    if outputs is None:
        rows = {
            task.id: [*input_rows(dataset, task, dataset.splits[task.id]["train"]), *unlabelled.get(task.id, ())]
            for task in tasks
        }
        outputs = _computed(member, tasks, rows, job.config.trainer.accelerator)
        write_arrays(cache, outputs)
    return Teacher(key, outputs, _note(job, dataset, member, list(outputs)))


def _note(job: Job, dataset: Dataset, member: Member, ids: Sequence[str]) -> str:
    """The note of a report about the teacher of the tasks with these ids."""
    distill, seeds = job.config.distill, member.summary["seeds"]
    note = (
        f"Distilled from {member.summary['title']} ({len(seeds)} seed{'s' if len(seeds) > 1 else ''}), whose models were trained on the same rows:"
        f" {', '.join(ids)} (distill.weight={distill.weight:g}, distill.temperature={distill.temperature:g})."
    )
    counts = ", ".join(f"{id} {len(dataset.unlabelled[id]):,}" for id in ids if id in dataset.unlabelled)
    if counts:
        sources = [f"lines of {', '.join(Path(file).name for file in distill.texts)}"] if distill.texts else []
        sources += ["training rows with words left out"] if distill.augment else []
        note += f" Unlabelled rows that it labelled too ({'; '.join(sources)}): {counts}."
    return note


def _read(path: Path, tasks: Sequence[Task]) -> dict[str, np.ndarray] | None:
    """The outputs of these tasks in a file; None if it does not exist or is damaged, so that they are computed again."""
    if not path.exists():
        return None
    try:
        arrays = read_arrays(path)
    except (OSError, ValueError, KeyError, InputError):
        return None
    complete = set(arrays) == {task.id for task in tasks} and all(array.ndim == 2 for array in arrays.values())
    return {task.id: arrays[task.id] for task in tasks} if complete else None


def _computed(
    member: Member, tasks: Sequence[Task], rows: Mapping[str, Sequence[Row]], accelerator: str
) -> dict[str, np.ndarray]:
    """The mean of the outputs of all seeds for these rows, by task id."""
    seeds = member.summary["seeds"]
    outputs: dict[str, np.ndarray] = {}
    with Progress("asking the teacher", len(seeds) * sum(map(len, rows.values())), "rows") as bar:
        for task, outputs_of_seed in member.outputs(seeds, rows, tasks, accelerator, bar):
            outputs[task.id] = outputs.get(task.id, 0) + outputs_of_seed / len(seeds)
    return {id: mean.astype(np.float32) for id, mean in outputs.items()}
