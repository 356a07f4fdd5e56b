import base64
import copy
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
import report_sample
from data_files import read_json
from report_browser import Opener, Page, in_browser, own_row, own_rows, row_id
from run_folders import make_run, right
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from mtl.base.files import write_json
from mtl.reports import document as document_module
from mtl.reports import notes
from mtl.reports import page as page_module
from mtl.reports.document import document
from mtl.reports.leaderboard import Leaderboard, leaderboard
from mtl.reports.markdown import render_markdown
from mtl.reports.page import render_page
from mtl.runs.finished import find_runs

HOSTILE = "</script><script>alert(1)</script><!-- \u2028 & <img src=x onerror=alert(1)>"


def scripts(page: str) -> list[tuple[str, str]]:
    return re.findall(r"<script([^>]*)>(.*?)</script>", page, flags=re.DOTALL)


@pytest.mark.slow
def test_data_cannot_end_its_script_element_and_only_own_scripts_run() -> None:
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
    page = render_page(report_sample.report())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]  # type: ignore[index]
    digests = [hashlib.sha256(code.encode()).digest() for attributes, code in scripts(page) if not attributes]
    hashes = [base64.b64encode(digest).decode() for digest in digests]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"].split() == [f"'sha256-{digest}'" for digest in hashes]
    assert "\r" not in page  # a browser would hash it as another line end
    folder = Path(page_module.__file__).parent
    assert sorted(page_module.SCRIPTS) == sorted(file.name for file in folder.glob("*.js"))
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
    partial = row_id(page, report_sample.PARTIAL)
    whole = [id for id in ordered(page, lambda row: row["average"], True) if id != partial]
    assert page.rows() == [*whole, partial]
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
    assert "run-0, run-2, run-4: note 0" in board.notes and "run-1, run-3, run-5: note 1" in board.notes
    monkeypatch.setattr(notes, "MOST_NAMED", 1)
    board, further = leaderboard(find_runs(runs_dir)), "Further notes of single runs, in the runs' summary.json: 1."
    assert {"run-0, and 2 more: note 0", further} <= set(board.notes)
    assert "The same prediction for every example: run-0: ar (seed 1); and 5 more." in board.notes
    assert any(mark.startswith("* AVG is partial") and ": run-0, and 5 more." in mark for mark in board.marks)
    text = render_markdown([board], "now", "mtl report")
    assert all(f"| run-{number} " in text for number in range(6))


@pytest.fixture
def report(alphas: Leaderboard) -> dict[str, Any]:
    return document([alphas], "now", "mtl report")


def table(page: Page, title: str) -> dict[str, list[str]]:
    """The cells of a further table, by row. title: the id of its heading."""
    lines = page.all(f"section[aria-labelledby={title}] tr")
    cells = [[cell.text for cell in line.find_elements(By.CSS_SELECTOR, "th, td")] for line in lines]
    return {line[0]: line[1:] for line in cells}


@in_browser
def test_scores_and_axes_are_on_the_scale_of_the_suite(opened: Opener, report: dict[str, Any]) -> None:
    page = opened(report)
    one = own_row(page.suite, "one")
    assert page.column("stance")[one["id"]] == f"{one['scores']['stance']['median']:.3f}"
    text = page.find("body").text
    assert "Scores; higher is better." in text and "× 100" not in text
    axes = page.all("#figures svg [aria-label*='axis label']")
    labels = {axis.text.strip("↑→← ") for axis in axes}
    assert "score" in labels and "AVG, score" in labels and not any("100" in label for label in labels)
    ticks = page.all("#figures figure svg [aria-label='x-axis tick label'] text")[:4]
    assert all(-1.5 <= float(tick.text.replace("−", "-")) <= 1.5 for tick in ticks)


@in_browser
def test_further_tables(opened: Opener, report: dict[str, Any]) -> None:
    page = opened(report)
    groups = {group["title"]: group for group in page.suite["groups"]}
    one = own_row(page.suite, "one")
    names = {row["id"]: row["label"] for row in page.suite["rows"]}

    def expected(title: str) -> list[str]:
        found = groups[title]["rows"][one["id"]]
        scores = [f"{found['scores'][task]['median']:.3f}" for task in groups[title]["tasks"]]
        return [f"{found['mean']:.3f}" if found["mean"] is not None else "–\nno score", *scores]

    shown = table(page, "groups-title")
    name = next(key for key in shown if "one" in key)
    assert shown[""] == ["mean", "Stance", "Entailment"] and shown[name] == expected("α nominal")
    assert shown[names[page.suite["rows"][-1]["id"]]] == ["0.395", "0.555", "0.235"]  # published
    Select(page.key("section:group")).select_by_visible_text("accuracy")
    shown = table(page, "groups-title")
    assert shown[""] == ["mean", "Stance", "Answer"] and shown[name] == expected("accuracy") and len(shown) == 4
    parts = table(page, "breakdowns-title")
    found = page.suite["breakdowns"][0]
    assert [parts[value][0] for value in ("all rows", "any value", "a")] == ["60", "45", "30"]
    shown = [found["rows"][row][2] for row in page.rows() if row in found["rows"]]
    assert parts["a"][1:] == [f"{score:.3f}".replace("-", "−") for score in shown]
    spread = table(page, "settings-title")["LSTM, random, frozen"]
    deviations = page.suite["settings"][0]
    assert spread == ["2", *(f"{value:.3f}" for value in [deviations["average"], *deviations["deviations"].values()])]
    # The tables follow the rows that the table of scores shows.
    page.key("search").send_keys("one")
    assert len(table(page, "groups-title")) == 2


@in_browser
def test_a_mean_with_a_reduced_task_is_marked(opened: Opener, report: dict[str, Any]) -> None:
    suite = report["suites"][0]
    rows = [{**row, "reduced": ["stance"] if row["name"] == "one" else []} for row in suite["rows"]]
    page = opened({**report, "suites": [{**suite, "rows": rows}]})
    shown = table(page, "groups-title")
    marks = {name: [cell.endswith("†") for cell in cells] for name, cells in shown.items() if name}
    assert marks.pop(next(name for name in marks if "one" in name)) == [True, True, False]
    assert len(marks) == 3 and not any(map(any, marks.values()))


@in_browser
def test_the_average_is_over_the_suite_s_own_tasks(opened: Opener, report: dict[str, Any]) -> None:
    """While other tasks stand beside them; over none, if all that it is over are hidden."""
    suite = report["suites"][0]
    tasks = [{**task, "averaged": task["id"] in ("stance", "rating")} for task in suite["tasks"]]
    page = opened({**report, "suites": [{**suite, "tasks": tasks}]})
    one = own_row(page.suite, "one")
    page.find("details.tasks summary").click()

    def average(*ids: str) -> str:
        return f"{sum(one['scores'][id]['median'] for id in ids) / len(ids):.3f}"

    page.key("task:answer").click()  # not averaged: the average stays the suite's
    assert page.column("average")[one["id"]] == f"{one['average']:.3f}"
    assert "AVG is the mean over Stance and Rating." in page.notes()
    page.key("task:rating").click()
    assert page.column("average")[one["id"]] == average("stance")
    page.key("task:stance").click()
    assert page.column("average")[one["id"]] == ""


@in_browser
def test_a_report_without_further_tables_shows_none(opened: Opener, report: dict[str, Any]) -> None:
    suite = {**report["suites"][0], "groups": [], "breakdowns": [], "settings": []}
    assert not opened({**report, "suites": [suite]}).find("#sections").is_displayed()
