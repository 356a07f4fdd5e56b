"""A suite's data brought to its place: downloaded and unpacked, or, for the embedded suite, written."""

import logging
from collections.abc import Sequence
from pathlib import Path

from mtl.data.download import download, unpack
from mtl.data.splits import missing_tasks
from mtl.errors import InputError
from mtl.sample.grammar import write_sample
from mtl.tasks.suite import Suite, Task

logger = logging.getLogger("mtl")


def fetch_suite(suite: Suite, tasks: Sequence[Task], data_dir: Path) -> None:
    """Put the files of these tasks below `data_dir`; tasks whose files are all there are left alone.

    Raises InputError when the suite names no source, or when a download fails.
    """
    if suite.generated:
        write_sample(data_dir)
        logger.info("%s: written to %s", suite.name, data_dir)
        return
    missing = missing_tasks(suite, data_dir)
    for task in tasks:
        if task.id not in missing:
            logger.info("%s: is there", task.id)
            continue
        if task.source is None:
            raise InputError(
                f"{missing[task.id]}: no such file, and the suite names no source for task {task.id}; put it there"
            )
        folder = data_dir / task.folder
        archive = data_dir / f"{task.folder or task.id}.zip"
        download(task.source.url, archive, task.source.sha256, task.source.size)
        unpack(archive, folder, [name for name in task.files.values() if name])
        archive.unlink()
        logger.info("%s: unpacked to %s", task.id, folder)
    if still := missing_tasks(suite, data_dir).keys() & {task.id for task in tasks}:
        raise InputError(f"{data_dir}: the downloaded archives lack files of {', '.join(sorted(still))}")
