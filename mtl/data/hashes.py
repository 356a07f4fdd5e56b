"""The hashes of data files, the checksums that a suite names, and all that results depend on."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.base.files import sha256
from mtl.data.numbered import numbered_files
from mtl.tasks.suite import Suite
from mtl.tasks.task import NUMBERED, SPLITS, Task

GIT = "git:"  # before a checksum that is the id of a git blob
# The fields of a task that predictions and scores depend on, beside the content of its files.
SCORES_DEPEND_ON = (
    "id", "text", "target", "labels", "label_separator", "range", "metric", "positive", "group", "same_source",
    "files", "candidates", "scored", "answered_by", "columns", "chance", "spans", "header", "indices", "starts",
)  # fmt: skip


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
    return checksum is not None and checksum_problem(path, checksum) is not None


def git_blob_id(path: Path) -> str:
    """The id of a file's content in git, 40 hexadecimal digits: the SHA-1 of "blob", a space, the size, a zero byte, and the content."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: digest).hexdigest()


def fingerprints(
    suite: Suite, tasks: Sequence[Task], data_dir: Path, files: Sequence[HashedFile] | None = None
) -> dict[str, str]:
    """What results depend on, by name: the suite's language, the tasks that its score is the mean of if it names them, and SHA-256 of
    each of these tasks' declarations and of each of their files that exists. The files may be hashed already."""
    files = hash_files(tasks, data_dir) if files is None else files
    marks = {"language": suite.language, **{f"tasks.{task.id}": task_fingerprint(task) for task in tasks}}
    if suite.average is not None:
        marks["average"] = suite.average_text
    return {**marks, **{file.name: file.sha256 for file in files}}


def task_fingerprint(task: Task) -> str:
    """SHA-256 of the fields that scores depend on. Those that are None do not count, so that runs stay valid when a version adds a field."""
    values = {name: value for name, value in vars(task).items() if name in SCORES_DEPEND_ON and value is not None}
    if task.reading is not None:
        keys = vars(task.reading).items()  # of which a later version has added `spans`
        values["reading"] = {key: value for key, value in keys if key != "spans" or value is not None}
    if task.kind != task.implied_kind:
        values["kind"] = task.kind
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def checksum_problem(path: Path, checksum: str) -> str | None:
    """What is wrong with a downloaded file; None if it has this checksum: its SHA-256, with or without `sha256:`, or its git blob's id after GIT."""
    if checksum.startswith(GIT):
        name, expected, actual = "git blob id", checksum.removeprefix(GIT), git_blob_id(path)
    else:
        name, expected, actual = "SHA-256", checksum.removeprefix("sha256:"), sha256(path)
    if actual == expected.lower():
        return None
    return f"the {name} of the downloaded file is {actual}, not the expected {expected}"
