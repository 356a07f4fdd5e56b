"""The part of the Hugging Face Hub that downloads need, on this machine: datasets, their commits and their files."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest


class HubServer(ThreadingHTTPServer):
    """Serves `datasets`: by name, by revision ("main" or another), by path, the content of each file."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.datasets: dict[str, dict[str, dict[str, bytes]]] = {}
        self.sizes: dict[str, int] = {}  # by path, a false size in the list of files
        self.sha256: dict[str, str] = {}  # by path, the checksum in the list of files
        self.answer: bytes | None = None  # a false answer to the question for the files
        self.requests: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def commit(self, dataset: str, revision: str) -> str:
        """The commit that a revision names: 40 hexadecimal digits."""
        return hashlib.sha1(f"{dataset} {revision}".encode()).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        if parts[:2] == ["api", "datasets"]:
            self._list("/".join(parts[2:4]), parts[5] if parts[4:5] == ["revision"] else "main")
        elif parts[:1] == ["datasets"] and parts[3:4] == ["resolve"]:
            self._file("/".join(parts[1:3]), parts[4], "/".join(parts[5:]))
        else:
            self._answer(404, b"", {})

    def _list(self, dataset: str, revision: str) -> None:
        if self.server.answer is not None:
            self._answer(200, self.server.answer, {})
            return
        files = self.server.datasets.get(dataset, {}).get(revision)
        if files is None:
            self._answer(404, b"", {})
            return
        sizes = {path: self.server.sizes.get(path, len(content)) for path, content in files.items()}
        listed: dict[str, Any] = {"id": dataset, "sha": self.server.commit(dataset, revision)}
        listed["siblings"] = [
            {"rfilename": path, "size": size, **self._lfs(path, size)} for path, size in sizes.items()
        ]
        self._answer(200, json.dumps(listed).encode(), {"Content-Type": "application/json"})

    def _lfs(self, path: str, size: int) -> dict[str, Any]:
        """What the Hub lists of a large file; `sha256` of the server says which these are."""
        sha256 = self.server.sha256.get(path)
        return {"lfs": {"sha256": sha256, "size": size, "pointerSize": 130}} if sha256 else {}

    def _file(self, dataset: str, commit: str, path: str) -> None:
        for revision, files in self.server.datasets.get(dataset, {}).items():
            if self.server.commit(dataset, revision) == commit and path in files:
                self._answer(200, files[path], {})
                return
        self._answer(404, b"", {})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def hub_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A running server in the place of the Hub."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with HubServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()
