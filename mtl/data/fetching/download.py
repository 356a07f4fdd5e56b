"""Download files: continue interrupted downloads, and verify what has arrived."""

import json
import os
import re
import time
from pathlib import Path

import requests
from urllib3 import exceptions as urllib3_errors

from mtl.base.errors import InputError
from mtl.base.files import check_space, sha256, write_text
from mtl.base.log import logger
from mtl.base.progress import Progress
from mtl.data.hashes import checksum_problem

ATTEMPTS = 4  # failures in a row that end a download; an attempt that received new bytes starts the count again at 1
PAUSE = 1.0  # seconds before the first retry; each further retry in a row waits one pause longer
TIMEOUT = (15.0, 60.0)  # the longest time in seconds to wait for a connection, and for the next bytes
CHUNK = 2**16
UNSTATED = 2**30  # the most bytes of a file whose size nobody states: it cannot fill the disk


class UnavailableError(InputError):
    """The server refuses this file, or its file is not the expected one. Other files on the same server may still be available."""


class _TemporaryError(Exception):
    """The transfer stopped early, or the server has a temporary error: try again."""


def download(url: str, path: Path, checksum: str | None = None, size: int | None = None, log_hash: bool = True) -> None:
    """Download a file, unless it is there already, with this checksum if one is named. The bytes are written to `NAME.part` in the same folder, and
    `path` is created when the file is complete and verified. A call after an interruption requests only the rest, unless the file has changed. Raises
    UnavailableError if the server refuses the file, or has another one, and InputError if it cannot be downloaded or written otherwise. `checksum` is
    as `checksum_problem` takes it, `size` the exact number of bytes. `log_hash`: whether to log the SHA-256 of a new file without one."""
    try:
        if path.exists() and (checksum is None or checksum_problem(path, checksum) is None):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        part = _Part(path, url, checked=checksum is not None)
        _fetch(part, size)
        with part.path.open("rb") as file:
            os.fsync(file.fileno())
        if checksum is not None and (problem := checksum_problem(part.path, checksum)):
            part.remove()
            raise UnavailableError(f"{part.shown}: {problem}; it has changed, or was damaged on the way")
        part.path.replace(path)
        part.remove()
        if checksum is None and log_hash:
            logger.info("%s: not verified, since no SHA-256 is given; the file's is %s", part.shown, sha256(path))
    except OSError as error:
        raise InputError(f"cannot be written: {error}; fix this and run again", path=path) from error


def without_login(text: str) -> str:
    """The text without the user names and passwords in its addresses, such as https://name:password@example.org."""
    return re.sub(r"(?<=://)[^/\s?#]*@", "", text)


class _Part:
    """The unfinished file NAME.part, and a note (a JSON file) with the URL and the version that its bytes come from."""

    def __init__(self, finished: Path, url: str, checked: bool) -> None:
        self.path = finished.with_name(finished.name + ".part")
        self.note = finished.with_name(finished.name + ".part.json")
        self.url = url
        self.shown = without_login(url)
        self.validator: str | None = None
        self.total: int | None = None
        try:
            noted = json.loads(self.note.read_text(encoding="utf-8"))
            continues = noted["url"] == url
            self.validator, self.total = noted["validator"], noted["total"]
        except (OSError, ValueError, KeyError, TypeError):
            continues = False
        # Without a validator, the server cannot tell whether its file has changed. Only a checksum tells at the end.
        if not continues or (self.validator is None and not checked):
            self.remove()

    @property
    def length(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def start(self, validator: str | None, total: int | None) -> None:
        """Begin a new file. The note is written before the first byte."""
        self.remove()
        self.validator, self.total = validator, total
        write_text(self.note, json.dumps({"url": self.url, "validator": validator, "total": total}) + "\n")

    def remove(self) -> None:
        # The note is deleted last: a part without a note is never continued, and a note without a part does no harm.
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)
        self.validator = self.total = None


def _fetch(part: _Part, size: int | None) -> None:
    """Download the rest of the part. After each broken connection try again, up to ATTEMPTS times in a row without new bytes."""
    failures, most_received = 0, part.length
    while True:
        try:
            return _transfer(part, size)
        except (_TemporaryError, requests.ConnectionError, requests.Timeout, urllib3_errors.HTTPError) as error:
            received, reason = part.length, _reason(error)
            failures = 1 if received > most_received else failures + 1
            most_received = max(most_received, received)
            if failures >= ATTEMPTS:
                advice = "check the network and run again"
                if received:
                    total = part.total or size
                    of_total = f" of {total}" if total else ""
                    advice = f"{received}{of_total} bytes are kept; run the same command again to continue"
                raise InputError(f"{part.shown}: {reason}; {advice}") from error
            logger.warning("%s: %s; trying again", part.shown, reason)
            time.sleep(PAUSE * failures)
        except requests.RequestException as error:
            reason = without_login(str(error))
            raise InputError(f"{part.shown}: cannot be downloaded: {reason}; check the address") from error


def _transfer(part: _Part, size: int | None) -> None:
    """Request the rest of `part` and append it, or the whole file if it cannot be continued. Raises also the errors of requests and urllib3."""
    offset = part.length
    headers = {"Accept-Encoding": "identity"}  # ranges and lengths would refer to compressed bytes
    expected = (200, 206, 416) if offset else (200,)  # the file; of a part also its rest, and that nothing is left
    if offset:
        headers["Range"] = f"bytes={offset}-"
        if part.validator:
            headers["If-Range"] = part.validator
    with requests.get(part.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        status = response.status_code
        if status == 429 or status >= 500:
            raise _TemporaryError(f"the server answers {status} {response.reason}")
        if status not in expected:
            raise UnavailableError(f"{part.shown}: the server answers {status} {response.reason}; check the address")
        if status != 416 and response.headers.get("Content-Type", "").startswith("text/html"):
            problem = "the server sends a web page in place of the file; open the address in a browser, or check it"
            raise UnavailableError(f"{part.shown}: {problem}")
        if status == 200:
            length = response.headers.get("Content-Length", "")
            part.start(_validator(response), int(length) if re.fullmatch(r"\d{1,18}", length) else None)
            return _append(part, response, size)
        first, stated_total = _stated_range(response)
        total = part.total if stated_total is None else stated_total
        if status == 416 and total == offset and size in (None, total):  # nothing is left
            return None
        is_same = part.total in (None, total) and _validator(response) in (None, part.validator)
        if status == 206 and first == offset and is_same:
            part.total = total
            return _append(part, response, size)
    part.remove()  # the server has another version, or sent another range than requested: it cannot be continued
    return _transfer(part, size)


def _stated_range(response: requests.Response) -> tuple[int | None, int | None]:
    """The number of the first byte that a response holds, and the number of all bytes of the file; None where it does not say."""
    header = response.headers.get("Content-Range", "").strip()
    stated = re.fullmatch(r"bytes (?:(\d{1,18})-\d+|\*)/(?:(\d{1,18})|\*)", header)
    first, total = stated.groups() if stated else (None, None)
    return None if first is None else int(first), None if total is None else int(total)


def _append(part: _Part, response: requests.Response, size: int | None) -> None:
    """Append the body of `response` to `part`, which has this size when it is complete, if the caller knows it."""
    if size is not None and part.total not in (None, size):
        problem = f"the server has {part.total} bytes where {size} are expected; it has changed"
        part.remove()
        raise UnavailableError(f"{part.shown}: {problem}")
    offset, total = part.length, size if part.total is None else part.total
    if total is not None:
        check_space(part.path.parent, total - offset, "download to another disk")
    limit = UNSTATED if total is None else total
    bar = Progress(f"downloading {part.path.stem}", total, "B", offset)
    with bar, part.path.open("ab") as file:
        # Not `iter_content`, which would unpack a .gz file that the server declares as "Content-Encoding: gzip".
        while chunk := response.raw.read(CHUNK, decode_content=False):
            file.write(chunk)
            bar.advance(len(chunk))
            if bar.done > limit:
                break
    if total is not None and part.length < total:
        raise _TemporaryError("the connection broke (the file is truncated)")
    if part.length > limit:
        part.remove()
        problem = f"received more bytes than the {limit} that are expected; run again to start over"
        if total is None:
            problem = f"sends more than {limit // 2**30} GiB without stating a length; state size: beside its address, or download it yourself"
        raise InputError(f"{part.shown}: {problem}")


def _validator(response: requests.Response) -> str | None:
    """The value for an If-Range header that identifies this version of the file: a strong ETag, else the date."""
    tag = response.headers.get("ETag")
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified")


def _reason(error: Exception) -> str:
    """A short text that says why an attempt failed."""
    if isinstance(error, _TemporaryError):
        return str(error)
    inner = error.args[0] if error.args else error  # requests wraps an error of urllib3, whose `reason` is the cause
    cause = getattr(inner, "reason", inner)
    if isinstance(cause, urllib3_errors.NewConnectionError):  # or a name that cannot be resolved
        return "cannot connect to the server"
    if isinstance(error, requests.Timeout | urllib3_errors.TimeoutError):
        return "the server does not answer in time"
    return f"the connection broke ({cause})"
