"""The page of a report in a headless Chromium, for tests."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from mtl.reports.page import render_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")
OPTIONS = "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-sync"
OPTIONS += " disable-component-update"
NEEDED = "needs Chromium and its driver: apt-get install chromium chromium-driver"


def in_browser(test: Callable[..., None]) -> Callable[..., None]:
    """Marks a test that opens the page; it is skipped where there is no browser. One worker has all such tests, and so one browser."""
    marked = pytest.mark.skipif(not (CHROMIUM and CHROMEDRIVER), reason=NEEDED)(test)
    return pytest.mark.xdist_group("browser")(pytest.mark.browser(marked))


def start(profile: Path) -> webdriver.Chrome:
    """A browser with a fresh profile."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for option in [*OPTIONS.split(), f"user-data-dir={profile}"]:
        options.add_argument(f"--{option}")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(str(CHROMEDRIVER)))


class Page:
    """The page of a report in a browser."""

    def __init__(self, driver: webdriver.Chrome, file: Path, report: dict[str, Any]) -> None:
        self.driver, self.report = driver, report
        self.suite = report["suites"][0] if report["suites"] else {}
        file.write_text(render_page(report), encoding="utf-8", newline="")
        driver.get(file.as_uri())
        if self.suite:
            self.wait("#figures > *")

    def find(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def wait(self, selector: str, count: int | None = None) -> None:
        """Wait until there is such an element, or until there are `count` of them."""
        WebDriverWait(self.driver, 20).until(lambda _: len(found := self.all(selector)) == (count or len(found) or 1))

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def key(self, key: str) -> Any:
        return self.find(f'[data-key="{key}"]')

    def rows(self) -> list[str]:
        return list(self.script("return [...document.querySelectorAll('tr[data-row]')].map((row) => row.dataset.row)"))

    def script(self, code: str) -> Any:
        return self.driver.execute_script(code)

    def position(self, header: str) -> int:
        """The number of a column, from 1."""
        keys = [button.get_attribute("data-key").removeprefix("sort:") for button in self.all("#board thead button")]
        return [key.removeprefix("task:") for key in keys].index(header) + 1

    def column(self, header: str) -> dict[str, str]:
        """The scores of a column as shown, by row."""
        code = "return Object.fromEntries([...document.querySelectorAll('tr[data-row]')].map((row) => [row.dataset.row,"
        code += f" row.querySelector(':scope > :nth-child({self.position(header)}) .score')?.firstChild.textContent ?? '']))"
        return dict(self.script(code))

    def notes(self) -> str:
        """The text of the notes, also of those that are folded."""
        return str(self.find("#notes").get_attribute("textContent"))

    def status(self) -> str:
        return self.find("#status").text


Opener = Callable[..., Page]


def own_rows(suite: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of own runs."""
    return [row for row in suite["rows"] if row["source"] == "run"]


def own_row(suite: dict[str, Any], name: str) -> dict[str, Any]:
    """The row of the own run of that name."""
    return next(row for row in own_rows(suite) if row["name"] == name)


def row_id(page: Page, name: str) -> str:
    """The id of the own run of that name."""
    return str(own_row(page.suite, name)["id"])
