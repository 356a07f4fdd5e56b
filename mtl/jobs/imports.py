"""The run of `mtl import`: the predictions of another system, and what is known of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.typed import typed
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.sampled import Key, read_key
from mtl.jobs.job import Job, load_job
from mtl.submissions.answers import check_labels, read_labels
from mtl.submissions.imported import predicted_tasks
from mtl.tasks.suite import Suite


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
        settings: the settings of a run, and four more. `seed`: a number or a list, otherwise 1, 2, …. `system`: the path of a YAML file
            or its content (`System`). `labels`: what the answers of a language model mean, the path of a YAML file or its content
            (`mtl.submissions.answers`). `rows`: the path of the key file of a sample (`mtl.data.sampled`), whose rows alone are scored;
            then the tasks are those of the key.

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
    system = _system(given.pop("system", None))
    facts = {f"imported.{field.name}": getattr(system, field.name) for field in fields(System)}
    given |= {key: value for key, value in facts.items() if value is not None}
    given.setdefault("imported.title", name)
    labels = given.pop("labels", None)
    key_file = given.pop("rows", None)
    job = load_job(given)
    given |= _labels(labels, job.suite)
    samples = {} if key_file is None else key_of(key_file, job)["tasks"]
    given.setdefault("run_dir", f"{job.config.runs_dir}/{job.suite.name}/{name}")
    if given.get("tasks") is None:
        splits = [predicted_tasks(path, job.suite) for path in paths]
        given["tasks"] = [
            id
            for id, task in job.suite.tasks.items()
            if all(task.scored_split in own.get(id, ()) for own in splits)
            and _has_rows(job, id)
            and (not samples or id in samples)
        ]
        if not given["tasks"]:
            raise InputError(f"no task of suite {job.suite.name} has predictions for its scored rows", path=paths[0])
    if samples:
        if outside := [id for id in given["tasks"] if id not in samples]:
            raise InputError(f"the sample has no rows of {outside[0]}; it has {', '.join(samples)}", key="tasks")
        given["imported.rows"] = {id: own["lines"] for id, own in samples.items() if id in given["tasks"]}
    return load_job(given)


def key_of(path: Any, job: Job) -> Key:
    """The key file that the setting `rows` names. Raises InputError as `mtl.data.sampled.read_key`."""
    if not isinstance(path, str | Path):
        raise InputError("must be the path of the key.json that mtl annotate wrote", key="rows", value=path)
    return read_key(Path(path), job.suite, job.data_dir)


def _system(given: Any) -> System:
    """What is known of a system, from the path of a YAML file or from its content; None: nothing."""
    if given is None or isinstance(given, Mapping):
        return typed(System, given or {}, path="system")
    path = _path("system", given)
    return typed(System, read_yaml(path), path=path)


def _labels(given: Any, suite: Suite) -> dict[str, Any]:
    """The settings for labels, from the path of a YAML file or from its content; None: none."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {"imported.labels": check_labels(given, suite)}
    path = _path("labels", given)
    return {"imported.labels": read_labels(path, suite), "imported.labels_sha256": sha256(path)}


def _path(key: str, value: Any) -> Path:
    if not isinstance(value, str | Path):
        raise InputError("must be the path of a YAML file, or its content as keys and values", key=key, value=value)
    return Path(value)


def _has_rows(job: Job, id: str) -> bool:
    """Whether the data folder has the rows that the task is scored on; where there is no dev file, these are rows of the training file."""
    task = job.suite.tasks[id]
    path = task.path(task.scored_split, job.data_dir) or task.path("train", job.data_dir)
    return path is not None and path.is_file()
