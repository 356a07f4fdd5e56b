"""The folder of a seed, below the run's, and those of the two stages of training, below the seed's."""

from pathlib import Path


def seed_folder(folder: Path, seed: int) -> Path:
    """The folder of a seed. folder: the run's."""
    return folder / f"seed-{seed}"


def pretrain_folder(seed_folder: Path) -> Path:
    """The folder of stage 1."""
    return seed_folder / "pretrain"


def finetune_folder(seed_folder: Path, task: str) -> Path:
    """The folder of one task's stage 2."""
    return seed_folder / "finetune" / task
