"""Make the runs of a sweep that are not finished."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from mtl.base.errors import BusyError, InputError, UserError, resources_as_input
from mtl.base.log import logger
from mtl.benchmark_making.sweeps.sweep import Sweep
from mtl.jobs.engines import Failures
from mtl.jobs.job import Job

Make = Callable[[Job], Any]
MakeTogether = Callable[[Sequence[Job]], Any]


def run_sweep(sweep: Sweep, make: Make, make_together: MakeTogether, report: Callable[[], Any]) -> list[str]:
    """Make the runs that are not finished, then the report, if any run is finished. `make` makes one run after another; `make_together` makes all at
    once if their seeds run in processes of their own (`Config.runs_apart`). Finished runs are checked first, so that a run whose data has changed is
    found before hours of training. Returns the names of the runs that other processes are making, and which are left to them. Raises InputError and
    DivergedError as a run does: that of a finished run at once, that of another run after all runs have ended and the report is written."""
    try:
        busy = _make_runs(sweep, make, make_together)
    except UserError:
        if any(run.is_finished for run in sweep.runs):
            try:
                with resources_as_input():
                    report()
            except InputError as error:  # an error of the report must not hide that of a run
                logger.error("report: %s", error)
        raise
    if not busy or any(run.is_finished for run in sweep.runs):
        report()
    return busy


def _make_runs(sweep: Sweep, make: Make, make_together: MakeTogether) -> list[str]:
    """Check the finished runs, and make the others. Returns the names of the runs that other processes are making."""
    from mtl.jobs.baseline import run_baseline

    finished = [run for run in sweep.runs if run.is_finished]
    waiting = [run for run in sweep.runs if not run.is_finished]
    for number, run in enumerate(finished, start=1):
        logger.info("run %d of %d: %s", number, len(sweep.runs), run.name)
        with suppress(BusyError), _errors_begin_with(f"{sweep.path}: run {run.name}"):  # its process checks a busy run
            run_baseline(run)
    with _errors_begin_with(str(sweep.path)):
        if waiting and waiting[0].config.runs_apart:
            make_together(waiting)
            return []
        busy, failures = _make_in_turn(waiting, make, len(sweep.runs))
        failures.check()
        return busy


def _make_in_turn(waiting: Sequence[Job], make: Make, total: int) -> tuple[list[str], Failures]:
    """Make runs one after another. Returns the names of busy runs, and the errors of others. `total` is the number of runs with the finished ones."""
    import torch

    threads = torch.get_num_threads()
    busy, failures = list[str](), Failures(len(waiting))
    for number, run in enumerate(waiting, start=total - len(waiting) + 1):
        logger.info("run %d of %d: %s", number, total, run.name)
        torch.set_num_threads(threads)  # the last run may have set its own trainer.threads
        try:
            with resources_as_input():
                make(run)
        except BusyError:
            logger.info("run %s: busy in another process", run.name)
            busy.append(run.name)
        except UserError as error:
            failures.add(run.name, f"run {run.name}", error)
    return busy, failures


@contextmanager
def _errors_begin_with(where: str) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        raise type(error)(f"{where}: {error}") from None
