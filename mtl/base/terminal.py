"""What a command prints: foreign text controls no terminal, a broken stream ends no command, and drawn lines stay below what is printed."""

import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from tqdm.utils import disp_len, disp_trim

# Control characters but tab and newline, marks that change the direction of text, separators of lines, and lone surrogates.
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
PASSWORD = re.compile(r"(?<=://)[^/?#\s@]+@")  # in an address
BAR_MOVES = re.compile(r"(?:\x1b\[A)+")  # a write of tqdm that moves the cursor to the line of a bar
UP_AND_CLEAR = "\r\x1b[{rows}A\x1b[J"  # moves the cursor up, from the ^C that a terminal may show, and clears the rest
SIZE = os.terminal_size((80, 24))  # of a terminal that does not tell its size


def visible(text: str) -> str:
    r"""The text with each control character but newlines and tabs as its escape sequence, as in `\x1b`, and addresses without their passwords."""
    return PASSWORD.sub("***@", CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text))


def one_line(text: str) -> str:
    r"""The text as `visible` shows it, with newlines as `\n`, too: foreign text in a message cannot begin another line."""
    return visible(text).replace("\n", "\\n")


def draws(stream: Any) -> bool:
    """Whether lines can be drawn again in place: the stream is a terminal that can move its cursor."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


class Screen:
    """Lines of a terminal that are drawn again in place, below everything else that the process prints, by several threads perhaps. The cursor
    stays visible, at the start of the line below them: a process that is killed leaves a usable terminal, and its last words are readable."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._lines: list[str] = []
        self._widths: list[int] = []  # of the lines that stand on the terminal, in columns
        self._at_start = True  # whether the cursor is at the start of a line
        self._stream: Any = None

    def draw(self, lines: Sequence[str], stream: Any) -> None:
        """Replace the lines by these on the terminal of a stream, cut to its width and height."""
        with self._lock:
            self._lines, self._stream = list(lines), stream
            self._put(self._erasure() + self._drawing())

    @contextmanager
    def above(self, text: str) -> Iterator[None]:
        """Within the block, a text can be written to the terminal. The lines are drawn again below it, unless its last line is open."""
        with self._lock:
            if self._lines:
                self._put(self._erasure())
            yield
            self._at_start = text.endswith(("\n", "\r")) if text else self._at_start
            if self._lines:
                self._put(self._drawing())

    def size(self, stream: Any) -> os.terminal_size:
        try:
            size = os.get_terminal_size(stream.fileno())
        except (AttributeError, OSError, ValueError):
            return SIZE
        return size if size.columns and size.lines else SIZE

    def _erasure(self) -> str:
        """What removes the lines. Lines that a narrower terminal has wrapped take more rows than they did."""
        columns = self.size(self._stream).columns
        rows = sum(max(1, -(-width // columns)) for width in self._widths)
        self._widths = []
        return UP_AND_CLEAR.format(rows=rows) if rows else ""

    def _drawing(self) -> str:
        if not self._at_start:
            return ""
        size = self.size(self._stream)
        # A line as wide as the terminal would be wrapped by some, and the last row is the cursor's.
        shown = [disp_trim(one_line(line), size.columns - 1) for line in self._lines[: max(1, size.lines - 1)]]
        self._widths = [disp_len(line) for line in shown]
        return "".join(f"{line}\n" for line in shown)

    def _put(self, text: str) -> None:
        """Write to the terminal, past what makes foreign text harmless."""
        if text:
            with suppress(OSError, ValueError):
                getattr(self._stream, "put", self._stream.write)(text)
                self._stream.flush()


screen = Screen()  # the process has one terminal


class Cell:
    """Lines in the output of a notebook's cell that are drawn again in place; an alternative to `Screen`."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, lines: Sequence[str], stream: Any) -> None:
        from IPython.display import display  # notebooks have it

        content = {"text/plain": "\n".join(map(one_line, lines))}
        if self._handle is not None:
            self._handle.update(content, raw=True)
        elif lines:
            self._handle = display(content, raw=True, display_id=True)
        if not lines:  # the next ones belong to another cell
            self._handle = None

    def size(self, stream: Any) -> os.terminal_size:
        """The columns and rows that fit most cells."""
        return os.terminal_size((100, 24))


@contextmanager
def standard_streams() -> Iterator[None]:
    """Within the block, standard output and standard error take any text, and show it as `visible` does; what their encoding lacks is escaped. A
    stream that the process lacks is /dev/null. Errors of standard output are OSErrors that name it; those of standard error are ignored."""
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
            screen.draw([], sys.stderr)
            sys.stdout, sys.stderr = before


class StandardOutput:
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
        with self._handling_errors():
            self._stream.flush()

    def write_bytes(self, content: bytes) -> None:
        """Write bytes as they are."""
        with self._handling_errors():
            self._stream.flush()
            self._stream.buffer.write(content)

    def put(self, text: str) -> None:
        """Write a text as it is, control characters too, where the terminal's cursor is."""
        encoding = self._stream.encoding or "utf-8"
        with self._handling_errors():
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def _write(self, text: str) -> None:
        if not self._on_screen:
            self.put(text)
            return
        with screen.above(text):
            self.put(text)
            self.flush()  # so that lines and texts of both streams keep their order

    @contextmanager
    def _handling_errors(self) -> Iterator[None]:
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
