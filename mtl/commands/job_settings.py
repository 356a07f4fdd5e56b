"""The settings of a run as words of a command line."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from mtl.jobs.job import Job


Commands: TypeAlias = "argparse._SubParsersAction[Any]"

KEYS = "key=value settings, as in encoder.hidden_size=256; configs/baseline.yaml lists them"


def job_of(settings: Sequence[str]) -> "Job":
    """The run that words `key=value` describe. Raises InputError."""
    from mtl.jobs.job import load_job, parse_settings

    return load_job(parse_settings(settings))
