"""Downloads from a test server that can misbehave."""

import hashlib
import logging
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from download_server import CONTENT, DownloadServer, download_server
from input_errors import raises_input_error, refused

from mtl.base.errors import InputError
from mtl.data.fetching import download as module
from mtl.data.fetching.download import UnavailableError, download, without_login

OTHER = bytes(reversed(range(256))) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
GIT = "git:" + hashlib.sha1(b"blob 512000\0" + CONTENT).hexdigest()
CUT = 200_000


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DownloadServer]:
    with download_server(monkeypatch) as server:
        yield server


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "data" / "file.bin"


def interrupted(server: DownloadServer, target: Path, sha256: str | None = None) -> None:
    """A first call that is interrupted after CUT bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ATTEMPTS", 1)
        server.cuts = [CUT]
        with pytest.raises(InputError, match="the connection broke"):
            download(server.url, target, sha256)
    assert not target.exists()
    assert (target.parent / "file.bin.part").read_bytes() == server.content[:CUT]
    server.requests.clear()
    server.sent.clear()


def assert_only(target: Path, content: bytes = CONTENT) -> None:
    """The target has this content, and is the only file in its folder."""
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert target.read_bytes() == content


def test_a_file_is_downloaded_and_verified(
    server: DownloadServer, target: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    download(server.url, target, SHA256, len(CONTENT))
    assert_only(target)
    assert "range" not in server.requests[0]
    assert server.requests[0]["accept-encoding"] == "identity"
    assert capfd.readouterr() == ("", "")  # no progress without a terminal


@pytest.mark.parametrize("sha256", [None, SHA256, SHA256.upper(), f"sha256:{SHA256}", GIT])
def test_a_file_of_another_checksum_is_downloaded_again(
    server: DownloadServer, target: Path, sha256: str | None
) -> None:
    target.parent.mkdir()
    target.write_bytes(CONTENT)
    download(server.url, target, sha256)
    assert not server.requests
    if sha256 is not None:
        target.write_bytes(OTHER)
        download(server.url, target, sha256)
        assert_only(target)


@pytest.mark.parametrize("sha256", [None, SHA256, GIT])
@pytest.mark.parametrize("modified", [None, "Mon, 01 Jan 2024 00:00:00 GMT"])
def test_the_rest_is_requested(server: DownloadServer, target: Path, sha256: str | None, modified: str | None) -> None:
    if modified:
        server.etag, server.modified = 'W/"weak"', modified
    interrupted(server, target, sha256)
    download(server.url, target, sha256)
    assert server.requests[0]["range"] == f"bytes={CUT}-"
    assert server.requests[0]["if-range"] == (modified or '"one"')
    assert server.sent == [len(CONTENT) - CUT]
    assert_only(target)


def test_download_continues_after_a_dropped_connection_in_the_same_call(server: DownloadServer, target: Path) -> None:
    server.cuts = [CUT, 100, 0, 0, 50]
    download(server.url, target, SHA256)
    starts = [request.get("range") for request in server.requests]
    assert starts == [None, *(f"bytes={CUT + number}-" for number in (0, 100, 100, 100, 150))]
    assert sum(server.sent) == len(CONTENT) and target.read_bytes() == CONTENT


def test_error_after_repeated_cuts_by_a_server_without_ranges(server: DownloadServer, target: Path) -> None:
    server.ranges = False
    server.cuts = [CUT] * 20
    refused(lambda: download(server.url, target, SHA256))
    assert len(server.requests) == module.ATTEMPTS


OTHERS: list[dict[str, Any]] = [
    *({"content": content, "etag": '"two"', "if_range": heeded} for content, heeded in ((OTHER, True), (OTHER, False))),
    *({"content": OTHER[: CUT - 1], "etag": '"two"', "if_range": False}, {"ranges": False}, {"statuses": [416]}),
    *({"content_range": stated} for stated in ("bytes 0-9/512000", f"bytes {CUT}-511999/512001", "nonsense")),
]


@pytest.mark.parametrize("state", OTHERS)
def test_a_part_of_another_file_starts_over(server: DownloadServer, target: Path, state: dict[str, Any]) -> None:
    """Another version of the file, and servers that ignore or refuse ranges or send another one."""
    interrupted(server, target)
    vars(server).update(state)
    download(server.url, target)
    assert_only(target, server.content)
    assert len(server.requests) <= 2 and server.sent[-1] == len(server.content)


def test_a_part_of_another_address_starts_over(server: DownloadServer, target: Path) -> None:
    interrupted(server, target)
    download(server.url + "?other", target)
    assert "range" not in server.requests[0]
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("note", [None, "{", "[]", "{}"])
def test_a_part_without_its_note_starts_over(server: DownloadServer, target: Path, note: str | None) -> None:
    target.parent.mkdir()
    (target.parent / "file.bin.part").write_bytes(OTHER[:CUT])
    if note is not None:
        (target.parent / "file.bin.part.json").write_text(note, encoding="utf-8")
    download(server.url, target)
    assert "range" not in server.requests[0]
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("sha256", [None, SHA256])
def test_parts_without_a_version_need_a_checksum(server: DownloadServer, target: Path, sha256: str | None) -> None:
    server.etag = None
    interrupted(server, target, sha256)
    download(server.url, target, sha256)
    assert server.requests[0].get("range") == (f"bytes={CUT}-" if sha256 else None)
    assert target.read_bytes() == CONTENT


def test_complete_part_is_not_downloaded_again(server: DownloadServer, target: Path) -> None:
    interrupted(server, target)
    with (target.parent / "file.bin.part").open("ab") as part:
        part.write(CONTENT[CUT:])
    download(server.url, target, SHA256)
    assert server.sent == [0] and target.read_bytes() == CONTENT


@pytest.mark.parametrize("stated", [None, "9" * 5000])  # no number that Python reads
def test_body_of_unknown_length_is_downloaded_and_continued(
    server: DownloadServer, target: Path, stated: str | None
) -> None:
    server.chunked, server.stated_length, server.cuts = True, stated, [CUT]
    download(server.url, target, SHA256)
    assert [request.get("range") is None for request in server.requests] == [True, False]
    assert target.read_bytes() == CONTENT


def test_an_unstated_length_is_bounded(server: DownloadServer, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.chunked = True
    monkeypatch.setattr("mtl.data.fetching.download.UNSTATED", len(CONTENT) - 1)
    refused(lambda: download(server.url, target))
    assert list(target.parent.iterdir()) == []
    download(server.url, target, size=len(CONTENT))
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("checksum", [f"{'0' * 64}", f"git:{'0' * 40}"])
def test_of_a_wrong_checksum_the_old_file_stays(server: DownloadServer, target: Path, checksum: str) -> None:
    target.parent.mkdir()
    target.write_bytes(OTHER)
    with pytest.raises(UnavailableError, match=re.escape(server.url)) as caught:
        download(server.url, target, checksum)
    actual = GIT[4:] if checksum.startswith("git:") else SHA256
    assert f"{actual}, not the expected {checksum.removeprefix('git:')}" in str(caught.value)
    assert_only(target, OTHER)


def test_resumed_file_with_a_wrong_checksum_is_removed(server: DownloadServer, target: Path) -> None:
    interrupted(server, target)
    (target.parent / "file.bin.part").write_bytes(OTHER[:CUT])
    with pytest.raises(InputError, match=SHA256):
        download(server.url, target, SHA256)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize(("chunked", "size"), [(False, 7), (True, 7), (True, len(CONTENT) + 1)])
def test_another_size_is_an_error(server: DownloadServer, target: Path, chunked: bool, size: int) -> None:
    server.chunked, server.ranges = chunked, False  # if it is chunked, the size is known only after the transfer
    refused(lambda: download(server.url, target, size=size))
    assert not target.exists()


@pytest.mark.parametrize("status", [403, 404, 410])
def test_missing_file_does_not_remove_the_part(server: DownloadServer, target: Path, status: int) -> None:
    interrupted(server, target)
    server.statuses = [status]
    with pytest.raises(UnavailableError, match=f"^{re.escape(server.url)}: the server answers {status} "):
        download(server.url, target)
    assert len(server.requests) == 1
    assert (target.parent / "file.bin.part").stat().st_size == CUT


def test_temporary_errors_are_retried_and_permanent_ones_raised(server: DownloadServer, target: Path) -> None:
    server.statuses = [503, 429, 500]
    download(server.url, target, SHA256)
    assert target.read_bytes() == CONTENT
    target.unlink()
    server.statuses = [503] * 9
    with raises_input_error() as caught:
        download(server.url, target)
    assert not isinstance(caught.value, UnavailableError)


def test_servers_and_disks_that_cannot_be_reached_or_written_to(
    server: DownloadServer, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        refused(lambda: download(f"http://127.0.0.1:{taken.getsockname()[1]}/file.bin", target))
    assert list(target.parent.iterdir()) == []
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    refused(lambda: download(server.url, tmp_path / "taken" / "file.bin"), file="file.bin")
    with monkeypatch.context() as patch, raises_input_error(file="data"):  # before the transfer
        patch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000}))
        download(server.url, target)


def test_timeouts(server: DownloadServer, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.cuts, server.stall = [CUT, 0], True
    monkeypatch.setattr(module, "TIMEOUT", (5.0, 0.2))
    monkeypatch.setattr(module, "ATTEMPTS", 1)
    refused(lambda: download(server.url, target))
    assert (target.parent / "file.bin.part").stat().st_size > 0

    def late(*_: object, **__: object) -> None:
        raise requests.ConnectTimeout("late")

    monkeypatch.setattr(requests, "get", late)
    refused(lambda: download(server.url, target))


@pytest.mark.parametrize("url", ["file.bin", "gopher://127.0.0.1/file.bin", "http://"])
def test_malformed_address(target: Path, url: str) -> None:
    refused(lambda: download(url, target))


def test_messages_name_no_login(server: DownloadServer, target: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = server.url.replace("http://", "http://me:secret@")
    with raises_input_error() as caught:
        download(url, target, "0" * 64)
    assert "secret" not in str(caught.value) and server.url in str(caught.value)
    with caplog.at_level(logging.INFO, "mtl"):
        download(url, target)
    assert "secret" not in caplog.text and f"{server.url}: not verified" in caplog.text and SHA256 in caplog.text
    assert without_login("https://a:b@c/d@e and https://c@d/") == "https://c/d@e and https://d/"
