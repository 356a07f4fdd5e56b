"""The form that people answer rows in: what it holds, and how it works in a browser."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from annotate_parts import write_forms_of
from kinds_suite import write_kinds_suite
from report_browser import in_browser, start
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from mtl.benchmark_making.annotate.form import COLUMNS, render_form
from mtl.data.records import read_records

HOSTILE = "</script><script>alert(1)</script><!-- \u2028 & <img src=x onerror=alert(1)>"
CONTENT: dict[str, Any] = {
    **{"suite": "Liten", "sample": "0123", "language": "sv", "task": "ord", "title": "Ord", "kind": "labels"},
    **{"labels": ["ja", "nej"], "range": None, "columns": ["text"], "instructions": HOSTILE},
    "rows": [{"line": 2, "texts": [[[HOSTILE, False], ["ord", True]]], "candidates": []}],
}


def test_texts_cannot_become_markup_and_only_its_own_script_runs() -> None:
    page = render_form({**CONTENT, "title": "</title><script>"})
    (data,) = re.findall(r'<script type="application/json" id="content">(.*?)</script>', page, flags=re.DOTALL)
    assert json.loads(data) == {**CONTENT, "title": "</title><script>"} and not set("<>&\u2028") & set(data)
    assert page.count("<script") == 2 and "<title>&lt;/title&gt;" in page
    assert "default-src 'none'; script-src 'sha256-" in page and "http://" not in page and "https://" not in page


class Form:
    """A form in a browser, with a folder for what it exports."""

    def __init__(self, driver: webdriver.Chrome, file: Path, downloads: Path) -> None:
        self.driver, self.downloads = driver, downloads
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
        driver.get(file.as_uri())

    def find(self, id: str) -> Any:
        return self.driver.find_element(By.ID, id)

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def chosen(self) -> list[str]:
        """The answer that is shown as chosen, if there is one."""
        pressed = self.driver.find_elements(By.CSS_SELECTOR, "[aria-pressed=true]")
        return [button.get_attribute("data-answer") for button in pressed]

    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self.find("content").get_attribute("textContent"))["rows"]
        return rows

    def export(self, name: str) -> list[list[str]]:
        """The rows of an exported file."""
        self.find("save").click()
        WebDriverWait(self.driver, 20).until(lambda _: (self.downloads / name).exists())
        return [list(map(str, record.values)) for record in read_records(self.downloads / name, COLUMNS)]

    def shows(self, **texts: str) -> bool:
        """Whether these elements have these texts."""
        return all(self.find(id).text == text for id, text in texts.items())

    def check(self) -> None:
        """Nothing was loaded, and the browser found no error."""
        assert self.driver.execute_script("return performance.getEntriesByType('resource').length") == 0
        assert [entry["message"] for entry in self.driver.get_log("browser")] == []


@pytest.fixture
def profile(tmp_path: Path) -> Iterator[Path]:
    """The profile of a browser that is closed and opened again."""
    yield tmp_path / "profile"
    shutil.rmtree(tmp_path / "profile", ignore_errors=True)


@in_browser
def test_answers_with_the_keyboard_survive_closing_and_are_exported(profile: Path, tmp_path: Path) -> None:
    file = write_forms_of(tmp_path, task="kansla", rows=4) / "kansla.html"
    driver = start(profile)
    try:
        form = Form(driver, file, tmp_path)
        assert form.shows(heading="Row 1 of 4", status="0 of 4 rows answered")
        form.press("2")
        assert form.find("heading").text == "Row 2 of 4"
        assert driver.switch_to.active_element.get_attribute("id") == "heading"
        form.press("1", Keys.ARROW_LEFT)
        assert form.chosen() == ["glad"]
        form.press("2", Keys.ARROW_RIGHT, "x")  # another answer; a key without a label does nothing
        assert form.find("heading").text == "Row 4 of 4" and form.chosen() == []
        form.find("save").click()
        assert "Write your name first" in form.find("exported").text
        form.find("name").send_keys("Anna 1")  # digits in the name are no answers
        assert form.find("status").text == "2 of 4 rows answered"
        form.check()
    finally:
        driver.quit()
    driver = start(profile)
    try:
        form = Form(driver, file, tmp_path)
        assert form.shows(heading="Row 4 of 4", status="2 of 4 rows answered")
        assert form.find("name").get_attribute("value") == "Anna 1"
        form.find("open").click()
        assert form.find("heading").text == "Row 3 of 4"
        form.press("1", "2")
        assert form.find("status").text == "4 of 4 rows answered. Export the answers below."
        lines = [row["line"] for row in form.rows()]
        exported = form.export("kansla-Anna-1.tsv")
        answers = {int(line): answer for _, _, _, line, answer in exported}
        assert answers == dict(zip(lines, ("arg", "arg", "glad", "arg"), strict=True))
        assert list(answers) == sorted(answers) and {name for _, _, name, _, _ in exported} == {"Anna 1"}
        form.find("clear").click()
        driver.switch_to.alert.accept()
        assert form.shows(heading="Row 1 of 4", status="0 of 4 rows answered")
        form.check()
    finally:
        driver.quit()


@in_browser
def test_numbers_within_the_range_and_candidates(driver: webdriver.Chrome, tmp_path: Path) -> None:
    form = Form(driver, write_forms_of(tmp_path, task="betyg", rows=3) / "betyg.html", tmp_path)
    form.press("1", "1")
    assert form.find("problem").text == "The answer must be a number from 0 to 10."
    form.press(Keys.ENTER)
    assert form.shows(heading="Row 1 of 3", status="0 of 3 rows answered")
    form.press(Keys.BACKSPACE, ".", "5", Keys.ENTER)
    assert form.shows(heading="Row 2 of 3", status="1 of 3 rows answered")
    form.press("7", Keys.ARROW_LEFT)
    assert form.find("number").get_attribute("value") == "1.5"
    form.find("name").send_keys("Bo")
    assert sorted(row[4] for row in form.export("betyg-Bo.tsv")) == ["1.5", "7"]
    assert "1 of 3 rows have none yet" in form.find("exported").text
    form.check()
    # Candidates are shown in another order and keep their index.
    (tmp_path / "kinds").mkdir()
    write_kinds_suite(tmp_path / "kinds")
    forms = write_forms_of(tmp_path / "kinds", suite="kinds.yaml", task="answer", rows=12)
    form = Form(driver, forms / "answer.html", tmp_path)
    rows = form.rows()
    assert any([index for index, _ in row["candidates"]] != list(range(len(row["candidates"]))) for row in rows)
    shown = [button.text for button in driver.find_elements(By.CSS_SELECTOR, "[data-answer]")]
    assert shown == [f"{number} {text}" for number, (_, text) in enumerate(rows[0]["candidates"], start=1)]
    form.press("2", Keys.ARROW_LEFT)
    assert form.chosen() == [str(rows[0]["candidates"][1][0])]
    form.check()
