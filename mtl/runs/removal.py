"""Free disk space: whole runs that the user names, and what no command needs any more. Links are never followed."""

import os
import shutil
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import counted, format_bytes
from mtl.base.locks import is_held
from mtl.base.terminal import one_line
from mtl.base.untrusted import check_plain_folder, read_json
from mtl.runs.folder import LOCK, RunFolder
from mtl.runs.stored import SEED, Files, run_folders

LEFTOVER = ".*.partial"  # what an atomic write leaves behind if its process is killed
LEFTOVER_AFTER = 24 * 3600.0  # seconds until one that no lock guards counts as such
CACHED = (
    "texts-*.npz",
    "elmo-*",
    "teacher-*.npz",
    "resampled/*.npz",
)  # in the cache; all of it is computed again if it is missing
RUN = "run"
RESUME = "last.ckpt"  # a stage's state, which it continues from


@dataclass(frozen=True)
class Removal:
    """Something to delete.

    Args:
        path: a file or a folder.
        why: what it is.
        files: its files.
    """

    path: Path
    why: str
    files: Files


def removable_runs(folders: Sequence[Path]) -> list[Removal]:
    """The runs in these folders, to be deleted whole.

    Raises InputError for a folder that is not that of one run of mtl alone, that holds links, or that a process works in.
    """
    return [_run(folder) for folder in dict.fromkeys(Path(os.path.normpath(folder)) for folder in folders)]


def _run(path: Path) -> Removal:
    if path.is_symlink():
        raise InputError("is a link; name the run's folder itself", path=path)
    if not path.is_dir():
        raise InputError("no such folder; mtl runs lists the runs", path=path)
    folder = RunFolder(path)
    if not folder.config.is_file() or "format" not in _inputs(folder):
        raise InputError("is no run of mtl, so it is not deleted; mtl runs lists the runs", path=path)
    check_plain_folder(path)
    below = [run for entry in path.iterdir() if entry.is_dir() for run in run_folders(entry)]
    if below:
        raise InputError(f"holds another run, {below[0]}; move that one first", path=path)
    if is_held(path / LOCK):
        raise InputError("another process is running in this folder; end it first", path=path)
    return Removal(path, RUN, _files(path))


def _inputs(folder: RunFolder) -> dict[str, str]:
    """The inputs that a run has recorded; empty if it has recorded none that are readable."""
    try:
        return read_json(folder.inputs, dict[str, str])
    except InputError:
        return {}


def prunable(runs_dir: Path, cache_dir: Path, days: float) -> list[Removal]:
    """What can be deleted without a loss: results, models and reports stay, and no command does anything else than before.

    - What killed processes left of files that they wrote, in runs that no process works in and in the cache.
    - The state of stages of finished seeds, which is for continuing them.
    - Entries of the cache that nothing has read or written for `days` days. What needs one computes it again.

    Raises InputError if `runs_dir` does not exist.
    """
    if not runs_dir.is_dir():
        raise InputError("no such folder; it must hold run folders, as mtl baseline makes them", path=runs_dir)
    return [*_in_runs(runs_dir), *_in_cache(cache_dir, days)]


def _in_runs(runs_dir: Path) -> Iterator[Removal]:
    runs = set(run_folders(runs_dir))
    for run in sorted(runs):
        if is_held(run / LOCK):
            continue
        for path in _below(run):
            if path.match(LEFTOVER):
                yield Removal(path, "left by a process that was killed", _files(path))
            elif path.name == RESUME and _is_finished(path, run):
                yield Removal(path, "state of a finished seed", _files(path))
    for parent in sorted({run.parent for run in runs}):
        yield from _old_leftovers(parent)


def _in_cache(cache_dir: Path, days: float) -> Iterator[Removal]:
    if not cache_dir.is_dir():
        return
    for pattern in CACHED:
        for path in sorted(cache_dir.glob(pattern)):
            if path.is_symlink() or path.match(LEFTOVER):
                continue
            if _unused(path) > days * 24 * 3600:
                yield Removal(path, f"cache, not used for {days:g} days", _files(path))
    yield from _old_leftovers(cache_dir)


def _below(folder: Path) -> Iterator[Path]:
    """What is in a folder, at any depth, but not below a leftover."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = Path(entry.path)
            yield path
            if entry.is_dir(follow_symlinks=False) and not path.match(LEFTOVER):
                yield from _below(path)


def _is_finished(path: Path, run: Path) -> bool:
    """Whether the seed that a file in a run's folder belongs to is finished."""
    seed = path.relative_to(run).parts[0]
    return SEED.fullmatch(seed) is not None and (run / seed / "scores.json").is_file() and not path.is_symlink()


def _old_leftovers(folder: Path) -> Iterator[Removal]:
    """What killed processes left in a folder that no lock guards."""
    for path in sorted(folder.glob(LEFTOVER)):
        files = _files(path)
        if time.time() - max(files.changed, path.lstat().st_mtime) > LEFTOVER_AFTER:
            yield Removal(path, "left by a process that was killed", files)


def _unused(path: Path) -> float:
    """Seconds since the file, or a file of the folder, was read or written. File systems that do not record reads know the last write."""
    # Not of folders: whoever lists one reads it.
    files = [each for each in _below(path) if not each.is_dir()] if path.is_dir() else []
    return time.time() - max(max(status.st_atime, status.st_mtime) for status in map(Path.lstat, files or [path]))


def _files(path: Path) -> Files:
    files = Files()
    files.add(str(path))
    return files


def freed(removals: Sequence[Removal]) -> int:
    """The bytes that are free when all of this is deleted."""
    whole = Files()
    for removal in removals:
        whole.merge(removal.files)
    return whole.freed


def removal_text(removals: Sequence[Removal]) -> str:
    """What would be deleted, one line each, and the space that it frees."""
    lines = [
        f"{one_line(str(removal.path))} · {removal.why} · {format_bytes(removal.files.size)}" for removal in removals
    ]
    total = f"{counted(len(removals), 'deletion')}; {format_bytes(freed(removals))} will be free"
    return "\n".join([*lines, total])


def remove(removals: Sequence[Removal]) -> None:
    """Delete all of this. A run is first locked, then renamed, so that no half of it remains under its name.

    Raises BusyError if a process has begun to work in a run meanwhile; what was deleted before stays deleted.
    """
    for removal in removals:
        path = removal.path
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
            continue
        gone = path if path.match(LEFTOVER) else path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
        if gone != path:
            with RunFolder(path).locked() if removal.why == RUN else nullcontext():
                path.rename(gone)
        shutil.rmtree(gone)
