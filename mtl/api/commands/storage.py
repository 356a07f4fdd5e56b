"""The list of the runs that are there, with the disk space that they take; and completion in a shell."""

import argparse

from mtl.api.commands.job_settings import Commands, add_runs_dir
from mtl.base.extras import check_installed

SHELLS = ("bash", "zsh", "fish")


def add_storage(commands: Commands) -> None:
    """The commands that list runs, and that complete commands in a shell."""
    runs = commands.add_parser("runs", help="list runs: suite, seeds that are done, average, age, size on disk")
    add_runs_dir(runs)
    runs.set_defaults(run=_runs)

    completion = commands.add_parser("completion", help="print what lets a shell complete commands and settings")
    completion.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    completion.set_defaults(run=_completion)


def _runs(arguments: argparse.Namespace) -> None:
    from mtl.runs.stored import runs_text, stored_runs

    print(runs_text(stored_runs(arguments.runs_dir)))


def _completion(arguments: argparse.Namespace) -> None:
    check_installed("completion")
    import argcomplete

    print(argcomplete.shellcode(["mtl"], shell=arguments.shell))
