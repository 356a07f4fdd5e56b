"""Commands about the runs that are there and the disk space that they take, and completion in a shell."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mtl.api.commands.job_settings import Commands, add_runs_dir
from mtl.base.errors import InputError
from mtl.base.extras import check_installed

if TYPE_CHECKING:
    from mtl.runs.removal import Removal

CACHE = Path("cache")  # as cache_dir in configs/baseline.yaml
SHELLS = ("bash", "zsh", "fish")
DAYS = 30.0  # without use after which an entry of the cache is deleted


def add_storage(commands: Commands) -> None:
    """Commands about the runs that are there and the disk space that they take."""
    runs = commands.add_parser("runs", help="list runs: suite, seeds that are done, average, age, size on disk")
    add_runs_dir(runs)
    runs.set_defaults(run=_runs)

    rm = commands.add_parser("rm", help="delete runs, after asking")
    rm.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="the folder of a run, as mtl runs lists it")
    _add_yes(rm)
    rm.set_defaults(run=_rm)

    prune = commands.add_parser(
        "prune",
        help="free disk space without a loss, after asking: leftovers of killed processes, old entries of the cache",
    )
    add_runs_dir(prune)
    prune.add_argument("--cache", type=Path, default=CACHE, metavar="DIR", help="the runs' cache_dir, else cache")
    prune.add_argument(
        "--days",
        type=float,
        default=DAYS,
        help=f"days after which unused entries of the cache are deleted, else {DAYS:g}",
    )
    _add_yes(prune)
    prune.set_defaults(run=_prune)

    completion = commands.add_parser("completion", help="print what lets a shell complete commands and settings")
    completion.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    completion.set_defaults(run=_completion)


def _add_yes(command: argparse.ArgumentParser) -> None:
    command.add_argument("--yes", action="store_true", help="do not ask")


def _runs(arguments: argparse.Namespace) -> None:
    from mtl.runs.stored import runs_text, stored_runs

    print(runs_text(stored_runs(arguments.runs_dir)))


def _rm(arguments: argparse.Namespace) -> None:
    from mtl.runs.removal import removable_runs

    _remove(removable_runs(arguments.runs), arguments.yes)


def _prune(arguments: argparse.Namespace) -> None:
    from mtl.runs.removal import prunable

    if not arguments.days >= 0:
        raise InputError(f"--days {arguments.days:g}: must be 0 or more")
    _remove(prunable(arguments.runs_dir, arguments.cache, arguments.days), arguments.yes)


def _remove(removals: "Sequence[Removal]", yes: bool) -> None:
    """Print what would be deleted, ask, and delete it."""
    from mtl.base.files import format_bytes
    from mtl.runs.removal import freed, removal_text, remove

    if not removals:
        print("nothing to delete")
        return
    print(removal_text(removals), flush=True)
    if not yes and not _confirmed():
        print("nothing is deleted")
        return
    remove(removals)
    print(f"deleted; {format_bytes(freed(removals))} are free now")


def _completion(arguments: argparse.Namespace) -> None:
    check_installed("completion")
    import argcomplete

    print(argcomplete.shellcode(["mtl"], shell=arguments.shell))


def _confirmed() -> bool:
    """Ask on the terminal. Raises InputError if there is none."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError("standard input is no terminal to ask on, so nothing is deleted; give --yes")
    print("Delete this? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
