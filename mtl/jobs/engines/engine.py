"""The interface of an engine: where a sweep's units of work are executed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Needs:
    """What a unit asks of the machine that executes it. None: an equal share of what there is.

    threads: CPU threads. gpu: the share of a GPU. memory: bytes.
    """

    threads: int | None = None
    gpu: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Unit:
    """A piece of work: one call, in a process of its own.

    name: as in "random-frozen, seed 1"; different for all units. prefix: before each line that the unit logs, if the engine
    does not name it there itself. call: a function of a module, so that another process finds it; its arguments and its result are
    pickled. It raises InputError or DivergedError for what its user can mend. folder: where it writes. after: the names of units that
    must end first. seconds: how long it is expected to take; None: unknown.
    """

    name: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...]
    prefix: str = ""
    folder: Path | None = None
    needs: Needs = Needs()
    after: frozenset[str] = frozenset()
    seconds: float | None = None


Done = Callable[[Unit, Any], None]  # called with a unit that has ended and its result


class Engine(Protocol):
    """Executes units, several at a time."""

    def run(self, units: Sequence[Unit], at_a_time: int, done: Done) -> None:
        """Execute the units, up to `at_a_time` of them at once, each after those that it names; among those that may begin, in the
        order of the list. When this process ends, even by SIGKILL, the units end too.

        Raises the InputError or DivergedError that a unit raises, and InputError for a unit whose process was killed; the other units
        are then ended.
        """


def ready(waiting: Sequence[Unit], ended: set[str]) -> Unit | None:
    """The first of the waiting units that may begin. ended: the names of the units that have ended."""
    return next((unit for unit in waiting if unit.after <= ended), None)


def longest_first(units: Sequence[Unit]) -> list[Unit]:
    """Those that are expected to take longest first, so that none of them is left alone at the end; unknown ones before all others."""
    return sorted(units, key=lambda unit: float("-inf") if unit.seconds is None else -unit.seconds)
