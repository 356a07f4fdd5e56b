"""The run of `mtl import`: the predictions of another system, and what is known of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.typed import typed
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.sampled import Key, read_key
from mtl.jobs.given import values_of_seeds
from mtl.jobs.job import Job, load_job
from mtl.submissions.answers import check_labels, read_labels
from mtl.submissions.files import is_entry, predicted_splits, read_files
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


def import_job(name: str, predictions: Sequence[Path | Mapping[str, Any]], settings: Mapping[str, Any]) -> Job:
    """The job whose run has these predictions. It has the tasks that `tasks` names, or else those that each seed has scored rows of.

    Args:
        name: the name of the run's folder, below the suite's, and of the system where system.yaml has no title.
        predictions: for each seed a zip or a folder; or for each seed values, see `mtl.import_predictions`.
        settings: the settings of a run, and four more. `seed`: a number or a list, otherwise 1, 2, …. `system`: the path of a YAML file
            or its content (`System`). `labels`: what the answers of a language model mean, the path of a YAML file or its content
            (`mtl.submissions.answers`). `rows`: the path of the key file of a sample (`mtl.data.sampled`), whose rows alone are scored;
            then the tasks are those of the key.

    Raises:
        InputError: for a name that no folder can have, what is no prediction, and bad settings.
    """
    if not re.fullmatch(r"[\w.+-]+", name) or name[0] in ".-":
        raise InputError(f"{name!r} names a folder; use letters, digits, '.', '_', '+' and '-'", key="NAME")
    if not predictions:
        raise InputError("name the zip or the folder of its predictions; for several seeds one each", key=name)
    paths = [path for path in predictions if isinstance(path, Path)]
    given = {**settings, "method": "imported", "imported.predictions": [str(path) for path in paths]}
    further = {key: given.pop(key, None) for key in ("seed", "system", "labels", "rows")}
    seeds = further["seed"]
    if seeds is None:
        seeds = list(range(1, len(predictions) + 1))
    given["seeds"] = seeds if isinstance(seeds, list) else [seeds]
    facts = {f"imported.{key}": value for key, value in asdict(_system(further["system"])).items() if value is not None}
    job = load_job({"imported.title": name, **given, **facts})
    config, suite = job.config, job.suite
    values = [] if paths else values_of_seeds(predictions, suite)
    changed = _labels(further["labels"], suite)
    samples = {} if further["rows"] is None else key_of(further["rows"], job)["tasks"]
    tasks = config.tasks
    if given.get("tasks") is None:
        splits = [set(seed.lines) for seed in values] or [_predicted(path, suite) for path in paths]
        tasks = [
            id
            for id, task in suite.tasks.items()
            if all((id, task.scored_split) in predicted for predicted in splits)
            and _has_rows(job, id)
            and (not samples or id in samples)
        ]
        if not tasks:
            problem = f"no task of suite {suite.name} has predictions for its scored rows"
            raise InputError(problem, path=paths[0]) if paths else InputError(problem, key="predictions")
    if samples:
        sampled = [task.id for task in suite.choose(tasks)]
        if outside := [id for id in sampled if id not in samples]:
            raise InputError(f"the sample has no rows of {outside[0]}; it has {', '.join(samples)}", key="tasks")
        changed["rows"] = {id: sample["lines"] for id, sample in samples.items() if id in sampled}
    run_dir = config.run_dir or f"{config.runs_dir}/{suite.name}/{name}"
    config = replace(config, tasks=tasks, run_dir=run_dir, imported=replace(config.imported, **changed))
    return replace(job, config=config, predictions=values)


def _predicted(path: Path, suite: Suite) -> set[tuple[str, str]]:
    """The tasks and splits that a zip or a folder has predictions for. Raises InputError if there are none."""
    splits = predicted_splits(path, read_files(path, lambda name: False)[1], suite, beside=is_entry)
    if not splits:
        raise InputError(f"has no predictions of suite {suite.name}", path=path)
    return splits


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
    """The keys of `ImportedConfig` for labels, from the path of a YAML file or from its content; None: none."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {"labels": check_labels(given, suite)}
    path = _path("labels", given)
    return {"labels": read_labels(path, suite), "labels_sha256": sha256(path)}


def _path(key: str, value: Any) -> Path:
    if not isinstance(value, str | Path):
        raise InputError("must be the path of a YAML file, or its content as keys and values", key=key, value=value)
    return Path(value)


def _has_rows(job: Job, id: str) -> bool:
    """Whether the data folder has the rows that the task is scored on; where there is no dev file, these are rows of the training file."""
    task = job.suite.tasks[id]
    path = task.path(task.scored_split, job.data_dir) or task.path("train", job.data_dir)
    return path is not None and path.is_file()
