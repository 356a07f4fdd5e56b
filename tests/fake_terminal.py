"""A terminal that understands what mtl writes to one, and its real kind: a pty, in which a program runs."""

import os
import re
import select
import struct
import subprocess
import sys
import time
from collections.abc import Callable

SEQUENCE = re.compile(r"\x1b\[(\d*)([A-Z])|(.)", re.DOTALL)


class Clock:
    """A clock that a test moves, in place of the module time."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


class FakeTerminal:
    """Rows of text, as a terminal of this size shows them, with those that have left it at the top. Long lines are wrapped."""

    encoding = "utf-8"

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        self.columns, self.lines = columns, lines
        self.rows = [""]
        self.row = self.column = 0

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        pass

    def write(self, text: str) -> int:
        for count, command, character in SEQUENCE.findall(text):
            if command == "A":
                self.row = max(0, len(self.rows) - self.lines, self.row - int(count or 1))
            elif command == "J":
                del self.rows[self.row + 1 :]
                self.rows[self.row] = self.rows[self.row][: self.column]
            elif command:
                raise AssertionError(f"unknown sequence {command}")
            elif character == "\r":
                self.column = 0
            elif character == "\n":
                self._down()
                self.column = 0
            else:
                self._put(character)
        return len(text)

    def _put(self, character: str) -> None:
        if self.column == self.columns:
            self._down()
            self.column = 0
        row = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = row[: self.column] + character + row[self.column + 1 :]
        self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")

    @property
    def shown(self) -> list[str]:
        """The rows, without empty ones at the end."""
        return "\n".join(row.rstrip() for row in self.rows).rstrip("\n").split("\n")


def run_in_pty(
    code: str,
    columns: int = 80,
    lines: int = 24,
    environment: dict[str, str] | None = None,
    when: Callable[[str, subprocess.Popen[bytes]], None] = lambda text, process: None,
) -> tuple[str, int]:
    """Run Python code whose output and errors are a terminal. Returns what it has written, and its exit status.

    when: called with what it has written so far whenever there is more.
    """
    import fcntl
    import pty
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    variables = {**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8", **(environment or {})}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=slave, stdout=slave, stderr=slave, env=variables, start_new_session=True
    )
    os.close(slave)
    written, end = b"", time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([master], [], [], 0.05)
        if ready:
            try:
                part = os.read(master, 65536)
            except OSError:  # Linux's end of a pty
                part = b""
            if not part:
                break
            written += part
            when(written.decode(errors="replace"), process)
        elif process.poll() is not None:
            break
    os.close(master)
    return written.decode(errors="replace"), process.wait()
