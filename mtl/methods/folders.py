"""The folders of the two stages of training, below a seed's folder."""

from pathlib import Path


def pretrain_folder(seed_folder: Path) -> Path:
    """The folder of stage 1."""
    return seed_folder / "pretrain"


def finetune_folder(seed_folder: Path, task: str) -> Path:
    """The folder of one task's stage 2."""
    return seed_folder / "finetune" / task
