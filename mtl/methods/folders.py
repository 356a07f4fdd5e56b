"""The folders of the two stages of training, below a seed's folder, and the version of what is in them."""

from pathlib import Path

# Increase it when the same configuration and inputs give other results, or when the layout of a seed's folder changes, so that
# no version of the code continues a run that an incompatible version started, or takes a stage 1 from it.
FORMAT = "3"


def pretrain_folder(seed_folder: Path) -> Path:
    """The folder of stage 1."""
    return seed_folder / "pretrain"


def finetune_folder(seed_folder: Path, task: str) -> Path:
    """The folder of one task's stage 2."""
    return seed_folder / "finetune" / task
