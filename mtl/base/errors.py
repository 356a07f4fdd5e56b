"""What ends a command with one line instead of a traceback: the exceptions for it, and SIGTERM as Ctrl-C."""

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from errno import EACCES, EDQUOT, EEXIST, EFBIG, EISDIR, EMFILE, ENOMEM, ENOSPC, ENOTDIR, EPERM, EROFS
from os import PathLike, fspath
from typing import Any, Self

from mtl.base.terminal import one_line

REMEDIES = {
    **dict.fromkeys((EACCES, EPERM), "; change its permissions, or name another place"),
    **dict.fromkeys((EEXIST, EISDIR, ENOTDIR), "; move away what stands there, or name another place"),
    EROFS: "; name another place",
    **dict.fromkeys((ENOSPC, EDQUOT), "; free some space; the same command continues"),
    EMFILE: "; raise the limit of open files (ulimit -n); the same command continues",
    EFBIG: "; raise the limit of a file's size (ulimit -f); the same command continues",
}
# What libraries say when memory runs out, in errors of other types than MemoryError.
NO_MEMORY = re.compile(
    "can(not|'t) allocate memory|out of memory|ALLOC_FAILED|failed to map segment|start new thread", re.I
)
LONGEST = 1000  # characters of an error; what foreign files hold has any length
NOT_GIVEN: Any = ...  # of an error without a value: None is a value, and a pickled `...` stays what it is


def shortened(text: str, most: int) -> str:
    """The text; of a longer one its start and its end, of at most so many characters together."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} … {text[len(text) - most // 2 + 3 :]}"  # 3: the characters of " … "


def reason_of(error: BaseException) -> str:
    """What an error of another library says, in one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]


class UserError(Exception):
    """What ends a command with one line for its user, "UNIT: PATH:LINE: KEY=VALUE: MESSAGE", with the parts that are known, safe to print.
    `message` says what is wrong and what to do. The other parts may be None: `unit` is the run, the seed or the stage that failed, `path` the file or
    folder, `line` the line in it, from 1, `key` the key in it, or of the settings, and `value` the key's value, or `NOT_GIVEN`."""

    def __init__(
        self,
        message: str,
        *,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        key: str | None = None,
        value: Any = NOT_GIVEN,
        unit: str | None = None,
    ) -> None:
        super().__init__(message)
        self.path = None if path is None else fspath(path)
        self.message, self.line, self.key, self.value, self.unit = message, line, key, value, unit

    def __str__(self) -> str:
        file, key = self.path, self.key
        if self.line is not None:
            file = f"{self.path}:{self.line}" if self.path else f"line {self.line}"
        if self.value is not NOT_GIVEN:
            key = f"{self.key}={self.value}" if self.key else str(self.value)
        return shortened(one_line(": ".join(part for part in (self.unit, file, key, self.message) if part)), LONGEST)

    def located(self, **where: Any) -> Self:
        """A copy that also says where the fault is: `where` replaces some of `unit`, `path`, `line`, `key` and `value`."""
        error = copy(self)
        error.__dict__.update({name: fspath(part) if name == "path" else part for name, part in where.items()})
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is copied and sent between processes: without its constructor, whose arguments a subclass may change."""
        return Exception.__new__, (type(self), *self.args), self.__dict__


class InputError(UserError):
    """Bad input: a file, a key or a value that the user gave. The command line exits with status 2."""


@contextmanager
def locating(**where: Any) -> Iterator[None]:
    """Within the block, an InputError says where the fault is, as `UserError.located`. Parts that are None stay as the error has them."""
    try:
        yield
    except InputError as error:
        raise error.located(**{name: part for name, part in where.items() if part is not None}) from None


class BusyError(InputError):
    """Another process is at work on what the command would do."""


class DivergedError(UserError):
    """Training diverged: its loss, weights or outputs are no longer finite numbers. The command line exits with status 1."""


@contextmanager
def resources_as_input() -> Iterator[None]:
    """Within the block, any OSError but a closed pipe, a path with the character NUL, and memory that runs out are an InputError with a remedy."""
    try:
        yield
    except BrokenPipeError:  # the reader of standard output has enough
        raise
    except (MemoryError, OSError, RuntimeError, ImportError, ValueError) as error:
        if (problem := resource_problem(error)) is None:
            raise
        raise InputError(problem) from error


def resource_problem(error: Exception) -> str | None:
    """A line on any OSError, on a path with the character NUL, or on memory that ran out; None for another error."""
    text = (str(error).splitlines() or [""])[0]
    has_no_memory = (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"  # torch's, which most commands do not import
        or (isinstance(error, OSError) and error.errno == ENOMEM)
        or NO_MEMORY.search(text) is not None
    )
    if has_no_memory:
        size = re.search(r"allocate ([\d.]+ \w+)", text)
        asked = f" ({size[1]} were asked for)" if size else ""
        less = "choose a smaller model, smaller batches or a smaller seeds_in_parallel="
        return f"memory ran out{asked}; free some memory, or {less}; the same command continues"
    if isinstance(error, ValueError) and "embedded null" in text:  # as Python says of a path
        return "a path holds the character NUL, which no file's name has; leave it out"
    if isinstance(error, OSError):
        return f"{error.filename2 or error.filename or 'input or output'}: {error.strerror or text}{REMEDIES.get(error.errno or 0, '')}"
    return None


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Within the block, SIGTERM raises KeyboardInterrupt as Ctrl-C does, so that what the block started is ended."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
