"""The lock of a seed's folder."""

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest
from processes import CONTEXT, wait_for

from mtl.jobs import seed_lock as module
from mtl.jobs.seed_lock import LOST, NAME, Holder, holder, seed_lock


def hold(folder: Path) -> None:
    with seed_lock(folder):
        time.sleep(600)


def quick(folder: Path) -> None:
    module.RENEW_EVERY = 0.05
    hold(folder)


def test_it_names_its_process_while_it_is_held(tmp_path: Path) -> None:
    with seed_lock(tmp_path / "seed-1"):
        of = holder(tmp_path / "seed-1")
        assert of is not None and of.pid == os.getpid() and not of.is_dead
    assert holder(tmp_path / "seed-1") is None and list((tmp_path / "seed-1").iterdir()) == []


def test_a_killed_process_of_this_machine_leaves_it_free(tmp_path: Path) -> None:
    process = CONTEXT.Process(target=hold, args=(tmp_path,))
    process.start()
    wait_for(tmp_path / NAME, process)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert (tmp_path / NAME).exists()
    with seed_lock(tmp_path):
        of = holder(tmp_path)
        assert of is not None and of.pid == os.getpid()


def test_a_process_elsewhere_is_waited_for_and_then_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "RENEW_EVERY", 0.01)
    monkeypatch.setattr(module, "STALE_AFTER", 0.2)
    other = Holder("elsewhere", 1, "2026-01-31 12:00:00 UTC", "t")
    (tmp_path / NAME).write_text(json.dumps(vars(other)), encoding="utf-8")
    start = time.monotonic()
    with caplog.at_level("INFO", logger="mtl"), seed_lock(tmp_path):
        assert time.monotonic() - start >= 0.2
    assert "process 1 on elsewhere since 2026-01-31 12:00:00 UTC trains this seed; waiting for it" in caplog.text


def test_a_lock_that_is_not_readable_is_one_of_a_lost_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STALE_AFTER", 0.05)
    monkeypatch.setattr(module, "RENEW_EVERY", 0.01)
    (tmp_path / NAME).write_text("{", encoding="utf-8")
    with seed_lock(tmp_path):
        assert holder(tmp_path) is not None


def test_a_process_that_lost_its_lock_ends(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=quick, args=(tmp_path,))
    process.start()
    while holder(tmp_path) is None and process.is_alive():
        time.sleep(0.01)
    other = Holder("elsewhere", 1, "2026-01-31 12:00:00 UTC", "t")
    taken = tmp_path / "taken"
    taken.write_text(json.dumps(vars(other)), encoding="utf-8")
    taken.replace(tmp_path / NAME)
    process.join()
    assert process.exitcode == LOST and holder(tmp_path) == other


def test_one_that_takes_over_does_not_remove_the_lock_of_another_that_was_faster(tmp_path: Path) -> None:
    lost, faster = (Holder("elsewhere", 1, "", token) for token in ("lost", "faster"))
    (tmp_path / NAME).write_text(json.dumps(vars(faster)), encoding="utf-8")
    module._remove(tmp_path / NAME, lost)
    assert holder(tmp_path) == faster and [path.name for path in tmp_path.iterdir()] == [NAME]
