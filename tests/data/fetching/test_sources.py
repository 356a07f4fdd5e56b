"""Every source that the shipped suites and recipes name, on a server on this machine that has generated files of the stated size in its place."""

import gzip
import hashlib
import io
import logging
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from download_server import DownloadServer, download_server

from mtl.base.errors import InputError
from mtl.base.settings.layers import find_yaml, shipped
from mtl.data.fetching.fetch import fetch_suite
from mtl.embedders.recipes import fetch_embeddings, load_recipe
from mtl.tasks.sources import Source
from mtl.tasks.suite import load_suite

# The largest content that is sent; what is larger is declared to have this size here.
LARGEST = 2**20
SUITE_FILES = sorted((shipped("configs") / "suite").glob("*.yaml"))
SUITES = [load_suite(path) for path in SUITE_FILES if "\ngenerated: true" not in path.read_text(encoding="utf-8")]
TASKS = [(suite.name, id) for suite in SUITES for id, task in suite.tasks.items() if task.source and not task.withdrawn]
RECIPES = [path.stem for path in sorted(shipped("embeddings").glob("*.yaml")) if load_recipe(path.stem).url]


def on(server: DownloadServer, url: str) -> str:
    """The address on the server in place of the one on the web."""
    return re.sub("^https://[^/]+", server.url.removesuffix("/file.bin"), url)


def padded(archive: bytes, size: int | None) -> bytes:
    """A zip with zeros before it, where it may have any bytes, so that it has this size."""
    return bytes(max(min(size or 0, LARGEST) - len(archive), 0)) + archive


def lines_of(fetched: Callable[[], object], caplog: pytest.LogCaptureFixture) -> str:
    """What a download says, each message in one line."""
    caplog.set_level(logging.INFO, logger="mtl")
    caplog.clear()
    try:
        fetched()
    except InputError as error:
        return "\n".join([*caplog.messages, f"mtl: error: {error}"])
    return "\n".join(caplog.messages)


def check_refusals(
    server: DownloadServer,
    fetched: Callable[[], object],
    sized: bool,
    checksum: str | None,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A missing file, a web page and another size or content than the stated one are one line each, and no file is there."""
    expected: dict[str, tuple[int, str | None, bytes]] = {
        "the server answers 404 Not Found": (404, None, server.content)
    }
    expected["sends a web page in place of the file"] = (200, "text/html; charset=utf-8", b"<!doctype html>" * 300)
    if sized:
        wrong = server.content[:-1]
        expected[f"the server has {len(wrong)} bytes where {len(server.content)} are expected"] = (200, None, wrong)
    if checksum is not None:
        expected[f"of the downloaded file is .*, not the expected {checksum}"] = (200, None, server.content)
    for message, (status, server.content_type, server.content) in expected.items():
        server.statuses = [status] * 9
        said = lines_of(fetched, caplog)
        assert re.search(f"(?m)^.*{message}.*$", said), said
        assert "mtl: error: " in said or "put this file" in said
        assert not [path for path in folder.rglob("*") if path.is_file()]
    server.statuses, server.content_type = [], None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "id"), TASKS, ids=[f"{name}-{id}" for name, id in TASKS])
def test_a_task_of_a_suite(
    name: str, id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    suite = load_suite(find_yaml("suite", name))
    suite.submission = replace(suite.submission, template_source=None)
    task, folder = suite.tasks[id], tmp_path / "data"
    source, task.hub = task.source, None
    assert source is not None
    files = dict.fromkeys(path.name for split in task.files if (path := task.path(split, folder)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(f"{task.folder}/{file}", f"rows of {file}\n" * 1000)
    with download_server(monkeypatch) as server:
        sized, checksum = source.size is not None, next(iter(task.checksums.values()), source.sha256)
        server.content = padded(buffer.getvalue(), source.size)
        task.source = replace(source, url=on(server, source.url), size=len(server.content) if sized else None)
        # What has no checksum is not sent with other content, which nothing could tell.
        task.files = {
            split: file if split in task.checksums or not task.checksums else None for split, file in task.files.items()
        }
        bare = checksum and checksum.rpartition(":")[2]
        good = server.content
        check_refusals(server, lambda: fetch_suite(suite, [task], folder), sized, bare, folder, caplog)

        server.content, server.redirects, server.cuts = good, True, [len(good) // 2]
        task.files = dict(load_suite(find_yaml("suite", name)).tasks[id].files)
        digest = hashlib.sha256(good).hexdigest()
        task.source.sha256 = source.sha256 and digest
        task.checksums = dict.fromkeys(task.checksums, f"sha256:{digest}")
        fetch_suite(suite, [task], folder)
        assert f"bytes={len(good) // 2}-" in [request.get("range") for request in server.requests]
        there = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert set(there) == set(files)
        for file, content in there.items():
            assert content == (good if source.single_files else f"rows of {file}\n".encode() * 1000)


def test_the_zip_of_several_tasks_is_downloaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = load_suite(find_yaml("suite", "glue"))
    tasks = suite.choose(["mnli-m", "mnli-mm"])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in {name for task in tasks for split in task.files for name in task.file_names(split)}:
            archive.writestr(name, name)
    with download_server(monkeypatch) as server:
        server.content = buffer.getvalue()
        for task in tasks:
            task.source = Source(on(server, "https://example.org/MNLI.zip"))
        fetch_suite(suite, tasks, tmp_path)
        assert len(server.requests) == 1 and len(list((tmp_path / "MNLI").iterdir())) == 5
        (tmp_path / "MNLI/dev_mismatched.tsv").unlink()
        (tmp_path / "MNLI/train.tsv").write_text("mine", encoding="utf-8")
        fetch_suite(suite, tasks, tmp_path)
        assert (tmp_path / "MNLI/dev_mismatched.tsv").exists()
        assert (tmp_path / "MNLI/train.tsv").read_text(encoding="utf-8") == "mine"


def test_the_template_of_a_leaderboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    suites = [load_suite(find_yaml("suite", suite.name)) for suite in SUITES if suite.submission.template_source]
    assert suites
    for suite in suites:
        source = suite.submission.template_source
        assert source is not None and source.sha256 is not None
        with download_server(monkeypatch) as server:
            declared = replace(source, url=on(server, source.url))
            suite.submission = replace(suite.submission, template_source=declared)
            check_refusals(server, partial(fetch_suite, suite, [], tmp_path), False, source.sha256, tmp_path, caplog)
            server.redirects, server.cuts = True, [len(server.content) // 2]
            declared.sha256 = hashlib.sha256(server.content).hexdigest()
            fetch_suite(suite, [], tmp_path)
            assert suite.submission.template is not None
            assert (tmp_path / suite.submission.template).read_bytes() == server.content


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_vectors_of_a_recipe(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    recipe, folder, own = load_recipe(name), tmp_path / "embeddings", tmp_path / "own.yaml"
    text = (shipped("embeddings") / f"{name}.yaml").read_text(encoding="utf-8")
    assert recipe.url is not None
    with download_server(monkeypatch) as server:
        vectors = "".join(f"pies{number} 0.5 0.25\n" for number in range(20_000)).encode()
        good = server.content = gzip.compress(vectors) if recipe.url.endswith(".gz") else padded(vectors, recipe.size)
        text = text.replace(recipe.url, on(server, recipe.url)).replace(str(recipe.size), str(len(good)))
        own.write_text(text, encoding="utf-8")
        sized = recipe.size is not None

        def fetched() -> Path:
            return fetch_embeddings(recipe.embeddings, str(own), str(folder))

        check_refusals(server, fetched, sized, recipe.sha256, folder, caplog)
        server.content, server.redirects, server.cuts = good, True, [len(good) // 2]
        own.write_text(text.replace(str(recipe.sha256), hashlib.sha256(good).hexdigest()), encoding="utf-8")
        path = fetched()
        assert f"bytes={len(good) // 2}-" in [request.get("range") for request in server.requests]
        assert path.read_bytes() == (vectors if recipe.url.endswith(".gz") else good)
