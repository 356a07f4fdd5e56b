"""Commands about data."""

import argparse
from functools import partial
from typing import TYPE_CHECKING

from mtl.api.commands.job_settings import Commands, completed_by, job_of, names_of

if TYPE_CHECKING:
    pass


def add_data(commands: Commands) -> None:
    """Commands about data."""
    data = commands.add_parser("data", help="download a suite's data, or write that of an embedded suite")
    suite = data.add_argument("suite", help="a suite's name, or a path to a suite file")
    completed_by(suite, partial(names_of, "suite"))
    data.add_argument(
        "settings", nargs="*", metavar="key=value", help="data_dir=FOLDER (else data/SUITE), tasks=[ID,…]"
    )
    data.set_defaults(run=_data)


def _data(arguments: argparse.Namespace) -> None:
    from mtl.data.fetching.fetch import fetch_suite

    job = job_of([f"suite={arguments.suite}", *arguments.settings])
    fetch_suite(job.suite, job.tasks, job.data_dir)
