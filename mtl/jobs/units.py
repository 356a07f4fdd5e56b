"""The units of work that runs consist of."""

from collections.abc import Mapping, Sequence

from mtl.config.schema import Config
from mtl.jobs.engines.kind import Needs, Unit
from mtl.jobs.job import Job
from mtl.jobs.prepared import begin_apart
from mtl.jobs.seed import run_apart
from mtl.methods import METHODS


def units_at_a_time(config: Config, units: Sequence[Unit]) -> int:
    """How many units an engine executes at once: by default one process, or as many as a cluster has room for."""
    return config.seeds_in_parallel or (1 if config.engine == "processes" else len(units))


def needs(config: Config) -> Needs:
    """What each unit of a run asks for: its preparation as well, which computes vectors, and records the precision of the device."""
    gpu = config.resources.gpu if METHODS[config.method].uses_device(config) else 0.0
    return Needs(config.trainer.threads, gpu, config.resources.memory_bytes)


def preparation_unit(job: Job, run: str) -> Unit:
    """What is done before the seeds of a run. run: its name; empty if there is only one run."""
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

    run: its name; empty if there is only one run. expected: seconds by seed, where they are known.
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
