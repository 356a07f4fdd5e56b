"""Fixtures of every folder."""

import os
from pathlib import Path

import pytest
from elmo_files import write_elmo
from small_suite import SMALL, write_suite

# Models this small gain nothing from a second thread; set before torch is imported, here and in subprocesses.
os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture(autouse=True)
def brief_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run costs is measured in one round, not for a second: its figures are nobody's here."""
    monkeypatch.setattr("mtl.methods.throughput.SECONDS", 0.01)


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    """The small suite's file; its data lies beside it in `data`."""
    return write_suite(tmp_path)


@pytest.fixture
def settings(suite_file: Path) -> list[str]:
    """What makes a run on the small suite take a second."""
    return [
        f"suite={suite_file}",
        f"data_dir={suite_file.parent / 'data'}",
        f"run_dir={suite_file.parent / 'run'}",
        f"cache_dir={suite_file.parent / 'cache'}",
        *SMALL,
    ]


@pytest.fixture(scope="session")
def elmo_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_elmo(tmp_path_factory.mktemp("elmo"))
