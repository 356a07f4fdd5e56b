"""How long a seed is expected to take, from seeds that are finished."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from mtl.config.files import flatten
from mtl.errors import InputError
from mtl.files import read_json
from mtl.jobs.job import Job
from mtl.methods import METHODS
from mtl.untrusted import read_yaml


def expected_seconds(job: Job) -> dict[int, float]:
    """Seconds by seed, of the seeds that are not done and whose time can be told from finished ones.

    These are other seeds of the run, or else seeds of finished runs beside it with the same title and the same size of the encoder; the
    time of their stage 1 is scaled to this run's number of steps.
    """
    waiting = [seed for seed in job.config.seeds if not job.folder.scores(seed).exists()]
    own = [float(done["seconds"]) for done in _finished(job.folder.path)]
    if own:
        return dict.fromkeys(waiting, median(own))
    found = list(_beside(job))
    return dict.fromkeys(waiting, median(found)) if found else {}


def _beside(job: Job) -> Iterator[float]:
    """Seconds of finished seeds of other runs of the method, scaled to this run's training."""
    config = job.config
    title, steps = METHODS[config.method].title(config), config.pretrain.max_steps
    for path in sorted(job.folder.path.parent.glob("*/summary.json")):
        found, settings = _described(path.parent, path.stat().st_mtime_ns)
        if found != title or not _alike(settings, job):
            continue
        for done in _finished(path.parent):
            pretraining = done["cost"].get("pretrain_seconds") or 0.0
            there = settings.get("pretrain.max_steps")
            scale = steps / there if isinstance(there, int) and there > 0 else 1.0
            yield float(done["seconds"]) + (scale - 1) * float(pretraining)


@cache
def _described(run: Path, changed: int) -> tuple[str | None, Mapping[str, Any]]:
    """The title and the settings of a finished run; of one that cannot be read, none. changed: when its summary was written.

    Kept, because each of a sweep's runs asks for all others.
    """
    try:
        return read_json(run / "summary.json").get("title"), flatten(read_yaml(run / "config.yaml"))
    except (InputError, AttributeError):
        return None, {}


def _alike(settings: Mapping[str, Any], job: Job) -> bool:
    """Whether runs with these settings have a model of the size of this one."""
    encoder = job.config.encoder
    return (settings.get("encoder.hidden_size"), settings.get("encoder.num_layers")) == (
        encoder.hidden_size,
        encoder.num_layers,
    )


def _finished(run: Path) -> Iterator[Mapping[str, Any]]:
    """The content of the scores.json of a run's finished seeds."""
    for path in sorted(run.glob("seed-*/scores.json")):
        try:
            done = read_json(path)
            if isinstance(done["seconds"], float) and isinstance(done["cost"], dict):
                yield done
        except (InputError, KeyError, TypeError):
            continue
