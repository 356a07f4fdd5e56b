"""Settings of a command as the values of a dataclass that checks their types."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.errors import InputError

Settings = TypeVar("Settings")


class UnknownKey(InputError):
    """A key that does not exist. known: those that do. section: what stands before the names of all of them."""

    def __init__(self, key: str, known: Iterable[str], section: str = "") -> None:
        self.key, self.known, self.section = key, set(known), section
        names = ", ".join(f"{section}{name}" for name in sorted(self.known))
        super().__init__(f"unknown key {section + key!r}; known keys: {names}")


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
        except (OmegaConfBaseException, ValueError) as error:
            raise InputError(f"{section}{key}={value}: {str(error).splitlines()[0]}") from None
    if missing := sorted(OmegaConf.missing_keys(settings)):
        raise InputError(f"{section}{missing[0]}: has no value")
    return cast(Settings, OmegaConf.to_object(settings))


def check_known(given: Iterable[str], keys: set[str], section: str = "") -> None:
    """Raise UnknownKey for a key that is not in `keys`. section: as in `typed_settings`."""
    if unknown := sorted(set(given) - keys):
        raise UnknownKey(unknown[0], keys, section)
