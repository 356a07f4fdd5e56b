"""Where the two stages of a seed are, in the seed's folder."""

from pathlib import Path


def pretrain_folder(seed_folder: Path) -> Path:
    """Of stage 1."""
    return seed_folder / "pretrain"


def finetune_folder(seed_folder: Path, task: str) -> Path:
    """Of stage 2 of one task."""
    return seed_folder / "finetune" / task
