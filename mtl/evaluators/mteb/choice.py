"""Choose settings of an encoder on validation rows: the combination with the best mean over the tasks that have such rows."""

import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from mtl.encoders.kind import SentenceEncoder
from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import Benchmark

logger = logging.getLogger("mtl")

CHOOSE = "choose"  # the value of a setting that is chosen
SPLIT = "validation"  # mteb does not score it

Choices = Mapping[str, Sequence[Any]]  # by setting, the values to try, the default first
Validate = Callable[[SentenceEncoder, Sequence[str]], Mapping[str, float]]


def combinations(settings: Mapping[str, Any], choices: Choices) -> list[dict[str, Any]]:
    """The values to try of the settings that are to be chosen. Raises InputError for one that cannot be."""
    chosen = [key for key, value in settings.items() if value == CHOOSE]
    if unknown := [key for key in chosen if key not in choices]:
        raise InputError(f"{unknown[0]}={CHOOSE}: only {' and '.join(choices)} can be chosen on validation rows")
    return [dict(zip(chosen, values, strict=True)) for values in itertools.product(*(choices[key] for key in chosen))]


def validation_tasks(benchmark: Benchmark, data_dir: Path | None) -> list[str]:
    """The tasks with validation rows in a local folder. Raises InputError if there are none."""
    folders = {name: data_dir / name for name in benchmark.tasks} if data_dir is not None else {}
    found = [name for name, folder in folders.items() if any(folder.glob(f"{SPLIT}.*"))]
    if not found:
        raise InputError(
            f"{CHOOSE}: no task has validation rows in {data_dir or 'data_dir'}; it needs files such as TASK/{SPLIT}.jsonl"
        )
    return found


def choose(
    settings: Mapping[str, Any],
    choices: Choices,
    tasks: Sequence[str],
    open_encoder: Callable[[Mapping[str, Any]], SentenceEncoder],
    validate: Validate,
) -> tuple[SentenceEncoder, dict[str, Any]]:
    """The encoder with the best mean score × 100 on the validation rows (of equal ones the first), and the record of the choice.

    settings: the encoder's, of which some are CHOOSE. choices: those that can be chosen, with their values. tasks: those with validation
    rows. open_encoder: makes an encoder from settings. validate: returns its scores by task.
    """
    tried: list[dict[str, Any]] = []
    best: SentenceEncoder | None = None
    for values in combinations(settings, choices):
        encoder = open_encoder({**settings, **values})
        scores = validate(encoder, tasks)
        mean = fmean(scores[task] for task in tasks)
        logger.info("%s: mean %.2f", ", ".join(f"{key}={value}" for key, value in values.items()), mean)
        if not tried or mean > max(other["mean"] for other in tried):
            best = encoder
        tried.append({"settings": values, "scores": dict(scores), "mean": mean, "fingerprint": encoder.fingerprint()})
    assert best is not None
    chosen = max(tried, key=lambda one: one["mean"])["settings"]
    return best, {"split": SPLIT, "tasks": list(tasks), "tried": tried, "chosen": chosen}
