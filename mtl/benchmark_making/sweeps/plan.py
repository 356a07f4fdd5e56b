"""What a sweep consists of, how far it is, and how long the rest is expected to take. Nothing is locked, written or trained."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from mtl.base.locks import running_holder
from mtl.base.untrusted import read_json
from mtl.base.wording import format_duration
from mtl.jobs.job import Job
from mtl.runs.folder import TRAINING
from mtl.runs.records import SeedScores


def plan_text(runs: Sequence[Job]) -> str:
    """The units of a sweep, how far each is, and the hours that those which are not finished are expected to take."""
    expected = expected_seconds(runs)
    lines = list[str]()
    left: list[float | None] = []  # seconds of the seeds that are not finished; None: unknown
    for run in runs:
        for seed in run.config.seeds:
            if run.folder.scores(seed).exists():
                scores = read_json(run.folder.scores(seed), SeedScores)
                average = "" if scores["average"] is None else f"average {run.suite.shown.show(scores['average'])} · "
                state = f"finished · {average}{format_duration(scores['seconds'])}"
            else:
                seconds = expected[run.name].get(seed)
                left.append(seconds)
                duration = f" · about {format_duration(seconds)} in all" if seconds else ""
                state = _unfinished_state(run.folder.seed(seed)) + duration
            lines.append(f"{run.name}, seed {seed} · {state}")
    lines.append(f"{len(lines)} seeds in all, {len(lines) - len(left)} finished")
    if left:
        known = [seconds for seconds in left if seconds is not None]
        expectation = f"{format_duration(sum(known))} one after another" if known else "unknown"
        unknown = f"; the runs of {left.count(None)} seeds have no finished seed to judge by" if None in left else ""
        lines.append(f"expected: {expectation}{unknown}")
    return "\n".join(lines)


def _unfinished_state(folder: Path) -> str:
    if holder := running_holder(folder / TRAINING):
        return f"running on {holder.host}"
    return "interrupted" if folder.exists() else "waiting"


def expected_seconds(runs: Sequence[Job]) -> dict[str, dict[int, float]]:
    """Expected seconds of seeds that are not done, by run and seed: the median of the run's finished seeds. A shared stage 1 takes less."""
    expected: dict[str, dict[int, float]] = {}
    for run in runs:
        times = []
        for path in sorted(run.folder.path.glob("seed-*/scores.json")):
            scores = read_json(path, SeedScores)
            # The process that finished a seed may have taken less than its stages, which another one began.
            stages = [scores["cost"].get(f"{stage}_seconds") or 0.0 for stage in ("pretrain", "finetune")]
            times.append(max(scores["seconds"], sum(stages)))
        left = [seed for seed in run.config.seeds if not run.folder.scores(seed).exists()]
        expected[run.name] = dict.fromkeys(left, median(times)) if times else {}
    return expected
