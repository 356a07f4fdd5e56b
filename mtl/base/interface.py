"""Functions that notebooks call: their arguments can be anything, and every error of a user is one InputError."""

import inspect
import os
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

from mtl.base.errors import InputError, UserError, resources_as_input
from mtl.base.names import text_problem
from mtl.base.typed import LARGEST_NUMBER
from mtl.base.wording import listed

Function = TypeVar("Function", bound=Callable[..., Any])

# How a message names a type.
WORDS: dict[Any, str] = {
    **{str: "a text", os.PathLike: "a path", int: "a whole number", float: "a number", bool: "True or False"},
    **{type(None): "None", Mapping: "a dictionary", Sequence: "a list", Collection: "a list", Iterable: "a list"},
}


def checked(function: Function) -> Function:
    """The function, with checks of its arguments by their annotations, and with errors of files, disks and memory as InputError. Numbers and
    arrays of other libraries, which have a method `tolist`, are converted to Python's, also within a list. A call with an argument of another
    type raises an InputError that names the argument, and says what its annotation does (`Annotated[hint, "as in …"]`)."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        # A call with missing or unknown arguments is a TypeError, as of every function: the missing ones by the function itself.
        bound = signature.bind_partial(*args, **kwargs)
        for name, value in bound.arguments.items():
            parameter = signature.parameters[name]
            if parameter.kind is parameter.VAR_KEYWORD or parameter.annotation in (Any, parameter.empty):
                continue
            is_variadic = parameter.kind is parameter.VAR_POSITIONAL
            items = value if is_variadic else [value]
            with foreign(name):
                values = tuple(_argument(item, parameter.annotation, name) for item in items)
            bound.arguments[name] = values if is_variadic else values[0]
        with resources_as_input():
            return function(*bound.args, **bound.kwargs)

    return cast(Function, call)  # of the same type, so that editors show what documents the arguments


@contextmanager
def foreign(key: str) -> Iterator[None]:
    """For a block that reads objects of other libraries: an error of any kind that they raise becomes an InputError with this key."""
    try:
        yield
    except (UserError, MemoryError, OSError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or "no reason is given"
        raise InputError(f"cannot be read ({type(error).__name__}: {reason})", key=key) from None


def _argument(value: Any, hint: Any, name: str) -> Any:
    """The value of an argument, converted to Python's types. Raises InputError if it does not fit the annotation `hint`."""
    value = [_converted(item) for item in value] if isinstance(value, list | tuple) else _converted(value)
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if isinstance(text, str) and (problem := text_problem(text)):
        raise InputError(problem, key=name)
    if not _fits(value, hint):
        raise InputError(_mismatch(value, hint), key=name)
    return value


def _converted(value: Any) -> Any:
    """A number or an array of another library as Python's; any other value itself."""
    return value.tolist() if hasattr(value, "tolist") and not isinstance(value, type) else value


def _mismatch(value: Any, hint: Any) -> str:
    """What an argument must be, and what this value is that does not fit."""
    kinds = _kinds(hint)
    if isinstance(value, int | float) and {int, float} & {*kinds} and not abs(value) <= LARGEST_NUMBER:
        return f"must be a number from {-LARGEST_NUMBER:,} to {LARGEST_NUMBER:,}"
    if isinstance(value, Mapping) and any(get_origin(part) is Mapping for kind in kinds for part in get_args(kind)):
        return f"must be a dictionary with a dictionary for each task, as in {{TASK: {str(value)[:100]}}}"
    words = dict.fromkeys(WORDS.get(get_origin(kind) or kind, f"a {getattr(kind, '__name__', kind)}") for kind in kinds)
    holds = isinstance(value, Collection) and not isinstance(value, str | bytes) and len(value) > 0
    form = f"{type(value).__name__} that holds these values" if holds else f"value of type {type(value).__name__}"
    wanted = ", ".join([listed(list(words), 9, " or "), *getattr(hint, "__metadata__", ())])
    return f"must be {wanted}, not a {form}"


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The types of a union; of another annotation, itself, without what `Annotated` says of it."""
    if get_origin(hint) is Annotated:
        return _kinds(hint.__origin__)
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(kind for part in get_args(hint) for kind in _kinds(part))
    return (hint,)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value, with the items of lists and dictionaries, is of a type. An annotation that is not a class fits any value."""
    parts = _kinds(hint)
    if len(parts) > 1:
        return any(_fits(value, part) for part in parts)
    hint = parts[0]
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if hint is Any or not isinstance(kind, type):
        return True
    if kind is str:
        return isinstance(value, str) and text_problem(value) is None
    if kind in (int, float):
        is_number = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
        return is_number and abs(value) <= LARGEST_NUMBER
    if not isinstance(value, kind) or (isinstance(value, str | bytes) and kind not in (str, bytes, os.PathLike)):
        return False
    if isinstance(value, Mapping) and len(inner) == 2:
        return all(_fits(key, inner[0]) and _fits(item, inner[1]) for key, item in value.items())
    if not isinstance(value, Collection):  # an iterator can be read only once
        return True
    items = value[:1] if isinstance(value, range) else value  # the items of a range are of one type
    return not inner or all(_fits(item, inner[0]) for item in items)
