"""Runs whose seeds are trained in processes of their own: the unfinished seeds of all runs are one list of units; then come summaries."""

import logging
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from mtl.base.display import show
from mtl.base.errors import InputError, UserError, resources_as_input
from mtl.base.log import logger
from mtl.base.typed import check_choice
from mtl.base.untrusted import read_json
from mtl.jobs.baseline import Prepared, begin, final_scores, run_seed, shown_job, sum_up
from mtl.jobs.engines import ENGINES, Engine, Failures, Needs, Unit, result_or_error
from mtl.jobs.inputs import check_existing_run, prepare
from mtl.jobs.job import Job
from mtl.jobs.machine import check_trainer_settings, run_arithmetic, run_precision
from mtl.methods import METHODS
from mtl.runs.records import SeedScores

Seconds = Mapping[str, Mapping[int, float]]  # by run and by seed
Finished = Callable[[Job], None]  # called with a run whose summary is written


def run_together(
    runs: Sequence[Job], command: str = "", finished: Finished = lambda run: None, expected: Seconds | None = None
) -> None:
    """Make these runs: begin all of them, then train their seeds, `seeds_in_parallel` at a time, on the engine that they have in common. What several
    runs need (data, caches, vectors), and what several seeds would train alike, is made once. Summaries record `command`, the command line. Seeds
    `expected` to take the most seconds come first; None: in order. Raises UserError as `run_baseline`; if a unit fails, when all others end."""
    with ExitStack() as locks:
        unfinished = []
        for run in runs:
            locks.enter_context(run.folder.locked())
            with run_arithmetic(run.config):
                if check_existing_run(run) is None:
                    unfinished.append(run)
        if not unfinished:
            return
        check_choice("engine", unfinished[0].config.engine, ENGINES)  # a wing that brings one may not be installed
        together = _Together(unfinished, command, finished)
        together.begin_runs()
        together.train_seeds(expected or {})
        together.failures.check()


class _Together:
    """Runs that are not finished, whose folders are locked, and what becomes of them while an engine executes their units."""

    def __init__(self, runs: Sequence[Job], command: str, finished: Finished) -> None:
        self.runs, self.command, self.finished = runs, command, finished
        self.config = runs[0].config  # what it says of the engine is the same for all runs
        self.engine: Engine = ENGINES[self.config.engine]()
        self.failures = Failures(len(runs))
        self.prepared: dict[str, Prepared] = {}  # what is known of the runs that have begun, by their names
        self.in_training: set[str] = set()  # the names of those that have not failed and are not summed up

    def begin_runs(self) -> None:
        """Begin all runs, each in a process. What several of them need is made by the first."""
        units = [unit_of(run, "preparation", prepare_in_process) for run in self.runs]
        # If there is only one preparation, `at_a_time` is 1, so that it gets all threads.
        self.engine.run(units, min(len(units), self.config.units_at_once(len(units))), self._take_preparation)

    def train_seeds(self, expected: Seconds) -> None:
        """Train the seeds of the runs that have begun, and sum each run up after its last seed."""
        runs = [run for run in self.runs if run.name in self.prepared]
        self.in_training = set(self.prepared)
        units = ordered_units(runs, self.prepared, expected)
        with ExitStack() as shown:
            for run in runs:
                shown.enter_context(shown_job(run, run.name))
            for run in runs:
                self._sum_up_if_done(run)
            self.engine.run(units, self.config.units_at_once(len(units)), self._take_seed)

    def _take_preparation(self, unit: Unit, result: Any) -> None:
        """Keep what is known of a run whose preparation has ended, or note its error."""
        _, run = unit.arguments
        if isinstance(result, UserError):
            self.failures.add(run.name, unit.name, result)
        else:
            self.prepared[run.name] = result

    def _take_seed(self, unit: Unit, result: Any) -> None:
        """Show the scores of a seed that has ended, or note its error."""
        _, run, seed = unit.arguments
        if isinstance(result, UserError):
            self.failures.add(run.name, unit.name, result)
            self.in_training.discard(run.name)
        elif run.name in self.in_training:
            # Not every engine sends what its processes show.
            show(final_scores(run, seed, read_json(run.folder.scores(seed), SeedScores), run.name))
            self._sum_up_if_done(run)
        if not self.in_training:  # every run is summed up or has failed
            self.failures.check()  # an error raised here ends the engine, and the seeds left of runs that failed

    def _sum_up_if_done(self, run: Job) -> None:
        """Write the summary of a run whose seeds all have scores."""
        if not all(run.folder.scores(seed).exists() for seed in run.config.seeds):
            return
        self.in_training.remove(run.name)
        try:
            with resources_as_input():
                sum_up(run, self.prepared[run.name], self.command)
        except InputError as error:
            self.failures.add(run.name, run.name, error)
        else:
            self.finished(run)


def prepare_in_process(job: Job) -> Prepared:
    """`begin` in a process of its own, perhaps on another machine. Raises InputError also if this machine cannot train the run."""
    logger.setLevel(logging.INFO)
    check_trainer_settings(job.config)
    with run_arithmetic(job.config):
        return begin(job)[0]


def train_seed_in_process(job: Job, seed: int) -> None:
    """Run one seed of a run that has begun (`mtl.jobs.baseline.begin`) in a separate process, perhaps on another machine. The environment sets how
    many threads it uses. Raises InputError also if the machine has other data, vectors or precision than the run was begun with."""
    logger.setLevel(logging.WARNING)  # the first process has logged what it read
    config, folder, host = job.config, job.folder, socket.gethostname()
    vectors = METHODS[config.method].find_inputs(config, job.suite)
    with run_arithmetic(config):
        dataset, method = prepare(job, vectors, keeps_threads=True)
        logger.setLevel(logging.INFO)
        if changed := folder.changed_inputs({**dataset.fingerprints, **method.fingerprints}):
            problem = f"on {host}, its inputs are not those that it was begun with ({', '.join(changed)})"
            remedy = "all machines must have the same files in data_dir and embeddings_dir"
            raise InputError(f"{problem}; {remedy}", path=folder.path)
        try:
            folder.check_same_precision(run_precision(config))
        except InputError as error:
            raise InputError(f"on {host}: {error}") from None
        run_seed(job, dataset, method, seed)


def ordered_units(runs: Sequence[Job], prepared: dict[str, Prepared], expected: Seconds) -> list[Unit]:
    """The unfinished seeds of all runs, the longest expected first. Of seeds that share a part of their training, one trains it before the others."""
    seeds = [(run, seed) for run in runs for seed in run.config.seeds if not run.folder.scores(seed).exists()]
    # Those whose time is unknown begin before all others, so that no long one is left alone at the end.
    seeds.sort(key=lambda run_and_seed: -expected.get(run_and_seed[0].name, {}).get(run_and_seed[1], float("inf")))
    trainers: dict[str, str] = {}  # by the key of the part that is shared, the name of the unit that trains it
    ordered = []
    for run, seed in seeds:
        unit = unit_of(run, f"seed {seed}", train_seed_in_process, seed)
        shared_key = prepared[run.name].shared.get(seed) or unit.name  # a seed that shares nothing trains for itself
        trainer = trainers.setdefault(shared_key, unit.name)
        ordered.append(unit if trainer == unit.name else replace(unit, after=frozenset({trainer})))
    return ordered


def unit_of(run: Job, part: str, call: Callable[..., Any], *further: Any) -> Unit:
    """A part of a run as a unit, which returns a UserError as its result. `call` takes the job and what is in `further`."""
    config = run.config
    # A preparation as well computes vectors, and records the precision of the device.
    on_cpu = config.trainer.accelerator == "cpu" or not METHODS[config.method].reads_key("trainer.accelerator")
    return Unit(
        name=f"{run.name}, {part}" if run.name else part,
        call=result_or_error,
        arguments=(call, run, *further),  # results are read by them, as in `_, run, seed = unit.arguments`
        prefix=f"{run.name} · " if run.name else "",
        folder=run.folder.path.parent,
        needs=Needs(config.trainer.threads, 0.0 if on_cpu else config.resources.gpu, config.resources.memory_bytes),
    )
