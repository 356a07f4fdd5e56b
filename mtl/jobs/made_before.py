"""Runs of a sweep that were made under another name.

A run that the file gives no name is named after what the sweep's runs differ in. With another value in the grid, it has another name."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import read_yaml
from mtl.jobs.job import Job
from mtl.settings.layers import differing_keys, flatten, flatten_config
from mtl.settings.schema import SOURCES

logger = logging.getLogger("mtl")

# Keys that say where a run's inputs are. Runs that differ in them are different runs until their inputs have been compared.
INPUTS = ("data_dir", *SOURCES)


def folders_made_before(jobs: Sequence[Job], unnamed: Sequence[bool]) -> list[Path]:
    """The folder of each of a sweep's runs: its own, or one beside it that was made with the same configuration.

    unnamed: whether the sweep's file gives the run no name. Only such a run whose own folder does not exist gets another.
    """
    folders = [job.folder.path for job in jobs]
    found: dict[Path, dict[Path, Mapping[str, Any]]] = {}  # by the folder that has them
    for place, (job, may_move) in enumerate(zip(jobs, unnamed, strict=True)):
        parent = job.folder.path.parent
        if not may_move or job.folder.config.exists():
            continue
        if parent not in found:
            found[parent] = _configurations(parent)
        same = (path for path, there in found[parent].items() if path not in folders and _is_same(there, job))
        if (path := next(same, None)) is not None:
            logger.info("%s: has the configuration of run %s, which continues there", path, folders[place].name)
            folders[place] = path
    return folders


def _configurations(parent: Path) -> dict[Path, Mapping[str, Any]]:
    """The configurations of the runs in a folder. Those that cannot be read are left out."""
    found: dict[Path, Mapping[str, Any]] = {}
    for path in sorted(parent.glob("*/config.yaml")):
        try:
            found[path.parent] = flatten(read_yaml(path))
        except InputError:
            continue
    return found


def _is_same(there: Mapping[str, Any], job: Job) -> bool:
    here = flatten_config(job.config)
    return all(there.get(key) == here.get(key) for key in INPUTS) and not differing_keys(there, job.config)
