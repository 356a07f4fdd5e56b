"""Engines: one registry entry for each way to execute units of work, their interface, and how the errors of several runs are counted."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mtl.base.errors import DivergedError, InputError, UserError, resources_as_input
from mtl.base.log import logger
from mtl.base.wings import Registry, lazy
from mtl.base.wording import counted


@dataclass(frozen=True)
class Needs:
    """What a unit asks of the machine that executes it. None: an equal share of what there is."""

    threads: int | None = None  # CPU threads
    gpu: float | None = None  # a share of one GPU, or a whole number of GPUs
    memory: int | None = None  # bytes


@dataclass(frozen=True)
class Unit:
    """A piece of work: one call, in a process of its own."""

    name: str  # as in "random-frozen, seed 1"; different for all units
    call: Callable[..., Any]  # a function of a module, which raises UserError for errors that the user can correct
    arguments: tuple[Any, ...]  # pickled, as is the result
    prefix: str = ""  # the text before each line that the unit logs, unless the engine itself names the unit there
    folder: Path | None = None  # where it writes
    needs: Needs = Needs()
    after: frozenset[str] = frozenset()  # the names of units that must end first


Done = Callable[[Unit, Any], None]  # called with a unit that has ended and its result


class Engine(Protocol):
    """Executes units, several at a time."""

    def run(self, units: Sequence[Unit], at_a_time: int, done: Done) -> None:
        """Execute the units, up to `at_a_time` at once, each after those that it names, else in the order of the list. They end with this process,
        even by SIGKILL. Raises the UserError of a unit, and one for a unit whose process ended without a result; the others are then ended."""


class Mapper(Protocol):
    """An engine whose workers also share long work, such as the blocks of a corpus."""

    def map(self, maker: Unit, items: Iterable[Any], workers: int) -> Iterator[Any]:
        """The results for items, in their order; only a few are read ahead. Each worker is a process with what the unit needs: it executes the unit,
        and calls the function that this returns with its items. Raises the UserError of either, and InputError if workers do not fit or are lost."""


def ready(waiting: Sequence[Unit], ended: set[str]) -> Unit | None:
    """The first of the waiting units that may begin, where those with these names have ended."""
    return next((unit for unit in waiting if unit.after <= ended), None)


def result_or_error(call: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call, or the UserError that it raises, also for a full disk or memory: raised, it would end all other units."""
    try:
        with resources_as_input():
            return call(*arguments)
    except UserError as error:
        return error


class Failures:
    """The errors of several runs, of which there are `runs`."""

    def __init__(self, runs: int) -> None:
        self.runs = runs
        self.failed: set[str] = set()  # the names of runs
        self.errors: dict[str, UserError] = {}  # by the name of what failed: a run or a unit of it

    def add(self, run: str, name: str, error: UserError) -> None:
        """Count the run as failed. `name` is that of what has failed, the run or one of its units, and stands in the error."""
        part = f"{run}, {error.unit}" if run and error.unit else error.unit
        named = error.located(unit=part or name)
        if self.runs > 1:
            logger.error("%s", named)
        self.failed.add(run)
        self.errors[name] = named

    def check(self) -> None:
        """Raise an error that names what failed, if anything did: DivergedError if all that failed diverged."""
        errors = list(self.errors.values())
        if len(errors) == 1:
            raise errors[0]
        if errors:
            kind = DivergedError if all(isinstance(error, DivergedError) for error in errors) else InputError
            failed = f"{len(self.failed)} of {counted(self.runs, 'run')} failed"
            raise kind(f"{failed} ({'; '.join(self.errors)}); the first: {errors[0]}")


PROCESSES = lazy("mtl.jobs.engines.processes:Processes")
ENGINES: Registry[Callable[[], Engine]] = Registry({"processes": PROCESSES}, "engines")  # by name, as in `engine=`
