"""How long a seed is expected to take, from seeds that are finished, or else from a measurement on this machine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any, TypedDict

from mtl.config.files import flatten
from mtl.data.dataset import load_dataset
from mtl.errors import InputError
from mtl.jobs.job import Job, NamedRun
from mtl.methods import METHODS
from mtl.methods.folders import pretrain_folder, read_stage
from mtl.runs.summary import SeedScores
from mtl.untrusted import read_json, read_yaml


@dataclass(frozen=True)
class SeedTime:
    """How long a seed takes. stage1: seconds of stage 1, also where another run has trained it. rest: of everything else."""

    stage1: float
    rest: float


def expected_seconds(
    runs: Sequence[NamedRun], measured: Mapping[str, float] = MappingProxyType({})
) -> dict[str, dict[int, float]]:
    """Seconds by run and by seed, of the seeds that are not done and whose time can be told from finished ones or is measured.

    Finished ones are other seeds of the run, or else seeds of finished runs beside it with the same title and the same size of the
    encoder; the time of their stage 1 is scaled to this run's number of steps. Of seeds with the same stage 1, only the first trains it,
    and none if it is finished. measured: as `measured_seconds` returns; of these runs nothing else is known, so those of their seeds that
    do not train stage 1 are left out.
    """
    parts = {run.name: run.job.shared_part for run in runs}
    waiting = {run.name: [seed for seed in run.job.config.seeds if not _is_done(run, seed)] for run in runs}
    trained = {
        (parts[run.name], seed) for run in runs for seed in run.job.config.seeds if seed not in waiting[run.name]
    }
    expected: dict[str, dict[int, float]] = {}
    for run in runs:
        time, part = _expected_time(run.job), parts[run.name]
        expected[run.name] = {}
        for seed in waiting[run.name]:
            takes = part is not None and (part, seed) in trained
            takes = takes or _stage1_done(run.job.folder.seed(seed)).exists()
            trained.add((part, seed))
            if time is not None:
                expected[run.name][seed] = time.rest + (0.0 if takes else time.stage1)
            elif run.name in measured and not takes:
                expected[run.name][seed] = measured[run.name]
    return expected


def measured_seconds(runs: Sequence[NamedRun]) -> dict[str, float]:
    """The seconds of stage 1 on this machine by run, of those that no finished seed tells the time of and whose method measures it.

    Runs whose data cannot be read are left out. Runs with the same stage 1 share a measurement.
    """
    by_part: dict[str | None, float | None] = {}
    seconds: dict[str, float] = {}
    for run in runs:
        job = run.job
        if all(_is_done(run, seed) for seed in job.config.seeds) or _expected_time(job) is not None:
            continue
        part = job.shared_part
        if part not in by_part:
            by_part[part] = _measured(job)
        if (measured := by_part[part]) is not None:
            seconds[run.name] = measured
    return seconds


def _measured(job: Job) -> float | None:
    measured = METHODS[job.config.method].measured
    if measured is None:
        return None
    try:
        dataset = load_dataset(job.suite, job.run_tasks, job.data_dir, job.config.held_out)
    except InputError:
        return None
    return measured(job.config, dataset)


def _is_done(run: NamedRun, seed: int) -> bool:
    return run.job.folder.scores(seed).exists()


def _expected_time(job: Job) -> SeedTime | None:
    """The time of a seed of this run that trains its own stage 1, if it can be told."""
    times = list(_finished(job.folder.path)) or list(_beside(job))
    return SeedTime(median(of.stage1 for of in times), median(of.rest for of in times)) if times else None


def _beside(job: Job) -> Iterator[SeedTime]:
    """The times of finished seeds of other runs of the method, scaled to this run's training."""
    config = job.config
    title, steps = METHODS[config.method].title(config), config.pretrain.max_steps
    for path in sorted(job.folder.path.parent.glob("*/summary.json")):
        found, settings = _described(path.parent, path.stat().st_mtime_ns)
        if found != title or not _alike(settings, job):
            continue
        there = settings.get("pretrain.max_steps")
        scale = steps / there if isinstance(there, int) and there > 0 else 1.0
        for time in _finished(path.parent):
            yield SeedTime(scale * time.stage1, time.rest)


class _Titled(TypedDict):
    """What is read of the summaries of other runs."""

    title: str


@cache
def _described(run: Path, changed: int) -> tuple[str | None, Mapping[str, Any]]:
    """The title and the settings of a finished run; of one that cannot be read, none. changed: when its summary was written.

    Kept, because each of a sweep's runs asks for all others.
    """
    try:
        return read_json(run / "summary.json", _Titled)["title"], flatten(read_yaml(run / "config.yaml"))
    except InputError:
        return None, {}


def _alike(settings: Mapping[str, Any], job: Job) -> bool:
    """Whether runs with these settings have a model of the size of this one."""
    encoder = job.config.encoder
    return (settings.get("encoder.hidden_size"), settings.get("encoder.num_layers")) == (
        encoder.hidden_size,
        encoder.num_layers,
    )


def _finished(run: Path) -> Iterator[SeedTime]:
    """The times of a run's finished seeds."""
    for path in sorted(run.glob("seed-*/scores.json")):
        try:
            done = read_json(path, SeedScores)
            yield _time(done["seconds"], done["cost"], _took_stage1(path.parent))
        except InputError:
            continue


def _time(seconds: float, cost: Mapping[str, float | None], took: bool) -> SeedTime:
    """seconds: of the process that finished the seed, which has trained stage 1 unless it took it from another run or continued an
    interrupted seed."""
    stage1 = cost.get("pretrain_seconds") or 0.0
    return SeedTime(stage1, max(seconds - (0.0 if took else stage1), cost.get("finetune_seconds") or 0.0))


def _took_stage1(seed_folder: Path) -> bool:
    """Whether a seed has taken its stage 1 from another run."""
    done = _stage1_done(seed_folder)
    return done.exists() and "trained_in" in read_stage(done)


def _stage1_done(seed_folder: Path) -> Path:
    """The file that a finished stage 1 has."""
    return pretrain_folder(seed_folder) / "done.json"
