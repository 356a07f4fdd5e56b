"""Events that operations and runs send to the display of their process (`mtl.base.display`)."""

import logging
from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from mtl.base.wording import format_bytes, format_duration


class Advanced(Struct, tag=True, frozen=True):
    """An operation has begun, or has advanced."""

    key: int  # identifies the operation among those of its process
    title: str
    done: int
    first: int  # units that were done before that
    total: int | None
    unit: str
    seconds: float  # since it began here
    note: str = ""  # such as a score
    at_most: bool = False  # whether it may end earlier

    def amount(self) -> str:
        """What is done, as in "15 of 30 steps" or "1.2 GB of 7.2 GB"."""
        if not self.total:
            return self._units(self.done)
        done = format_bytes(self.done) if self.unit == "B" else f"{self.done:,}"
        return f"{done} of {self._units(self.total)}"

    def share(self) -> float | None:
        """The part that is done, from 0 to 1; None: unknown."""
        return min(1.0, self.done / self.total) if self.total else None

    def time(self) -> str:
        """How long the rest takes; if that is unknown, how long it has taken so far."""
        done = self.done - self.first
        if not self.total or done <= 0:
            return f"{format_duration(self.seconds)} so far"
        left = format_duration(self.seconds / done * max(0, self.total - self.done))
        return f"{'at most ' if self.at_most else ''}{left} left"

    def _units(self, amount: int) -> str:
        return format_bytes(amount) if self.unit == "B" else f"{amount:,} {self.unit}"


class Ended(Struct, tag=True, frozen=True):
    """An operation has ended, in its last state, perhaps by an error."""

    last: Advanced
    failed: bool


class RunBegun(Struct, tag=True, frozen=True):
    """A run begins to train."""

    name: str  # which run of several it is; empty if there is only one
    title: str  # what it is
    seeds: Sequence[int]
    done: Sequence[int]  # those of its seeds that were finished before
    at_once: int = 1  # how many seeds train at the same time
    faster: str = ""  # what would take less time


class RunEnded(Struct, tag=True, frozen=True):
    """A run is finished, or has failed."""

    name: str  # as in `RunBegun`


class Scored(Struct, tag=True, frozen=True):
    """Scores of a seed, as they are shown, by task id."""

    seed: int
    scores: dict[str, str]
    average: str = ""  # of all tasks; empty if it is unknown
    final: bool = False  # whether the seed is finished
    run: str = ""  # the name of its run


class Detail(Struct, tag=True, frozen=True):
    """A line on what a terminal shows in its own form, such as the result of a stage: it is for logs."""

    text: str


class Remark(Struct, tag=True, frozen=True):
    """A line that is shown once, however many seeds say it; `level` is that of its log line."""

    text: str
    level: int = logging.INFO


Event: TypeAlias = Advanced | Ended | RunBegun | RunEnded | Scored | Detail | Remark
