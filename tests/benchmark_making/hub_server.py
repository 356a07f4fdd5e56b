"""The part of the Hugging Face Hub that huggingface_hub asks for downloads, on this machine: datasets, their commits and their files."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from download_server import LocalServer
from huggingface_hub import constants
from huggingface_hub.utils import close_session

TOKEN = "hf_of_somebody"


class HubServer(LocalServer):
    """Serves `datasets`: by name, by revision ("main" or another), by path, the content of each file."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.datasets: dict[str, dict[str, dict[str, bytes]]] = {}
        self.gated: set[str] = set()  # datasets whose files need TOKEN
        self.sizes: dict[str, int] = {}  # by path, a false size in the list of files
        self.sha256: dict[str, str] = {}  # by path, the checksum in the list of files, which only a large file has
        self.sent: dict[str, bytes] = {}  # by path, what is sent in place of the listed content
        self.cuts: dict[str, int] = {}  # by path, how many bytes the next answer sends before it closes the connection
        self.answer: bytes | None = None  # a false answer to the question for the files
        self.requests: list[str] = []
        self.ranges: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def commit(self, dataset: str, revision: str) -> str:
        """The commit that a revision names: 40 hexadecimal digits, which depend on its files if it is none itself."""
        if re.fullmatch("[0-9a-f]{40}", revision):
            return revision
        files = sorted(self.datasets[dataset][revision].items())
        return hashlib.sha1(f"{dataset} {files}".encode("utf-8", "surrogatepass")).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        if parts[:2] == ["api", "datasets"]:
            self._list("/".join(parts[2:4]), parts[5])
        elif parts[:1] == ["datasets"] and parts[3:4] == ["resolve"]:
            self._file("/".join(parts[1:3]), parts[4], "/".join(parts[5:]))
        else:
            self._answer(404)

    def _list(self, dataset: str, revision: str) -> None:
        if self.server.answer is not None:
            self._answer(200, self.server.answer)
        elif dataset not in self.server.datasets:
            self._answer(401, error="RepoNotFound")
        elif (revision := self._named(dataset, revision)) is None:
            self._answer(404, error="RevisionNotFound")
        else:
            files = self.server.datasets[dataset][revision].items()
            siblings = [self._listed(path, content) for path, content in files]
            described = {"id": dataset, "sha": self.server.commit(dataset, revision), "siblings": siblings}
            readme = self.server.datasets[dataset][revision].get("README.md", b"").split(b"---\n")
            described["cardData"] = yaml.safe_load(readme[1]) if readme[1:] else None
            self._answer(200, json.dumps(described).encode())

    def _named(self, dataset: str, revision: str) -> str | None:
        """The revision with this name or commit; None if there is none."""
        revisions = self.server.datasets[dataset]
        return next((name for name in revisions if revision in (name, self.server.commit(dataset, name))), None)

    def _listed(self, path: str, content: bytes) -> dict[str, Any]:
        """What the Hub lists of a file; a large one is kept as a small file that names its SHA-256."""
        size, sha256 = self.server.sizes.get(path, len(content)), self.server.sha256.get(path)
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        lfs = {"lfs": {"sha256": sha256, "size": size, "pointerSize": 130}} if sha256 else {}
        return {"rfilename": path, "size": size, "blobId": "0" * 40 if sha256 else blob, **lfs}

    def _file(self, dataset: str, commit: str, path: str) -> None:
        if dataset in self.server.gated and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._answer(401, error="GatedRepo")
            return
        for revision, files in self.server.datasets.get(dataset, {}).items():
            if self.server.commit(dataset, revision) == commit and path in files:
                content = self.server.sent.get(path, files[path])
                headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": commit}
                cut = self.server.cuts.pop(path, None) if self.command == "GET" else None
                self._answer(200, content, headers, cut)
                return
        self._answer(404, error="EntryNotFound")

    def _answer(
        self,
        status: int,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        cut: int | None = None,
        error: str | None = None,
    ) -> None:
        if wanted := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
            self.server.ranges.append(wanted[0])
            first = int(wanted[1])
            headers = {**(headers or {}), "Content-Range": f"bytes {first}-{len(body) - 1}/{len(body)}"}
            status, body = 206, body[first:]
        self.send_response(status)
        for name, value in {**(headers or {}), **({"X-Error-Code": error} if error else {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:cut])
            self.close_connection = cut is not None


@contextmanager
def hub_server(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[HubServer]:
    """A running server in the place of the Hub, and a cache for its files. Nobody is logged in."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(cache / "token"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    server = HubServer()
    set_endpoint(monkeypatch, server.url)
    with server.running(monkeypatch):
        yield server
        close_session()


def set_endpoint(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Let huggingface_hub ask this address: it reads HF_ENDPOINT only when it is imported."""
    close_session()
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")
