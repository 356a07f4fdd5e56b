"""The lock of a seed's folder."""

import json
import os
from pathlib import Path

import pytest

from mtl.base.locks import Holder
from mtl.runs.folder import TRAINING, holder, seed_lock


def test_it_names_its_process_while_it_is_held(tmp_path: Path) -> None:
    with seed_lock(tmp_path / "seed-1"):
        of = holder(tmp_path / "seed-1")
        assert of is not None and of.pid == os.getpid()
    assert holder(tmp_path / "seed-1") is None and list((tmp_path / "seed-1").iterdir()) == []


def test_who_waits_is_told_for_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("mtl.base.locks.RENEW_EVERY", 0.01)
    monkeypatch.setattr("mtl.base.locks.STALE_AFTER", 0.05)
    other = Holder("elsewhere", 1, "2026-01-31 12:00:00 UTC", "t")
    (tmp_path / TRAINING).write_text(json.dumps(vars(other)), encoding="utf-8")
    with caplog.at_level("INFO", logger="mtl"), seed_lock(tmp_path):
        assert holder(tmp_path) != other
    message = (
        f"{tmp_path}: another process trains this seed (process 1 on elsewhere since 2026-01-31 12:00:00 UTC); wait"
    )
    assert message in caplog.text
