"""A suite's zips fetched from a server on this machine."""

import hashlib
import logging
import re
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from input_errors import refused

from mtl.api.cli import main
from mtl.data.fetching.fetch import fetch_suite
from mtl.data.present_files import missing_tasks
from mtl.tasks.sources import Source
from mtl.tasks.suite import Suite, load_suite


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server of this folder's files."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def suite(suite_file: Path, tmp_path: Path) -> Iterator[Suite]:
    """The small suite, its tasks' files zipped on a server as KLEJ's are."""
    served = tmp_path / "served"
    served.mkdir()
    made = load_suite(suite_file)
    with serving(served) as url:
        for id, task in made.tasks.items():
            with zipfile.ZipFile(served / f"{id}.zip", "w") as archive:
                for split in ("train", "dev", "test"):
                    if path := task.path(split, suite_file.parent / "data"):
                        archive.write(path, f"folder/{path.name}")
            content = (served / f"{id}.zip").read_bytes()
            task.source = Source(f"{url}/{id}.zip", len(content), hashlib.sha256(content).hexdigest())
        yield made


def test_files_come_to_their_places_and_others_stay(suite: Suite, suite_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    fetch_suite(suite, suite.choose(None), target)
    assert missing_tasks(suite, target) == {}
    files = sorted(path.relative_to(target) for path in target.rglob("*") if path.is_file())
    assert len(files) == 7  # no zip is left
    for file in files:
        assert (target / file).read_bytes() == (suite_file.parent / "data" / file).read_bytes()
    target = tmp_path / "other"
    fetch_suite(suite, suite.choose(["samma"]), target)
    assert set(missing_tasks(suite, target)) == {"kansla", "betyg"}
    for id, path in (("samma", target / "pairs/train.tsv"), ("betyg", target / "scores/train.tsv")):
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine", encoding="utf-8")
        fetch_suite(suite, suite.choose([id]), target)  # betyg has two files to unpack
        assert path.read_text(encoding="utf-8") == "mine" and id not in missing_tasks(suite, target)


def test_what_cannot_be_fetched(suite: Suite, tmp_path: Path) -> None:
    suite.tasks["samma"].files["dev"] = "dev.tsv"  # which the zip does not have
    for _ in range(2):  # the second time, all that it has is there
        refused(lambda: fetch_suite(suite, suite.choose(["samma", "betyg"]), tmp_path / "target"), file="target")
        assert set(missing_tasks(suite, tmp_path / "target")) == {"kansla", "samma"}
    source = suite.tasks["betyg"].source
    assert source is not None
    source.sha256 = "0" * 64
    refused(lambda: fetch_suite(suite, suite.choose(["betyg"]), tmp_path / "other"))
    source.sha256 = None
    archive = tmp_path / "damaged/scores.zip"
    archive.parent.mkdir()
    archive.write_bytes(b"text")
    refused(lambda: fetch_suite(suite, suite.choose(["betyg"]), archive.parent))
    assert not archive.exists()  # the next call downloads it


@pytest.fixture
def single(suite_file: Path, tmp_path: Path) -> Iterator[Path]:
    """The file of the small suite, whose files are single files on a server, in folders named after the tasks' folders."""
    data = suite_file.parent / "data"
    blob = (data / "train.tsv").read_bytes()
    sums = {
        "train": "git:" + hashlib.sha1(b"blob %d\0" % len(blob) + blob).hexdigest(),
        "dev": "sha256:" + hashlib.sha256((data / "dev.tsv").read_bytes()).hexdigest(),
    }
    checksums = f"  kansla:\n    checksums: {{train: '{sums['train']}', dev: '{sums['dev']}'}}\n"
    with serving(data) as url:
        source = f"source: {{url: '{url}/{{folder}}/{{file}}'}}\ntasks:"
        text = suite_file.read_text(encoding="utf-8").replace("tasks:", source).replace("  kansla:\n", checksums)
        suite_file.write_text(text, encoding="utf-8")
        yield suite_file


def fetch(suite_file: Path, target: Path, *settings: str) -> int:
    return main(["data", str(suite_file), f"data_dir={target}", *settings])


def test_single_files_come_to_their_places(single: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="mtl")
    target = tmp_path / "target"
    assert fetch(single, target) == 0
    unverified = "not verified, since the suite has no checksums of them: test.tsv"
    assert caplog.messages.count(f"{unverified}, train.tsv, train.tsv, dev.tsv, test.tsv") == 1
    files = sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file())
    scores = [f"scores/{split}.tsv" for split in ("dev", "test", "train")]
    assert files == ["dev.tsv", "pairs/train.tsv", *scores, "test.tsv", "train.tsv"]
    assert all((target / file).read_bytes() == (single.parent / "data" / file).read_bytes() for file in files)
    (target / "train.tsv").write_text("mine", encoding="utf-8")
    (target / "dev.tsv").unlink()
    assert fetch(single, target, "tasks=[kansla]") == 0
    assert (target / "train.tsv").read_text(encoding="utf-8") == "mine" and (target / "dev.tsv").exists()
    (suite := load_suite(single)).tasks["samma"].source = None  # where a later task fails, the line is there, too
    refused(lambda: fetch_suite(suite, suite.choose(None), tmp_path / "other"), file="train.tsv")
    suite.tasks["kansla"].files = {split: f"train.tsv#split={split}" for split in ("train", "dev")}
    suite.tasks["kansla"].checksums = {"train": f"sha256:{'0' * 64}"}  # of the file of both splits
    refused(lambda: fetch_suite(suite, suite.choose(["kansla"]), tmp_path / "shared"))
    assert unverified in caplog.messages


def test_a_single_file_that_is_gone_is_one_line_and_the_others_are_fetched(
    single: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "target"
    (single.parent / "data/dev.tsv").unlink()
    assert fetch(single, target) == 2
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "/dev.tsv: the server answers 404" in warning and "\n" not in warning
    assert not (target / "dev.tsv").exists() and len(list(target.rglob("*.tsv"))) == 6
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"mtl: error: {target}: dev.tsv could not be downloaded; all other files of the chosen ")


def test_a_dev_file_that_may_be_missing_is_not_fetched(single: Path, tmp_path: Path) -> None:
    text = single.read_text(encoding="utf-8")
    single.write_text(text.replace("folder: scores", "folder: scores\n    scored: dev_or_test"), encoding="utf-8")
    assert fetch(single, tmp_path / "target", "tasks=[betyg]") == 0
    assert sorted(path.name for path in (tmp_path / "target/scores").iterdir()) == ["test.tsv", "train.tsv"]


def test_a_task_whose_files_are_all_gone_leaves_no_folder_and_is_not_called_downloaded(
    single: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="mtl")
    (single.parent / "data/pairs/train.tsv").unlink()
    (single.parent / "data/scores/dev.tsv").write_text("text\tscore\n", encoding="utf-8")
    text = single.read_text(encoding="utf-8")
    wrong = f"folder: scores\n    checksums: {{dev: 'sha256:{'0' * 64}'}}"
    single.write_text(text.replace("folder: scores", wrong), encoding="utf-8")
    assert fetch(single, tmp_path / "target") == 2
    assert not (tmp_path / "target/pairs").exists()
    done = [line for line in caplog.messages if " downloaded to " in line]
    target = tmp_path / "target"
    assert done == [f"kansla: downloaded to {target}", f"betyg: train.tsv, test.tsv downloaded to {target / 'scores'}"]


def test_without_a_server_no_folder_is_left(
    single: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mtl.data.fetching.download.PAUSE", 0.0)
    single.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9", single.read_text(encoding="utf-8")), encoding="utf-8")
    assert fetch(single, tmp_path / "new/target", "tasks=[samma]") == 2
    assert "cannot connect" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_leaderboard_s_entry_is_fetched(single: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = single.read_text(encoding="utf-8")
    url = next(line for line in text.splitlines() if line.startswith("source:")).split("'")[1]
    entry = url.replace("{folder}/{file}", "entry.json")
    declared = f"submission: {{template: board/empty.json, template_source: {{url: '{entry}'}}}}\n"
    single.write_text(declared + text, encoding="utf-8")
    assert fetch(single, tmp_path / "target", "tasks=[kansla]") == 0
    assert "entry.json: the server answers 404" in caplog.text
    assert f"the leaderboard's empty entry, at {tmp_path / 'target/board/empty.json'}" in caplog.text
    assert not (tmp_path / "target/board").exists()
    (single.parent / "data/entry.json").write_text("{}", encoding="utf-8")
    assert fetch(single, tmp_path / "target", "tasks=[kansla]") == 0
    assert (tmp_path / "target/board/empty.json").read_text(encoding="utf-8") == "{}"


def test_withdrawn_data_is_not_asked_for(single: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = single.read_text(encoding="utf-8").replace("  samma:\n", "  samma:\n    withdrawn: true\n")
    single.write_text(text, encoding="utf-8")
    assert fetch(single, tmp_path / "target") == 0
    assert f"samma: withdrawn by its publisher; put its files into {tmp_path / 'target/pairs'}" in caplog.text
    assert not (tmp_path / "target/pairs").exists() and (tmp_path / "target/scores/dev.tsv").exists()


@pytest.mark.wings
def test_a_benchmark_that_is_no_suite_says_where_its_data_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "pl-mteb"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mtl: error: suite=pl-mteb: its 28 tasks are data sets of the Hugging Face Hub: `mtl mteb`")
