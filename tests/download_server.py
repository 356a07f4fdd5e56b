"""A server of one file on this machine, which can misbehave."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

CONTENT = bytes(range(256)) * 2000


class LocalServer(ThreadingHTTPServer):
    """A server on this machine."""

    daemon_threads = True
    block_on_close = False

    @contextmanager
    def running(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Within the block, it answers, and no proxy stands before it."""
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with self:
            threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
            yield
            self.shutdown()


class DownloadServer(LocalServer):
    """Serves `content` at every path; its attributes set how it misbehaves."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = CONTENT
        self.etag: str | None = '"one"'
        self.modified: str | None = None
        self.cuts: list[int] = []  # body bytes that each of the next answers sends before it closes the connection
        self.statuses: list[int] = []  # status codes of the next answers
        self.content_type: str | None = None
        self.redirects = False  # whether the files are below /moved, to which all other paths lead
        self.ranges = True
        self.if_range = True
        self.content_range: str | None = None  # a wrong Content-Range header
        self.chunked = False
        self.stated_length: str | None = None  # a Content-Length header beside a chunked body
        self.stall = False  # after a cut, keep the connection open without sending anything
        self.release = threading.Event()
        self.stalled = threading.Event()
        self.requests: list[dict[str, str]] = []
        self.sent: list[int] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/file.bin"

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing when a client was killed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: DownloadServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        server = self.server
        self.close_connection = True
        server.requests.append({name.lower(): value for name, value in self.headers.items()})
        if server.redirects and not self.path.startswith("/moved"):
            return self._answer(302, b"", {"Location": f"/moved{self.path}"})
        if server.statuses and (status := server.statuses.pop(0)) not in (0, 200):
            return self._answer(status, b"an error page", {})
        headers = {"ETag": server.etag, "Last-Modified": server.modified, "Content-Type": server.content_type}
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range")
        fresh = condition in (None, server.etag, server.modified) or not server.if_range
        if not (wanted and server.ranges and fresh):
            return self._answer(200, server.content, headers)
        start, total = int(wanted[1]), len(server.content)
        if start >= total:
            # The type is that of the web page in which servers say so.
            refused = {**headers, "Content-Range": f"bytes */{total}", "Content-Type": "text/html"}
            return self._answer(416, b"", refused)
        headers["Content-Range"] = server.content_range or f"bytes {start}-{total - 1}/{total}"
        return self._answer(206, server.content[start:], headers)

    def _answer(self, status: int, body: bytes, headers: dict[str, str | None]) -> None:
        server = self.server
        # Before the headers: a client that refuses these may begin the next request while this thread still runs.
        data = body[: server.cuts.pop(0) if server.cuts and body else len(body)]
        server.sent.append(len(data))
        self.send_response(status)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        if server.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            if server.stated_length is not None:
                self.send_header("Content-Length", server.stated_length)
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if server.chunked and data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        elif data:
            self.wfile.write(data)
        if server.chunked and data == body:
            self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
        if server.stall and len(data) < len(body):
            server.stalled.set()
            server.release.wait(30)


@contextmanager
def download_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DownloadServer]:
    """A running server. Downloads try again at once."""
    monkeypatch.setattr("mtl.data.fetching.download.PAUSE", 0.0)
    server = DownloadServer()
    with server.running(monkeypatch):
        yield server
        server.release.set()
