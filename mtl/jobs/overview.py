"""What a sweep consists of and how far it is, from its runs' folders alone: nothing is locked, read into memory or trained."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.files import read_json
from mtl.jobs.expected import expected_seconds
from mtl.jobs.job import Job, NamedRun
from mtl.jobs.seed_lock import holder
from mtl.progress import format_duration

FINISHED = "finished"
WAITING = "waiting"


@dataclass(frozen=True)
class SeedState:
    """How far a seed is. state: FINISHED, WAITING, "running" or "interrupted". detail: the average × 100 that it has reached, where it runs
    and the stage. seconds: how long it took or is expected to take in all; None: unknown."""

    run: str
    seed: int
    state: str
    detail: str
    seconds: float | None


def seed_states(runs: Sequence[NamedRun]) -> list[SeedState]:
    """How far each seed of these runs is, run by run."""
    return [state for run in runs for state in _states(run)]


def _states(run: NamedRun) -> Iterator[SeedState]:
    job, expected = run.job, expected_seconds(run.job)
    for seed in job.config.seeds:
        folder = job.folder.seed(seed)
        if job.folder.scores(seed).exists():
            done = read_json(job.folder.scores(seed))
            average = "" if done["average"] is None else f"average {job.suite.shown.show(done['average'])}"
            yield SeedState(run.name, seed, FINISHED, average, done["seconds"])
            continue
        by = holder(folder)
        begun = _reached(job, folder)
        if by is not None and not by.is_dead:
            yield SeedState(run.name, seed, "running", f"{by.host}, {begun or 'beginning'}", expected.get(seed))
        elif begun:
            yield SeedState(run.name, seed, "interrupted", begun, expected.get(seed))
        else:
            yield SeedState(run.name, seed, WAITING, "", expected.get(seed))


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
    states = seed_states(runs)
    lines = [_line(state) for state in states]
    left = [state for state in states if state.state != FINISHED]
    known = [state.seconds for state in left if state.seconds is not None]
    lines.append(f"{len(states)} seeds in all, {len(states) - len(left)} finished")
    if left:
        lines.append(f"expected: {_expected(known, len(left) - len(known), at_a_time or 1)}")
    return "\n".join(lines)


def _expected(known: Sequence[float], unknown: int, at_a_time: int) -> str:
    """known: the expected seconds of the seeds that are left. unknown: of how many seeds they are not known."""
    if not known:
        return "unknown, since no run like these is finished"
    text = f"{format_duration(sum(known))} one after another"
    if at_a_time > 1:
        text += f", at least {format_duration(max(max(known), sum(known) / at_a_time))} with {at_a_time} at a time"
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
    time = "" if state.seconds is None else format_duration(state.seconds)
    if time and state.state != FINISHED:
        time = f"about {time}"
    return " · ".join(filter(None, [f"{state.run}, seed {state.seed}", state.state, state.detail, time]))
