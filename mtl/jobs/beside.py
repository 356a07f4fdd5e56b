"""The logistic regression that stands beside a run in its table: it is made before the run, in a folder of its own.
The usual folder is runs/SUITE/logistic, or for some tasks alone runs/SUITE/logistic,tasks=cbd+dyk. If it holds one with other settings, data or tasks
than the run's, that one stays, and the run has another in a folder beside it, whose name ends in a hash of the run's data and of what divides it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256

from mtl.base.errors import InputError, resources_as_input
from mtl.base.log import logger
from mtl.base.settings.layers import differences
from mtl.base.wording import format_bytes
from mtl.data.hashes import fingerprints
from mtl.jobs.inputs import check_existing_run
from mtl.jobs.job import Job, load_job
from mtl.jobs.machine import check_loggers_and_callbacks
from mtl.methods import METHODS
from mtl.runs.records import Beside, read_summary

LOGISTIC = "logistic"  # the simple baseline that stands in every table
MOST_BYTES = 50_000_000  # of training files on which it is trained without being asked for
LONGEST_NAME = 200  # bytes of its folder's name; file systems take 255


def train_logistic(job: Job, make: Callable[[Job], object]) -> None:
    """Let `make` make the logistic regression, unless it is there, unwanted or on large data. Raises InputError first for a run that cannot begin."""
    config, kind = job.config, METHODS[job.config.method]
    if job.is_finished or not config.baselines or not kind.computes or kind.family == "floor":
        return
    with job.folder.locked():
        check_existing_run(job)
        kind.find_inputs(config, job.suite)
        check_loggers_and_callbacks(config)
    with _errors_logged():
        inputs = fingerprints(job.suite, job.run_tasks, job.data_dir)
        logistic, why_not_usual = _logistic_of(job, inputs)
        if logistic.is_finished and not _difference(logistic, job, inputs):
            return
        paths = [task.path("train", job.data_dir) for task in logistic.run_tasks]
        size = sum(path.stat().st_size for path in paths if path is not None and path.is_file())
        if size > MOST_BYTES:
            _log_absence(InputError(f"{format_bytes(size)} of training data; mtl baseline method={LOGISTIC} makes it"))
            return
        where = f"; {why_not_usual}, so that this one is made in {logistic.folder.path}" if why_not_usual else ""
        logger.info("first the logistic regression for the table (baselines=false: without it)%s", where)
        make(logistic)


def kept_logistic(job: Job, inputs: Mapping[str, str]) -> Beside | None:
    """The scores of the finished logistic regression on the rows that score a run, whose inputs have these fingerprints; None: none stands there."""
    config = job.config
    if not config.baselines or config.method == LOGISTIC or config.imported.rows:
        return None
    with _errors_logged():
        logistic, why_not_usual = _logistic_of(job, inputs)
        if logistic.is_finished and not _difference(logistic, job, inputs):
            summary = read_summary(logistic.folder.summary)
            scored = [task.id for task in job.run_tasks if task.is_scored and task.id in summary["tasks"]]
            scores = {id: summary["tasks"][id]["median"] for id in scored}
            return Beside(title=summary["title"], scores=scores) if scores else None
        if why_not_usual:
            remedy = f"remove that folder, make method={LOGISTIC} again, and then this run"
            _log_absence(InputError(f"{why_not_usual}; {remedy}"))
    return None


def _log_absence(reason: InputError) -> None:
    """Log why no logistic regression is in the table; as an error, which shortens what foreign files hold and makes it safe to print."""
    logger.info("no logistic regression in the table: %s", reason)


@contextmanager
def _errors_logged() -> Iterator[None]:
    """Log an InputError within the block as the reason why no logistic regression is in the table; a full disk or memory is one, too."""
    try:
        with resources_as_input():
            yield
    except InputError as error:
        _log_absence(error)


def _logistic_of(job: Job, inputs: Mapping[str, str]) -> tuple[Job, str]:
    """The logistic regression of a run whose inputs have these fingerprints, and why it is in a folder beside the usual one; empty: it is there."""
    usual = _usual_logistic(job)
    why_not_usual = _difference(usual, job, inputs) if usual.is_finished else ""
    if not why_not_usual:
        return usual, ""
    path = usual.folder.path
    data = (fingerprints(job.suite, usual.run_tasks, job.data_dir), job.config.held_out, job.config.choosing_share)
    digest = sha256(json.dumps(data).encode()).hexdigest()[:16]
    beside = replace(usual, config=replace(usual.config, run_dir=str(path.with_name(f"{path.name},{digest}"))))
    return beside, why_not_usual


def _usual_logistic(job: Job) -> Job:
    """The logistic regression in the usual folder: on all tasks, or where the run names its tasks and there is none of all, on these."""
    keys = ("suite", "data_dir", "cache_dir", "runs_dir", "held_out", "choosing_share")
    settings = {**{key: getattr(job.config, key) for key in keys}, "method": LOGISTIC, "seeds": [1]}
    on_all = load_job(settings)
    tasks = [id for id in job.config.tasks or () if id not in on_all.unanswered]
    if not tasks or (on_all.is_finished and set(tasks) <= set(read_summary(on_all.folder.summary)["tasks"])):
        return on_all
    folder = on_all.folder.path.with_name(_folder_name(tasks))
    return load_job({**settings, "tasks": tasks, "run_dir": str(folder)})


def _folder_name(tasks: Sequence[str]) -> str:
    """The name of the folder of the logistic regression on these tasks alone, as in "logistic,tasks=cbd+dyk", or with a hash if that is too long."""
    name = f"{LOGISTIC},tasks={'+'.join(tasks)}"
    digest = sha256(name.encode()).hexdigest()[:16]
    return name if len(name.encode()) <= LONGEST_NAME else f"{LOGISTIC},tasks={digest}"


def _difference(logistic: Job, job: Job, inputs: Mapping[str, str]) -> str:
    """Why a finished logistic regression is not that of a run with these inputs, as in "runs/klej/logistic is of other data (dev.tsv)"; or empty."""
    path, summary = logistic.folder.path, read_summary(logistic.folder.summary)
    if settings := differences(logistic.folder.config, logistic.config, but=("seeds", "suite", "tasks")):
        return f"{path} has another configuration ({'; '.join(settings)})"
    if changed := [name for name, value in summary["inputs"].items() if inputs.get(name, value) != value]:
        return f"{path} is of other data ({', '.join(changed)})"
    answered = {task.id for task in logistic.run_tasks}
    splits = {id: task["split"] for id, task in summary["tasks"].items()}
    wanted = [task for task in job.run_tasks if task.is_scored and task.id in answered]
    lacking = [f"{task.id} on {task.scored_split}" for task in wanted if splits.get(task.id) != task.scored_split]
    return f"{path} has no scores of {', '.join(lacking)}" if lacking else ""
