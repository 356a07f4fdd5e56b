"""Units that fail with an error of their own run: the units of other runs go on."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mtl.errors import DivergedError, InputError
from mtl.jobs.engines.kind import Unit

logger = logging.getLogger("mtl")


def returning_errors(unit: Unit) -> Unit:
    """The unit with its InputError or DivergedError as its result. An engine would end all other units for an error that is raised."""
    return replace(unit, call=_result_or_error, arguments=(unit.call, *unit.arguments))


def _result_or_error(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except (InputError, DivergedError) as error:
        return error


class Failures:
    """The errors of several runs."""

    def __init__(self, runs: int) -> None:
        """runs: how many there are."""
        self.runs = runs
        self.first: dict[str, InputError | DivergedError] = {}  # of each run that failed, by its name

    def add(self, run: str, unit: Unit, error: InputError | DivergedError) -> None:
        """Count the run as failed. error: what a unit of it has returned."""
        text = str(error)
        named = type(error)(text if text.startswith(unit.name) else f"{unit.name}: {text}")
        if self.runs > 1:
            logger.error("%s", named)
        self.first.setdefault(run, named)

    def check(self) -> None:
        """Raise an error that names the runs that failed, if any did: DivergedError if all of them diverged."""
        errors = list(self.first.values())
        if len(errors) == 1:
            raise errors[0]
        if errors:
            kind = DivergedError if all(isinstance(error, DivergedError) for error in errors) else InputError
            raise kind(f"{len(errors)} of {self.runs} runs failed ({', '.join(self.first)}); the first: {errors[0]}")
