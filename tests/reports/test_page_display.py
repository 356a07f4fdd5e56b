import copy
from collections.abc import Callable
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any

import pytest
import report_sample
from report_browser import Opener, in_browser, own_row, own_rows, row_id
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

TEST = ("opposite", "mood-elsewhere")  # tasks that are scored on test
HOSTILE = "</script><script>alert(1)</script><!-- \u2028 & <img src=x onerror=alert(1)>"


@in_browser
def test_opened_row_shows_all_details_of_a_run(opened: Opener) -> None:
    page = opened()
    run = row_id(page, "elmo-finetune")
    row = own_row(page.suite, "elmo-finetune")
    page.key(f"open:{run}").click()
    seeds = [[cell.text for cell in line.find_elements(By.CSS_SELECTOR, "td")] for line in page.all(".seeds tbody tr")]
    assert seeds[0][:5] == [f"{seed['scores']['nkjp-ner']:.1f}" for seed in row["details"]["seeds"]]
    scores = [seed["scores"]["nkjp-ner"] for seed in row["details"]["seeds"]]
    assert seeds[0][6] == f"{fmean(scores):.1f} ± {stdev(scores):.1f}"
    assert len(seeds) == 10 and seeds[-1][0] == f"{row['details']['seeds'][0]['average']:.1f}"
    counts = [int(cell.text.split()[0]) for cell in page.all(".confusion tbody td")]
    assert counts == [count for line in row["details"]["classes"]["nkjp-ner"]["confusion"] for count in line]
    assert f"seed {row['details']['classes']['nkjp-ner']['seed']}" in page.find(".opened figcaption").text
    Select(page.key(f"predictions:{run}")).select_by_value("cdsc-r")
    assert page.all(".confusion") == [] and "predicted" in page.find(".opened svg").get_attribute("aria-label")
    text, details = page.find(".panel").text, row["details"]
    for known in (details["machine"], *details["versions"].values(), details["command"], "50.0 M"):
        assert known in text
    keys = [cell.text for cell in page.all(".list th")]
    differing = [key.removesuffix(" differs") for key in keys if key.endswith(" differs")]
    assert differing == [key.removesuffix(" differs") for key in keys[: len(differing)]]
    others = [other["details"]["config"] for other in own_rows(page.suite)]
    config = details["config"].items()
    assert set(differing) == {key for key, value in config if any(other.get(key) != value for other in others)}
    assert len(keys) == len(details["config"])
    page.key(f"config:{run}").send_keys("layers")
    assert [line.text for line in page.all(".list tr") if line.is_displayed()] == ["encoder.num_layers 2"]
    # Changes in an opened row are kept when the table is redrawn.
    page.key("sort:task:ar").click()
    assert page.key(f"config:{run}").get_attribute("value") == "layers"


@in_browser
def test_markup_is_shown_as_text(opened: Opener) -> None:
    report = report_sample.report()
    suite = report["suites"][0]
    suite["rows"][0]["label"] = suite["notes"][0] = suite["tasks"][0]["title"] = suite["title"] = HOSTILE
    suite["rows"][0]["details"]["machine"] = suite["rows"][0]["details"]["config"][HOSTILE] = HOSTILE
    page = opened(report)
    run = row_id(page, report_sample.MARKUP)
    assert report_sample.MARKUP in page.find(f"tr[data-row={run}] .under").text
    for opener in (run, suite["rows"][0]["id"]):
        page.key(f"open:{opener}").click()
    Select(page.key(f"predictions:{run}")).select_by_value("psc")
    assert report_sample.MARKUP in page.find(f"[data-panel={run}] .confusion").text
    page.script("return new Promise((done) => setTimeout(done, 300))")
    assert page.script("return [document.scripts.length, document.images.length]") == [5, 0]
    assert page.find("h2").get_attribute("textContent") == HOSTILE


@in_browser
def test_comparison_shows_better_worse_undecided_or_too_few_seeds(opened: Opener) -> None:
    report = report_sample.report()
    suite = report["suites"][0]
    key = "|".join(own_row(suite, name)["id"] for name in ("elmo-finetune", "svm"))
    suite["comparisons"][key]["dyk"] |= {"p": None, **dict.fromkeys(("verdict", "verdict_holm"), "too few seeds")}
    page = opened(report)
    reference = row_id(page, "svm")
    Select(page.key("reference")).select_by_value(reference)
    signs = {"better": "▲", "worse": "▼", "undecided": "≈", "too few seeds": "?"}
    inverted = {"better": "worse", "worse": "better"}
    held, verdicts = set(), set()
    for run in ("constant", "elmo-finetune", "fasttext-frozen"):
        id = row_id(page, run)
        key = f"{id}|{reference}"
        test = page.suite["comparisons"].get(key) or page.suite["comparisons"][f"{reference}|{id}"]
        sign = 1 if key in page.suite["comparisons"] else -1
        for task in ("average", "nkjp-ner", "cdsc-r", "dyk"):
            shown = page.find(f"tr[data-row={id}] > :nth-child({page.position(task)}) .verdict")
            verdict = test[task]["verdict"] if sign == 1 else inverted.get(test[task]["verdict"], test[task]["verdict"])
            verdicts.add(verdict)
            difference = f"{sign * test[task]['difference']:+.1f}".replace("-", "−")
            words = "not significantly different" if verdict == "undecided" else verdict
            assert signs[verdict] in shown.text and difference in shown.text and words in shown.text
            title = shown.get_attribute("title")
            assert "95 % CI" in title and (", p " in title) == (verdict != "too few seeds")
            if verdict in inverted:
                holds = test[task]["verdict_holm"] == test[task]["verdict"]
                assert (2 * signs[verdict] in shown.text) == holds
                assert (", with Holm's correction too" if holds else ", not with Holm's correction") in title
                held.add(holds)
    assert held == {True, False} and verdicts == set(signs)
    assert "no paired test" in page.find(f"tr[data-row={row_id(page, 'random')}]").text
    assert page.all(f"tr[data-row={reference}] .verdict") == page.all("tr.published .verdict") == []
    page.find("details.tasks summary").click()
    page.key("task:psc").click()
    assert page.all(".average .verdict") == [] and page.all(".verdict") != []


@in_browser
def test_page_has_no_horizontal_scrolling_on_a_phone(opened: Opener) -> None:
    report = report_sample.report()
    named = own_row(report["suites"][0], "fasttext-frozen")
    named["name"] = named["label"] = "x" * 200
    page = opened(report, width=360, height=740)
    page.find("#options summary").click()
    page.find("details.tasks summary").click()
    for run in (named["id"], row_id(page, "elmo-finetune")):
        page.key(f"open:{run}").click()
    assert page.script("return document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    cells = page.all("#board > table > tbody > tr > *")
    assert cells and all(cell.rect["x"] >= 0 and cell.rect["x"] + cell.rect["width"] <= 360 for cell in cells)


@in_browser
def test_dark_and_light_differ_and_text_has_enough_contrast(opened: Opener) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        page = opened(scheme=scheme)
        page.key(f"open:{row_id(page, 'elmo-finetune')}").click()
        colours.add(page.script("return getComputedStyle(document.body).backgroundColor"))
        assert page.script(CONTRAST) == [], scheme
    assert len(colours) == 2


# The texts whose colour has less than 4.5:1 against the first background behind them.
CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = (colour) => {
  const [r, g, b] = rgba(colour).map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (rgba(colour)[3] === 255) return colour;
  }
  return "white";
};
return [...document.querySelectorAll("body *:not(script):not(svg *):not(.visually-hidden)")]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && e.getClientRects().length)
  .filter((e) => {
    const [one, other] = [light(getComputedStyle(e).color), light(behind(e))];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < 4.5;
  }).map((e) => e.outerHTML.slice(0, 100));
"""


@in_browser
def test_every_control_has_a_name_and_headings_are_in_order(opened: Opener) -> None:
    page = opened()
    page.find("details.tasks summary").click()
    for run in (row_id(page, "fasttext-frozen"), row_id(page, "elmo-finetune")):
        page.key(f"open:{run}").click()
    found = page.all("a[href], button, input, select, summary, [tabindex='0'], svg[role=img]")
    controls = [control for control in found if control.is_displayed()]
    nameless = [control for control in controls if not control.accessible_name.strip()]
    assert len(controls) > 60 and [control.get_attribute("outerHTML")[:120] for control in nameless] == []
    levels = [int(heading.tag_name[1]) for heading in page.all("h1, h2, h3, h4, h5, h6")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(level <= before + 1 for before, level in pairwise(levels))
    ids = page.script("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    assert page.find("#board table caption").get_attribute("textContent")


def only_published(suite: dict[str, Any]) -> None:
    suite |= {"rows": [row for row in suite["rows"] if row["source"] == "published"], "comparisons": {}}


def one_seed(suite: dict[str, Any]) -> None:
    run = own_row(suite, "elmo-finetune")
    run["details"]["seeds"] = run["details"]["seeds"][:1]
    run["details"]["curves"] = [curve for curve in run["details"]["curves"] if curve["seed"] == 1]
    for score in run["scores"].values():
        score["min"] = score["max"] = score["median"]
    suite["rows"], suite["comparisons"] = [run], {}


def unknown(suite: dict[str, Any]) -> None:
    for row in suite["rows"]:
        row["details"] = row["cost"] = row["average_interval"] = None
        row["scores"].pop("ar", None)
    suite["rows"][0].update(scores={}, average=None)
    suite["notes"], suite["comparisons"] = [], {}


def sparse_details(suite: dict[str, Any]) -> None:
    for row in own_rows(suite):
        row["details"] = dict.fromkeys(row["details"])
        row["cost"] = dict.fromkeys(row["cost"])


def empty(suite: dict[str, Any]) -> None:
    suite |= {"rows": [], "comparisons": {}}


@in_browser
@pytest.mark.parametrize("change", [only_published, one_seed, unknown, sparse_details, empty])
def test_unusual_reports_are_shown(opened: Opener, change: Callable[[dict[str, Any]], None]) -> None:
    report = report_sample.report()
    change(report["suites"][0])
    page = opened(report)
    assert len(page.rows()) == len(page.suite["rows"])
    for key in [opener.get_attribute("data-key") for opener in page.all(".opener")[:2]]:
        page.key(key).click()
    assert page.script("return document.documentElement.scrollWidth <= innerWidth")


@in_browser
def test_suites_are_chosen_by_name(opened: Opener) -> None:
    report = report_sample.report()
    other = copy.deepcopy(report["suites"][0])
    other.update(name="other", title="Other", rows=other["rows"][:2])
    report["suites"].append(other)
    page = opened(report)
    Select(page.key("suite")).select_by_visible_text("Other")
    assert page.find("h2").text == "Other" and len(page.rows()) == 2
    report["suites"] = []
    assert opened(report).status() == "The report has no suite."


@in_browser
def test_ranks_are_shown_sorted_and_filtered(opened: Opener) -> None:
    page = opened()
    ranks = {row["id"]: row["ranks"].get("average") for row in page.suite["rows"]}
    position = page.position("rank")
    for row in page.rows():
        low, high = ranks[row] or (0, 0)
        expected = "–\nno rank" if not low else f"tied {low}–{high}" if low < high else str(low)
        assert page.find(f"tr[data-row={row}] > :nth-child({position})").text == expected
    page.key("sort:rank").click()
    ranked = [ranks[row] for row in page.rows() if ranks[row]]
    assert ranked == sorted(ranked) and page.rows()[len(ranked) :] == [row for row in page.rows() if not ranks[row]]
    page.script("document.querySelector('input[name=spread][value=rank]').click()")
    best = row_id(page, "elmo-finetune")
    Select(page.key("reference")).select_by_value("")
    assert "#1" in page.find(f"tr[data-row={best}] .spread").text
    page.key(f"open:{best}").click()
    assert "Ranks that the tests leave open" in page.find(f"[data-panel={best}]").text
    page.key("rank").send_keys("may")
    assert page.rows() == [best]
    page.find("details.tasks summary").click()
    page.key("task:psc").click()  # there is no rank by an average over some of the tasks
    assert page.all('[data-key="sort:rank"]') == []
