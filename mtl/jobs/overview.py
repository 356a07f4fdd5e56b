"""What a sweep consists of and how far it is, from its runs' folders: nothing is locked, written or trained."""

import csv
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from mtl.errors import InputError
from mtl.jobs.expected import expected_seconds, measured_seconds
from mtl.jobs.job import Job, NamedRun
from mtl.jobs.seed_lock import NAME, holder
from mtl.locks import STALE_AFTER, Holder
from mtl.progress import format_duration
from mtl.runs.summary import SeedScores
from mtl.untrusted import read_json

FINISHED = "finished"
WAITING = "waiting"
CLOCKS = 300.0  # seconds by which the clocks of this machine and of the file system may differ


@dataclass(frozen=True)
class SeedState:
    """How far a seed is. state: FINISHED, WAITING, "running" or "interrupted". detail: the average × 100 that it has reached, where it runs
    and the stage. seconds: how long it took or is expected to take in all; None: unknown. stage1: whether they are those of stage 1 alone."""

    run: str
    seed: int
    state: str
    detail: str
    seconds: float | None
    stage1: bool = False


def seed_states(runs: Sequence[NamedRun], measured: Mapping[str, float] = MappingProxyType({})) -> list[SeedState]:
    """How far each seed of these runs is, run by run. measured: as `mtl.jobs.expected.measured_seconds` returns."""
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
            yield _finished(run, seed)
            continue
        by = holder(folder)
        begun = _reached(job, folder)
        if by is not None and not _is_lost(folder, by):
            yield SeedState(run.name, seed, "running", f"{by.host}, {begun or 'beginning'}", expected.get(seed))
        elif begun:
            yield SeedState(run.name, seed, "interrupted", begun, expected.get(seed))
        else:
            yield SeedState(run.name, seed, WAITING, "", expected.get(seed))


def _finished(run: NamedRun, seed: int) -> SeedState:
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
        renewed = (folder / NAME).stat().st_mtime
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
    """The units of a sweep, what is finished, and the hours that the others are expected to take. at_a_time: seeds at once."""
    states = seed_states(runs, measured_seconds(runs))
    lines = [_line(state) for state in states]
    left = [state for state in states if state.state != FINISHED]
    lines.append(f"{len(states)} seeds in all, {len(states) - len(left)} finished")
    if left:
        lines.append(f"expected: {_expected(left, at_a_time or 1)}")
    return "\n".join(lines)


def _expected(left: Sequence[SeedState], at_a_time: int) -> str:
    """left: the seeds that are not finished."""
    known = [state.seconds for state in left if state.seconds is not None]
    unknown, stage1 = len(left) - len(known), sum(state.stage1 and state.seconds is not None for state in left)
    if not known:
        return "unknown, since no run like these is finished, and training steps are measured for LSTMs alone, once their data is there"
    text = f"{'at least ' if stage1 else ''}{format_duration(sum(known))} one after another"
    if at_a_time > 1:
        text += f", at least {format_duration(max(max(known), sum(known) / at_a_time))} with {at_a_time} at a time"
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
