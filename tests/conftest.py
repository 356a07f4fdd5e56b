"""Fixtures of every folder."""

import functools
import gc
import importlib.metadata
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from core_alone import is_run_by_copy_alone
from elmo_files import write_elmo
from input_errors import MESSAGES
from rows_suite import write_rows_suite
from small_suite import SMALL, small_settings

import mtl
from mtl.base.display import set_receiver

if TYPE_CHECKING:
    from report_browser import Opener, Page
    from selenium import webdriver

HAD_RUNS = pytest.StashKey[bool]()  # whether the working folder held runs when the session began

# Models this small gain nothing from a second thread; set before torch is imported, here and in subprocesses.
os.environ["OMP_NUM_THREADS"] = "1"
# A GPU stays unseen, unless the environment names one: the tests compare with what a CPU computes.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-messages", action="store_true", help="write tests/messages.txt and tests/golden")
    parser.addoption("--once", action="store_true", help="leave what the copy of the core without the wings runs to it")


def pytest_configure(config: pytest.Config) -> None:
    MESSAGES.write = config.getoption("--write-messages")
    config.stash[HAD_RUNS] = Path("runs").exists()
    # Every trainer of Lightning looks for entry points in the files of all installed packages, which stay the same.
    importlib.metadata.entry_points = functools.cache(importlib.metadata.entry_points)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are CPUs, since many tests wait for processes that they start. A further worker would import all packages once more."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What one worker has to do whole begins first, the longest of all before the rest: at the end, the other workers would wait for it."""
    if config.getoption("--once"):
        config.hook.pytest_deselected(items=[item for item in items if is_run_by_copy_alone(item)])
        items[:] = [item for item in items if not is_run_by_copy_alone(item)]
    names = ["test_the_core_passes_its_tests_without_the_wings", "ray", "documents", "browser"]

    def rank(item: pytest.Item) -> int:
        group = item.get_closest_marker("xdist_group")
        name = group.args[0] if group else item.name
        return names.index(name) if name in names else len(names)

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """What all test modules have imported stays: the collector of garbage, which each run calls, need not look through it again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if MESSAGES.write:
        MESSAGES.save()
    if Path("runs").exists() and not session.config.stash[HAD_RUNS]:
        left = sorted(str(path) for path in Path("runs").glob("*/*"))
        pytest.exit(f"a test wrote runs into the working folder: {', '.join(left)}", returncode=1)


@pytest.fixture(autouse=True, scope="session")
def brief_measuring() -> Iterator[None]:
    """The speed of a run is measured in one round, not for a second: no test reads the figure. Runs of module fixtures too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mtl.methods.costs.SECONDS", 0.01)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_logistic_regression() -> Iterator[None]:
    """No run makes the logistic regression of its table: it would stand in the working folder, where the next test finds it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mtl.jobs.beside.MOST_BYTES", -1)
        yield


@pytest.fixture(autouse=True, scope="session")
def own_report_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`mtl report` keeps resamples in a folder of this session, not in that of the user, where another version of the code may have
    left some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mtl.api.commands.results.CACHE", tmp_path_factory.mktemp("report_cache"))
        yield


@pytest.fixture(autouse=True)
def own_stage1(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run trains its own stage 1, also where two runs would share one: tests compare runs. The marker `shares_stage1` allows it."""
    if request.node.get_closest_marker("shares_stage1") is None:
        monkeypatch.setattr("mtl.methods.lstm.stage1.SharedStage1.take", lambda *_: False)


@pytest.fixture(autouse=True)
def own_display() -> None:
    """Every test has a display that has shown nothing yet."""
    set_receiver(None)


@pytest.fixture(scope="session")
def driver() -> Iterator["webdriver.Chrome"]:
    """One browser for all tests that open a page."""
    from report_browser import start  # selenium is not there where only the core is installed

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        driver = start(Path(profile))
        yield driver
        driver.quit()


@pytest.fixture
def opened(driver: "webdriver.Chrome", tmp_path: Path) -> Iterator["Opener"]:
    """Opens a report in a window of some size; after each test, the browser's log must be empty."""
    import report_sample
    from report_browser import Page

    def open_page(
        report: dict[str, Any] | None = None, width: int = 1280, height: int = 900, scheme: str = "light"
    ) -> "Page":
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        return Page(driver, tmp_path / "page.html", report or report_sample.report())

    yield open_page
    assert [entry["message"] for entry in driver.get_log("browser")] == []


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of units are forked from a server that has imported what they need, which a new Python imports for seconds."""
    from processes import CONTEXT

    context = SimpleNamespace(get_context=lambda _: CONTEXT)
    monkeypatch.setattr("mtl.jobs.engines.processes.multiprocessing", context)


@pytest.fixture
def settings(tmp_path: Path) -> list[str]:
    """Settings with which an LSTM's run on the small suite takes a second."""
    return small_settings(tmp_path)


@pytest.fixture
def floor_settings(settings: list[str]) -> list[str]:
    """Those of them that floors read."""
    return [setting for setting in settings if setting not in SMALL]


@pytest.fixture
def suite_file(settings: list[str], tmp_path: Path) -> Path:
    """The small suite's file; its data lies beside it in `data`."""
    return tmp_path / "liten.yaml"


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two seeds on the small suite, whose data lies beside it in `data`. Tests change copies of it alone."""
    return mtl.run(*small_settings(tmp_path_factory.mktemp("small")), seeds=2).path


@pytest.fixture
def rows_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the suite of `rows_suite`: numbers with ids, choices whose dev rows are held out of train, labels without ids."""
    monkeypatch.chdir(tmp_path)
    write_rows_suite(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def elmo_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_elmo(tmp_path_factory.mktemp("elmo"))
