"""Dataclasses from what people write: YAML files, and settings `key=value`.
The type of a field says what it takes, as in `Annotated[int, AT_LEAST_ONE]`, `Literal["best", "last"]` or `list[str] | None`. msgspec converts
and checks single values, but it does not name a key in a dictionary, nor the values of a Literal. So sections and lists are read here, and each
error is one line that names the whole key and says what is allowed. A dataclass's method `check` raises InputError for values that do not fit."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date
from functools import cache
from math import isfinite
from pathlib import Path, PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from mtl.base.errors import InputError, locating
from mtl.base.names import advice, text_problem
from mtl.base.untrusted import TYPES

Content = TypeVar("Content")

NOT_NEGATIVE = Meta(ge=0)
AT_LEAST_ONE = Meta(ge=1)
SHARE = Meta(ge=0, lt=1)
PART = Meta(gt=0, lt=1)
SIZE = Meta(ge=1, le=2**16)  # units of a layer: larger ones would fill any machine's memory before an error is raised
LAYERS = Meta(ge=1, le=100)
LARGEST_NUMBER = 10**15  # of whole numbers; no library takes larger ones
LONGEST = 100  # characters of a key or a value in a message


class UnknownKey(InputError):
    """A key that does not exist: `unknown`, without the section; `known` are those that exist, `section` stands before each in messages."""

    def __init__(self, key: str, known: Iterable[str], section: str = "") -> None:
        self.unknown, self.known, self.section = key, set(known), section
        shown = repr(section + key) if len(key) <= LONGEST else f"{section + key[:LONGEST]!r}…"
        super().__init__(f"unknown key {shown}; {advice(key, self.known, 'keys', section)}")


def typed(kind: type[Content], content: Any, section: str = "", path: Path | str | None = None) -> Content:
    """An instance of a dataclass with these values by the names of fields, dictionaries (or instances) for sections. Raises InputError, which names
    the `section` that stands before the keys, as in "embeddings.", and the file's `path`, for an unknown, a wrong or a missing value."""
    with locating(path=path):
        return cast(Content, _section(kind, content, section.removesuffix(".")))


def check_known(keys: Iterable[Any], known: Collection[str], section: str = "") -> None:
    """Raise UnknownKey if one of the keys is not known; the section is as in `typed`."""
    if unknown := sorted(set(map(str, keys)) - set(known)):
        raise UnknownKey(unknown[0], known, section)


def check_choice(key: str, value: Any, choices: Collection[str]) -> None:
    """Raise InputError unless the value is one of the choices."""
    if value not in choices:
        raise InputError(f"must be one of {', '.join(choices)}", key=key, value=value)


@cache
def field_types(kind: type) -> dict[str, Any]:
    """By the fields of a dataclass, their types with what `Annotated` says of them."""
    types = get_type_hints(kind, include_extras=True)
    return {item.name: types[item.name] for item in fields(kind)}


def declared_keys(kind: type, section: str = "") -> Iterator[tuple[str, Any]]:
    """Each key of a dataclass and of its sections by its dotted name, with its type."""
    for name, hint in field_types(kind).items():
        if is_dataclass(hint):
            yield from declared_keys(cast(type, hint), f"{section}{name}.")
        else:
            yield f"{section}{name}", hint


def notes_of(hint: Any) -> tuple[Any, ...]:
    """What `Annotated` says of a type."""
    return hint.__metadata__ if get_origin(hint) is Annotated else ()


def in_words(bounds: Meta) -> str:
    """The numbers that bounds allow.
    >>> in_words(AT_LEAST_ONE), in_words(Meta(gt=0)), in_words(SHARE), in_words(PART)
    ('at least 1', 'greater than 0', 'at least 0 and less than 1', 'between 0 and 1')
    """
    low = bounds.ge if bounds.gt is None else bounds.gt
    high = bounds.le if bounds.lt is None else bounds.lt
    if high is None:
        return f"{'at least' if bounds.gt is None else 'greater than'} {low:,}"
    half_open = bounds.gt is None and bounds.le is None
    return f"at least {low:,} and less than {high:,}" if half_open else f"between {low:,} and {high:,}"


def _value(hint: Any, value: Any, key: str, example: str = "") -> Any:
    """A value of a type: None, a section, a list or a single value. A message on a list ends with `example`, as in ", as in tasks=[cbd]"."""
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    kind, parts = get_origin(plain) or plain, get_args(plain)
    item_hint = parts[-1] if parts else Any  # of a list's items or a dictionary's values
    notes = [note for note in notes_of(hint) if isinstance(note, Meta)]
    example += "".join(f", as in {key}={text}" for note in notes for text in note.examples or [])
    if kind in (Union, UnionType) and NoneType in parts:
        return None if value is None else _value(Union[tuple(set(parts) - {NoneType})], value, key, example)  # noqa: UP007
    if is_dataclass(kind):
        return _section(cast(type, kind), value, key)
    if kind is dict or (kind is Any and isinstance(value, dict)):
        return {name: _value(item_hint, item, f"{key}.{name}") for name, item in _items(value, key)}
    if kind is list or (kind is Any and isinstance(value, list)):
        if not isinstance(value, list | tuple):
            raise InputError(f"must be a list{example}", key=key, value=_shown(value))
        return [_value(item_hint, item, f"{key}.{number}") for number, item in enumerate(value)]
    return _single(hint, plain, value, key)


def _section(kind: type, value: Any, key: str) -> Any:
    """The dataclass in the section with this key; an empty key stands for the whole content."""
    if isinstance(value, kind):
        return value
    types, section = field_types(kind), f"{key}." if key else ""
    content = dict(_items(value, key))
    check_known(content, types, section)
    values = {name: _value(types[name], part, section + name) for name, part in content.items()}
    for item in fields(kind):
        if item.name not in values and item.default is item.default_factory is MISSING:
            raise InputError("has no value", key=section + item.name)
        if isinstance(values.get(item.name), dict) and item.default_factory is not MISSING:
            values[item.name] = item.default_factory() | values[item.name]
    instance = kind(**values)
    try:
        if hasattr(instance, "check"):
            instance.check()
    except InputError as error:
        raise error.located(key=error.key and section + error.key) from None
    return instance


def _items(value: Any, key: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise InputError("must hold keys and values", key=key or None)
    if wrong := [name for name in value if not isinstance(name, str)]:
        raise InputError("a key must be a text; put it in quotes", key=f"{key}.{wrong[0]}".removeprefix("."))
    return value.items()


def _single(hint: Any, plain: Any, value: Any, key: str) -> Any:
    """A value that is neither a list nor a section; `plain` is its type without what `Annotated` says of it."""
    if plain is str and isinstance(value, bool):
        raise InputError("YAML reads yes, no, on, off, true and false as truth values; put it in quotes", key=key)
    if plain is str and isinstance(value, int | float | date | PurePath):
        value = str(value)
    if isinstance(value, str) and "${" in value:
        raise InputError("holds '${', a reference to another value; write the value itself", key=key)
    if isinstance(value, str) and (problem := text_problem(value)):
        raise InputError(problem, key=key)
    refusal = None
    try:
        converted = msgspec.convert(value, hint, strict=False)
    except msgspec.ValidationError:
        converted, refusal = value, f"must {_allowed(hint, plain, value)}"
    # A number that no field takes is refused in other words than one that this field does not take.
    if isinstance(converted, int) and abs(converted) > LARGEST_NUMBER:
        raise InputError(f"is too large a number; the largest is {LARGEST_NUMBER:,}", key=key)
    if isinstance(converted, float) and plain is not Any and not isfinite(converted):
        raise InputError("must be a finite number", key=key, value=_shown(value))
    if refusal is not None:
        raise InputError(refusal, key=key, value=_shown(value))
    return converted


def _allowed(hint: Any, plain: Any, value: Any) -> str:
    """What a value must do that does not fit a type, as in "be a number", or only lies outside its bounds, as in "be at least 1"."""
    if get_origin(plain) is Literal:
        return f"be one of {', '.join(map(str, get_args(plain)))}"
    try:
        msgspec.convert(value, plain, strict=False)
    except msgspec.ValidationError:
        return f"be {TYPES.get(plain.__name__, plain.__name__)}"
    words = next(in_words(note) for note in notes_of(hint) if isinstance(note, Meta))
    return f"{'lie' if words.startswith('between') else 'be'} {words}"


def _shown(value: Any) -> Any:
    """A value as a message has it: what is long is cut."""
    try:
        text = str(value)
    except Exception:  # of an object of a notebook, or of a list that holds itself
        return f"a value of type {type(value).__name__}"
    return f"{text[:LONGEST]}…" if len(text) > LONGEST else value
