"""Runs, or units of them, that fail with an error of their own: other runs go on."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mtl.errors import DivergedError, InputError, resources_as_input
from mtl.files import counted
from mtl.jobs.engines.kind import Unit

logger = logging.getLogger("mtl")


def returning_errors(unit: Unit) -> Unit:
    """The unit with its InputError or DivergedError as its result, also for a full disk or memory that runs out. An engine would end all
    other units for an error that is raised."""
    return replace(unit, call=_result_or_error, arguments=(unit.call, *unit.arguments))


def _result_or_error(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        with resources_as_input():
            return call(*arguments)
    except (InputError, DivergedError) as error:
        return error


class Failures:
    """The errors of several runs."""

    def __init__(self, runs: int) -> None:
        """runs: how many there are."""
        self.runs = runs
        self.failed: set[str] = set()  # the names of runs
        self.errors: dict[str, InputError | DivergedError] = {}  # by the name of what failed: a run or a unit of it

    def add(self, run: str, name: str, error: InputError | DivergedError) -> None:
        """Count the run as failed. name: of what has failed, which the error then names: the run, or a unit of it."""
        named = type(error)(_named(run, name, str(error)))
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
            raise kind(
                f"{len(self.failed)} of {counted(self.runs, 'run')} failed ({'; '.join(self.errors)}); the first: {errors[0]}"
            )


def _named(run: str, name: str, text: str) -> str:
    """The text of an error with the name of what failed before it. A seed's error may begin with "seed 2" already."""
    if text.startswith(name):
        return text
    part = name.removeprefix(f"{run}, ")
    return f"{run}, {text}" if part != name and text.startswith(part) else f"{name}: {text}"
