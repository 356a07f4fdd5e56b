"""The run of `mtl import`: the predictions of another system, and what is known of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import read_yaml, typed_content
from mtl.jobs.job import Job, load_job
from mtl.submissions.imported import predicted_tasks


@dataclass
class System:
    """The content of system.yaml. What is missing is not stated."""

    title: str | None = None
    family: str | None = None
    parameters: int | None = None
    seconds: float | None = None
    text: str | None = None
    hardware: str | None = None
    link: str | None = None
    license: str | None = None


def import_job(name: str, paths: Sequence[Path], settings: Mapping[str, Any]) -> Job:
    """The job whose run has these predictions. It has the tasks that `tasks` names, or else those that each path has scored rows of.

    Args:
        name: the name of the run's folder, below the suite's, and of the system where system.yaml has no title.
        paths: for each seed a zip or a folder.
        settings: the settings of a run; further `seed`, a number or a list (otherwise 1, 2, …), and `system`, the path of a YAML file (`System`).

    Raises:
        InputError: for a name that no folder can have, files that are none of predictions, and bad settings.
    """
    if not re.fullmatch(r"[\w.+-]+", name) or name[0] in ".-":
        raise InputError(f"{name!r} names a folder; use letters, digits, '.', '_', '+' and '-'", key="NAME")
    if not paths:
        raise InputError("name the zip or the folder of its predictions; for several seeds one each", key=name)
    given = {**settings, "method": "imported", "imported.predictions": [str(path) for path in paths]}
    seeds = given.pop("seed", None)
    given["seeds"] = list(range(1, len(paths) + 1)) if seeds is None else seeds if isinstance(seeds, list) else [seeds]
    system = System()
    if (file := given.pop("system", None)) is not None:
        system = typed_content(System, read_yaml(Path(file)), Path(file), "description of a system")
    facts = {f"imported.{field.name}": getattr(system, field.name) for field in fields(System)}
    given |= {key: value for key, value in facts.items() if value is not None}
    given.setdefault("imported.title", name)
    job = load_job(given)
    given.setdefault("run_dir", f"{job.config.runs_dir}/{job.suite.name}/{name}")
    if given.get("tasks") is None:
        splits = [predicted_tasks(path, job.suite) for path in paths]
        given["tasks"] = [
            id
            for id, task in job.suite.tasks.items()
            if all(task.scored_split in own.get(id, ()) for own in splits) and _has_rows(job, id)
        ]
        if not given["tasks"]:
            raise InputError(f"no task of suite {job.suite.name} has predictions for its scored rows", path=paths[0])
    return load_job(given)


def _has_rows(job: Job, id: str) -> bool:
    """Whether the data folder has the rows that the task is scored on; where there is no dev file, these are rows of the training file."""
    task = job.suite.tasks[id]
    path = task.path(task.scored_split, job.data_dir) or task.path("train", job.data_dir)
    return path is not None and path.is_file()
