"""The files in the folder of a seed, and the records in them."""

from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.untrusted import AGAIN, Amount, Count, read_json

# Increase it when the same configuration and inputs give other results, or when the layout of a seed's folder changes, so that
# no version of the code continues a run that an incompatible version started, or takes a stage 1 from it.
FORMAT = "3"


def seed_folder(folder: Path, seed: int) -> Path:
    """The folder of a seed in the folder of a run."""
    return folder / f"seed-{seed}"


def pretrain_folder(seed_folder: Path) -> Path:
    """The folder of stage 1."""
    return seed_folder / "pretrain"


def finetune_folder(seed_folder: Path, task: str) -> Path:
    """The folder of one task's stage 2."""
    return seed_folder / "finetune" / task


def chosen_file(seed_folder: Path, task: str) -> Path:
    """The file with what a floor has chosen for a task, in the form of `Chosen`."""
    return seed_folder / "chosen" / f"{task}.json"


class MethodFacts(TypedDict):
    """What summary.json says of the method of a run. Runs of earlier versions may lack is_constant, is_one_system and reads.

    Args:
        embeddings, variant, architecture, preset: the values of these settings; None if the method does not have the setting.
        family: the group of its row in tables.
        title: the title of its row.
        folder: the default name of its folder, in the folder of the suite.
        chosen_on_dev: the name in tables for what was chosen on dev; empty if nothing was.
        is_constant: whether the method is the best constant answer, with which tables compare other methods.
        is_one_system: whether a seed is a system whose significance tests need no further seeds.
        reads: the configuration keys that the method reads; a name that ends in a dot means all keys that begin with it.
        unanswered: ids of the suite's tasks that it cannot answer.
    """

    embeddings: str | None
    variant: str | None
    architecture: str | None
    preset: str | None
    family: str
    title: str
    folder: str
    chosen_on_dev: str
    is_constant: NotRequired[bool]
    is_one_system: NotRequired[bool]
    reads: NotRequired[list[str]]
    unanswered: list[str]


class StageRecord(TypedDict):
    """The content of a finished stage's done.json.

    Args:
        seconds: how long the stage took.
        peak_memory: in bytes.
        curve: the learning curve, a row for each validation, with scores × 100 by `dev/TASK`.
        key, trained_in: see `mtl.methods.lstm.stage1`.
    """

    seconds: Amount
    peak_memory: Count
    curve: Annotated[list[dict[str, Annotated[float, Meta(ge=-1e300, le=1e300)]]], Meta(min_length=1)]
    key: NotRequired[str]
    trained_in: NotRequired[str]


class Chosen(TypedDict):
    """What a floor has chosen for a task.

    Args:
        settings: the settings with the best score on dev.
        seconds: how long the choice took.
        peak_memory: in bytes.
    """

    settings: dict[str, Any]
    seconds: Amount
    peak_memory: NotRequired[Count]


def read_stage(path: Path) -> StageRecord:
    """The record of a finished stage. Raises InputError if it is missing or of another form."""
    record = read_json(path, StageRecord)
    if not all({"step", "dev/average"} <= set(row) for row in record["curve"]):
        raise InputError(f"a row has no step or no dev/average; {AGAIN}", path=path, key="curve")
    return record
