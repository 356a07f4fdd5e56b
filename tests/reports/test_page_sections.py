"""The page of a suite whose scores are shown as they are, with metric groups, breakdowns and a spread over settings."""

from typing import Any

import pytest
from report_browser import Opener, Page, in_browser, own_row
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from mtl.reports.document import document
from mtl.reports.leaderboard import Leaderboard


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
def test_a_report_without_further_tables_shows_none(opened: Opener, report: dict[str, Any]) -> None:
    suite = {**report["suites"][0], "groups": [], "breakdowns": [], "settings": []}
    assert not opened({**report, "suites": [suite]}).find("#sections").is_displayed()
