"""Checks of single values of a configuration."""

from collections.abc import Collection, Sequence
from typing import Any

from mtl.errors import InputError

LARGEST = 2**16  # units of a layer: larger ones would fill any machine's memory before an error is raised
MOST_LAYERS = 100
LARGEST_NUMBER = 10**15


def check_positive(section: str, values: Any, names: Sequence[str]) -> None:
    """Raise InputError for a field that is not greater than 0. section: its name in the configuration; empty: the top level."""
    for name in names:
        if not getattr(values, name) > 0:
            key = f"{section}.{name}".lstrip(".")
            raise InputError(f"{key}={getattr(values, name)}: must be greater than 0")


def check_numbers(value: Any, key: str = "") -> None:
    """Raise InputError for a whole number that no library takes, in a configuration or a part of it. key: of the part."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        check_numbers(part, f"{key}.{name}".lstrip("."))
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise InputError(f"{key}: is too large a number; the largest is {LARGEST_NUMBER:,}")


def check_size(key: str, value: int, most: int = LARGEST) -> None:
    """Raise InputError unless the value, a number of units or layers, lies between 1 and `most`."""
    if not 1 <= value <= most:
        raise InputError(f"{key}={value}: must lie between 1 and {most:,}")


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
