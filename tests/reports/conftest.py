from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import report_sample
from kinds_suite import write_kinds_suite
from report_browser import Opener, Page
from run_folders import make_run, right
from selenium import webdriver

from mtl.reports.leaderboard import Leaderboard, leaderboard
from mtl.runs.finished import find_runs


@pytest.fixture(scope="session")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    """A suite with a task of each target kind, some of them scored on test."""
    path = tmp_path_factory.mktemp("kinds")
    suite = write_kinds_suite(path)
    make_run(path / "runs/lstm", right(0.8), [f"suite={suite}"])
    make_run(path / "runs/svm", right(0.4), [f"suite={suite}", "method=svm"])
    make_run(path / "runs/words", right(0.4), [f"suite={suite}", "method=tree"], tasks=["answer", "opposite"])
    return leaderboard(find_runs(path / "runs"))


@pytest.fixture
def opened(driver: webdriver.Chrome, tmp_path: Path) -> Iterator[Opener]:
    """Opens a report in a window of some size; after each test, the browser's log must be empty."""

    def open_page(
        report: dict[str, Any] | None = None, width: int = 1280, height: int = 900, scheme: str = "light"
    ) -> Page:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        return Page(driver, tmp_path / "page.html", report or report_sample.report())

    yield open_page
    assert [entry["message"] for entry in driver.get_log("browser")] == []
