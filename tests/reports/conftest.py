from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import report_sample
from report_browser import Opener, Page
from selenium import webdriver


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
