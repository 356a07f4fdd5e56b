"""Bad input in tests: where an error says that the fault is, and what it says.

`raises_input_error` checks the file, the line and the key of an InputError. The wording of all errors is in one golden file, `messages.txt`.
After a change of wording, `pytest --write-messages` writes it anew, and its difference is read.
"""

import fcntl
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mtl.base.errors import InputError

GOLDEN = Path(__file__).parent / "messages.txt"
TEMPORARY = re.compile(r"/\S*?/pytest-of-[^/\s]+/pytest-\d+(/popen-gw\d+)?/[^/\s:'\"]+")
DRAWN = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{16,}\b|\btmp\w{8}\b")  # hashes, and names of temporary files
NUMBER = re.compile(r"\d[\d,.]*\d|\d")  # sizes, ports and versions differ between machines


class Messages:
    """The messages of a test run: those of the golden file, or the ones that are being written."""

    def __init__(self, write: bool) -> None:
        self.write = write
        self.expected: dict[str, list[str]] = defaultdict(list)
        self.seen: dict[str, list[str]] = defaultdict(list)
        self.read()

    def read(self) -> None:
        """Take the expected messages from the golden file."""
        self.expected.clear()
        for line in GOLDEN.read_text(encoding="utf-8").splitlines() if GOLDEN.exists() else ():
            test, _, message = line.partition(" | ")
            self.expected[test].append(message)

    def check(self, test: str, error: InputError) -> None:
        message = entry(error)
        position = len(self.seen[test])
        self.seen[test].append(message)
        if self.write:
            return
        known = self.expected.get(test, [])
        assert position < len(known), (
            f"tests/messages.txt has no message for this test: {message!r}; use --write-messages"
        )
        assert message == known[position]

    def save(self) -> None:
        """Write the golden file: the messages of the tests that ran, and what it had for all others. Processes do so in turn."""
        with GOLDEN.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.read()
            every = sorted((self.expected | self.seen).items())
            lines = [f"{test} | {message}\n" for test, messages in every for message in messages]
            GOLDEN.write_text("".join(lines), encoding="utf-8")


MESSAGES = Messages(write=False)


def file_name(error: InputError) -> str | None:
    """The last part of the path that an error names; "TMP" for a test's own folder."""
    if error.path is None:
        return None
    name = Path(error.path).name
    return "TMP" if TEMPORARY.fullmatch(error.path) else name


def entry(error: InputError) -> str:
    """An error as the golden file has it: its message without what differs between runs and machines, temporary folders and numbers."""
    place = InputError("", path=file_name(error), line=error.line, key=error.key, unit=error.unit)
    message = NUMBER.sub("#", DRAWN.sub("#", TEMPORARY.sub("TMP", error.message))).replace("\n", "\\n")
    return f"{place}: {message}" if str(place) else message


ANY = "any"  # what is not checked here; the golden file has it


@contextmanager
def raises_input_error(
    error: type[InputError] = InputError, *, file: str | None = ANY, line: int | str | None = ANY, key: str | None = ANY
) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """The block must raise an InputError that says where the fault is, and what `messages.txt` has.

    Args:
        error: the class of the error.
        file: the last part of the path that it names, or None for an error that names none.
        line: the line in the file.
        key: the key.
    """
    with pytest.raises(error) as caught:
        yield caught
    raised = caught.value
    for expected, actual in ((file, file_name(raised)), (line, raised.line), (key, raised.key)):
        assert expected in (ANY, actual), str(raised)
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    MESSAGES.check(test.removesuffix("@ray"), raised)  # the name of a group of pytest-xdist


def refused(made: Callable[..., object], *arguments: Any, **where: Any) -> None:
    """What is called with these arguments must raise as in `raises_input_error`."""
    with raises_input_error(**where):
        made(*arguments)
