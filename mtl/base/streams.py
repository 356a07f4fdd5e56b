"""Standard output and standard error: a stream that is closed, full or in another encoding ends no command, and what is printed stays above lines
that are drawn in place."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from mtl.base.terminal import screen, visible

BAR_MOVES = re.compile(r"(?:\x1b\[A)+")  # a write of tqdm that moves the cursor to the line of a bar


@contextmanager
def standard_streams() -> Iterator[None]:
    """Within the block, standard output and standard error take any text, and show it as `visible` does. A character that a stream's encoding
    lacks is written as its escape sequence. A stream that the process lacks is /dev/null, except `sys.stdin`, which stays None. An error of
    standard output is an OSError that names it; those of standard error are ignored: a run goes on without its messages."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # else a file that is opened later would get this number, and messages
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nothing:  # noqa: PTH123 - no path of the user
        sys.stdout = cast(TextIO, StandardOutput(sys.stdout or nothing))
        sys.stderr = cast(TextIO, StandardError(sys.stderr or nothing))
        try:
            yield
        finally:
            screen.clear()
            sys.stdout, sys.stderr = before


class StandardOutput:
    """Standard output."""

    _raises = True  # whether an error ends the command

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._on_screen = stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        with self._failing():
            self._stream.flush()

    def write_bytes(self, content: bytes) -> None:
        """Write bytes as they are."""
        with self._failing():
            self._stream.flush()
            self._stream.buffer.write(content)

    def put(self, text: str) -> None:
        """Write a text as it is, control characters too, where the terminal's cursor is."""
        encoding = self._stream.encoding or "utf-8"
        with self._failing():
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def _write(self, text: str) -> None:
        if not self._on_screen:
            self.put(text)
            return
        with screen.above(text):
            self.put(text)
            self.flush()  # so that lines and texts of both streams keep their order

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # Python writes what is left in the stream's buffer at its end, and would fail again.
            with suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:  # noqa: PTH123 - no path of the user
                os.dup2(nothing.fileno(), self._stream.fileno())
            if self._raises:
                error.filename = "standard output"
                raise


class StandardError(StandardOutput):
    """Standard error, with the bars of tqdm, which begins a write with a carriage return and moves the cursor in writes of their own."""

    _raises = False

    def write(self, text: str) -> int:
        start = "\r" if text.startswith("\r") else ""
        self._write(text if BAR_MOVES.fullmatch(text) else start + visible(text.removeprefix(start)))
        return len(text)


def write_data(text: str) -> None:
    """Write data to standard output: to a terminal as any text, to a file or another program in UTF-8 and unchanged."""
    if isinstance(sys.stdout, StandardOutput) and not sys.stdout.isatty():
        sys.stdout.write_bytes(text.encode())
    else:
        sys.stdout.write(text)
