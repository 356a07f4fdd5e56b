"""What an unfinished training is the training of: a file in its folder, so that no other training continues it."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import read_json

FORMAT = 2  # of unfinished trainings: increase it whenever their files change, or what a step does


def claim_of(settings: Any, source: str) -> dict[str, Any]:
    """What an unfinished training is the training of: its settings, a dataclass, and what identifies the texts and their tokens."""
    return {**asdict(settings), "source": source, "format": FORMAT}


def check_claim(claim: Path, training: Mapping[str, Any]) -> None:
    """Raise InputError if the JSON file of an unfinished training exists and is damaged, or describes another training than this one, from
    `claim_of` and perhaps with further entries. The number of threads may differ."""
    if not claim.exists():
        return
    before = read_json(claim, dict[str, Any], f"delete {claim.parent}, and run this again")
    named = {"source": "other texts or tokens", "format": "another version of mtl"}
    changed = [
        named.get(key, f"{key}: {before.get(key)} there, {value} here")
        for key, value in training.items()
        if before.get(key) != value and key != "threads"
    ]
    if changed:
        message = (
            f"holds an unfinished training with other settings ({'; '.join(changed)}); delete the folder or set out="
        )
        raise InputError(message, path=claim.parent)
