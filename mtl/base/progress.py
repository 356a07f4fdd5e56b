"""Progress of long operations, as events of the process's display (`mtl.base.display`)."""

import itertools
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from msgspec import structs

from mtl.base.display import show
from mtl.base.events import Advanced, Ended

EVENT_EVERY = 0.1  # seconds between two events of one operation

Item = TypeVar("Item")

_hidden: ContextVar[bool] = ContextVar("hidden", default=False)
_keys = itertools.count()  # of the operations of this process


@contextmanager
def hidden_progress(hidden: bool = True) -> Iterator[None]:
    """If `hidden`, a new `Progress` within the block shows nothing: its operation is a part of one that is shown."""
    before = _hidden.set(hidden or _hidden.get())
    try:
        yield
    finally:
        _hidden.reset(before)


class Progress:
    """A context manager that shows how much of a long operation is done and how long the rest will take.
    >>> with Progress("reading a.txt", 5_000_000, "B") as shown:
    ...     shown.advance(1_000_000)
    ...     shown.reach(5_000_000)

    On a terminal and in a notebook it shows a bar, which disappears at the end. Otherwise it logs lines such as
    "reading a.txt · 1.2 GB of 7.2 GB (17%) · 3 min 05 s left" (`LogDisplay`). Both change only when `advance`, `reach` or `note` is called."""

    def __init__(self, title: str, total: int | None, unit: str, done: int = 0, at_most: bool = False) -> None:
        """The operation has `total` units (None: unknown), or `at_most` so many, of which `done` were done before; `unit` is a plural, or "B"."""
        self.done, self._note = done, ""
        self._first = Advanced(next(_keys), title, done, first=done, total=total, unit=unit, seconds=0, at_most=at_most)
        self._begin = time.monotonic()
        self._next_event = self._begin
        self._is_hidden = _hidden.get()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.end(failed=kind is not None)

    def end(self, failed: bool = False) -> None:
        """End the operation, where no block does."""
        if not self._is_hidden:
            show(Ended(self._state(time.monotonic()), failed))

    def advance(self, amount: int = 1) -> None:
        self.reach(self.done + amount)

    def reach(self, done: int, note: str | None = None) -> None:
        """Set the number of units done so far, and perhaps the note."""
        self.done = done
        self._note = self._note if note is None else note
        if not self._is_hidden and (now := time.monotonic()) >= self._next_event:
            self._next_event = now + EVENT_EVERY
            show(self._state(now))

    def note(self, text: str) -> None:
        """Show a short text, such as a score, with the progress from now on."""
        self._next_event = self._begin  # so that it is shown at once
        self.reach(self.done, text)

    def _state(self, now: float) -> Advanced:
        return structs.replace(self._first, done=self.done, seconds=now - self._begin, note=self._note)


def progress(items: Collection[Item], title: str, unit: str) -> Iterator[Item]:
    """Yield the items and show the progress with `Progress`, as in `for text in progress(texts, "tokenizing", "texts")`."""
    with Progress(title, len(items), unit) as bar:
        for item in items:
            yield item
            bar.advance()
