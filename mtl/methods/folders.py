"""The folder of a seed, below the run's, those of the two stages of training, below the seed's, and the records in them."""

from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from mtl.errors import InputError
from mtl.untrusted import AGAIN, Amount, Count, read_json

# Increase it when the same configuration and inputs give other results, or when the layout of a seed's folder changes, so that
# no version of the code continues a run that an incompatible version started, or takes a stage 1 from it.
FORMAT = "3"


def seed_folder(folder: Path, seed: int) -> Path:
    """The folder of a seed. folder: the run's."""
    return folder / f"seed-{seed}"


def pretrain_folder(seed_folder: Path) -> Path:
    """The folder of stage 1."""
    return seed_folder / "pretrain"


def finetune_folder(seed_folder: Path, task: str) -> Path:
    """The folder of one task's stage 2."""
    return seed_folder / "finetune" / task


class StageRecord(TypedDict):
    """The content of a finished stage's done.json: seconds, peak_memory (bytes), and a row of the learning curve for each validation,
    with scores × 100 by `dev/TASK`. key, trained_in: see `mtl.methods.lstm.shared_stage1`."""

    seconds: Amount
    peak_memory: Count
    curve: Annotated[list[dict[str, Annotated[float, Meta(ge=-1e300, le=1e300)]]], Meta(min_length=1)]
    key: NotRequired[str]
    trained_in: NotRequired[str]


def read_stage(path: Path) -> StageRecord:
    """The record of a finished stage. Raises InputError if it is missing or of another form."""
    record = read_json(path, StageRecord)
    if not all({"step", "dev/average"} <= set(row) for row in record["curve"]):
        raise InputError(f"{path}: curve: a row has no step or no dev/average; {AGAIN}")
    return record


def chosen_file(seed_folder: Path, task: str) -> Path:
    """What a floor has chosen for a task, in the form of `Chosen`."""
    return seed_folder / "chosen" / f"{task}.json"


class Chosen(TypedDict):
    """The settings that were best, and what it took to choose them. peak_memory: in bytes."""

    settings: dict[str, Any]
    seconds: Amount
    peak_memory: NotRequired[Count]
