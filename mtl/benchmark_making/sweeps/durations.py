"""How long the unfinished seeds of runs are expected to take, by those that are finished."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from mtl.base.errors import InputError
from mtl.base.settings.layers import flatten
from mtl.base.untrusted import read_json
from mtl.base.untrusted_yaml import read_yaml
from mtl.jobs.job import Job
from mtl.methods import METHODS
from mtl.runs.folder import pretrain_folder, read_stage
from mtl.runs.summary import SeedScores

DONE = "done.json"  # the record of a stage that is finished

SeedTime: TypeAlias = tuple[float, float]  # seconds of stage 1, also where another run has trained it, and of the rest


def expected_seconds(runs: Sequence[Job]) -> dict[str, dict[int, float]]:
    """Seconds by run and by seed, of the seeds that are not done and whose time can be told from finished ones.

    Finished ones are other seeds of the run, or else seeds of finished runs beside it with the same title and the
    same size of the encoder; the time of their stage 1 is scaled to this run's number of steps. Of seeds with the
    same stage 1, only the first trains it, and none if it is finished.
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
    times = list(_finished_times(job.folder.path)) or list(_times_beside(job))
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


def _times_beside(job: Job) -> Iterator[SeedTime]:
    """The times of finished seeds of other runs of the method with a model of this size, scaled to this run's training."""
    config = job.config
    title, steps = METHODS[config.method].title(config), config.pretrain.max_steps
    size = (config.encoder.hidden_size, config.encoder.num_layers)
    for path in sorted(job.folder.path.parent.glob("*/summary.json")):
        their_title, settings = _described(path.parent, path.stat().st_mtime_ns)
        if their_title != title or (settings.get("encoder.hidden_size"), settings.get("encoder.num_layers")) != size:
            continue
        their_steps = settings.get("pretrain.max_steps")
        scale = steps / their_steps if isinstance(their_steps, int) and their_steps > 0 else 1.0
        for stage1, rest in _finished_times(path.parent):
            yield scale * stage1, rest


@cache
def _described(run: Path, changed: int) -> tuple[object, Mapping[str, Any]]:
    """The title and the settings of a finished run; of one that cannot be read, none. Kept, because each run asks for all others."""
    try:
        return read_json(run / "summary.json", dict[str, Any]).get("title"), flatten(read_yaml(run / "config.yaml"))
    except InputError:
        return None, {}
