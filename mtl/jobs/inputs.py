"""What a run is made from: its data, its method, and word vectors and other files beside them; and whether an existing run was made from the same."""

from dataclasses import replace
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import write_json
from mtl.base.log import logger
from mtl.base.settings.layers import differences
from mtl.base.settings.schema import SOURCES
from mtl.base.untrusted import read_json
from mtl.base.wording import listed
from mtl.data.dataset import Dataset
from mtl.data.hashes import fingerprints
from mtl.data.loading import load_dataset
from mtl.data.repeats import without_repeats
from mtl.embedders.find import Vectors
from mtl.jobs.imported import Imported
from mtl.jobs.job import Job
from mtl.jobs.machine import device_of, use_run_device
from mtl.methods import METHODS
from mtl.methods.method import BuildRequest, Method
from mtl.runs.folder import PREDICTIONS, REMEDY
from mtl.runs.records import Summary, read_summary

MOST_NAMED = 3  # files in one message; the others are counted


def prepare(job: Job, vectors: Vectors | None, keeps_threads: bool = False) -> tuple[Dataset, Method]:
    """Set the device and, unless a call `keeps_threads`, the threads; read the data, train missing vectors, build the method. Raises InputError."""
    config, suite, data_dir = job.config, job.suite, job.data_dir
    if keeps_threads:
        config = replace(config, trainer=replace(config.trainer, threads=None))
    use_run_device(config)
    dataset = load_dataset(suite, job.run_tasks, data_dir, config.held_out, config.imported.rows, config.choosing_share)
    if not config.choose_on_repeats:
        dataset = without_repeats(dataset)
    if vectors is not None:
        vectors.train_if_missing(suite, data_dir, config.held_out, device_of(config.trainer.accelerator))
    request = BuildRequest(config, suite, data_dir, dataset, job.folder.path, None if vectors is None else vectors.path)
    # Two methods train nothing. What they are made of, predictions or other runs, is known to jobs alone.
    if config.method == "imported":
        return dataset, Imported(request, job.predictions)
    if config.method == "ensemble":
        from mtl.jobs.ensemble import Ensemble  # other runs may do without torch

        return dataset, Ensemble(request)
    return dataset, METHODS[config.method].build(request)


def source_stamps(job: Job) -> dict[str, list[int]]:
    """By path, the size in bytes and the time of change in nanoseconds of each file beside the data, such as word vectors, that exists."""
    kind = METHODS[job.config.method]
    try:
        vectors = kind.vectors(job.config, job.suite)  # which need not exist
    except InputError:  # none are named
        vectors = None
    paths = kind.sources(job.config) + ([] if vectors is None else [vectors.path])
    files: list[Path] = []
    for path in paths:
        files += path.iterdir() if path.is_dir() else [path]
    stats = {file: file.stat() for file in files if file.is_file() and not file.name.startswith(".")}
    return {str(file): [stat.st_size, stat.st_mtime_ns] for file, stat in sorted(stats.items())}


def check_existing_run(job: Job) -> Summary | None:
    """Check the run in the job's folder, which must be locked. Returns its summary if all seeds of the job are finished, else None; a run that is
    finished with fewer seeds is checked, too. Raises InputError for another configuration, other inputs, models not kept, or no data folder."""
    folder = job.folder
    job.check_folder()
    if not folder.summary.exists():
        return None
    inputs = fingerprints(job.suite, job.run_tasks, job.data_dir)
    for seed, values in zip(job.config.seeds, job.predictions, strict=False):  # no predictions, unless Python gave them
        inputs[f"{PREDICTIONS} {seed}"] = values.fingerprint
    folder.check_inputs(inputs)
    _check_sources(job)
    finished = read_summary(folder.summary)
    _check_kept_models(job, finished)
    if not job.is_finished:
        return None
    _check_data_dir(job, finished)
    seeds = ", ".join(str(seed) for seed in finished["seeds"])
    logger.info("%s: this run is finished (seeds %s); remove the folder to run it again", folder.path, seeds)
    return finished


def _check_sources(job: Job) -> None:
    """Raise InputError if a finished run was made from other vectors or another transformer than the job names, as far as their files can be read.
    If they are the same, only moved or touched, record their present stamps, so that the next check need not read them."""
    folder, stamps = job.folder, source_stamps(job)
    if not (changes := _source_changes(job, stamps)):
        return
    try:
        vectors = METHODS[job.config.method].find_inputs(job.config, job.suite)
    except InputError as error:
        logger.info("%s: its inputs are not compared (%s): %s", folder.path, changes, error)
        return
    logger.info("%s: comparing its inputs (%s)", folder.path, changes)
    dataset, method = prepare(job, vectors, keeps_threads=True)
    inputs = {**dataset.fingerprints, **method.fingerprints}
    # A finished run has its tokens. Before further seeds, `RunFolder.claim` compares the tokenizer, too.
    if names := [name for name in folder.changed_inputs(inputs) if name != "tokenizer"]:
        problem = f"this run is finished, and was made from other inputs: {', '.join(names)} ({changes})"
        raise InputError(f"{problem}; {REMEDY}", path=folder.path)
    write_json(folder.sources, stamps)


def _source_changes(job: Job, stamps: dict[str, list[int]]) -> str:
    """How the files beside the data, which have these stamps, differ from what the finished run recorded: the first kind of change; empty: none."""
    recorded = read_json(job.folder.sources, dict[str, list[int]]) if job.folder.sources.exists() else {}
    settings = differences(job.folder.config, job.config, SOURCES)
    are_gone = not stamps and not settings  # a finished run needs them no more
    if stamps == recorded or are_gone:
        return ""
    differing = [f"{file}: another size or time than then" for file in stamps if stamps[file] != recorded.get(file)]
    gone = [f"{file}: gone" for file in recorded if file not in stamps]
    return listed(settings or differing or gone, MOST_NAMED, "; ")


def _check_kept_models(job: Job, finished: Summary) -> None:
    """Raise InputError if the job keeps models, and the finished run did not."""
    for key, keeps in (("transformer.keep", job.config.transformer.keep), ("floor.keep", job.config.floor.keep)):
        if keeps and not finished["config"].get(key):
            problem = f"this run is finished, and was not asked to keep its models ({key})"
            raise InputError(f"{problem}; set run_dir= to make it again with them", path=job.folder.path)


def _check_data_dir(job: Job, finished: Summary) -> None:
    """Raise InputError if the data folder does not exist, and is another one than that of the finished run."""
    if job.data_dir.is_dir():
        return
    recorded = Path(finished["config"].get("data_dir") or job.suite.data_dir)
    if job.config.data_dir is not None and recorded.resolve() != job.data_dir.resolve():
        problem = f"no such folder; this run is finished, with data_dir={recorded}"
        raise InputError(problem, key="data_dir", value=str(job.data_dir))
    logger.info("%s: no such folder; the finished run is not compared with its data", job.data_dir)
