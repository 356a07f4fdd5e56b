"""The hashes of data files, and the checksums that a suite names."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.base.files import sha256
from mtl.data.files import numbered_files
from mtl.tasks.task import NUMBERED, SPLITS, Task

GIT = "git:"  # before a checksum that is the id of a git blob


@dataclass(frozen=True)
class HashedFile:
    """A data file of a task, with the hash of its content."""

    task: str  # its id
    split: str
    name: str  # its path in the data folder
    sha256: str
    changed: bool  # whether the suite names another checksum for it


def hash_files(tasks: Sequence[Task], data_dir: Path) -> list[HashedFile]:
    """Those files of the tasks that exist."""
    hashed = []
    for task in tasks:
        for split in SPLITS:
            first, layout = task.path(split, data_dir), task.layout(split, data_dir)
            parts = numbered_files(first) if first and first.is_file() and layout.part == NUMBERED else [first]
            for path in filter(None, (*parts, layout.beside)):
                if path.is_file():
                    changed = path == first and is_changed(path, task.checksums.get(split))
                    name = path.relative_to(data_dir).as_posix()
                    hashed.append(HashedFile(task.id, split, name, sha256(path), changed))
    return hashed


def changed_splits(files: Sequence[HashedFile]) -> dict[str, list[str]]:
    """The splits of each task whose files are changed, by task id; tasks without any are left out."""
    changed: dict[str, list[str]] = {}
    for file in files:
        if file.changed:
            changed.setdefault(file.task, []).append(file.split)
    return changed


def is_changed(path: Path, checksum: str | None) -> bool:
    """Whether a file has another checksum than this one; False if none is named."""
    if checksum is None:
        return False
    return checksum != (GIT + git_blob_id(path) if checksum.startswith(GIT) else f"sha256:{sha256(path)}")


def git_blob_id(path: Path) -> str:
    """The id that git gives a file's content, as `git hash-object` prints it: 40 hexadecimal digits. It is the SHA-1 of the word "blob", a space,
    the size, a zero byte, and the content (Pro Git, section 10.2)."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: digest).hexdigest()
