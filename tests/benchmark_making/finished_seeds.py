"""Records of finished seeds that nothing has trained."""

from pathlib import Path

from mtl.base.files import write_json


def finish(folder: Path, seconds: float, pretraining: float | None = None, finetuning: float = 0.0) -> None:
    """Write the record of a finished seed that took so many seconds in all, and for its stages."""
    cost = {"pretrain_seconds": pretraining, "finetune_seconds": finetuning}
    scores = {"scores": {"a": 61.25}, "average": 61.25, "also": {}, "dev_scores": {}, "same_answer": []}
    about = {"versions": {}, "machine": "", "remarks": []}
    write_json(folder / "scores.json", {**scores, "seconds": seconds, "cost": cost, **about})
