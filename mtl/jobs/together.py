"""Several runs at once: the unfinished seeds of all of them are one list of units."""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from mtl.config.schema import Config
from mtl.files import allow_open_files
from mtl.jobs.baseline import check_begun, check_device, sum_up
from mtl.jobs.engines import ENGINES
from mtl.jobs.engines.kind import Engine, Unit, longest_first
from mtl.jobs.expected import expected_seconds
from mtl.jobs.job import NamedRun
from mtl.jobs.prepared import Prepared, begin_apart
from mtl.jobs.units import needs, seed_name, seed_units, units_at_a_time

logger = logging.getLogger("mtl")


def run_together(runs: Sequence[NamedRun], command: str, finished: Callable[[NamedRun], None]) -> None:
    """Make these runs: first prepare all of them, then train their seeds, several at a time, on the engine of their configuration.

    What several runs need (data, caches, vectors) is made once while they are prepared, and what several of their seeds would train
    exactly alike is trained once. finished: called after each run whose summary is written. The runs must have the same `engine` and
    `seeds_in_parallel`. Raises InputError and DivergedError as a run does.
    """
    config = runs[0].job.config
    engine = ENGINES[config.engine]()
    allow_open_files(len(runs))  # a lock for each run
    with ExitStack() as held:
        waiting = []
        for run in runs:
            check_device(run.job)
            held.enter_context(run.job.folder.locked())
            if check_begun(run.job) is None:
                waiting.append(run)
        prepared = _prepare(waiting, engine, config)
        units = _seed_units(waiting, prepared)
        left = {run.name: {seed_name(run.name, seed) for seed in run.job.config.seeds} for run in waiting}
        for name in left:
            left[name] &= {unit.name for unit in units}

        def sum_up_finished() -> None:
            for run in [run for run in waiting if not left.get(run.name, {"done"})]:
                del left[run.name]
                sum_up(run.job, prepared[run.name], command)
                finished(run)

        def done(unit: Unit, value: Any) -> None:
            for names in left.values():
                names.discard(unit.name)
            sum_up_finished()

        sum_up_finished()
        engine.run(units, units_at_a_time(config, units), done)


def _prepare(runs: Sequence[NamedRun], engine: Engine, config: Config) -> dict[str, Prepared]:
    """By name, what is known of the runs before they train. What several of them need, the first makes; the others wait for it."""
    prepared: dict[str, Prepared] = {}
    units = [
        Unit(
            f"{run.name}, preparation",
            begin_apart,
            (run.job,),
            prefix=f"{run.name} · ",
            folder=run.job.folder.path.parent,
            needs=needs(run.job.config),
        )
        for run in runs
    ]
    names = {unit.name: run.name for unit, run in zip(units, runs, strict=True)}
    engine.run(units, units_at_a_time(config, units), lambda unit, value: prepared.update({names[unit.name]: value}))
    return prepared


def _seed_units(runs: Sequence[NamedRun], prepared: dict[str, Prepared]) -> list[Unit]:
    """The unfinished seeds of all runs, those that are expected to take longest first. Of seeds that share a part of their training, one
    trains it, and the others begin when that one has ended."""
    units = list[Unit]()
    keys: dict[str, str] = {}  # of what a unit shares, by its name
    for run in runs:
        of = seed_units(run.job, prepared[run.name], run.name, expected_seconds(run.job))
        units += of
        keys.update({seed_name(run.name, seed): key for seed, key in prepared[run.name].shared.items()})
    first: dict[str, str] = {}
    ordered = []
    for unit in longest_first(units):
        trains = first.setdefault(keys.get(unit.name, unit.name), unit.name)
        ordered.append(unit if trains == unit.name else replace(unit, after=unit.after | {trains}))
    return ordered
