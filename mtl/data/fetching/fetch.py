"""Put a suite's data into its folder: download and unpack it, or generate it for an embedded suite."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import without_empty_folders
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.base.untrusted import inside
from mtl.base.wings import FetchCopy, hook
from mtl.data.fetching.archives import unpack
from mtl.data.fetching.download import UnavailableError, download
from mtl.data.sample import write_sample
from mtl.data.splits import choose_scored, missing_tasks
from mtl.tasks.sources import HubSource, Source
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


@dataclass(frozen=True)
class _Report:
    """The names of single files that the user is told of at the end; each download adds to them."""

    unavailable: list[str] = field(default_factory=list)  # those that the server does not have
    unverified: list[str] = field(default_factory=list)  # those of which the suite names no checksum


def awaits_generation(suite: Suite, data_dir: Path) -> bool:
    """Whether the suite's data is generated, and some of it is not there yet: a process may have been killed while it wrote the data."""
    return suite.generated and bool(missing_tasks(suite, data_dir))


def write_generated(suite: Suite, data_dir: Path) -> None:
    """Write the data of an embedded suite, unless it is there. Raises InputError for a folder that the user named and that does not exist."""
    if data_dir != suite.data_dir and not data_dir.is_dir():
        remedy = f"correct it, drop it, or write the data there: mtl data {suite.name} data_dir={data_dir}"
        raise InputError(f"no such folder; {remedy}", key="data_dir", value=data_dir)
    if awaits_generation(suite, data_dir):
        _generate(suite, data_dir)


def fetch_suite(suite: Suite, tasks: Sequence[Task], data_dir: Path) -> None:
    """Put the files of these tasks below `data_dir`; tasks that have all their files are skipped.
    A task is downloaded from its `source`. If it has none, or the download fails, its copy on the Hugging Face Hub is used; of a task that its
    publisher has withdrawn, only the copy. Raises InputError if the suite names neither a source nor a copy, at the first download that fails and no
    copy replaces, and, after all others, for single files that the server lacks and files of tasks, not withdrawn, that the archives lack."""
    if suite.generated:
        _generate(suite, data_dir)
        return
    report = _Report()
    for task in tasks:
        missing = missing_tasks(suite, data_dir)
        if task.id not in missing:
            logger.info("%s: already there", task.id)
        elif task.withdrawn:
            _fetch_withdrawn(task, data_dir)
        elif task.source is not None:
            alike = [entry for entry in tasks if (entry.source, entry.folder) == (task.source, task.folder)]
            _fetch_source(task, task.source, data_dir, [entry for entry in alike if entry.id in missing], report)
        elif task.hub is not None:
            _fetch_copy(task, task.hub, data_dir)
        else:
            problem = f"no such file, and the suite names no source for task {task.id}; put it there"
            raise InputError(problem, path=missing[task.id])
    if report.unverified:
        logger.info("not verified, since the suite has no checksums of them: %s", ", ".join(report.unverified))
    _fetch_template(suite, data_dir)
    if report.unavailable:
        names = ", ".join(report.unavailable)
        problem = f"{names} could not be downloaded; all other files of the chosen tasks are there"
        raise InputError(f"{problem}; put these files there yourself, or run without their tasks", path=data_dir)
    if still := missing_tasks(suite, data_dir).keys() & {task.id for task in tasks if not task.withdrawn}:
        raise InputError(f"the downloaded archives lack files of {', '.join(sorted(still))}", path=data_dir)


def _generate(suite: Suite, data_dir: Path) -> None:
    """Write those files of an embedded suite that are not there, each atomically, one process after another."""
    with lock(data_dir / ".lock", f"{data_dir}: another process writes the data"):
        if missing_tasks(choose_scored(suite, data_dir), data_dir):
            write_sample(suite.name, data_dir)
            logger.info("%s: written to %s", suite.name, data_dir)
        else:
            logger.info("%s: already there", suite.name)


def _fetch_template(suite: Suite, data_dir: Path) -> None:
    """Download the leaderboard's empty entry, if the suite says where it is. If this fails, a line says so: no run needs it."""
    template, source = suite.submission.template, suite.submission.template_source
    if template is None or source is None or (path := inside(data_dir, template)).exists():
        return
    try:
        with without_empty_folders(path.parent):
            download(source.url, path, source.sha256, source.size)
        logger.info("%s: downloaded", path)
    except InputError as error:
        logger.warning("%s; put this file, the leaderboard's empty entry, at %s", error, path)


def _fetch_withdrawn(task: Task, data_dir: Path) -> None:
    """Take the data that a publisher has withdrawn from its copy on the Hub. If there is none, or this fails, a line says where to put it."""
    problem = ""
    if task.hub is not None:
        try:
            _fetch_copy(task, task.hub, data_dir)
            return
        except InputError as error:
            problem = f"; {error}"
    logger.warning("%s: withdrawn by its publisher%s; put its files into %s", task.id, problem, data_dir / task.folder)


def _fetch_source(task: Task, source: Source, data_dir: Path, same_archive: Sequence[Task], report: _Report) -> None:
    """Download a task's files from its source, and from its zip those of the tasks in the `same_archive`; if it fails, from its copy on the Hub."""
    try:
        with without_empty_folders(data_dir / task.folder):
            if source.single_files:
                return _fetch_files(task, source, data_dir, report)
            archive, folder = data_dir / f"{task.folder or task.id}.zip", data_dir / task.folder
            download(source.url, archive, source.sha256, source.size)
            names = [name for entry in same_archive for split in entry.files for name in entry.file_names(split)]
            try:
                unpack(archive, folder, names)
            except InputError as error:
                if source.sha256 is None and archive.is_file() and not isinstance(error.__cause__, OSError):
                    archive.unlink()  # else the next call would take the damaged file for the download
                raise
            archive.unlink()
            logger.info("%s: unpacked to %s", task.id, folder)
    except InputError as error:
        if task.hub is None:
            remedy = f"or put the files of {task.id} into {data_dir / task.folder} by other means"
            raise InputError(f"{error}; {remedy}") from None
        logger.warning("%s; now its copy on the Hugging Face Hub is tried", error)
        _fetch_copy(task, task.hub, data_dir)


def _fetch_copy(task: Task, hub: HubSource, data_dir: Path) -> None:
    """Take a task's data from its copy on the Hub, as a wing does. Raises InputError without the wing or the extra `hub`."""
    fetch: FetchCopy | None = hook("fetch_copy")
    if fetch is None:
        problem = "a part of mtl that reads data sets of the Hub is missing here; install the whole of mtl, or put the files there"
        raise InputError(problem, unit=f"task {task.id}")
    check_installed("hub", unit=f"task {task.id}")
    logger.info("%s: from the Hugging Face Hub's dataset %s", task.id, hub.dataset)
    fetch(task, hub, data_dir)


def _fetch_files(task: Task, source: Source, data_dir: Path, report: _Report) -> None:
    """Download a task's missing files one by one, and add to the report. Raises UnavailableError for one that only a copy on the Hub can replace."""
    downloaded, absent = list[str](), list[str]()
    for split, name in [(key, name) for key in task.files for name in task.file_names(key)]:
        path = data_dir / task.folder / name
        if path.exists():
            continue
        try:
            checksum = task.checksums.get(split) if name == task.file(split) else None
            download(source.address(task.folder, name), path, checksum, log_digest=False)
            downloaded.append(name)
            if checksum is None:
                report.unverified.append(name)
        except UnavailableError as error:
            if task.hub is not None:
                raise
            logger.warning("%s", error)
            absent.append(name)
    report.unavailable.extend(absent)
    if downloaded:
        what = "downloaded" if not absent else f"{', '.join(downloaded)} downloaded"
        logger.info("%s: %s to %s", task.id, what, data_dir / task.folder)
