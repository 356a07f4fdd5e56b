"""The folder of a training that has not finished: the next process continues there, if it trains the same model. A file, the claim, says which."""

import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mtl.base.device import threads_of_torch
from mtl.base.errors import InputError
from mtl.base.files import write_json
from mtl.base.folders import check_new_folder
from mtl.base.locks import lock
from mtl.base.untrusted import read_json

FORMAT = 3  # of unfinished trainings: increase it whenever their files change, or what a step does
LOCK, CLAIM, CHECKPOINT = ".lock", "claim.json", "last.ckpt"


def unfinished_folder(out: Path) -> Path:
    return out.resolve().with_name(f"{out.resolve().name}.unfinished")


def train_once(out: Path, settings: Any, source: str, train_in: Callable[[Path], None], **software: str) -> None:
    """Make the new folder `out` by a training; continue a training that was interrupted, if it is the same one. `train_in` trains with the files in
    the folder that it gets, and writes `out`. The settings have `threads`, which alone may differ from before. `source` identifies the texts,
    `software` what makes tokens. Raises InputError for an `out` that is not empty, and an unfinished folder of another training or of none."""
    check_new_folder(out)
    folder = unfinished_folder(out)
    with lock(folder / LOCK, f"{folder}: another process is training this model"), threads_of_torch(settings.threads):
        _claim(folder, {**asdict(settings), "source": source, "format": FORMAT, **software})
        try:
            check_new_folder(out)  # another process may have made it before the lock was taken
            train_in(folder)
        except InputError:
            if not (folder / CHECKPOINT).exists():
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def _claim(folder: Path, identity: dict[str, Any]) -> None:
    """Claim the folder for the training with this identity; remove what another one left. Raises InputError for its checkpoint, and damaged files."""
    claim = folder / CLAIM
    leftovers = [path for path in folder.iterdir() if path != claim and not path.name.startswith(".")]
    if leftovers and not claim.exists():
        problem = "holds files of no unfinished training; move them away or name another folder with out="
        raise InputError(problem, path=folder)
    claimed = read_json(claim, dict[str, Any], f"delete {folder}, and run this again") if claim.exists() else {}
    if (folder / CHECKPOINT).exists():
        keys = [key for key in {**identity, **claimed} if key != "threads"]
        if changed := [key for key in keys if claimed.get(key) != identity.get(key)]:
            titles = {"source": "texts", "format": "format of mtl"}
            titles_text = ", ".join(titles.get(key, key) for key in changed)
            problem = f"holds an unfinished training with another {titles_text}; delete the folder or set out="
            raise InputError(problem, path=folder)
    elif claimed != identity:
        for path in leftovers:
            path.unlink()
        write_json(claim, identity)  # last: files of another training never have it
