"""What happens in a long operation or a run, as values that a display shows and that processes send each other."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from mtl.base.clock import format_duration
from mtl.base.files import format_bytes


class Advanced(Struct, tag=True, frozen=True):
    """An operation has begun, or has advanced.

    Args:
        key: identifies the operation among those of its process.
        seconds: since it began here.
        first: units that were done before that.
        note: such as a score.
        at_most: whether it may end earlier.
    """

    key: int
    title: str
    done: int
    first: int
    total: int | None
    unit: str
    seconds: float
    note: str = ""
    at_most: bool = False

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
    """A run begins to train.

    Args:
        run: its name among several; empty if there is only one.
        title: what it is.
        done: those of its seeds that were finished before.
        at_once: how many seeds train at the same time.
        faster: what would take less time.
    """

    run: str
    title: str
    seeds: Sequence[int]
    done: Sequence[int]
    at_once: int = 1
    faster: str = ""


class RunEnded(Struct, tag=True, frozen=True):
    """A run is finished, or has failed."""

    run: str


class Scored(Struct, tag=True, frozen=True):
    """Scores of a seed, as they are shown, by task id.

    Args:
        average: of all tasks; empty if it is unknown.
        final: whether the seed is finished.
        run: as in `RunBegun`.
    """

    seed: int
    scores: dict[str, str]
    average: str = ""
    final: bool = False
    run: str = ""


class Detail(Struct, tag=True, frozen=True):
    """A line on what a terminal shows in its own form, such as the result of a stage: it is for logs."""

    text: str


class Remark(Struct, tag=True, frozen=True):
    """A line that is shown once, however many seeds say it."""

    text: str


Event: TypeAlias = Advanced | Ended | RunBegun | RunEnded | Scored | Detail | Remark
