"""Checks of single values of a configuration."""

from collections.abc import Collection, Sequence
from typing import Any

from mtl.errors import InputError


def check_positive(section: str, values: Any, names: Sequence[str]) -> None:
    """Raise InputError for a field that is not greater than 0. section: its name in the configuration; empty: the top level."""
    for name in names:
        if not getattr(values, name) > 0:
            key = f"{section}.{name}".lstrip(".")
            raise InputError(f"{key}={getattr(values, name)}: must be greater than 0")


def check_share(key: str, value: float) -> None:
    """Raise InputError unless the value is at least 0 and less than 1."""
    if not 0 <= value < 1:
        raise InputError(f"{key}={value}: must be at least 0 and less than 1")


def check_least(key: str, value: int) -> None:
    """Raise InputError unless the value is at least 1."""
    if value < 1:
        raise InputError(f"{key}={value}: must be at least 1")


def check_choice(key: str, value: Any, choices: Collection[Any]) -> None:
    """Raise InputError unless the value is one of the choices."""
    if value not in choices:
        raise InputError(f"{key}={value}: must be one of {', '.join(choices)}")
