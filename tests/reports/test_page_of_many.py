"""The page of more runs than a browser shows at once."""

import copy
from pathlib import Path
from typing import Any

import pytest
import report_sample
from data_files import read_json
from report_browser import Opener, Page, in_browser, own_rows
from run_folders import make_run, right
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from mtl.base.files import write_json
from mtl.reports import document as document_module
from mtl.reports import notes
from mtl.reports.document import document
from mtl.reports.leaderboard import leaderboard
from mtl.reports.markdown import render_markdown
from mtl.runs.finished import find_runs

ROWS = 230


def many() -> dict[str, Any]:
    """Copies of the runs of a report, in an order that is not that of their averages. Every tenth is called "tenth"."""
    report = report_sample.report()
    suite = report["suites"][0]
    rows, own = [], [row for row in own_rows(suite) if not row["missing"]]
    for number in range(ROWS):
        row = copy.deepcopy(own[number % len(own)])
        row |= {"id": f"r{number}", "name": f"run-{number}" if number % 10 else f"tenth-{number}"}
        row["average"] = round(20 + (number * 37 % ROWS) / 10, 4)
        row["details"] = {"seeds": row["details"]["seeds"], "command": "mtl baseline"}
        rows.append(row)
    suite |= {"rows": rows, "comparisons": {}, "groups": [], "breakdowns": []}
    return report


def by_average(page: Page) -> list[str]:
    return [row["id"] for row in sorted(page.suite["rows"], key=lambda row: -row["average"])]


@in_browser
def test_pages_of_all_rows_in_order_and_of_those_that_match(opened: Opener) -> None:
    page = opened(many())
    expected = by_average(page)
    assert page.status() == "230 of 230 rows shown (now 1 to 100), sorted by AVG, highest first."
    assert page.key("page:Previous").get_attribute("aria-disabled") == "true"
    page.key("page:Previous").click()
    assert page.rows() == expected[:100]
    page.key("page:Next").send_keys(Keys.ENTER)
    assert page.rows() == expected[100:200]
    assert page.driver.switch_to.active_element.get_attribute("data-key") == "page:Next"
    page.driver.switch_to.active_element.send_keys(Keys.SPACE)
    assert page.rows() == expected[200:] and page.status().startswith("230 of 230 rows shown (now 201 to 230)")
    focused = page.driver.switch_to.active_element
    assert focused.get_attribute("data-key") == "page:Next" and focused.get_attribute("aria-disabled") == "true"
    select = Select(page.key("page"))
    assert [option.text for option in select.options] == ["1 to 100", "101 to 200", "201 to 230"]
    select.select_by_visible_text("101 to 200")
    assert page.rows() == expected[100:200]
    # An opened row stays on its page; another order starts at its first page.
    page.key(f"open:{expected[150]}").click()
    assert page.rows() == expected[100:200] and page.all(f"#panel-{expected[150]}")
    page.key("sort:average").click()
    assert page.rows() == expected[::-1][:100]
    assert page.find(".panels svg").get_attribute("aria-label").count(";") == 99
    # Filters work across pages.
    page.key("sort:average").click()
    page.key("page:Next").click()
    page.key("search").send_keys("tenth")
    names = {row["id"]: row["name"] for row in page.suite["rows"]}
    assert page.rows() == [id for id in expected if names[id].startswith("tenth")] and len(page.rows()) == 23
    assert page.status().startswith("23 of 230 rows shown") and not page.find("#pager").is_displayed()
    assert page.driver.switch_to.active_element.get_attribute("data-key") == "search"
    page.key("reset").click()
    families = {row["id"]: row["family"] for row in page.suite["rows"]}
    page.key("family:floor").click()
    lstm = [id for id in expected if families[id] != "floor"]
    assert page.rows() == lstm[:100] and len(lstm) > 100
    page.key("page:Next").click()
    assert page.rows() == lstm[100:200]
    # The best score of all rows that match is bold, on whichever page it is.
    assert page.all("tr[data-row] .average .best") == []
    page.key("page:Previous").click()
    assert page.all(f"tr[data-row={lstm[0]}] .average .best") != []
    # A run without all details says where they are.
    page.key(f"open:{lstm[0]}").click()
    panel = page.find(f"[data-panel={lstm[0]}]")
    assert panel.find_elements("css selector", ".seeds tbody tr")
    assert "not on this page, but in its folder" in panel.text
    assert all(control.accessible_name.strip() for control in page.all("#pager button, #pager select"))


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs")
    for number in range(6):
        run = make_run(path / f"run-{number}", right(0.3 + 0.1 * number), tasks=["cbd", "ar"], seeds=[1, 2, 3])
        facts = {"notes": [f"note {number % 2}"], "same_answer": {"ar": [1]}}
        write_json(run.summary, read_json(run.summary) | facts)
    return path


def test_only_the_best_runs_have_all_details(runs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = leaderboard(find_runs(runs_dir))
    (whole,) = document([board], "now", "mtl report")["suites"]
    monkeypatch.setattr(document_module, "MOST_DETAILED", 2)
    (suite,) = document([board], "now", "mtl report")["suites"]
    rows = {row["name"]: row for row in own_rows(suite)}
    detailed = {name for name, row in rows.items() if "curves" in row["details"]}
    best = sorted(rows, key=lambda name: rows[name]["average"], reverse=True)[:2]
    assert detailed == set(best)
    for row in own_rows(whole):
        kept = rows[row["name"]]["details"]
        assert {**row, "details": None} == {**rows[row["name"]], "details": None}
        assert kept == (row["details"] if row["name"] in best else {key: row["details"][key] for key in kept})
        assert {"seeds", "command", "machine", "versions"} <= set(kept)
    assert "of the 2 runs with the best average. Those of the other 4 are in their run folders" in suite["notes"][-1]
    assert not any("run folders" in note for note in whole["notes"])


def test_notes_name_some_runs_and_count_the_others(runs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = leaderboard(find_runs(runs_dir))
    assert "run-0, run-2, run-4: note 0" in board.facts and "run-1, run-3, run-5: note 1" in board.facts
    monkeypatch.setattr(notes, "MOST_NAMED", 2)
    board = leaderboard(find_runs(runs_dir))
    assert "run-0, run-2, and 1 more: note 0" in board.facts
    assert "The same prediction for every example: run-0: ar (seed 1); run-1: ar (seed 1); and 4 more." in board.facts
    assert any(mark.startswith("* AVG is partial") and ": run-0, run-1, and 4 more." in mark for mark in board.marks)
    text = render_markdown([board], "now", "mtl report")
    assert all(f"| run-{number} " in text for number in range(6))
