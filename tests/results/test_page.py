import base64
import copy
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
import report_sample
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from mtl.results.page import render_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")
OPTIONS = "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update disable-sync"
HOSTILE = "</script><script>alert(1)</script><!-- \u2028 & <img src=x onerror=alert(1)>"
in_browser = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER), reason="needs Chromium and its driver: apt-get install chromium chromium-driver"
)


def scripts(page: str) -> list[tuple[str, str]]:
    return re.findall(r"<script([^>]*)>(.*?)</script>", page, flags=re.DOTALL)


def test_data_cannot_end_its_block_and_comes_back_as_it_was() -> None:
    report = report_sample.report()
    report["suites"][0]["rows"][0]["label"] = HOSTILE
    report["title"] = "</title><script>"
    page = render_page(report)
    blocks = scripts(page)
    assert [attributes for attributes, _ in blocks] == [' type="application/json" id="report"', "", "", "", ""]
    assert not set("<>&\u2028") & set(blocks[0][1])
    assert json.loads(blocks[0][1]) == json.loads(json.dumps(report))
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in page


def test_the_policy_allows_the_pages_own_scripts_and_no_others() -> None:
    page = render_page(report_sample.report())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]  # type: ignore[index]
    hashes = [
        base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        for attributes, code in scripts(page)
        if not attributes
    ]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"].split() == [f"'sha256-{digest}'" for digest in hashes]
    assert "\r" not in page  # a browser would hash it as another line end


def test_unknown_numbers_are_null() -> None:
    report = report_sample.report()
    report["suites"][0]["rows"][0]["average"] = float("nan")
    assert json.loads(scripts(render_page(report))[0][1])["suites"][0]["rows"][0]["average"] is None


def test_the_vendored_libraries_are_those_of_the_list() -> None:
    vendor = Path(__file__).parents[2] / "mtl/results/page/vendor"
    listed = dict(
        re.findall(r"^\| `([^`]+)` .*`([0-9a-f]{64})` \|$", (vendor / "README.md").read_text(), flags=re.MULTILINE)
    )
    assert listed == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in vendor.glob("*.js")}


class Page:
    """The page of a report in a browser."""

    def __init__(self, driver: webdriver.Chrome, file: Path, report: dict[str, Any]) -> None:
        self.driver, self.report = driver, report
        self.suite = report["suites"][0]
        file.write_text(render_page(report), encoding="utf-8", newline="")
        driver.get(file.as_uri())

    def find(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def key(self, key: str) -> Any:
        return self.find(f'[data-key="{key}"]')

    def rows(self) -> list[str]:
        return [row.get_attribute("data-row") for row in self.all("tr[data-row]")]

    def script(self, code: str) -> Any:
        return self.driver.execute_script(code)

    def column(self, header: str) -> dict[str, str]:
        """The scores of a column as shown, by row."""
        titles = [
            button.get_attribute("data-key").removeprefix("sort:").removeprefix("task:")
            for button in self.all("#board thead button")
        ]
        position = titles.index(header) + 1
        return {
            row: self.script(
                f"return document.querySelector('tr[data-row={row}] > :nth-child({position}) .score')?.firstChild.textContent ?? ''"
            )
            for row in self.rows()
        }

    def status(self) -> str:
        return self.find("#status").text

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def driver() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for option in [*OPTIONS.split(), f"user-data-dir={profile}"]:
            options.add_argument(f"--{option}")
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(CHROMEDRIVER)))
        yield driver
        driver.quit()


Opener = Callable[..., Page]


@pytest.fixture
def opened(driver: webdriver.Chrome, tmp_path: Path) -> Iterator[Opener]:
    """Opens a report at a size; whatever a test does, the browser must have nothing to complain of."""
    pages: list[Page] = []

    def open_page(
        report: dict[str, Any] | None = None, width: int = 1280, height: int = 900, scheme: str = "light"
    ) -> Page:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        pages.append(Page(driver, tmp_path / "page.html", report or report_sample.report()))
        return pages[-1]

    yield open_page
    assert [page.complaints() for page in pages[:1]] == [[]]


def row_id(page: Page, name: str) -> str:
    return next(row["id"] for row in page.suite["rows"] if row["name"] == name and row["source"] == "run")


def ordered(page: Page, value: Callable[[dict[str, Any]], float | None], descending: bool) -> list[str]:
    known = [row for row in page.suite["rows"] if value(row) is not None]
    unknown = [row["id"] for row in page.suite["rows"] if value(row) is None]
    return [row["id"] for row in sorted(known, key=value, reverse=descending)] + unknown  # type: ignore[arg-type]


def median_of(task: str) -> Callable[[dict[str, Any]], float | None]:
    return lambda row: row["scores"].get(task, {}).get("median")


@in_browser
def test_the_page_opens_with_the_best_average_first(opened: Opener) -> None:
    page = opened()
    WebDriverWait(page.driver, 5).until(lambda _: page.all("#figures svg"))
    assert page.rows() == ordered(page, lambda row: row["average"], True)
    assert page.status() == "17 of 17 rows shown, sorted by AVG, highest first."
    assert page.find("h2").text == "KLEJ"
    assert page.script("return performance.getEntriesByType('resource').length") == 0
    svm = row_id(page, "svm")
    assert page.find(f"tr[data-row={svm}] .split").text == "dev"
    assert page.find("tr.published .split").text == "test"


@in_browser
def test_sorting_by_task_average_and_cost_puts_missing_values_last(opened: Opener) -> None:
    page = opened()
    for descending in (True, False):
        page.key("sort:task:psc").click()
        assert page.rows() == ordered(page, median_of("psc"), descending)
        assert page.rows()[-1] == row_id(page, report_sample.PARTIAL)
        header = page.script("return document.querySelector('[data-key=\"sort:task:psc\"]').closest('th').ariaSort")
        assert header == ("descending" if descending else "ascending")
    for descending in (True, False):
        page.key("sort:average").click()
        assert page.rows() == ordered(page, lambda row: row["average"], descending)
    page.key("columns:both").click()
    for descending in (False, True):
        page.key("sort:cost:parameters").click()
        lstms = ordered(page, lambda row: (row["cost"] or {}).get("parameters"), descending)
        assert (
            set(page.rows()[:4]) == set(lstms[:4])
            and "random-frozen" in page.find("tbody tr .under").text + "random-frozen"
        )
        sizes = [next(row for row in page.suite["rows"] if row["id"] == id)["size"] for id in page.rows()[:4]]
        assert sizes == sorted(sizes, reverse=descending)


@in_browser
def test_the_keyboard_sorts_and_opens_and_keeps_its_place(opened: Opener) -> None:
    page = opened()
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
def test_filters_narrow_the_rows_and_reset_brings_them_back(opened: Opener) -> None:
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
    assert page.rows() == [] and "No row fits" in page.find("#board").text
    page.key("reset").click()
    assert len(page.rows()) == 17 and page.key("search").get_attribute("value") == ""


@in_browser
def test_averages_follow_the_tasks_shown(opened: Opener) -> None:
    page = opened()
    page.find("details.tasks summary").click()
    hidden = {"psc", "cbd"}
    for task in hidden:
        page.key(f"task:{task}").click()
    rows = {row["id"]: row for row in page.suite["rows"]}
    expected = {
        id: f"{mean(score['median'] for task, score in row['scores'].items() if task not in hidden):.1f}"
        for id, row in rows.items()
    }
    assert page.column("average") == expected
    partial = page.find(f"tr[data-row={row_id(page, report_sample.PARTIAL)}] .average").text
    assert "*" not in partial and "†" in partial  # what it lacks is hidden; a reduced task still counts
    assert not page.all('[data-key="sort:task:psc"]')
    page.key("tasks:first").click()
    page.key("task:nkjp-ner").click()
    assert page.key("task:nkjp-ner").is_selected() and page.status().startswith("The last task stays.")
    page.key("tasks:all").click()
    assert page.column("average") == {id: f"{row['average']:.1f}" for id, row in rows.items()}
    assert "*†" in page.find(f"tr[data-row={row_id(page, report_sample.PARTIAL)}] .average").text.replace(
        " partial", ""
    )
    assert "a partial average, without PSC" in page.find("#notes").text


@in_browser
def test_the_best_is_emphasised_for_each_split(opened: Opener) -> None:
    page = opened()
    for source, rows in (("run", page.suite["rows"][:7]), ("published", page.suite["rows"][7:])):
        best = max((row for row in rows if "psc" in row["scores"]), key=lambda row: row["scores"]["psc"]["median"])
        position = 2 + 1 + [task["id"] for task in page.suite["tasks"]].index("psc") + 1
        found = page.all(f"tr.{source} > :nth-child({position}) .best")
        assert [mark.text.split()[0] for mark in found] == [f"{best['scores']['psc']['median']:.1f}"]


@in_browser
def test_an_opened_row_has_everything_that_is_known_of_it(opened: Opener) -> None:
    page = opened()
    run = row_id(page, "elmo-finetune")
    row = next(row for row in page.suite["rows"] if row["id"] == run)
    page.key(f"open:{run}").click()
    seeds = [[cell.text for cell in line.find_elements(By.CSS_SELECTOR, "td")] for line in page.all(".seeds tbody tr")]
    assert seeds[0][:5] == [f"{seed['scores']['nkjp-ner']:.1f}" for seed in row["details"]["seeds"]]
    assert len(seeds) == 10 and seeds[-1][0] == f"{row['details']['seeds'][0]['average']:.1f}"
    counts = [
        [int(cell.text.split()[0]) for cell in line.find_elements(By.CSS_SELECTOR, "td")]
        for line in page.all(".confusion tbody tr")
    ]
    assert counts == row["details"]["classes"]["nkjp-ner"]["confusion"]
    assert "seed 3" in page.find(".opened figcaption").text
    Select(page.key(f"task:{run}")).select_by_value("cdsc-r")
    assert page.all(".confusion") == [] and "predicted" in page.find(".opened svg").get_attribute("aria-label")
    text = page.find(".panel").text
    for known in ("AMD EPYC", "3.11.7", row["details"]["command"], "50.0 M"):
        assert known in text
    keys = [cell.text for cell in page.all(".list th")]
    assert keys[0].startswith("embeddings.name") and "differs" in keys[0] and len(keys) == 7
    page.key(f"config:{run}").send_keys("layers")
    assert [line.text for line in page.all(".list tr") if line.is_displayed()] == ["encoder.num_layers 2"]
    # What was done in an opened row outlives a change around it.
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
    for opener in (run, "r0"):
        page.key(f"open:{opener}").click()
    Select(page.key(f"task:{run}")).select_by_value("psc")
    assert report_sample.MARKUP in page.find(f"[data-panel={run}] .confusion").text
    page.script("return new Promise((done) => setTimeout(done, 300))")
    assert page.script("return [document.scripts.length, document.images.length]") == [5, 0]
    assert page.find("h2").get_attribute("textContent") == HOSTILE


@in_browser
def test_comparing_says_better_worse_or_undecided(opened: Opener) -> None:
    page = opened()
    reference = row_id(page, "svm")
    Select(page.key("reference")).select_by_value(reference)
    signs = {"better": "▲", "worse": "▼", "undecided": "≈"}
    turned = {"better": "worse", "worse": "better", "undecided": "undecided"}
    for run in ("majority", "elmo-finetune"):
        id = row_id(page, run)
        key = f"{id}|{reference}"
        test = page.suite["comparisons"].get(key) or page.suite["comparisons"][f"{reference}|{id}"]
        sign, by = (1, lambda verdict: verdict) if key in page.suite["comparisons"] else (-1, turned.get)
        for position, task in ((3, "average"), (4, "nkjp-ner"), (10, "dyk")):
            shown = page.find(f"tr[data-row={id}] > :nth-child({position}) .verdict")
            verdict = by(test[task]["verdict"])
            difference = f"{sign * test[task]['difference']:+.1f}".replace("-", "−")
            assert signs[verdict] in shown.text and difference in shown.text and verdict in shown.text
            assert "95 % interval" in shown.get_attribute("title")
    assert "no paired test" in page.find(f"tr[data-row={row_id(page, 'random')}]").text
    assert page.all(f"tr[data-row={reference}] .verdict") == page.all("tr.published .verdict") == []
    page.find("details.tasks summary").click()
    page.key("task:psc").click()
    assert page.all(".average .verdict") == [] and page.all(".verdict") != []


@in_browser
def test_a_phone_never_scrolls_sideways(opened: Opener) -> None:
    report = report_sample.report()
    report["suites"][0]["rows"][3]["name"] = report["suites"][0]["rows"][3]["label"] = "x" * 200
    page = opened(report, width=360, height=740)
    page.find("#options summary").click()
    page.find("details.tasks summary").click()
    for run in ("r3", "r5"):
        page.key(f"open:{run}").click()
    page.script("return new Promise((done) => setTimeout(done, 300))")
    assert page.script("return document.documentElement.scrollWidth") == 360
    page.script("document.getElementById('board').scrollLeft = 300")
    model = page.find("tbody th.model").rect
    assert model["width"] <= 0.4 * 360 and model["x"] < 20


@in_browser
def test_dark_and_light_differ_and_text_stands_out(opened: Opener) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        page = opened(scheme=scheme)
        page.key("open:r5").click()
        colours[scheme] = page.script("return getComputedStyle(document.body).backgroundColor")
        weak = page.script(CONTRAST)
        assert weak == [], scheme
    assert colours["light"] != colours["dark"]


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
return [...document.querySelectorAll("body *:not(script):not(svg *):not(.spoken)")]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && e.getClientRects().length)
  .filter((e) => {
    const [one, other] = [light(getComputedStyle(e).color), light(behind(e))];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < 4.5;
  }).map((e) => e.outerHTML.slice(0, 100));
"""


@in_browser
def test_every_control_has_a_name_and_headings_are_in_order(opened: Opener) -> None:
    page = opened()
    WebDriverWait(page.driver, 5).until(lambda _: page.all("#figures svg"))
    page.find("details.tasks summary").click()
    for run in ("r3", "r5"):
        page.key(f"open:{run}").click()
    controls = page.all("a[href], button, input, select, summary, [tabindex='0'], svg[role=img]")
    assert len(controls) > 60
    assert [
        control.get_attribute("outerHTML")[:120] for control in controls if not control.accessible_name.strip()
    ] == []
    levels = [int(heading.tag_name[1]) for heading in page.all("h1, h2, h3, h4, h5, h6")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(level <= before + 1 for before, level in zip(levels, levels[1:], strict=False))
    ids = page.script("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    assert page.find("#board table caption").get_attribute("textContent")


@in_browser
def test_plots_follow_filters_and_hidden_tasks(opened: Opener) -> None:
    page = opened()
    WebDriverWait(page.driver, 5).until(lambda _: len(page.all(".panels svg")) == 10)
    page.find("details.tasks summary").click()
    page.key("task:psc").click()
    WebDriverWait(page.driver, 5).until(lambda _: len(page.all(".panels svg")) == 9)
    page.key("search").send_keys("elmo")
    WebDriverWait(page.driver, 5).until(lambda _: "HerBERT" not in page.find(".panels svg").get_attribute("aria-label"))
    label = page.find(".panels svg").get_attribute("aria-label")
    assert label.startswith("AVG: ") and label.count(";") == len(page.rows()) - 1 == 3
    Select(page.key("plot:cost")).select_by_value("peak_memory")
    assert "peak memory" in page.find("#figures section:nth-of-type(2) figcaption").text
    Select(page.key("plot:task")).select_by_value("ar")
    assert page.all("#figures figcaption")[-1].text.startswith("AR on the validation data")


def only_published(suite: dict[str, Any]) -> None:
    suite["rows"] = [row for row in suite["rows"] if row["source"] == "published"]
    suite["comparisons"] = {}


def one_seed(suite: dict[str, Any]) -> None:
    run = suite["rows"][5]
    run["details"]["seeds"] = run["details"]["seeds"][:1]
    run["details"]["curves"] = [curve for curve in run["details"]["curves"] if curve["seed"] == 1]
    for score in run["scores"].values():
        score["min"] = score["max"] = score["median"]
    suite["rows"], suite["comparisons"] = [run], {}


def many(suite: dict[str, Any]) -> None:
    tasks = [{**task, "id": f"{task['id']}-{copy}"} for copy in range(4) for task in suite["tasks"]][:30]
    rows = []
    for number in range(40):
        row = copy.deepcopy(suite["rows"][number % 7])
        row["id"], row["name"] = f"r{number}", f"{row['name']}-{number}"
        row["scores"] = {task["id"]: row["scores"][id] for task in tasks if (id := task["id"][:-2]) in row["scores"]}
        rows.append(row)
    suite["tasks"], suite["rows"], suite["comparisons"] = tasks, rows, {}


def unknown(suite: dict[str, Any]) -> None:
    for row in suite["rows"]:
        row["details"] = row["cost"] = row["average_interval"] = None
        row["scores"].pop("ar", None)
    suite["rows"][0].update(scores={}, average=None)
    suite["notes"], suite["comparisons"] = [], {}


def sparse_details(suite: dict[str, Any]) -> None:
    for row in suite["rows"][:7]:
        row["details"] = dict.fromkeys(row["details"])
        row["cost"] = dict.fromkeys(row["cost"])


def empty(suite: dict[str, Any]) -> None:
    suite["rows"], suite["comparisons"] = [], {}


@in_browser
@pytest.mark.parametrize("change", [only_published, one_seed, many, unknown, sparse_details, empty])
def test_a_report_of_any_shape_is_shown(opened: Opener, change: Callable[[dict[str, Any]], None]) -> None:
    report = report_sample.report()
    change(report["suites"][0])
    page = opened(report)
    page.script("return new Promise((done) => setTimeout(done, 1500))")
    assert len(page.rows()) == len(page.suite["rows"])
    for opener in page.all(".opener")[:2]:
        page.key(opener.get_attribute("data-key")).click()
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
