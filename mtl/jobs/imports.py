"""The run of `mtl import`: the predictions of another system, and what is known of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.names import one_spelling
from mtl.base.settings.schema import System
from mtl.base.typed import typed
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.sampled import Key, read_key
from mtl.jobs.given import values_of_seeds
from mtl.jobs.job import Job, load_job
from mtl.submissions.answers import check_labels, read_labels
from mtl.submissions.files import is_entry, predicted_splits, read_files


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
    name = one_spelling(name)
    if not re.fullmatch(r"[\w.+-]{1,200}", name) or name[0] in ".-":
        raise InputError(f"{name!r} names a folder; use letters, digits, '.', '_', '+' and '-'", key="NAME")
    if not predictions:
        raise InputError("name the zip or the folder of its predictions; for several seeds one each", key=name)
    paths = [path for path in predictions if isinstance(path, Path)]
    merged = {**settings, "method": "imported", "imported.predictions": [str(path) for path in paths]}
    further = {key: merged.pop(key, None) for key in ("seed", "system", "labels", "rows")}
    seeds = further["seed"]
    if seeds is None:
        seeds = list(range(1, len(predictions) + 1))
    merged["seeds"] = seeds if isinstance(seeds, list) else [seeds]
    described, path = _content("system", further["system"], read_yaml)
    system = asdict(typed(System, described, path=path or "system"))
    facts = {f"imported.{key}": value for key, value in system.items() if value is not None}
    job = load_job({"imported.title": name, **merged, **facts})
    config, suite = job.config, job.suite
    values = [] if paths else values_of_seeds(predictions, suite)
    labels, path = _content("labels", further["labels"], lambda path: read_labels(path, suite))
    changed: dict[str, Any] = {}
    if further["labels"] is not None:
        changed = {"labels": labels, "labels_sha256": sha256(path)} if path else {"labels": check_labels(labels, suite)}
    samples = {} if further["rows"] is None else key_of(further["rows"], job)["tasks"]
    tasks = config.tasks
    if merged.get("tasks") is None:
        splits = [set(seed.lines) for seed in values]
        for path in paths:
            splits.append(predicted_splits(path, read_files(path, lambda name: False)[1], suite, beside=is_entry))
            if not splits[-1]:
                raise InputError(f"has no predictions of suite {suite.name}", path=path)
        tasks = []
        for id, task in suite.tasks.items():
            # Where there is no dev file, the scored rows are rows of the training file.
            rows = task.path(task.scored_split, job.data_dir) or task.path("train", job.data_dir)
            present = rows is not None and rows.is_file() and (not samples or id in samples)
            if present and all((id, task.scored_split) in predicted for predicted in splits):
                tasks.append(id)
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


def key_of(path: Any, job: Job) -> Key:
    """The key file that the setting `rows` names. Raises InputError as `mtl.data.sampled.read_key`."""
    if not isinstance(path, str | Path):
        raise InputError("must be the path of the key.json that mtl annotate wrote", key="rows", value=path)
    return read_key(Path(path), job.suite, job.data_dir)


def _content(key: str, value: Any, read: Callable[[Path], Any]) -> tuple[Any, Path | None]:
    """What a setting holds, and its path: the content of a YAML file, or the mapping that the setting is; None is an empty one."""
    if value is None or isinstance(value, Mapping):
        return value or {}, None
    if not isinstance(value, str | Path):
        raise InputError("must be the path of a YAML file, or its content as keys and values", key=key, value=value)
    return read(Path(value)), Path(value)
