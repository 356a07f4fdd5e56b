"""Settings of a command as the values of a dataclass that checks their types.

Checks of single values of a configuration.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.base.errors import InputError

LARGEST = 2**16  # units of a layer: larger ones would fill any machine's memory before an error is raised
MOST_LAYERS = 100
LARGEST_NUMBER = 10**15


def check_positive(section: str, values: Any, names: Sequence[str]) -> None:
    """Raise InputError for a field that is not greater than 0. section: its name in the configuration; empty: the top level."""
    for name in names:
        if not getattr(values, name) > 0:
            key = f"{section}.{name}".lstrip(".")
            raise InputError("must be greater than 0", key=key, value=getattr(values, name))


def check_numbers(value: Any, key: str = "") -> None:
    """Raise InputError for a whole number that no library takes, in a configuration or a part of it. key: of the part."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        check_numbers(part, f"{key}.{name}".lstrip("."))
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise InputError(f"is too large a number; the largest is {LARGEST_NUMBER:,}", key=key)


def check_size(key: str, value: int, most: int = LARGEST) -> None:
    """Raise InputError unless the value, a number of units or layers, lies between 1 and `most`."""
    if not 1 <= value <= most:
        raise InputError(f"must lie between 1 and {most:,}", key=key, value=value)


def check_share(key: str, value: float) -> None:
    """Raise InputError unless the value is at least 0 and less than 1."""
    if not 0 <= value < 1:
        raise InputError("must be at least 0 and less than 1", key=key, value=value)


def check_least(key: str, value: int) -> None:
    """Raise InputError unless the value is at least 1."""
    if value < 1:
        raise InputError("must be at least 1", key=key, value=value)


def check_choice(key: str, value: Any, choices: Collection[Any]) -> None:
    """Raise InputError unless the value is one of the choices."""
    if value not in choices:
        raise InputError(f"must be one of {', '.join(choices)}", key=key, value=value)


Settings = TypeVar("Settings")

# What a value must be, by the end of OmegaConf's message.
REASONS = {
    "could not be converted to Integer": "must be a whole number",
    "could not be converted to Float": "must be a number",
    "is not a valid bool (type str)": "must be true or false",
    "is not a valid bool (type float)": "must be true or false",
}


class UnknownKey(InputError):
    """A key that does not exist.

    Attributes:
        unknown: the key, without the section.
        known: those that exist.
        section: what stands before the names of all of them in messages.
    """

    def __init__(self, key: str, known: Iterable[str], section: str = "") -> None:
        self.unknown, self.known, self.section = key, set(known), section
        super().__init__(unknown_message(key, sorted(self.known), section))


def unknown_message(key: str, known: Sequence[str], section: str = "") -> str:
    """What to say of a key that does not exist: the key that is most like it; if none is, all keys. section: as in `UnknownKey`."""
    close = difflib.get_close_matches(key, known, 1)
    close = close or [other for other in known if other.rpartition(".")[2] == key]
    names = [f"{section}{name}" for name in close or known]
    return f"unknown key {section + key!r}; " + (
        f"did you mean {names[0]}?" if close else f"known keys: {', '.join(names)}"
    )


def reason(error: Exception) -> str:
    """Why OmegaConf says that a value is not of its key's type."""
    said = str(error).splitlines()[0]
    return next((must for of, must in REASONS.items() if said.endswith(of)), said)


def typed_settings(kind: type[Settings], given: Mapping[str, Any], section: str = "") -> Settings:
    """An instance of a dataclass with these values; other fields have their defaults.

    section: what stands before the names in messages, as in "embeddings.". Raises InputError for an unknown key, a value of another
    type, and a field without a value.
    """
    settings: Any = OmegaConf.structured(kind)
    check_known(given, {str(key) for key in settings}, section)
    for key, value in given.items():
        try:
            settings = OmegaConf.merge(settings, {key: value})
        except (OmegaConfBaseException, ValueError, TypeError, ArithmeticError) as error:
            raise InputError(f"{section}{key}={value}: {reason(error)}") from None
    if missing := sorted(OmegaConf.missing_keys(settings)):
        raise InputError(f"{section}{missing[0]}: has no value")
    return cast(Settings, OmegaConf.to_object(settings))


def check_known(given: Iterable[str], keys: set[str], section: str = "") -> None:
    """Raise UnknownKey for a key that is not in `keys`. section: as in `typed_settings`."""
    if unknown := sorted(set(given) - keys):
        raise UnknownKey(unknown[0], keys, section)
