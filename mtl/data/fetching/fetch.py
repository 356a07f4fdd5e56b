"""Put a suite's data into its folder: single files, zips, or copies on the Hugging Face Hub."""

from collections.abc import Sequence
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import without_empty_folders
from mtl.base.log import logger
from mtl.base.untrusted import inside
from mtl.base.wings import FetchCopy, hook
from mtl.data.fetching.archives import unpack
from mtl.data.fetching.download import UnavailableError, download
from mtl.data.present_files import missing_tasks
from mtl.data.sample import write_embedded_data
from mtl.tasks.sources import HubSource, Source
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


def fetch_suite(suite: Suite, tasks: Sequence[Task], data_dir: Path) -> None:
    """Put the files of these tasks below `data_dir`; tasks that have all their files are skipped.
    A task is downloaded from its `source`. If it has none, or the download fails, its copy on the Hugging Face Hub is used; of a task that its
    publisher has withdrawn, only the copy. Raises InputError if the suite names neither a source nor a copy, at the first download that fails and no
    copy replaces, and, after all others, for single files that the server lacks and files of tasks, not withdrawn, that the archives lack."""
    if suite.generated:
        write_embedded_data(suite, data_dir)
        return
    unverified: list[str] = []  # names of files
    try:
        for task in tasks:
            missing = missing_tasks(suite, data_dir)
            if task.id not in missing:
                logger.info("%s: already there", task.id)
            elif task.withdrawn:
                _fetch_withdrawn(task, data_dir)
            elif task.source is not None:
                _fetch_source(task, task.source, tasks, data_dir, unverified)
            elif task.hub is not None:
                _fetch_copy(task, task.hub, data_dir)
            else:
                problem = f"no such file, and the suite names no source for task {task.id}; put it there"
                raise InputError(problem, path=missing[task.id])
    finally:  # also where a later download fails
        if unverified:
            logger.info("not verified, since the suite has no checksums of them: %s", ", ".join(unverified))
    _fetch_template(suite, data_dir)
    _check_complete(suite, tasks, data_dir)


def _check_complete(suite: Suite, tasks: Sequence[Task], data_dir: Path) -> None:
    """Raise InputError if files of a task are still missing, but for tasks that their publisher has withdrawn."""
    missing = missing_tasks(suite, data_dir)
    lacking = [task for task in tasks if task.id in missing and not task.withdrawn]
    with_single_files = [task for task in lacking if task.source is not None and task.source.single_files]
    names = [name for task in with_single_files for name in _absent_files(task, data_dir)]
    if names:
        problem = f"{', '.join(names)} could not be downloaded; all other files of the chosen tasks are there"
        raise InputError(f"{problem}; put these files there yourself, or run without their tasks", path=data_dir)
    if lacking:
        ids = ", ".join(sorted(task.id for task in lacking))
        raise InputError(f"the downloaded archives lack files of {ids}", path=data_dir)


def _fetch_source(task: Task, source: Source, tasks: Sequence[Task], data_dir: Path, unverified: list[str]) -> None:
    """Download a task's files from its source, and from its zip those of all tasks that are in it; if it fails, from its copy on the Hub."""
    try:
        with without_empty_folders(data_dir / task.folder):
            if source.single_files:
                _fetch_files(task, source, data_dir, unverified)
            else:
                _fetch_zip(task, source, tasks, data_dir)
    except InputError as error:
        if task.hub is None:
            remedy = f"or put the files of {task.id} into {data_dir / task.folder} by other means"
            raise InputError(f"{error}; {remedy}") from None
        logger.warning("%s; now its copy on the Hugging Face Hub is tried", error)
        _fetch_copy(task, task.hub, data_dir)


def _fetch_zip(task: Task, source: Source, tasks: Sequence[Task], data_dir: Path) -> None:
    """Download a task's zip, and take out of it the missing files of those tasks that it is the source of."""
    archive, folder = data_dir / f"{task.folder or task.id}.zip", data_dir / task.folder
    download(source.url, archive, source.sha256, source.size)
    same_zip = [entry for entry in tasks if (entry.source, entry.folder) == (source, task.folder)]
    absent = {name for entry in same_zip for name in _absent_files(entry, data_dir)}
    lacking = [entry for entry in same_zip if _absent_files(entry, data_dir)]
    names = [name for entry in lacking for split in entry.files for name in entry.file_names(split)]
    try:
        unpack(archive, folder, names, kept=set(names) - absent)
    except InputError as error:
        if source.sha256 is None and archive.is_file() and not isinstance(error.__cause__, OSError):
            archive.unlink()  # else the next call would take the damaged file for the download
        raise
    archive.unlink()
    logger.info("%s: unpacked to %s", task.id, folder)


def _fetch_files(task: Task, source: Source, data_dir: Path, unverified: list[str]) -> None:
    """Download a task's missing files one by one. Adds the names of those without a checksum to `unverified`. Logs which files the server does not
    have; raises UnavailableError for one of a task with a copy on the Hub."""
    folder, absent_files = data_dir / task.folder, _absent_files(task, data_dir)
    new_files: list[str] = []
    for name, checksum in absent_files.items():
        try:
            download(source.address(task.folder, name), folder / name, checksum, log_hash=False)
        except UnavailableError as error:
            if task.hub is not None:
                raise
            logger.warning("%s", error)
            continue
        new_files.append(name)
        if checksum is None:
            unverified.append(name)
    if new_files:
        what = "downloaded" if len(new_files) == len(absent_files) else f"{', '.join(new_files)} downloaded"
        logger.info("%s: %s to %s", task.id, what, folder)


def _absent_files(task: Task, data_dir: Path) -> dict[str, str | None]:
    """The names of a task's files that are not there, each with its checksum, if the suite has it."""
    checksums: dict[str, str | None] = {}
    for split in task.files:
        for name in task.file_names(split):
            if not (data_dir / task.folder / name).exists():
                checksums.setdefault(name, task.checksums.get(split) if name == task.file(split) else None)
    return checksums


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


def _fetch_copy(task: Task, hub: HubSource, data_dir: Path) -> None:
    """Take a task's data from its copy on the Hub, as a wing does. Raises InputError without the wing or the extra `hub`."""
    fetch: FetchCopy | None = hook("fetch_copy")
    if fetch is None:
        problem = "a part of mtl that reads data sets of the Hub is missing here; install the whole of mtl, or put the files there"
        raise InputError(problem, unit=f"task {task.id}")
    check_installed("hub", unit=f"task {task.id}")
    logger.info("%s: from the Hugging Face Hub's dataset %s", task.id, hub.dataset)
    fetch(task, hub, data_dir)


def _fetch_template(suite: Suite, data_dir: Path) -> None:
    """Download the leaderboard's empty entry, if the suite says where it is. If this fails, a line says so: no run needs it."""
    template, source = suite.submission.template, suite.submission.template_source
    if template is None or source is None or inside(data_dir, template).exists():
        return
    path = inside(data_dir, template)
    try:
        with without_empty_folders(path.parent):
            download(source.url, path, source.sha256, source.size)
        logger.info("%s: downloaded", path)
    except InputError as error:
        logger.warning("%s; put this file, the leaderboard's empty entry, at %s", error, path)
