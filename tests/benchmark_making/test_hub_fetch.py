"""A task's files come from the Hub where their own source cannot be downloaded."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest
from download_server import download_server
from hub_server import hub_server
from input_errors import refused

from mtl.data.fetching.fetch import fetch_suite
from mtl.tasks.sources import HubSource, Source
from mtl.tasks.suite import load_suite

COMMIT = "0" * 40
SAMMA = {COMMIT: {"train.csv": b"topic,a,b,same\n1,x,y,0\n"}}


def test_the_hub_s_copy_where_the_source_cannot_be_downloaded(
    suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    suite = load_suite(suite_file)
    task = suite.tasks["samma"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(tmp_path / "data/pairs/train.tsv", "folder/train.tsv")
    content = packed.getvalue()
    with download_server(monkeypatch) as source, hub_server(monkeypatch, tmp_path / "hub") as hub:
        source.content = content
        task.source = Source(source.url, len(content), hashlib.sha256(content).hexdigest())
        task.hub = HubSource("owner/samma", COMMIT)
        fetch_suite(suite, [task], tmp_path / "from-source")
        assert not hub.requests  # where the source answers
        source.statuses = [404, 404]
        refused(lambda: fetch_suite(suite, [task], tmp_path / "target"))
        caplog.clear()
        hub.datasets["owner/samma"] = SAMMA
        fetch_suite(suite, [task], tmp_path / "target")
    (warning,) = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert warning.startswith(f"{task.source.url}: the server answers 404")
    assert warning.endswith("; now its copy on the Hugging Face Hub is tried")
    assert sorted(path.name for path in (tmp_path / "target").rglob("*")) == ["pairs", "train.tsv"]


def test_withdrawn_data_comes_from_its_copy(
    suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    suite = load_suite(suite_file)
    task = suite.tasks["samma"]
    task.withdrawn, task.hub = True, HubSource("owner/samma", COMMIT)
    with hub_server(monkeypatch, tmp_path / "hub") as hub:
        fetch_suite(suite, [task], tmp_path / "target")
        assert "samma: withdrawn by its publisher; " in caplog.text and "; put its files into" in caplog.text
        hub.datasets["owner/samma"] = SAMMA
        fetch_suite(suite, [task], tmp_path / "target")
    assert (tmp_path / "target/pairs/train.tsv").exists()
