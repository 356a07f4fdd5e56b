"""What a sweep consists of, how far it is, and how long the rest is expected to take. Nothing is locked, written or trained."""

import csv
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any, TypedDict

from mtl.base.clock import format_duration
from mtl.base.errors import InputError
from mtl.base.locks import STALE_AFTER, Holder
from mtl.base.untrusted import read_json
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.dataset import load_dataset
from mtl.jobs.job import Job, NamedRun
from mtl.methods import METHODS
from mtl.runs.folder import TRAINING, holder
from mtl.runs.layout import pretrain_folder, read_stage
from mtl.runs.summary import SeedScores
from mtl.settings.layers import flatten


@dataclass(frozen=True)
class SeedTime:
    """How long a seed takes.

    Args:
        stage1: seconds of stage 1, also where another run has trained it.
        rest: the seconds of everything else.
    """

    stage1: float
    rest: float


def expected_seconds(
    runs: Sequence[NamedRun], measured: Mapping[str, float] = MappingProxyType({})
) -> dict[str, dict[int, float]]:
    """Seconds by run and by seed, of the seeds that are not done and whose time can be told from finished ones or is
    measured.

    Finished ones are other seeds of the run, or else seeds of finished runs beside it with the same title and the
    same size of the encoder; the time of their stage 1 is scaled to this run's number of steps. Of seeds with the
    same stage 1, only the first trains it, and none if it is finished.

    Args:
        measured: as `measured_seconds` returns; of these runs nothing else is known, so those of their seeds that do
            not train stage 1 are left out.
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
    return SeedTime(median(time.stage1 for time in times), median(time.rest for time in times)) if times else None


def _beside(job: Job) -> Iterator[SeedTime]:
    """The times of finished seeds of other runs of the method, scaled to this run's training."""
    config = job.config
    title, steps = METHODS[config.method].title(config), config.pretrain.max_steps
    for path in sorted(job.folder.path.parent.glob("*/summary.json")):
        other, settings = _described(path.parent, path.stat().st_mtime_ns)
        if other != title or not _alike(settings, job):
            continue
        their_steps = settings.get("pretrain.max_steps")
        scale = steps / their_steps if isinstance(their_steps, int) and their_steps > 0 else 1.0
        for measured in _finished(path.parent):
            yield SeedTime(scale * measured.stage1, measured.rest)


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


FINISHED = "finished"
WAITING = "waiting"
CLOCKS = 300.0  # seconds by which the clocks of this machine and of the file system may differ


@dataclass(frozen=True)
class SeedState:
    """How far a seed is.

    Args:
        state: FINISHED, WAITING, "running" or "interrupted".
        detail: the average × 100 that it has reached, where it runs and the stage.
        seconds: how long it took or is expected to take in all; None: unknown.
        stage1: whether they are those of stage 1 alone.
    """

    run: str
    seed: int
    state: str
    detail: str
    seconds: float | None
    stage1: bool = False


def seed_states(runs: Sequence[NamedRun], measured: Mapping[str, float] = MappingProxyType({})) -> list[SeedState]:
    """How far each seed of these runs is, run by run.

    Args:
        measured: as `mtl.jobs.plan.measured_seconds` returns.
    """
    expected = expected_seconds(runs, measured)
    states = [state for run in runs for state in _states(run, expected[run.name])]
    return [
        replace(state, stage1=True) if state.run in measured and state.state != FINISHED else state for state in states
    ]


def _states(run: NamedRun, expected: Mapping[int, float]) -> Iterator[SeedState]:
    job = run.job
    for seed in job.config.seeds:
        folder = job.folder.seed(seed)
        if job.folder.scores(seed).exists():
            yield _finished_seeds(run, seed)
            continue
        by = holder(folder)
        begun = _reached(job, folder)
        if by is not None and not _is_lost(folder, by):
            yield SeedState(run.name, seed, "running", f"{by.host}, {begun or 'beginning'}", expected.get(seed))
        elif begun:
            yield SeedState(run.name, seed, "interrupted", begun, expected.get(seed))
        else:
            yield SeedState(run.name, seed, WAITING, "", expected.get(seed))


def _finished_seeds(run: NamedRun, seed: int) -> SeedState:
    """The state of a finished seed, with the average that it has reached, if it has one; without both if its record is damaged."""
    try:
        done = read_json(run.job.folder.scores(seed), SeedScores)
    except InputError:
        return SeedState(run.name, seed, FINISHED, "", None)
    average = done["average"]
    detail = "" if average is None else f"average {run.job.suite.shown.show(average)}"
    return SeedState(run.name, seed, FINISHED, detail, done["seconds"])


def _is_lost(folder: Path, by: Holder) -> bool:
    """Whether the process that trains the seed in this folder has ended, or has long not renewed its lock."""
    try:
        renewed = (folder / TRAINING).stat().st_mtime
    except OSError:
        return True  # the seed has just ended
    return by.is_dead or time.time() - renewed > STALE_AFTER + CLOCKS


def _reached(job: Job, folder: Path) -> str:
    """The stage and the last validation of a seed that is not finished; empty if it has not begun."""
    finetuned = sorted(folder.glob("finetune/*/done.json"))
    if finetuned or (folder / "pretrain/done.json").exists():
        return f"stage 2, {len(finetuned)} of {len([task for task in job.run_tasks if task.answered_by is None])} tasks"
    if not (rows := list(_validations(folder / "pretrain/log"))):
        return "stage 1" if (folder / "pretrain").exists() else ""
    step, average = rows[-1]
    return f"stage 1, step {step}/{job.config.pretrain.max_steps}, average {job.suite.shown.show(average)}"


def _validations(log: Path) -> Iterator[tuple[int, float]]:
    """Step and average × 100 of the validations that Lightning has logged."""
    for path in sorted(log.glob("from-epoch-*/metrics.csv"), key=lambda path: int(path.parent.name.rpartition("-")[2])):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                try:
                    yield int(row["step"]) + 1, float(row["dev/average"])
                except (KeyError, TypeError, ValueError):
                    continue  # a line without a validation, or one that is being written


def plan_text(runs: Sequence[NamedRun], at_a_time: int | None) -> str:
    """The units of a sweep, what is finished, and the hours that the others are expected to take.

    Args:
        at_a_time: seeds at once.
    """
    states = seed_states(runs, measured_seconds(runs))
    lines = [_line(state) for state in states]
    left = [state for state in states if state.state != FINISHED]
    lines.append(f"{len(states)} seeds in all, {len(states) - len(left)} finished")
    if left:
        lines.append(f"expected: {_expected(left, at_a_time or 1)}")
    return "\n".join(lines)


def _expected(left: Sequence[SeedState], at_a_time: int) -> str:
    """left: the seeds that are not finished."""
    seconds = [state.seconds for state in left if state.seconds is not None]
    unknown, stage1 = len(left) - len(seconds), sum(state.stage1 and state.seconds is not None for state in left)
    if not seconds:
        return "unknown, since no run like these is finished, and training steps are measured for LSTMs alone, once their data is there"
    text = f"{'at least ' if stage1 else ''}{format_duration(sum(seconds))} one after another"
    if at_a_time > 1:
        text += f", at least {format_duration(max(max(seconds), sum(seconds) / at_a_time))} with {at_a_time} at a time"
    if stage1:
        text += f"; of {stage1} seeds, stage 1 alone, as measured with the encoder on this machine"
    return text + (f"; unknown for {unknown} more, since no run like theirs is finished" if unknown else "")


def watch_text(runs: Sequence[NamedRun]) -> str:
    """How far a sweep is, one line for each seed and one for all of them."""
    states = seed_states(runs)
    counts = {
        name: sum(state.state == name for state in states) for name in dict.fromkeys(state.state for state in states)
    }
    summary = ", ".join(f"{count} {name}" for name, count in counts.items())
    return "\n".join([*map(_line, states), f"{len(states)} seeds: {summary}"])


def is_over(runs: Sequence[NamedRun]) -> bool:
    """Whether every run has its summary."""
    return all(run.job.folder.summary.exists() for run in runs)


def _line(state: SeedState) -> str:
    duration = "" if state.seconds is None else format_duration(state.seconds)
    if duration and state.state != FINISHED:
        duration = f"{'at least' if state.stage1 else 'about'} {duration} in all"
    return " · ".join(filter(None, [f"{state.run}, seed {state.seed}", state.state, state.detail, duration]))
