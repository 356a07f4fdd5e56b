"""What a command prints: foreign text cannot control the terminal, a stream that is closed, full or in another encoding ends no command,
and text in Markdown tables is escaped."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

# Control characters but tab and newline, marks that change the direction of text, separators of lines, and lone surrogates.
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
PASSWORD = re.compile(r"(?<=://)[^/?#\s@]+@")  # in an address
BAR_MOVES = re.compile(r"(?:\x1b\[A)+")  # a write of tqdm that moves the cursor to the line of a bar
CLEAR = "\x1b[2J\x1b[H"


def visible(text: str) -> str:
    r"""The text with each control character as its escape sequence, as in `\x1b`, and addresses without their passwords.

    Newlines and tabs stay.
    """
    return PASSWORD.sub("***@", CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text))


def one_line(text: str) -> str:
    r"""The text as `visible` shows it, with newlines as `\n`, too: foreign text in a message cannot begin another line."""
    return visible(text).replace("\n", "\\n")


@contextmanager
def standard_streams() -> Iterator[None]:
    """Within the block, standard output and standard error take any text, and show it as `visible` does.

    A character that a stream's encoding lacks is written as its escape sequence. A stream that the process lacks is /dev/null, except
    `sys.stdin`, which stays None. An error of standard output is an OSError that names it; those of standard error are ignored: a run
    goes on without its messages.
    """
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
            sys.stdout, sys.stderr = before


class StandardOutput:
    """Standard output."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._put(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        with self._failing():
            self._stream.flush()

    def clear(self) -> None:
        """Clear the terminal."""
        self._put(CLEAR)

    def write_bytes(self, content: bytes) -> None:
        """Write bytes as they are."""
        with self._failing():
            self._stream.flush()
            self._stream.buffer.write(content)

    def _put(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        with self._failing():
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._discard_rest()
            error.filename = "standard output"
            raise

    def _discard_rest(self) -> None:
        """Let what is left in the stream's buffer be written to /dev/null: Python writes it at its end, and would fail again."""
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)


class StandardError(StandardOutput):
    """Standard error, with the bars of tqdm: it begins a write with a carriage return, and moves the cursor in writes of their own."""

    def write(self, text: str) -> int:
        start = "\r" if text.startswith("\r") else ""
        self._put(text if BAR_MOVES.fullmatch(text) else start + visible(text.removeprefix(start)))
        return len(text)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            self._discard_rest()


def write_data(text: str) -> None:
    """Write data to standard output: to a terminal as any text, to a file or another program in UTF-8 and unchanged."""
    if isinstance(sys.stdout, StandardOutput) and not sys.stdout.isatty():
        sys.stdout.write_bytes(text.encode())
    else:
        sys.stdout.write(text)


def clear_screen() -> None:
    """Clear the terminal if standard output is one."""
    if isinstance(sys.stdout, StandardOutput) and sys.stdout.isatty():
        sys.stdout.clear()


MISSING = "–"  # in place of a value


def markdown_table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows of cells as a Markdown table that also reads well as plain text; the first row is the header.

    Args:
        left: how many of the columns stand at their left edge; the others, numbers, at their right.
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        escaped = [cell.replace("|", "\\|") for cell in cells]
        placed = [c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(escaped, widths, strict=True))]
        return "| " + " | ".join(placed) + " |"

    rules = ["-" * (w + 2) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)]
    return "\n".join([line(rows[0]), f"|{'|'.join(rules)}|", *map(line, rows[1:])])


def inert(text: str) -> str:
    """Text in which Markdown sees no HTML, link, picture or code, in one line; paths and names stay readable in a terminal."""
    return re.sub(r"[\\`\[<]", r"\\\g<0>", " ".join(text.split()))


def escaped(text: str) -> str:
    """Text with Markdown's special characters escaped, in one line."""
    line = " ".join(text.split())
    for character in "\\`*_[]<>":
        line = line.replace(character, "\\" + character)
    return line
