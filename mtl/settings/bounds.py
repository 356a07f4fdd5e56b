"""Settings that check themselves: the values that a field takes, and dataclasses from given values."""

import difflib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, cast

from omegaconf import MISSING, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.base.errors import InputError

LARGEST_SIZE = 2**16  # units of a layer: larger ones would fill any machine's memory before an error is raised
MOST_LAYERS = 100
LARGEST_NUMBER = 10**15
_BOUNDS = "bounds"  # the key of a field's metadata


@dataclass(frozen=True)
class Interval:
    """Numbers between two ends.

    Args:
        low: the lower end.
        high: the upper end; infinity: there is none.
        open_low: whether the lower end itself is refused.
        open_high: whether the upper end itself is refused.
    """

    low: float
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def holds(self, value: Any) -> bool:
        """Whether the value lies between the ends. NaN does not."""
        above = value > self.low if self.open_low else value >= self.low
        return above and (value < self.high if self.open_high else value <= self.high)

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"{'greater than' if self.open_low else 'at least'} {self.low:,}"
        if self.open_high and not self.open_low:
            return f"at least {self.low:,} and less than {self.high:,}"
        return f"between {self.low:,} and {self.high:,}"

    @property
    def problem(self) -> str:
        """What to say of a value that is not in the interval."""
        return f"must {'lie' if str(self).startswith('between') else 'be'} {self}"


@dataclass(frozen=True)
class OneOf:
    """One of several values."""

    values: Collection[str]

    def holds(self, value: Any) -> bool:
        """Whether the value is one of them."""
        return value in self.values

    def __str__(self) -> str:
        return ", ".join(self.values)

    @property
    def problem(self) -> str:
        """What to say of another value."""
        return f"must be one of {self}"


Bounds = Interval | OneOf
POSITIVE = Interval(0, open_low=True)
NOT_NEGATIVE = Interval(0)
AT_LEAST_ONE = Interval(1)
SHARE = Interval(0, 1, open_high=True)
PART = Interval(0, 1, open_low=True, open_high=True)
ZERO_TO_ONE = Interval(0, 1)
SIZE = Interval(1, LARGEST_SIZE)
LAYERS = Interval(1, MOST_LAYERS)


def bounded(bounds: Bounds, default: Any = MISSING) -> Any:
    """A field of a dataclass of settings, with the values that it takes. `check_bounds` checks them; None is always allowed where the type
    allows it.

    Args:
        bounds: the values.
        default: what the field is where nothing is given; by default, it must be given.
    """
    return field(default=default, metadata={_BOUNDS: bounds})


def one_of(*values: str, default: str | None = MISSING) -> Any:
    """A field that holds one of these values."""
    return bounded(OneOf(values), default)


def bounds_of(kind: type, name: str) -> Bounds | None:
    """The values that a field takes, or None where its type says enough."""
    return kind.__dataclass_fields__[name].metadata.get(_BOUNDS)  # type: ignore[attr-defined]


def check_bounds(settings: Any, section: str = "") -> None:
    """Check a dataclass of settings and all sections in it: each field by itself, then what the method `check` of a section says.

    Args:
        settings: the dataclass.
        section: what stands before the names of its fields in messages, as in "embeddings.".

    Raises:
        InputError: for a value that a field does not take, and as `check` does.
    """
    for item in fields(settings):
        value = getattr(settings, item.name)
        bounds: Bounds | None = item.metadata.get(_BOUNDS)
        if is_dataclass(value):
            check_bounds(value, f"{section}{item.name}.")
        elif bounds is not None and value is not None and not bounds.holds(value):
            raise InputError(bounds.problem, key=f"{section}{item.name}", value=value)
    if hasattr(settings, "check"):
        settings.check()


def check_numbers(value: Any, key: str = "") -> None:
    """Raise InputError for a whole number that no library takes, in a configuration or a part of it.

    Args:
        key: the key of the setting.
    """
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        check_numbers(part, f"{key}.{name}".lstrip("."))
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise InputError(f"is too large a number; the largest is {LARGEST_NUMBER:,}", key=key)


def check_choice(key: str, value: Any, choices: Collection[str]) -> None:
    """Raise InputError unless the value is one of the choices."""
    if value not in choices:
        raise InputError(OneOf(choices).problem, key=key, value=value)


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
    """What to say of a key that does not exist: the key that is most like it; if none is, all keys.

    Args:
        section: as in `UnknownKey`.
    """
    close = difflib.get_close_matches(key, known, 1)
    close = close or [other for other in known if other.rpartition(".")[2] == key]
    names = [f"{section}{name}" for name in close or known]
    return f"unknown key {section + key!r}; " + (
        f"did you mean {names[0]}?" if close else f"known keys: {', '.join(names)}"
    )


def reason(error: Exception) -> str:
    """Why OmegaConf says that a value is not of its key's type."""
    message = str(error).splitlines()[0]
    return next((must for ending, must in REASONS.items() if message.endswith(ending)), message)


def typed_settings(kind: type[Settings], given: Mapping[str, Any], section: str = "") -> Settings:
    """An instance of a dataclass with these values; other fields have their defaults.

    Args:
        kind: the dataclass.
        given: values by the names of fields.
        section: what stands before the names in messages, as in "embeddings.".

    Raises:
        InputError: for an unknown key, a value of another type, a field without a value, and as `check_bounds`.
    """
    settings: Any = OmegaConf.structured(kind)
    check_known(given, {str(key) for key in settings}, section)
    for key, value in given.items():
        try:
            settings = OmegaConf.merge(settings, {key: value})
        except (OmegaConfBaseException, ValueError, TypeError, ArithmeticError) as error:
            raise InputError(reason(error), key=f"{section}{key}", value=value) from None
    if missing := sorted(OmegaConf.missing_keys(settings)):
        raise InputError("has no value", key=f"{section}{missing[0]}")
    typed = cast(Settings, OmegaConf.to_object(settings))
    check_bounds(typed, section)
    return typed


def check_known(given: Iterable[str], keys: set[str], section: str = "") -> None:
    """Raise UnknownKey for a key that is not in `keys`.

    Args:
        section: as in `typed_settings`.
    """
    if unknown := sorted(set(given) - keys):
        raise UnknownKey(unknown[0], keys, section)
