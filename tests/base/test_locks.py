"""Locks of the system, and named locks, which take their place where the file system has none."""

import errno
import json
import os
import signal
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mtl.base import locks
from mtl.base.locks import LOST, Holder, LockHeld, holder_of, is_held, lock, named_lock

ELSEWHERE = Holder("elsewhere", 1, "2026-01-31 12:00:00 UTC", "t")


def without_flock(monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    def no_flock(*_: object) -> None:
        raise OSError(error, "no flock here")

    monkeypatch.setattr("fcntl.flock", no_flock)


def write(path: Path, holder: Holder) -> None:
    path.write_text(json.dumps(vars(holder)), encoding="utf-8")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "RENEW_EVERY", 0.01)
    monkeypatch.setattr(locks, "STALE_AFTER", 0.2)


def forked(held: AbstractContextManager[None], sign: Path) -> int:
    """A process that holds this lock until it is killed. sign: the file that it makes once it does."""
    if (child := os.fork()) == 0:
        try:
            with held:
                sign.touch()
                time.sleep(600)
        finally:
            os._exit(1)
    while not sign.exists() and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.01)
    return child


@pytest.mark.parametrize("missing", [0, errno.EOPNOTSUPP])
def test_a_killed_process_releases_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: int) -> None:
    if missing:
        without_flock(monkeypatch, missing)
    path = tmp_path / "folder/.lock"
    holder = forked(lock(path), tmp_path / "held")
    try:
        with pytest.raises(LockHeld), lock(path):
            pass
    finally:
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)
    for _ in range(2):
        with lock(path), pytest.raises(LockHeld), lock(path):
            pass
        with lock(path, "busy"), pytest.raises(LockHeld), lock(path):
            pass


@pytest.mark.parametrize("missing", [errno.ENOSYS, errno.ENOLCK])
def test_another_machine_s_lock_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: int) -> None:
    without_flock(monkeypatch, missing)
    write(tmp_path / ".lock.process", ELSEWHERE)
    message = r"; process 1 on elsewhere since .* holds it; if no such process runs on any machine, remove .*\.process"
    with pytest.raises(LockHeld, match=message), lock(tmp_path / ".lock"):
        pass


def test_one_that_waits_takes_over_the_lock_of_a_lost_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    without_flock(monkeypatch, errno.ENOSYS)
    write(tmp_path / ".lock.process", ELSEWHERE)
    start = time.monotonic()
    with caplog.at_level("INFO", logger="mtl"), lock(tmp_path / ".lock", "another process fills it"):
        assert time.monotonic() - start >= 0.2
        with pytest.raises(LockHeld), lock(tmp_path / ".lock"):
            pass
    assert "another process fills it (process 1 on elsewhere since 2026-01-31 12:00:00 UTC); waiting" in caplog.text
    with lock(tmp_path / ".lock"):
        pass


def test_a_folder_that_cannot_hold_a_lock_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the lock in it, of which its user knows nothing."""

    def denied(path: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(locks, "FileLock", denied)
    with pytest.raises(PermissionError) as error, lock(tmp_path / ".site.lock"):
        pass
    assert error.value.filename == str(tmp_path)


@pytest.mark.parametrize("before", [None, "{"])  # what is not readable is the lock of a lost process
def test_a_named_lock_says_who_holds_it(tmp_path: Path, quick: None, before: str | None) -> None:
    path = tmp_path / "x"
    if before is not None:
        path.write_text(before, encoding="utf-8")
    with named_lock(path, "busy"):
        of = holder_of(path)
        assert of is not None and of.pid == os.getpid() and not of.is_dead
    assert holder_of(path) is None and list(tmp_path.iterdir()) == []


def test_a_process_that_lost_its_lock_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "RENEW_EVERY", 0.05)
    path = tmp_path / "x"
    process = forked(named_lock(path, "busy"), tmp_path / "held")
    write(tmp_path / "taken", ELSEWHERE)
    (tmp_path / "taken").replace(path)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == LOST and holder_of(path) == ELSEWHERE


def test_a_file_system_that_is_away_for_a_moment_ends_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    statuses, is_back, failures, read = list[int](), threading.Event(), iter([True, True]), Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if next(failures, False):
            raise OSError(errno.ESTALE, "Stale file handle")
        is_back.set()
        return read(path)

    monkeypatch.setattr("os._exit", statuses.append)
    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    with named_lock(tmp_path / "x", "busy"):
        assert is_back.wait(60)
    assert statuses == [] and list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("msgspec.json.encode", full)
    with pytest.raises(OSError, match="No space"), named_lock(tmp_path / "x", None):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_named_lock_of_another_machine_is_held_as_long_as_it_is_renewed(tmp_path: Path) -> None:
    path = tmp_path / ".lock.process"
    write(path, ELSEWHERE)
    assert is_held(tmp_path / ".lock")
    os.utime(path, (1, 1))
    assert not is_held(tmp_path / ".lock")


@pytest.mark.parametrize("content", [json.dumps(vars(ELSEWHERE)), "{"])
def test_one_that_takes_over_does_not_remove_the_lock_of_another_that_was_faster(tmp_path: Path, content: str) -> None:
    path, faster = tmp_path / "x", Holder("elsewhere", 2, "", "faster")
    path.write_text(content, encoding="utf-8")
    os.utime(path, (1, 1))
    found = locks._seen_lock(path)
    assert found is not None
    path.unlink()
    write(path, faster)
    locks._remove_lost(path, found)
    assert holder_of(path) == faster and [path.name for path in tmp_path.iterdir()] == ["x"]


def test_nor_a_lock_that_is_just_being_written_or_was_renewed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write(path, ELSEWHERE)
    os.utime(path, (1, 1))
    found = locks._seen_lock(path)
    assert found is not None
    os.utime(path)
    locks._remove_lost(path, found)
    assert holder_of(path) == ELSEWHERE
    path.unlink()
    with path.open("w", encoding="utf-8") as file:  # created, but still empty
        locks._remove_lost(path, found)
        json.dump(vars(ELSEWHERE), file)
    assert holder_of(path) == ELSEWHERE and [path.name for path in tmp_path.iterdir()] == ["x"]
