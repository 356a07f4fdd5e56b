"""What a sweep consists of, how far it is, and how long the rest is expected to take, by the seeds that are finished. Nothing is locked, written or
trained."""

import csv
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TypeAlias

from mtl.base.clock import format_duration
from mtl.base.errors import InputError
from mtl.base.locks import STALE_AFTER, Holder, holder_of
from mtl.base.untrusted import read_json
from mtl.jobs.job import Job
from mtl.methods import METHODS
from mtl.runs.folder import TRAINING, pretrain_folder, read_stage
from mtl.runs.summary import SeedScores

CLOCKS = 300.0  # seconds by which the clocks of this machine and of the file system may differ
DONE = "done.json"  # the record of a stage that is finished

SeedTime: TypeAlias = tuple[float, float]  # seconds of stage 1, also where another run has trained it, and of the rest


def plan_text(runs: Sequence[Job], at_a_time: int | None) -> str:
    """The units of a sweep, how far each is, and the hours that those which are not finished are expected to take.

    Args:
        at_a_time: seeds at once.
    """
    expected = expected_seconds(runs)
    lines = list[str]()
    left: list[float | None] = []  # seconds of the seeds that are not finished; None: unknown
    for run in runs:
        for seed in run.config.seeds:
            if run.folder.scores(seed).exists():
                parts = ["finished", *_scored(run, seed)]
            else:
                left.append(seconds := expected[run.name].get(seed))
                parts = _begun(run, run.folder.seed(seed))
                parts += [] if seconds is None else [f"about {format_duration(seconds)} in all"]
            lines.append(" · ".join([f"{run.name}, seed {seed}", *filter(None, parts)]))
    lines.append(f"{len(lines)} seeds in all, {len(lines) - len(left)} finished")
    known = [seconds for seconds in left if seconds is not None]
    if not left:
        return "\n".join(lines)
    if not known:
        return "\n".join([*lines, "expected: unknown, since no seed of these runs is finished"])
    expectation = f"expected: {format_duration(sum(known))} one after another"
    if at_a_time and at_a_time > 1:
        least = format_duration(max(max(known), sum(known) / at_a_time))
        expectation += f", at least {least} with {at_a_time} at a time"
    if unknown := len(left) - len(known):
        expectation += f"; unknown for {unknown} more, since no seed of their runs is finished"
    return "\n".join([*lines, expectation])


def _scored(job: Job, seed: int) -> list[str]:
    """The average of a finished seed and how long it took; a damaged record says neither."""
    try:
        done = read_json(job.folder.scores(seed), SeedScores)
    except InputError:
        return []
    average = done["average"]
    return ["" if average is None else f"average {job.suite.shown.show(average)}", format_duration(done["seconds"])]


def _begun(job: Job, folder: Path) -> list[str]:
    """Whether the seed in this folder, which is not finished, is running, interrupted or waiting, and how far it is."""
    by, reached = holder_of(folder / TRAINING), _reached(job, folder)
    if by is not None and not _is_lost(folder, by):
        return ["running", f"{by.host}, {reached or 'beginning'}"]
    return ["interrupted" if reached else "waiting", reached]


def _is_lost(folder: Path, by: Holder) -> bool:
    """Whether the process that trains the seed in this folder has ended, or has long not renewed its lock."""
    try:
        renewed = (folder / TRAINING).stat().st_mtime
    except OSError:
        return True  # the seed has just ended
    return by.is_dead or time.time() - renewed > STALE_AFTER + CLOCKS


def _reached(job: Job, folder: Path) -> str:
    """The stage and the last validation of a seed that is not finished; empty if it has not begun."""
    finetuned = sorted(folder.glob(f"finetune/*/{DONE}"))
    if finetuned or (pretrain_folder(folder) / DONE).exists():
        return f"stage 2, {len(finetuned)} of {len([task for task in job.run_tasks if task.answered_by is None])} tasks"
    if not (rows := list(_validations(pretrain_folder(folder) / "log"))):
        return "stage 1" if pretrain_folder(folder).exists() else ""
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


def expected_seconds(runs: Sequence[Job]) -> dict[str, dict[int, float]]:
    """Seconds by run and by seed, of the seeds that are not done and whose time can be told from finished seeds of the run.

    Of seeds with the same stage 1, only the first trains it, and none if it is finished.
    """
    done = {run.name: {seed for seed in run.config.seeds if run.folder.scores(seed).exists()} for run in runs}
    parts = {run.name: METHODS[run.config.method].shared(run.config) for run in runs}
    trained = {(parts[run.name], seed) for run in runs for seed in done[run.name]}
    expected: dict[str, dict[int, float]] = {}
    for run in runs:
        known, part = _expected_time(run), parts[run.name]
        expected[run.name] = {}
        for seed in run.config.seeds:
            if seed in done[run.name]:
                continue
            takes = part is not None and (part, seed) in trained
            takes = takes or (pretrain_folder(run.folder.seed(seed)) / DONE).exists()
            trained.add((part, seed))
            if known is not None:
                expected[run.name][seed] = known[1] + (0.0 if takes else known[0])
    return expected


def _expected_time(job: Job) -> SeedTime | None:
    """The time of a seed of this run that trains its own stage 1, if it can be told."""
    times = list(_finished_times(job.folder.path))
    return (median(stage1 for stage1, _ in times), median(rest for _, rest in times)) if times else None


def _finished_times(run: Path) -> Iterator[SeedTime]:
    """The times of a run's finished seeds."""
    for path in sorted(run.glob("seed-*/scores.json")):
        try:
            scores, stage1_done = read_json(path, SeedScores), (pretrain_folder(path.parent) / DONE)
            took = stage1_done.exists() and "trained_in" in read_stage(stage1_done)
        except InputError:
            continue
        stage1 = scores["cost"].get("pretrain_seconds") or 0.0
        # Of the process that finished the seed, which has trained stage 1 unless it took it from another run or continued an interrupted seed.
        seconds = scores["seconds"] - (0.0 if took else stage1)
        yield stage1, max(seconds, scores["cost"].get("finetune_seconds") or 0.0)
