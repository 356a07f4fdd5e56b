"""The folder `{out}.unfinished` of a training until its folder `out` is complete; a file, the claim, names the training."""

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
    """The folder of a training that has not finished."""
    return out.resolve().with_name(f"{out.resolve().name}.unfinished")


def train_once(out: Path, settings: Any, source: str, train_in: Callable[[Path], None], **software: str) -> None:
    """Make the new folder `out` by a training; continue a training that was interrupted, if it is the same one.
    `train_in` trains with the files in the folder that it gets, and writes `out`. The settings are a dataclass with `threads`, which alone may
    differ from those of the interrupted training. `source` identifies the texts; `software` has the versions of what makes tokens of them.
    Raises InputError for an `out` that is not empty, and for an unfinished folder of another training, or of none."""
    check_new_folder(out)
    folder = unfinished_folder(out)
    message = f"{folder}: another process is training this model"
    with lock(folder / LOCK, message), threads_of_torch(settings.threads):
        files = [path for path in folder.iterdir() if path.name != CLAIM and not path.name.startswith(".")]
        if files and not (folder / CLAIM).exists():
            problem = "holds files of no unfinished training; move them away or name another folder with out="
            raise InputError(problem, path=folder)
        _claim(folder, {**asdict(settings), "source": source, "format": FORMAT, **software}, files)
        try:
            check_new_folder(out)  # another process may have made it before the lock was taken
            train_in(folder)
        except InputError:
            if not (folder / CHECKPOINT).exists():
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def _claim(folder: Path, training: dict[str, Any], files: list[Path]) -> None:
    """Claim the folder for a training, and remove what another one without a checkpoint left. Raises InputError for the checkpoint of another one,
    and for a damaged claim."""
    claim = folder / CLAIM
    claimed = read_json(claim, dict[str, Any], f"delete {folder}, and run this again") if claim.exists() else {}
    if (folder / CHECKPOINT).exists():
        changed = [key for key in {**training, **claimed} if claimed.get(key) != training.get(key) and key != "threads"]
        if changed:
            titles = ", ".join({"source": "texts", "format": "format of mtl"}.get(key, key) for key in changed)
            problem = f"holds an unfinished training with another {titles}; delete the folder or set out="
            raise InputError(problem, path=folder)
    elif claimed != training:
        for path in files:
            path.unlink()
        write_json(claim, training)  # last: files of another training never have it
