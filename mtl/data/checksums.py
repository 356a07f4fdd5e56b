"""The hashes of data files, and whether they are the files whose checksums the suite names (`Task.checksums`)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.files import sha256
from mtl.tasks.task import SPLITS, Task

GIT = "git:"  # before a checksum that is the id of a git blob


@dataclass(frozen=True)
class HashedFile:
    """A data file. task: its id. name: its path in the data folder. changed: whether the suite names another checksum for it."""

    task: str
    split: str
    name: str
    sha256: str
    changed: bool


def hash_files(tasks: Sequence[Task], data_dir: Path) -> list[HashedFile]:
    """Those files of the tasks that exist. Each of them is read once."""
    found = []
    for task in tasks:
        for split in SPLITS:
            if (path := task.path(split, data_dir)) and path.is_file():
                name = path.relative_to(data_dir).as_posix()
                found.append(HashedFile(task.id, split, name, *_hashed(path, task.checksums.get(split))))
    return found


def changed_splits(files: Sequence[HashedFile]) -> dict[str, list[str]]:
    """The splits of each task whose files are changed, by task id; tasks without any are left out."""
    found: dict[str, list[str]] = {}
    for file in files:
        if file.changed:
            found.setdefault(file.task, []).append(file.split)
    return found


def is_changed(content: bytes, checksum: str | None) -> bool:
    """Whether a file's content has another checksum than this one; False if none is named."""
    if checksum is None:
        return False
    if checksum.startswith(GIT):
        digest = GIT + hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    else:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return digest != checksum


def _hashed(path: Path, checksum: str | None) -> tuple[str, bool]:
    """The SHA-256 of a file, and whether its checksum is another than this one."""
    if checksum is not None and checksum.startswith(GIT):
        content = path.read_bytes()
        return hashlib.sha256(content).hexdigest(), is_changed(content, checksum)
    digest = sha256(path)
    return digest, checksum not in (None, f"sha256:{digest}")
