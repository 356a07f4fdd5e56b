"""Folders that commands write for their users. They appear complete or not at all, and mtl replaces and removes only files that it wrote.
`new_folder` makes a folder that does not exist yet. `write_files` updates a folder, such as a report: a list in it has the hash of each file."""

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypedDict

from mtl.base.errors import InputError
from mtl.base.files import flush, sha256, without_empty_folders, write_errors_at
from mtl.base.locks import lock
from mtl.base.untrusted import is_inside, read_json

LIST = "mtl-files.json"  # in the folder: what mtl wrote
MEANWHILE = f"{LIST}.meanwhile"  # in the staging folder: the list that holds while files are moved
OTHER_FOLDER = "move it away, or name a new folder"


class _FileList(TypedDict):
    """The content of the file LIST: the SHA-256 that mtl gave each file, by its path; two while a file is being replaced."""

    files: dict[str, list[str]]


def check_new_folder(path: Path) -> None:
    """Raise InputError if `path` exists and is not an empty folder."""
    if path.is_dir() and any(path.iterdir()):
        raise InputError("is not empty; name a new folder", path=path)
    if path.exists() and not path.is_dir():
        raise InputError("is a file; name a new folder", path=path)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; move it to `path` when the block ends without an exception, else remove it. An OSError of a write
    names the file below `path`, or `path` itself, and not the temporary folder. Raises InputError as `check_new_folder`, before the block."""
    check_new_folder(path)
    path = path.resolve()
    with staging(path, path.parent) as stage, write_errors_at(path, stage):
        check_new_folder(path)  # another process may have made it before the lock was taken
        yield stage
        flush(stage)
        stage.replace(path)


@contextmanager
def staging(path: Path, beside: Path) -> Iterator[Path]:
    """Yield a temporary folder, in the folder `beside`, for files that the block moves to `path`. It is removed when the block ends. One that a
    killed process left is removed before the block. While another process writes to `path`, this one waits."""
    lock_file = beside / f".{path.name}.lock"
    with without_empty_folders(beside), lock(lock_file, f"{path}: another process writes it"):
        try:
            leftover = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{32}}\.partial")
            for folder in [file for file in beside.iterdir() if leftover.fullmatch(file.name)]:
                shutil.rmtree(folder, ignore_errors=True)
            stage = beside / f".{path.name}.{uuid.uuid4().hex}.partial"
            stage.mkdir()
            try:
                yield stage
            finally:
                shutil.rmtree(stage, ignore_errors=True)
        finally:
            with suppress(OSError):  # Windows does not remove a file that is open
                lock_file.unlink()


def check_writable(folder: Path) -> None:
    """Raise InputError if `write_files` may not write to a folder: it has files, but no list, or a damaged one."""
    if not (folder / LIST).exists():
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"is not empty, and no {LIST} in it says what mtl wrote; {OTHER_FOLDER}", path=folder)
        check_new_folder(folder)
    _read_list(folder)


def _read_list(folder: Path) -> dict[str, list[str]]:
    """The hashes of the files that mtl wrote in a folder, by path; empty if there is no list. Raises InputError for a damaged list."""
    if not (folder / LIST).exists():
        return {}
    files = read_json(folder / LIST, _FileList, OTHER_FOLDER)["files"]
    if wrong := [name for name in files if not is_inside(name)]:
        raise InputError(f"{wrong[0]!r} is no path below the folder; {OTHER_FOLDER}", path=folder / LIST)
    return files


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files to a folder, by their paths in it, with slashes, and remove those that mtl wrote there before and that are not among them.
    All other files stay. An error while the files are moved, or a kill, leaves some new and some old files, and the same command completes them. An
    earlier error changes nothing. A lone surrogate becomes its escape sequence. Raises InputError as `check_writable`, and for a changed file."""
    contents = {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    new = {name: [hashlib.sha256(content).hexdigest()] for name, content in contents.items()}
    check_writable(folder)
    path = folder.resolve()
    # A folder may be published while it is written, so files are staged beside it, if its parent is on the same file system and writable.
    stages_inside = path.is_dir() and (os.path.ismount(path) or not os.access(path.parent, os.W_OK))
    beside = path if stages_inside else path.parent
    with without_empty_folders(path), staging(path, beside) as stage, write_errors_at(folder, stage):
        old = _read_list(folder)
        # Where a file system does not distinguish upper and lower case, a name in another case is not a known one.
        present = {name: _hash_if_known(folder, name, old.get(name, ())) for name in old | new}
        changed = [name for name in new if present[name] not in new[name]]
        stale = [name for name, digest in present.items() if name not in new and digest is not None]
        old_or_new = {name: sorted({*old.get(name, ()), *new.get(name, ())}) for name in present}
        contents |= {MEANWHILE: _list_content(old_or_new), LIST: _list_content(new)}
        for name in (*changed, MEANWHILE, LIST):
            (stage / name).parent.mkdir(parents=True, exist_ok=True)
            (stage / name).write_bytes(contents[name])
        flush(stage)
        _move(stage, folder, changed, stale)


def _move(stage: Path, folder: Path, changed: Sequence[str], stale: Sequence[str]) -> None:
    """Move the changed files from the staging folder to the folder, and remove the stale ones. The list MEANWHILE holds until all is done."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.move(stage / MEANWHILE, folder / LIST)
    for name in stale:
        (folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # it is not empty
            (folder / name).parent.rmdir()
    for name in (*changed, LIST):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(stage / name, folder / name)


def _list_content(files: Mapping[str, list[str]]) -> bytes:
    return (json.dumps(_FileList(files=dict(sorted(files.items()))), indent=1) + "\n").encode()


def _hash_if_known(folder: Path, name: str, known: Sequence[str]) -> str | None:
    """The SHA-256 of a file in a folder; None if there is no such file. Raises InputError if it is not a known one, and behind a link."""
    path = folder / name
    parents = [folder / parent for parent in Path(name).parents if parent != Path()]
    if links := [part for part in (path, *parents) if part.is_symlink()]:
        raise InputError(f"is a link; {OTHER_FOLDER}", path=links[0])
    if not path.exists():
        return None
    digest = sha256(path) if path.is_file() else None
    if digest not in known:
        raise InputError(f"is not as mtl wrote it; {OTHER_FOLDER}", path=path)
    return digest
