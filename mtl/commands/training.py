"""Commands that train."""

import argparse
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mtl.commands.job_settings import KEYS, Commands, job_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mtl.jobs.job import Job, NamedRun
    from mtl.jobs.sweep import Sweep

WATCH_EVERY = 5.0  # seconds between two looks at a sweep's folders


def add_training(commands: Commands) -> None:
    """Commands that train."""
    baseline = commands.add_parser("baseline", help="train, evaluate and tabulate: the whole job")
    baseline.add_argument("settings", nargs="*", metavar="key=value", help=KEYS)
    baseline.set_defaults(run=_baseline)

    sweep = commands.add_parser("sweep", help="make the runs that a file lists, if they do not exist yet, and report")
    sweep.add_argument("file", metavar="FILE", help="a name in configs/sweep, or the path of a YAML file")
    sweep.add_argument("settings", nargs="*", metavar="key=value", help=f"for every run: {KEYS}")
    sweep.add_argument("--only", action="append", default=[], metavar="NAME", help="a run to make, instead of all")
    sweep.add_argument("--plan", action="store_true", help="print seeds and expected hours, and run nothing")
    sweep.add_argument(
        "--watch", action="store_true", help="show how far the sweep is that runs elsewhere, until it ends"
    )
    sweep.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="of the report, else report")
    sweep.set_defaults(run=_sweep)


def _baseline(arguments: argparse.Namespace) -> None:
    _run(job_of(arguments.settings), arguments.command)


def _run(job: "Job", command: str) -> None:
    """Run one job. Print its settings first, and its table, its duration and the table's path at the end."""
    from mtl.methods import METHODS

    start = time.monotonic()
    config, folder = job.config, job.folder
    job.check_memory()
    print(
        f"suite {job.suite.name} ({job.data_dir}) · {METHODS[config.method].title(config)}"
        f" · seeds {' '.join(map(str, config.seeds))} · results in {folder.path}",
        flush=True,
    )
    from mtl.jobs.baseline import run_baseline
    from mtl.progress import format_duration

    run_baseline(job, command)
    print(folder.read_table())
    print(f"suite {job.suite.name}: {format_duration(time.monotonic() - start)}; {folder.table}")


def _run_together(runs: "Sequence[NamedRun]", command: str) -> None:
    """Make several runs at once. Print the table of each when it is finished."""
    from mtl.jobs.together import run_together

    def show(run: "NamedRun") -> None:
        print(f"run {run.name} · {run.job.folder.table}\n\n{run.job.folder.read_table()}", flush=True)

    run_together(runs, command, show)


def _plan(sweep: "Sweep") -> None:
    from mtl.jobs.overview import plan_text

    print(plan_text(sweep.runs, sweep.runs[0].job.config.seeds_in_parallel))


def _watch(sweep: "Sweep") -> None:
    """Print how far the sweep is whenever that has changed, on a terminal in place of what was printed before."""
    from mtl.jobs.overview import is_over, watch_text
    from mtl.terminal import clear_screen

    shown = ""
    while True:
        over, text = is_over(sweep.runs), watch_text(sweep.runs)
        if text != shown:
            clear_screen()
            print(text, flush=True)
            shown = text
        if over:
            return
        time.sleep(WATCH_EVERY)


def _sweep(arguments: argparse.Namespace) -> None:
    from mtl.files import counted
    from mtl.jobs.job import parse_settings
    from mtl.jobs.sweep import load_sweep, run_sweep

    sweep = load_sweep(arguments.file, parse_settings(arguments.settings), arguments.only)
    if arguments.plan or arguments.watch:
        (_plan if arguments.plan else _watch)(sweep)
        return
    for run in sweep.runs:
        run.job.check_memory()
    finished = sum(run.finished for run in sweep.runs)
    print(f"{sweep.title}: {counted(len(sweep.runs), 'run')}, {finished} of them finished", flush=True)

    def report() -> None:
        from mtl.report.report import write_report

        cache_dir = Path(sweep.runs[0].job.config.cache_dir)
        print(write_report(sweep.runs_dir, arguments.out, arguments.command, cache_dir), flush=True)

    make, make_together = (partial(function, command=arguments.command) for function in (_run, _run_together))
    if busy := run_sweep(sweep, make, make_together, report):
        print(
            f"{len(busy)} of {counted(len(sweep.runs), 'run')} busy in another process: {', '.join(busy)}", flush=True
        )
