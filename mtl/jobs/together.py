"""A whole run, or several at once: the unfinished seeds of all runs are one list of units; then come summaries and tables."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import Any

from mtl.base.errors import InputError, UserError, resources_as_input
from mtl.base.files import allow_open_files
from mtl.base.progress import show, shown_run
from mtl.base.untrusted import read_json
from mtl.jobs.engines import ENGINES
from mtl.jobs.engines.engine import Engine, Failures, Needs, Unit, longest_first, returning_errors
from mtl.jobs.job import Job, NamedRun
from mtl.jobs.machine import check_precision, exact
from mtl.jobs.plan import expected_seconds
from mtl.jobs.prepared import Prepared, begin, begin_apart, check_begun, sum_up
from mtl.jobs.seed import final_scores, run_apart, run_seed
from mtl.methods import METHODS
from mtl.runs.summary import SeedScores, Summary, read_summary
from mtl.settings.schema import Config

logger = logging.getLogger("mtl")


def run_baseline(job: Job, command: str = "") -> Summary:
    """Run the job, or the part of it that is not done yet. Return the summary.

    Args:
        command: the command line that the summary records.

    Raises:
        InputError: for bad data, for a run folder with another configuration, and for one that another process uses;
            DivergedError for training that diverges.
    """
    # Also a last seed that is left: with all threads, its scores would have other last digits.
    if job.config.runs_apart:
        run_together([NamedRun("", job)], command, lambda run: None)
        return read_summary(job.folder.summary)
    if not job.folder.summary.exists():
        check_precision(job.config)
    with exact(job.config), job.folder.locked():
        if (finished := check_begun(job)) is not None:
            return finished
        prepared, dataset, method = begin(job)
        with shown_job(NamedRun("", job)):
            for seed in job.config.seeds:
                run_seed(job, dataset, method, seed)
        return sum_up(job, prepared, command)


def shown_job(run: NamedRun) -> AbstractContextManager[None]:
    """Show the run and its seeds within the block."""
    job, config = run.job, run.job.config
    done = [seed for seed in config.seeds if job.folder.scores(seed).exists()]
    return shown_run(f"{job.suite.name} · {METHODS[config.method].title(config)}", config.seeds, done, run.name)


def run_together(runs: Sequence[NamedRun], command: str, finished: Callable[[NamedRun], None]) -> None:
    """Make these runs: first prepare all of them, then train their seeds, several at a time, on the engine of their
    configuration.

    What several runs need (data, caches, vectors) is made once while they are prepared, and what several of their
    seeds would train exactly alike is trained once. The runs must have the same `engine` and `seeds_in_parallel`.

    Args:
        finished: called after each run whose summary is written.

    Raises:
        UserError: for a run that fails, as `run_baseline` raises it. If a unit fails, the error is raised only when all other
            runs have ended.
    """
    allow_open_files(len(runs))  # a lock for each run
    with ExitStack() as held:
        waiting = []
        for run in runs:
            held.enter_context(run.job.folder.locked())
            if check_begun(run.job) is None:
                waiting.append(run)
        if waiting:
            failures = Failures(len(waiting))
            engine = ENGINES[waiting[0].job.config.engine]()
            prepared = _prepare(waiting, engine, failures)
            _train([run for run in waiting if run.name in prepared], prepared, engine, failures, command, finished)
            failures.check()


def _prepare(runs: Sequence[NamedRun], engine: Engine, failures: Failures) -> dict[str, Prepared]:
    """Prepare the runs. Return what is known of each run that did not fail, by its name. What several runs need is made by the
    first of them, and the others wait for it."""
    prepared: dict[str, Prepared] = {}
    units = [preparation_unit(run.job, run.name) for run in runs]
    names = {unit.name: run.name for unit, run in zip(units, runs, strict=True)}

    def done(unit: Unit, value: Any) -> None:
        if isinstance(value, UserError):
            failures.add(names[unit.name], unit.name, value)
        else:
            prepared[names[unit.name]] = value

    # If there is only one preparation, `at_a_time` is 1, so that it gets all threads.
    at_a_time = min(len(units), units_at_a_time(runs[0].job.config, units))
    engine.run([*map(returning_errors, units)], at_a_time, done)
    return prepared


def _train(
    runs: Sequence[NamedRun],
    prepared: dict[str, Prepared],
    engine: Engine,
    failures: Failures,
    command: str,
    finished: Callable[[NamedRun], None],
) -> None:
    """Train the seeds of runs that are prepared, and sum each run up after its last seed."""
    units = ordered_units(runs, prepared)
    seed_of = {seed_name(run.name, seed): (run, seed) for run in runs for seed in run.job.config.seeds}
    left = {run.name: {unit.name for unit in units if seed_of[unit.name][0] is run} for run in runs}

    def sum_up_if_done(run: NamedRun) -> None:
        if not left.get(run.name, {"failed"}):
            del left[run.name]
            try:
                with resources_as_input():
                    sum_up(run.job, prepared[run.name], command)
            except InputError as error:
                failures.add(run.name, run.name, error)
            else:
                finished(run)

    def done(unit: Unit, value: Any) -> None:
        run, seed = seed_of[unit.name]
        if isinstance(value, UserError):
            failures.add(run.name, unit.name, value)
            left.pop(run.name, None)
        elif run.name in left:
            # Not every engine sends what its processes show.
            show(final_scores(run.job, seed, read_json(run.job.folder.scores(seed), SeedScores), run.name))
            left[run.name].discard(unit.name)
            sum_up_if_done(run)
        if not left:
            failures.check()  # ends the other seeds of runs that failed

    with ExitStack() as shown:
        for run in runs:
            shown.enter_context(shown_job(run))
        for run in runs:
            sum_up_if_done(run)
        if units:
            engine.run([*map(returning_errors, units)], units_at_a_time(runs[0].job.config, units), done)


def ordered_units(runs: Sequence[NamedRun], prepared: dict[str, Prepared]) -> list[Unit]:
    """The unfinished seeds of all runs, those that are expected to take longest first. Of seeds that share a part of their training, one
    trains it, and the others begin when that one has ended."""
    units = list[Unit]()
    keys: dict[str, str] = {}  # by unit name, the key of the part of the training that the unit shares
    expected = expected_seconds(runs)
    for run in runs:
        units += seed_units(run.job, run.name, expected[run.name])
        keys.update({seed_name(run.name, seed): key for seed, key in prepared[run.name].shared.items()})
    first: dict[str, str] = {}
    ordered = []
    for unit in longest_first(units):
        trains = first.setdefault(keys.get(unit.name, unit.name), unit.name)
        ordered.append(unit if trains == unit.name else replace(unit, after=unit.after | {trains}))
    return ordered


def units_at_a_time(config: Config, units: Sequence[Unit]) -> int:
    """How many units an engine executes at once: by default one process, or as many as a cluster has room for."""
    return config.seeds_in_parallel or (1 if config.engine == "processes" else len(units))


def needs(config: Config) -> Needs:
    """What each unit of a run asks for: its preparation as well, which computes vectors, and records the precision of the device."""
    gpu = config.resources.gpu if METHODS[config.method].uses_device(config) else 0.0
    return Needs(config.trainer.threads, gpu, config.resources.memory_bytes)


def preparation_unit(job: Job, run: str) -> Unit:
    """What is done before the seeds of a run.

    Args:
        run: its name; empty if there is only one run.
    """
    return Unit(
        name=f"{run}, preparation" if run else "preparation",
        call=begin_apart,
        arguments=(job,),
        prefix=f"{run} · " if run else "",
        folder=job.folder.path.parent,
        needs=needs(job.config),
    )


def seed_units(job: Job, run: str, expected: Mapping[int, float]) -> list[Unit]:
    """The seeds of a run that are not done yet, as units.

    Args:
        run: its name; empty if there is only one run.
        expected: seconds by seed, where they are known.
    """
    waiting = [seed for seed in job.config.seeds if not job.folder.scores(seed).exists()]
    return [
        Unit(
            name=seed_name(run, seed),
            call=run_apart,
            arguments=(job, seed),
            prefix=f"{run} · " if run else "",
            folder=job.folder.path.parent,
            needs=needs(job.config),
            seconds=expected.get(seed),
        )
        for seed in waiting
    ]


def seed_name(run: str, seed: int) -> str:
    """The name of a seed's unit."""
    return f"{run}, seed {seed}" if run else f"seed {seed}"
