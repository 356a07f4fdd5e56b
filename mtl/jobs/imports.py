"""The job of `mtl import`: a run whose predictions another system has made, and what is known of that system."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.log import logger
from mtl.base.names import one_spelling
from mtl.base.settings.schema import ImportedConfig, System
from mtl.base.typed import UnknownKey, typed
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.present_files import check_present
from mtl.data.sampled import TaskKey, read_key, scored_file
from mtl.jobs.job import Job, load_job
from mtl.jobs.predicted_files import PredictedFiles, SeedPredictions
from mtl.jobs.values import Indices, predicted_values
from mtl.submissions.answers import check_labels, read_labels
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

IMPORT_KEYS = ("seed", "system", "labels", "rows")  # the settings that no other run has


def import_job(
    name: str, predictions: Sequence[Any], settings: Mapping[str, Any], indices: Indices | None = None
) -> Job:
    """The job whose run has these predictions. Raises InputError for bad names, predictions and settings.

    `name` is that of its folder, below the suite's, and of a system without a title. `predictions` are for each seed a zip or a folder, or values
    (`mtl.import_predictions`); `indices` are of the frames that the suite was made of. `settings` are those of a run, and four more:

    - `seed`: a number or a list, otherwise 1, 2, …;
    - `system` (`System`) and `labels` (`check_labels`), what a language model's answers mean: the path of a YAML file, or its content;
    - `rows`: the path of a sample's key file. Its rows alone are scored.

    The tasks are those that `tasks` names, or else those that each seed has scored rows of, and the sample too."""
    name = one_spelling(name)
    if not re.fullmatch(r"[\w+][\w.+-]{0,199}", name):
        raise InputError(f"{name!r} names a folder; use letters, digits, '.', '_', '+' and '-'", key="NAME")
    if not predictions:
        raise InputError("name the zip or the folder of its predictions; for several seeds one each", key=name)
    paths = [path for path in predictions if isinstance(path, Path)]
    job = _load_import(name, paths, len(predictions), settings)
    config, suite = job.config, job.suite
    values = [] if paths else predicted_values(predictions, suite, indices or {})
    imported = _with_labels(config.imported, settings.get("labels"), suite)
    samples = {} if settings.get("rows") is None else read_key(settings["rows"], suite, job.data_dir)["tasks"]
    sources: Sequence[SeedPredictions] = values or [PredictedFiles(path) for path in paths]
    tasks = config.tasks if settings.get("tasks") is not None else _scored_tasks(sources, samples, job)
    if samples:
        imported = replace(imported, rows=_sampled_lines(suite.choose(tasks), samples))
    run_dir = config.run_dir or f"{config.runs_dir}/{suite.name}/{name}"
    return replace(job, config=replace(config, tasks=tasks, run_dir=run_dir, imported=imported), predictions=values)


def _load_import(name: str, paths: Sequence[Path], seed_count: int, settings: Mapping[str, Any]) -> Job:
    """The job whose predictions may lie at these paths. It does not yet have what depends on its suite: labels, rows and tasks."""
    seeds = settings.get("seed")
    if seeds is None:
        seeds = list(range(1, seed_count + 1))
    run_settings = {  # of two values of one key, the later one counts
        "imported.title": name,
        **{key: value for key, value in settings.items() if key not in IMPORT_KEYS},
        "method": "imported",
        "imported.predictions": [str(path) for path in paths],
        "seeds": seeds if isinstance(seeds, list) else [seeds],
        **_system_settings(settings.get("system")),
    }
    try:
        return load_job(run_settings)
    except UnknownKey as error:
        if error.path or error.section:  # of a file, or of a section that no setting of imports is in
            raise
        raise UnknownKey(error.unknown, {*error.known, *IMPORT_KEYS}) from None


def _system_settings(system: Any) -> dict[str, Any]:
    """The settings, by dotted keys, that the setting `system` stands for: what it states of the system."""
    path = _yaml_path("system", system)
    content = (system or {}) if path is None else read_yaml(path)
    facts = asdict(typed(System, content, path=path or "system"))
    return {f"imported.{key}": value for key, value in facts.items() if value is not None}


def _with_labels(imported: ImportedConfig, labels: Any, suite: Suite) -> ImportedConfig:
    """The section `imported` with what the setting `labels` stands for."""
    if labels is None:
        return imported
    path = _yaml_path("labels", labels)
    if path is None:
        return replace(imported, labels=check_labels(labels, suite))
    return replace(imported, labels=read_labels(path, suite), labels_sha256=sha256(path))


def _yaml_path(key: str, value: Any) -> Path | None:
    """The path of the YAML file that a setting names; None if the setting has the content itself, or no value."""
    if value is None or isinstance(value, Mapping):
        return None
    if not isinstance(value, str | Path):
        raise InputError("must be the path of a YAML file, or its content as keys and values", key=key, value=value)
    return Path(value)


def _sampled_lines(tasks: Sequence[Task], samples: Mapping[str, TaskKey]) -> dict[str, list[int]]:
    """The lines that are scored, by task id. Raises InputError for a task that the sample lacks."""
    for task in tasks:
        if task.id not in samples:
            raise InputError(f"the sample has no rows of {task.id}; it has {', '.join(samples)}", key="tasks")
    return {task.id: samples[task.id]["lines"] for task in tasks}


def _scored_tasks(sources: Sequence[SeedPredictions], samples: Collection[str], job: Job) -> list[str]:
    """The ids of the tasks whose scored rows have predictions of all seeds, and are in the sample if there is one. Raises InputError if none are."""
    suite = job.suite
    by_seed = [source.splits(suite) for source in sources]  # the tasks and splits that have predictions
    predicted_ids = {id for splits in by_seed for id, _ in splits}
    predicted_tasks = [task for task in suite.tasks.values() if task.id in predicted_ids]
    in_all_seeds = set.intersection(*by_seed)
    complete = [task for task in predicted_tasks if (task.id, task.scored_split) in in_all_seeds]
    tasks: list[str] = []
    left_out: dict[str, list[str]] = {}  # by the reason
    for task in predicted_tasks:
        reason = _reason_to_leave_out(task, complete, samples, job.data_dir)
        if reason is None:
            tasks.append(task.id)
        else:
            left_out.setdefault(reason, []).append(task.id)
    for reason, ids in left_out.items():
        logger.info("left out: %s, since %s", ", ".join(ids), reason)
    if not tasks:
        check_present(suite, complete, job.data_dir)  # its error says more, where only data is missing
        raise sources[0].error(f"no task of suite {suite.name} has predictions for its scored rows")
    return tasks


def _reason_to_leave_out(task: Task, complete: Sequence[Task], samples: Collection[str], data_dir: Path) -> str | None:
    """Why a run of predictions lacks a task; None if it has the task. `complete` are the tasks whose scored rows have predictions of all seeds."""
    if task not in complete:
        return f"predictions for {task.scored_split}, the scored split, are missing"
    file = scored_file(task, data_dir)
    if not file.is_file():
        return f"{file} is missing"
    if samples and task.id not in samples:
        return "the sample has no rows of this task"
    return None
