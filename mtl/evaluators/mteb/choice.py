"""Choose settings of an encoder on validation rows: the combination with the best mean over the tasks that have such rows."""

import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from mtl.encoders.kind import Choices, SentenceEncoder
from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import Benchmark

logger = logging.getLogger("mtl")

CHOOSE = "choose"  # the value of a setting that is chosen
SPLIT = "validation"  # mteb does not score it

Validate = Callable[[SentenceEncoder, Sequence[str]], Mapping[str, float | None]]


@dataclass(frozen=True)
class Combination:
    """values: of the settings that are chosen. settings: of the encoder with these values."""

    values: dict[str, Any]
    settings: Mapping[str, Any]


def combinations(settings: Mapping[str, Any], choices: Choices) -> list[Combination]:
    """The combinations to try, without those that contradict the other settings. Raises InputError for a setting that cannot be chosen."""
    chosen = [key for key, value in settings.items() if value == CHOOSE]
    if unknown := [key for key in chosen if key not in choices.values]:
        raise InputError(f"{unknown[0]}={CHOOSE}: only {' and '.join(choices.values)} can be chosen on validation rows")
    found = []
    for of in itertools.product(*(choices.values[key] for key in chosen)):
        values = dict(zip(chosen, of, strict=True))
        fitting = choices.fits({**settings, **values})
        if fitting is not None:
            found.append(Combination(values, fitting))
    if not found:
        raise InputError(f"{chosen[0]}={CHOOSE}: no value goes with the other settings")
    return found


def check_values(settings: Mapping[str, Any], choices: Choices) -> None:
    """Raise InputError for a value of a setting that can be chosen which is none of its values. None is the default."""
    for key, values in choices.values.items():
        value = settings.get(key)
        if value is not None and value not in (*values, CHOOSE):
            known = ", ".join(str(of).lower() for of in values)
            raise InputError(f"{key}={value}: must be one of {known}, {CHOOSE}")


def validation_tasks(benchmark: Benchmark, data_dir: Path | None) -> list[str]:
    """The tasks with validation rows in a local folder that are not the scored ones. Raises InputError if there are none."""
    unscored = [name for name, task in benchmark.tasks.items() if task.split != SPLIT]
    folders = {name: data_dir / name for name in unscored} if data_dir is not None else {}
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
) -> tuple[SentenceEncoder, Mapping[str, Any], dict[str, Any]]:
    """The encoder with the best mean score × 100 on the validation rows (of equal ones the first), its settings, and the record of
    the choice.

    settings: the encoder's, of which some are CHOOSE. choices: those that can be chosen, with their values. tasks: those with validation
    rows. open_encoder: makes an encoder from settings. validate: returns its scores by task; a score that is not finite is None. A
    combination with such a score is not chosen; raises InputError if all have one.
    """
    tried: list[dict[str, Any]] = []
    best: tuple[float, SentenceEncoder, Combination] | None = None
    for combination in combinations(settings, choices):
        values, encoder = combination.values, open_encoder(combination.settings)
        scores = validate(encoder, tasks)
        finite = [score for task in tasks if (score := scores[task]) is not None]
        mean = fmean(finite) if len(finite) == len(tasks) else None
        shown = "none: a score is not finite" if mean is None else f"{mean:.2f}"
        logger.info("%s: mean %s", ", ".join(f"{key}={value}" for key, value in values.items()), shown)
        if mean is not None and (best is None or mean > best[0]):
            best = mean, encoder, combination
        tried.append({"settings": values, "scores": dict(scores), "mean": mean, "fingerprint": encoder.fingerprint()})
    if best is None:
        raise InputError(
            f"{CHOOSE}: every combination has a score that is not finite on the {SPLIT} rows of {', '.join(tasks)}"
        )
    _, encoder, combination = best
    record = {"split": SPLIT, "tasks": list(tasks), "tried": tried, "chosen": combination.values}
    return encoder, combination.settings, record
