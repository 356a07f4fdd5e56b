import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import report_sample
from report_browser import Opener, Page, in_browser, row_id
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from mtl.reports import page as page_module
from mtl.reports.page import render_page

HOSTILE = "</script><script>alert(1)</script><!-- \u2028 & <img src=x onerror=alert(1)>"


def scripts(page: str) -> list[tuple[str, str]]:
    return re.findall(r"<script([^>]*)>(.*?)</script>", page, flags=re.DOTALL)


def test_data_cannot_end_its_script_element_and_is_read_back_unchanged() -> None:
    report = report_sample.report()
    report["suites"][0]["rows"][0]["label"] = HOSTILE
    report["title"] = "</title><script>"
    report["suites"][0]["rows"][0]["average"] = float("nan")
    page = render_page(report)
    report["suites"][0]["rows"][0]["average"] = None  # JSON has no NaN
    blocks = scripts(page)
    assert [attributes for attributes, _ in blocks] == [' type="application/json" id="report"', "", "", "", ""]
    assert not set("<>&\u2028") & set(blocks[0][1])
    assert json.loads(blocks[0][1]) == json.loads(json.dumps(report))
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in page


def test_policy_allows_only_the_page_s_own_scripts() -> None:
    page = render_page(report_sample.report())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]  # type: ignore[index]
    digests = [hashlib.sha256(code.encode()).digest() for attributes, code in scripts(page) if not attributes]
    hashes = [base64.b64encode(digest).decode() for digest in digests]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"].split() == [f"'sha256-{digest}'" for digest in hashes]
    assert "\r" not in page  # a browser would hash it as another line end


def test_every_script_is_in_the_page_and_vendored_libraries_have_the_listed_hashes() -> None:
    folder = Path(page_module.__file__).parent
    assert sorted(page_module.OWN) == sorted(file.name for file in folder.glob("*.js"))
    vendor = folder / "vendor"
    readme = (vendor / "README.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `([^`]+)` .*`([0-9a-f]{64})` \|$", readme, re.MULTILINE)) == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in vendor.glob("*.js")
    }


def ordered(page: Page, value: Callable[[dict[str, Any]], float | None], descending: bool) -> list[str]:
    known = [row for row in page.suite["rows"] if value(row) is not None]
    unknown = [row["id"] for row in page.suite["rows"] if value(row) is None]
    return [row["id"] for row in sorted(known, key=value, reverse=descending)] + unknown  # type: ignore[arg-type]


def median_of(task: str) -> Callable[[dict[str, Any]], float | None]:
    return lambda row: row["scores"].get(task, {}).get("median")


@in_browser
def test_page_opens_with_the_best_average_first_and_is_sorted_with_missing_values_last(opened: Opener) -> None:
    page = opened()
    whole, partial = (
        [
            id
            for id in ordered(page, lambda row: row["average"], True)
            if (id == row_id(page, report_sample.PARTIAL)) is part
        ]
        for part in (False, True)
    )
    assert page.rows() == whole + partial
    assert page.status() == "17 of 17 rows shown, sorted by AVG, highest first."
    assert page.find("h2").text == "KLEJ"
    assert page.script("return performance.getEntriesByType('resource').length") == 0
    svm = row_id(page, "svm")
    assert page.find(f"tr[data-row={svm}] .split").text == "dev"
    assert page.find("tr.published .split").text == "test"
    assert page.all(f"tr[data-row={svm}] .spread") == []  # its seeds are all the same
    for descending in (True, False):
        page.key("sort:task:psc").click()
        assert page.rows() == ordered(page, median_of("psc"), descending)
        assert page.rows()[-1] == row_id(page, report_sample.PARTIAL)
        header = page.script("return document.querySelector('[data-key=\"sort:task:psc\"]').closest('th').ariaSort")
        assert header == ("descending" if descending else "ascending")
    page.key("columns:both").click()
    for descending in (False, True):
        page.key("sort:cost:parameters").click()
        parameters = {row["id"]: (row["cost"] or {}).get("parameters") for row in page.suite["rows"]}
        known = [value for value in parameters.values() if value is not None]
        shown = [parameters[id] for id in page.rows()]
        assert shown == sorted(known, reverse=descending) + [None] * 10
    # The keyboard does the same, and keeps the focus.
    page.key("sort:task:ar").send_keys(Keys.ENTER)
    assert page.rows() == ordered(page, median_of("ar"), True)
    assert page.driver.switch_to.active_element.get_attribute("data-key") == "sort:task:ar"
    page.driver.switch_to.active_element.send_keys(Keys.SPACE)
    assert page.rows() == ordered(page, median_of("ar"), False)
    run = row_id(page, "elmo-finetune")
    page.key(f"open:{run}").send_keys(Keys.ENTER)
    focused = page.driver.switch_to.active_element
    assert focused.get_attribute("data-key") == f"open:{run}" and focused.get_attribute("aria-expanded") == "true"
    assert page.find(f"#{focused.get_attribute('aria-controls')} h3").text.startswith("LSTM, ELMo, finetune")
    focused.send_keys(Keys.SPACE)
    assert page.all("tr.opened") == []


@in_browser
def test_filters_hide_rows_and_reset_shows_them(opened: Opener) -> None:
    page = opened()
    page.key("family:transformer").click()
    page.key("family:floor").click()
    assert set(page.rows()) == {row["id"] for row in page.suite["rows"] if row["family"] == "lstm"}
    Select(page.key("embeddings")).select_by_value("elmo")
    assert set(page.rows()) == {row["id"] for row in page.suite["rows"] if row["embeddings"] == "elmo"}
    Select(page.key("size")).select_by_value("1024")
    assert page.rows() == [row_id(page, "elmo-finetune")]
    assert page.status().startswith("1 of 17 rows shown")
    page.key("reset").click()
    page.key("search").send_keys("FASTTEXT")
    assert len(page.rows()) == 2 and page.driver.switch_to.active_element.get_attribute("data-key") == "search"
    page.key("search").send_keys(" nonsense")
    assert page.rows() == [] and "No row matches" in page.find("#board").text
    page.key("reset").click()
    assert len(page.rows()) == 17 and page.key("search").get_attribute("value") == ""


@in_browser
def test_averages_follow_the_tasks_shown(opened: Opener) -> None:
    page = opened()
    page.find("details.tasks summary").click()
    hidden = {"psc", "cbd"}
    for task in hidden:
        page.key(f"task:{task}").click()
    averages = {}
    for row in page.suite["rows"]:
        shown = [score["median"] for task, score in row["scores"].items() if task not in hidden]
        averages[row["id"]] = f"{mean(shown):.1f}"
    assert page.column("average") == averages
    partial = page.find(f"tr[data-row={row_id(page, report_sample.PARTIAL)}] .average").text
    assert "*" not in partial and "†" in partial  # the missing task is hidden; a reduced task is still shown
    assert not page.all('[data-key="sort:task:psc"]')
    page.key("tasks:first").click()
    page.key("task:nkjp-ner").click()
    assert page.key("task:nkjp-ner").is_selected() and page.status().startswith("The last task cannot be hidden.")
    page.key("tasks:all").click()
    assert page.column("average") == {row["id"]: f"{row['average']:.1f}" for row in page.suite["rows"]}
    partial = page.find(f"tr[data-row={row_id(page, report_sample.PARTIAL)}] .average").text
    assert "*" in partial and "†" in partial
    assert "Partial average, without PSC: LSTM, random, frozen" in page.notes()
