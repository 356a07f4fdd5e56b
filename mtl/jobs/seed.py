"""One seed of a run: training, predictions, scores, submission, and the machine and software versions behind them."""

import logging
import platform
import socket
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

from mtl.base.errors import InputError
from mtl.base.events import Scored
from mtl.base.files import write_json
from mtl.base.progress import detail, show
from mtl.base.untrusted import read_json
from mtl.base.version import VERSION
from mtl.data.dataset import Dataset
from mtl.jobs.job import Job
from mtl.jobs.machine import exact, machine, precision
from mtl.jobs.prepared import prepare
from mtl.methods import METHODS
from mtl.methods.method import Method
from mtl.runs.folder import seed_lock
from mtl.runs.summary import SeedScores
from mtl.submissions import SUBMISSION_FORMATS
from mtl.submissions.format import Submitted, write_predictions
from mtl.tasks.metrics import further_scores, score

logger = logging.getLogger("mtl")

TRANSFORMERS = ("transformers", "tokenizers")  # installed on demand
PACKAGES = (
    "torch",
    "pytorch-lightning",
    "torchmetrics",
    "numpy",
    "scipy",
    "scikit-learn",
    "sacremoses",
    "fasttext",
    *TRANSFORMERS,
)


def versions() -> dict[str, str]:
    """The version of mtl, of Python, and of each installed package that a score may depend on, by name."""
    installed = {"mtl": VERSION, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def run_apart(job: Job, seed: int) -> None:
    """Run one seed of a run that has begun (`mtl.jobs.prepared.begin`) in a separate process, perhaps on another machine.

    The environment sets how many threads it uses. Raises InputError also if the data, the vectors or the precision are not those that
    the run was begun with: a machine may have other copies.
    """
    logger.setLevel(logging.WARNING)  # the first process has logged what it read
    config = job.config
    with exact(config):
        dataset, method = prepare(replace(job, config=replace(config, trainer=replace(config.trainer, threads=None))))
        logger.setLevel(logging.INFO)
        _check_same(job, dataset, method)
        run_seed(job, dataset, method, seed)


def _check_same(job: Job, dataset: Dataset, method: Method) -> None:
    host, folder = socket.gethostname(), job.folder
    if changed := folder.changed_inputs({**dataset.fingerprints, **method.fingerprints}):
        raise InputError(
            f"on {host}, its inputs are not those that it was begun with ({', '.join(changed)}); all machines must"
            " have the same files in data_dir and embeddings_dir",
            path=folder.path,
        )
    try:
        folder.check_precision(precision(job.config))
    except InputError as error:
        raise InputError(f"on {host}: {error}") from None


def run_seed(job: Job, dataset: Dataset, method: Method, seed: int) -> SeedScores:
    """Train one seed, and write its predictions, its submission and scores.json, unless it is done.

    Returns the content of scores.json: scores (× 100 on the scored split, by task id), average (`Suite.mean`), also (of the tasks with
    further metrics, those × 100 by name), dev_scores (× 100 on dev), choosing_scores (× 100 on the dev rows that choose, of the tasks in
    `Dataset.choosing`), same_answer (the tasks whose scored rows all have the same prediction), seconds, cost, versions, machine,
    remarks (what the user of the submission should know, one line each).
    """
    done = job.folder.scores(seed)
    with seed_lock(job.folder.seed(seed)):
        if done.exists():
            return read_json(done, SeedScores)
        start = time.monotonic()
        result = _predict(job, dataset, method, seed)
        result["seconds"] = time.monotonic() - start
        _show_scores(final_scores(job, seed, cast(SeedScores, result)), job.config.seeds)
        result["cost"] = method.cost(seed, job.folder.seed(seed))
        result["versions"] = versions()
        result["machine"] = machine(job.config)
        result["remarks"] = _submit(job, dataset, seed, result["cost"]["parameters"])
        write_json(done, result)
    return cast(SeedScores, result)


def _predict(job: Job, dataset: Dataset, method: Method, seed: int) -> dict[str, Any]:
    """Train, write the predictions, and score them. Returns those entries of scores.json."""
    config, folder = job.config, job.folder
    by_task, on_dev, on_choosing, further = {}, {}, {}, dict[str, dict[str, float]]()
    same_answer = list[str]()
    for task, predictions in method.predictions(seed, folder.seed(seed)):
        if task.is_scored:
            scored = predictions[task.scored_split], dataset.scored(task).scored
            by_task[task.id] = score(task, *scored)
            further[task.id] = further_scores(task, *scored)
            if len(set(scored[0].tolist())) == 1 < len(scored[0]):
                same_answer.append(task.id)
            show(Scored(seed, {task.id: job.suite.shown.show(by_task[task.id])}))
        if "dev" in predictions:
            dev = dataset.splits[task.id]["dev"]
            on_dev[task.id] = score(task, predictions["dev"], dev.scored)
            if (rows := dataset.choosing.get(task.id)) is not None:
                on_choosing[task.id] = score(task, predictions["dev"][rows], dev.take(rows).scored)
        for split, values in predictions.items():
            write_predictions(folder.predictions(seed, split, task.id), task, values, config.submission.header)
    scores = {task.id: by_task[task.id] for task in dataset.scored_tasks}
    return {
        "scores": scores,
        "average": job.suite.mean(scores),
        "also": {task.id: further[task.id] for task in dataset.scored_tasks if further[task.id]},
        "dev_scores": {task.id: on_dev[task.id] for task in dataset.tasks if task.id in on_dev},
        "choosing_scores": on_choosing,
        "same_answer": [task.id for task in dataset.tasks if task.id in same_answer],
    }


def final_scores(job: Job, seed: int, result: SeedScores, run: str = "") -> Scored:
    """The scores of a finished seed, to be shown. run: the name of the run among several."""
    show_number, average = job.suite.shown.show, result["average"]
    scores = {id: show_number(value) for id, value in result["scores"].items()}
    return Scored(seed, scores, "" if average is None else show_number(average), final=True, run=run)


def _show_scores(scored: Scored, seeds: Sequence[int]) -> None:
    show(scored)
    listed = ", ".join(f"{id} {score}" for id, score in scored.scores.items())
    average = scored.average and f" · average {scored.average}"
    detail(f"seed {scored.seed} ({seeds.index(scored.seed) + 1}/{len(seeds)}) · {listed}{average}")


def _submit(job: Job, dataset: Dataset, seed: int, parameters: int | None) -> list[str]:
    """Write the submission of a seed, in the suite's format. Returns what its user should know, one line each.

    parameters: of the seed's model.
    """
    config = job.config
    if dataset.samples:
        return ["none is written, since only a sample of the rows has predictions"]
    lacking = [
        task.id
        for task in dataset.tasks
        for split in dataset.splits[task.id]
        if split != "train" and not job.folder.predictions(seed, split, task.id).exists()
    ]
    if lacking:
        return [f"none is written, since predictions are missing for rows of {', '.join(dict.fromkeys(lacking))}"]
    described = METHODS[config.method].summary(config, job.suite)
    facts = {
        "name": config.submission.name or described["title"],
        "family": described["family"],
        "parameters": parameters,
    }
    submitted = Submitted(job.folder, seed, job.suite, dataset.tasks, job.data_dir, facts)
    return SUBMISSION_FORMATS[job.suite.submission.format].write(submitted)
