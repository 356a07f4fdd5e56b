"""The standard streams of a command."""

import io
import os
import subprocess
import sys

import pytest

from mtl.base.terminal import Cell, StandardError, StandardOutput, one_line, visible

SIGNS = "zażółć gęślą jaźń åäö · – × − ▲ ≈ †\ttab\n"
CODE = """
import sys
from mtl.base.terminal import standard_streams
with standard_streams():
    print("\\xf3 \\xb7 \\u2013")
    print("warning", file=sys.stderr)
    sys.stdout.flush()
    assert open("/dev/null").fileno() > 2, "a file got the number of a standard stream"
"""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (SIGNS, SIGNS),
        ("\x1b]0;evil\x07", r"\x1b]0;evil\x07"),
        ("\r\x7f\x85\x9b31m", r"\r\x7f\x85\x9b31m"),
        ("a\u202eb\u2066c\u2028d\ud800", r"a\u202eb\u2066c\u2028d\ud800"),
        ("https://me:secret@host/a?b=c@d, http://token@host", "https://***@host/a?b=c@d, http://***@host"),
        ("me@host https://host/a@b", "me@host https://host/a@b"),
    ],
)
def test_control_characters_and_passwords_are_not_printed(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_foreign_text_begins_no_line() -> None:
    assert one_line("title\nmtl: error: no\x1b") == r"title\nmtl: error: no\x1b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\rbar \x1b[31m 5%", "\rbar \\x1b[31m 5%"),  # as tqdm draws a bar
        ("\x1b[A\x1b[A", "\x1b[A\x1b[A"),  # and moves to its line
        ("line\rback\x1b[A", r"line\rback\x1b[A"),
    ],
)
def test_bars_move_on_standard_error_alone(text: str, shown: str) -> None:
    written = io.StringIO()
    StandardError(written).write(text)
    assert written.getvalue() == shown
    written = io.StringIO()
    StandardOutput(written).write(text)
    assert written.getvalue() == visible(text)


@pytest.mark.parametrize(
    ("redirection", "environment"),
    [
        *((">&-", {}), ("2>&-", {}), ("<&- >&- 2>&-", {}), ("2>/dev/full", {})),
        *(("", {"PYTHONIOENCODING": encoding}) for encoding in ("ascii", "iso-8859-2")),
        ("", {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}),
    ],
)
def test_no_stream_ends_a_program(redirection: str, environment: dict[str, str]) -> None:
    command = ["sh", "-c", f'"$0" -c "$1" {redirection}', sys.executable, CODE]
    done = subprocess.run(command, capture_output=True, env={**os.environ, **environment})
    assert (done.returncode, done.stderr) == (0, b"" if "2>" in redirection else b"warning\n")


def test_standard_output_on_a_full_disk_is_an_error_that_names_it() -> None:
    code = CODE.replace("with standard", "try:\n  with standard").replace("\n    ", "\n      ")
    code += "\nexcept OSError as error: print(error.filename, file=sys.stderr)"
    done = subprocess.run(["sh", "-c", '"$0" -c "$1" >/dev/full', sys.executable, code], capture_output=True)
    assert done.stderr.endswith(b"standard output\n") and done.returncode == 0


class Handle:
    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, content: dict[str, str], raw: bool) -> None:
        self.shown.append(content["text/plain"])


def test_a_cell_draws_its_lines_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    handles: list[Handle] = []

    def display(content: dict[str, str], raw: bool, display_id: bool) -> Handle:
        handles.append(Handle())
        handles[-1].update(content, raw)
        return handles[-1]

    monkeypatch.setattr("IPython.display.display", display)
    cell = Cell()
    cell.draw([], None)
    for lines in (["a"], ["b\x1b[2J", "c"], []):
        cell.draw(lines, None)
    cell.draw(["the next cell"], None)
    assert [handle.shown for handle in handles] == [["a", "b\\x1b[2J\nc", ""], ["the next cell"]]
