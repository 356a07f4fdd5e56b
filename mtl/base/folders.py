"""Folders that commands write for their users: they appear whole, and mtl replaces and removes only what it wrote itself.

A new folder is `new_folder`. One that a command writes again and again, such as a report or a site, is `write_files`: a list in it has the hashes
of what mtl wrote.
"""

import hashlib
import json
import os
import re
import shutil
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypedDict

from mtl.base.errors import InputError
from mtl.base.files import flush, naming, sha256, without_empty_folders
from mtl.base.locks import waiting_lock
from mtl.base.untrusted import is_inside, read_json

LIST = "mtl-files.json"
MEANWHILE = f"{LIST}.meanwhile"  # the list that is there while files are moved
OTHER_FOLDER = "move it away, or name a new folder"


class _Listed(TypedDict):
    """The content of the list: the SHA-256 that mtl gave each file, by its path; two while a file is being replaced."""

    files: dict[str, list[str]]


def check_new_folder(path: Path) -> None:
    """Raise InputError if `path` exists and is not an empty folder."""
    if path.is_dir() and any(path.iterdir()):
        raise InputError("is not empty; name a new folder", path=path)
    if path.exists() and not path.is_dir():
        raise InputError("is a file; name a new folder", path=path)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; move it to `path` when the block ends without an exception.

    Raises InputError as `check_new_folder`, before the block. An error of a write is an OSError that names the file below `path`, or `path`.
    When the block raises, the temporary folder is removed.
    """
    check_new_folder(path)
    path = path.resolve()
    with staging(path, path.parent) as stage, naming(path, stage):
        check_new_folder(path)  # which another process may have written meanwhile
        yield stage
        flush(stage)
        stage.replace(path)


@contextmanager
def staging(path: Path, beside: Path) -> Iterator[Path]:
    """Yield a temporary folder, in the folder `beside`, for what is moved to `path`. It is removed when the block ends, and one that a killed
    process left is removed before it. Another process that writes to `path` is waited for."""
    lock = beside / f".{path.name}.lock"
    with without_empty_folders(beside), waiting_lock(lock, f"{path}: another process writes it"):
        try:
            leftover = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{32}}\.partial")
            for left in [file for file in beside.iterdir() if leftover.fullmatch(file.name)]:
                shutil.rmtree(left, ignore_errors=True)
            stage = beside / f".{path.name}.{uuid.uuid4().hex}.partial"
            stage.mkdir()
            try:
                yield stage
            finally:
                shutil.rmtree(stage, ignore_errors=True)
        finally:
            with suppress(OSError):  # Windows keeps files that are open
                lock.unlink()


def check_written(folder: Path) -> None:
    """Raise InputError if `write_files` may not write to a folder: it holds anything, and no list of what mtl wrote."""
    if not (folder / LIST).exists():
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"is not empty, and no {LIST} in it says what mtl wrote; {OTHER_FOLDER}", path=folder)
        check_new_folder(folder)
    _listed(folder)


def _listed(folder: Path) -> dict[str, list[str]]:
    """The hashes of what mtl wrote in a folder, by path; none without a list. Raises InputError for a damaged list."""
    if not (folder / LIST).exists():
        return {}
    files = read_json(folder / LIST, _Listed, OTHER_FOLDER)["files"]
    if wrong := [name for name in files if not is_inside(name)]:
        raise InputError(f"{wrong[0]!r} is no path below the folder; {OTHER_FOLDER}", path=folder / LIST)
    return files


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Make these files, by their path with slashes, those that mtl has in a folder: all of them, or after an error those that it had.

    Files of the last time that are not among them are removed, all others in the folder stay. A process that is killed while the files are
    moved leaves some of each; the same command completes them. A lone surrogate in a text becomes its escape sequence.

    Raises InputError as `check_written`, and if a file that would be replaced or removed is not as mtl wrote it, or behind a link.
    """
    contents = {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    new = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    check_written(folder)
    path = folder.resolve()
    # Files are staged beside the folder, which may be published, unless it is mounted, or all that this user may write to.
    is_apart = path.is_dir() and (os.path.ismount(path) or not os.access(path.parent, os.W_OK))
    with (
        without_empty_folders(path),
        staging(path, path if is_apart else path.parent) as stage,
        naming(folder, stage / "new"),
    ):
        before = _listed(folder)
        known = defaultdict[str, list[str]](list)  # by names in one case: some file systems do not tell others apart
        for name, digests in before.items():
            known[name.casefold()] += digests
        present = {name: _own_hash(folder, name, known[name.casefold()]) for name in {**before, **new}}
        meanwhile = {name: sorted({*before.get(name, ()), *filter(None, [new.get(name)])}) for name in present}
        contents |= {MEANWHILE: _list_of(meanwhile), LIST: _list_of({name: [digest] for name, digest in new.items()})}
        stale = [name for name, digest in present.items() if name not in new and digest is not None]
        gone = {name.casefold() for name in stale}
        changed = [name for name in new if present[name] != new[name] or name.casefold() in gone]
        for name in (*changed, MEANWHILE, LIST):
            (stage / "new" / name).parent.mkdir(parents=True, exist_ok=True)
            (stage / "new" / name).write_bytes(contents[name])
        flush(stage)
        replaced: list[tuple[str, str | None]] = [(name, name) for name in changed]
        _move(stage, folder, [(LIST, MEANWHILE), *((name, None) for name in stale), *replaced, (LIST, LIST)])


def _list_of(files: Mapping[str, list[str]]) -> bytes:
    return (json.dumps(_Listed(files=dict(sorted(files.items()))), indent=1) + "\n").encode()


def _own_hash(folder: Path, name: str, known: Sequence[str]) -> str | None:
    """The SHA-256 of a file in a folder; None if there is none. Raises InputError unless it is one of those known, or behind a link."""
    path = folder / name
    below = [folder / parent for parent in Path(name).parents if parent != Path()]
    if link := next((each for each in (path, *below) if each.is_symlink()), None):
        raise InputError(f"is a link; {OTHER_FOLDER}", path=link)
    if not path.exists():
        return None
    if not path.is_file() or (digest := sha256(path)) not in known:
        raise InputError(f"is not as mtl wrote it; {OTHER_FOLDER}", path=path)
    return digest


def _move(stage: Path, folder: Path, moves: Sequence[tuple[str, str | None]]) -> None:
    """Put staged files in the place of files of a folder, or remove these (None). After an error, all are as before."""
    new, old, begun = stage / "new", stage / "old", dict[str, bool]()
    try:
        for name, source in moves:
            target, kept = folder / name, old / name
            if name not in begun:
                if was_there := target.exists():
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(target, kept)
                begun[name] = was_there
            target.parent.mkdir(parents=True, exist_ok=True)
            if source is None:
                target.unlink(missing_ok=True)
                _remove_empty(target.parent, folder)
            else:
                shutil.move(new / source, target)
    except BaseException:
        for name, was_there in reversed(begun.items()):
            if was_there:
                (folder / name).parent.mkdir(exist_ok=True)
                shutil.move(old / name, folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
                _remove_empty((folder / name).parent, folder)
        raise


def _remove_empty(parent: Path, folder: Path) -> None:
    """Remove a folder below another one if it is empty."""
    if parent != folder:
        with suppress(OSError):
            parent.rmdir()
